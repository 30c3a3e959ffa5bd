"""Workers whose Python lacks deltaic: Spark itself reads and writes there; what needs deltaic says so, or runs here."""

from __future__ import annotations

import json
import os
import site
import sys
import venv
from pathlib import Path
from typing import Any

import cluster
import pytest

PROGRAM = Path(__file__).parent / "lacking_workers.py"
# each worker finds its own on its path
PYTHON = "python-of-workers"
# the packages of the tests are there, as PySpark needs some, and the folders that tests run from are handed to all
_HIDES = """import sys
class Hides:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "deltaic":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Hides())
"""


def _bare(folder: Path) -> dict[str, str]:
    """The variables of a worker whose Python has all packages but deltaic."""
    venv.create(folder, symlinks=True)
    packages = next(folder.rglob("site-packages"))
    (packages / "hides_deltaic.py").write_text(_HIDES)
    (packages / "all.pth").write_text("\n".join(["import hides_deltaic", *site.getsitepackages()]))
    return _with_python(folder, folder / "bin" / "python")


def _with_python(folder: Path, python: Path) -> dict[str, str]:
    # a link to the link of a virtual environment would lose it
    started = folder / "started"
    started.mkdir(parents=True)
    (started / PYTHON).write_text(f'#!/bin/sh\nexec {python} "$@"\n')
    (started / PYTHON).chmod(0o755)
    return {"PATH": f"{started}{os.pathsep}{os.environ['PATH']}"}


def _played(folder: Path, lacking: int) -> dict[str, Any]:
    own = {number: _bare(folder / f"bare-{number}") for number in range(lacking)}
    ours = {
        number: _with_python(folder / f"ours-{number}", Path(sys.executable)) for number in range(lacking, 2)
    }
    with cluster.cluster(folder / "cluster", own=own | ours) as url:
        said = cluster.run(url, PROGRAM, str(folder), PYSPARK_PYTHON=PYTHON)
    reported: dict[str, Any] = json.loads(said.splitlines()[-1])
    assert {name: found["wrong"] for name, found in reported.items() if found["wrong"]} == {}
    return reported


@pytest.mark.spark
@pytest.mark.long  # `test_workers` and `test_optimize_tasks` show most of it in one process
@pytest.mark.timeout(900)
def test_where_all_workers_lack_deltaic(tmp_path: Path) -> None:
    reported = _played(tmp_path, lacking=2)
    for name in ("plain", "upsert", "delete", "optimize"):
        assert reported[name]["refused"] is None, name
    assert any("OPTIMIZE works in this process" in said for said in reported["optimize"]["warned"])
    refused = reported["arrow"]["refused"]
    assert f"Spark's Python workers run `{PYTHON}`" in refused
    assert "No module named 'deltaic" in refused
    assert reported["arrow"]["left"] == 0


@pytest.mark.spark
@pytest.mark.long  # as above
@pytest.mark.timeout(900)
def test_where_one_worker_lacks_deltaic(tmp_path: Path) -> None:
    reported = _played(tmp_path, lacking=1)
    for name in ("plain", "upsert", "delete", "optimize"):
        assert reported[name]["refused"] is None, name
    # Spark may run the tasks again on the other worker
    if reported["arrow"]["refused"] is not None:
        assert f"Spark's Python workers run `{PYTHON}`" in reported["arrow"]["refused"]
        assert reported["arrow"]["left"] == 0
