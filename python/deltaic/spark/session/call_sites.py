"""PySpark's notes of the line that made a column, and where they are left out.

PySpark notes the user's line for its error messages at each function of columns, by eight requests to the JVM. Inside a
command of deltaic that line is none of the user's, and the requests took half of the time of a small MERGE.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_here = threading.local()


def leave_out_call_sites() -> None:
    """Lets `without_call_sites` have its effect in this process. The lines of users' programs are noted as before."""
    from pyspark.errors import utils

    noted = utils.is_debugging_enabled
    if getattr(noted, "of_deltaic", False):
        return

    def is_debugging_enabled() -> bool:
        return not getattr(_here, "depth", 0) and noted()

    is_debugging_enabled.of_deltaic = True  # type: ignore[attr-defined]
    utils.is_debugging_enabled = is_debugging_enabled


@contextmanager
def without_call_sites() -> Iterator[None]:
    """No call sites are noted on this thread meanwhile."""
    leave_out_call_sites()
    _here.depth = getattr(_here, "depth", 0) + 1
    try:
        yield
    finally:
        _here.depth -= 1
