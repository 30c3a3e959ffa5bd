"""The Python that the workers of a classic session run, which may be another one than this."""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

# what a function over Arrow that calls the core needs; a worker of another minor version is refused by PySpark
_PROBE = (
    "import sys, pandas, pyarrow, deltaic, deltaic._core; print(*sys.version_info[:2], deltaic.__version__)"
)
_PATIENCE = 60.0


def fit(of: Any) -> bool:
    """Whether the workers of a local session, or of a DataFrame of one, can run what this process gives them.

    Costs nothing where they run the Python of this process. Another one is asked, once a process, without a job.
    """
    return _fits(python_of(of))


def python_of(of: Any) -> str:
    """What starts the workers of a classic session, or of a DataFrame of one.

    `PYSPARK_PYTHON`, or `python3` where it is not set.
    """
    started: str = getattr(of, "sparkSession", of).sparkContext.pythonExec
    return started


@cache
def _fits(python: str) -> bool:
    found = shutil.which(python)
    if found is None:
        return False
    # the folder identifies a virtual environment: its Python is a link to that of another one
    theirs, ours = Path(found).absolute(), Path(sys.executable).absolute()
    if theirs.parent == ours.parent and theirs.samefile(ours):
        return True
    from deltaic._core import __version__

    asked = [found, "-c", _PROBE]
    try:
        answer = subprocess.run(asked, capture_output=True, text=True, timeout=_PATIENCE, check=True)  # noqa: S603 (as Spark does)
    except (OSError, subprocess.SubprocessError):
        return False
    return answer.stdout.split() == [*map(str, sys.version_info[:2]), __version__]
