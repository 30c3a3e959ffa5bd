"""Where the peers come from: delta-spark and its PySpark, from Maven Central and PyPI, once a machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import class_data
import pyspark
import pytest
from filelock import FileLock

from deltaic.spark.java import ensure_java

HERE = Path(__file__).parent
# delta-spark 4.4 is built for this PySpark, whatever the tests run on
PEER_PYSPARK = "4.1"


def cache() -> Path:
    """Where packages of peers and stores are kept."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "deltaic" / "peers"


def alone() -> FileLock:
    """Other test processes wait while one fetches a peer."""
    cache().mkdir(parents=True, exist_ok=True)
    return FileLock(cache() / "lock")


def jars() -> list[str]:
    """The JARs of delta-spark, fetched by Maven once a machine."""
    folder = cache() / "jars-4.4.0"
    if not folder.exists():
        maven = shutil.which("mvn")
        if maven is None:
            reason = (
                "INTEROP NOT TESTED: Maven (mvn) is not installed, and delta-spark comes from Maven Central"
            )
            if os.environ.get("CI"):
                pytest.fail(reason)
            pytest.skip(reason)
        draft = folder.with_suffix(f".{os.getpid()}")
        copy = [
            "dependency:copy-dependencies",
            "-DincludeScope=runtime",
            "-DincludeGroupIds=io.delta,io.unitycatalog",
        ]
        command = [
            maven,
            "-q",
            "-B",
            "-f",
            str(HERE / "interop" / "pom.xml"),
            *copy,
            f"-DoutputDirectory={draft}",
        ]
        subprocess.run(command, check=True, timeout=900)
        draft.replace(folder)
    return sorted(map(str, folder.glob("*.jar")))


def package() -> Path:
    """The folder of delta-spark's Python package, fetched once a machine."""
    folder = cache() / "delta-spark-4.4.0"
    if not folder.exists():
        draft = folder.with_suffix(f".{os.getpid()}")
        pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(draft)]
        subprocess.run([*pip, "delta-spark==4.4.0"], check=True, timeout=900)
        draft.replace(folder)
    return folder


def python() -> str:
    """A Python with the PySpark that delta-spark is built for: this one, or one in the cache folder."""
    if pyspark.__version__.startswith(f"{PEER_PYSPARK}."):
        return sys.executable
    folder = (
        cache() / f"pyspark-{PEER_PYSPARK}-pyarrow-python-{sys.version_info.major}.{sys.version_info.minor}"
    )
    found = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not (folder / "complete").exists():
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run(
            [found, "-m", "pip", "install", "-q", f"pyspark=={PEER_PYSPARK}.*", "pyarrow"],
            check=True,
            timeout=1800,
        )
        (folder / "complete").touch()
    return str(found)


def command(script: Path, warehouse: Path) -> tuple[list[str], dict[str, str]]:
    """The command and the environment of a script that runs with delta-spark."""
    ensure_java()
    with alone():
        interpreter, folder, classes = python(), package(), jars()
    environment = {
        **os.environ,
        "PYSPARK_PYTHON": interpreter,
        "PYSPARK_DRIVER_PYTHON": interpreter,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    environment["PYTHONPATH"] = str(folder)
    environment.pop("SPARK_HOME", None)
    environment.pop(class_data.OPTIONS, None)
    arguments = [os.pathsep.join(classes), warehouse.as_uri()]
    environment = class_data.shared_peer(environment, cache(), [interpreter, *arguments], _spark(interpreter))
    return [interpreter, str(script), *arguments], environment


def _spark(interpreter: str) -> Path:
    """The folder of a Python's PySpark JARs."""
    program = "import pathlib, pyspark; print(pathlib.Path(pyspark.__file__).parent / 'jars')"
    return Path(
        subprocess.run(
            [interpreter, "-c", program], check=True, stdout=subprocess.PIPE, text=True
        ).stdout.strip()
    )
