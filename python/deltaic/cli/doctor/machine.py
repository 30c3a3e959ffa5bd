"""Python, its packages, Java, and the Python of Spark's workers."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from deltaic._core import __version__
from deltaic.cli.doctor.check import NOTE, OK, PROBLEM, Check
from deltaic.exceptions import UnsupportedError
from deltaic.spark.java import find_java

if TYPE_CHECKING:
    from collections.abc import Iterator

_OLDEST_SPARK, _NEWEST_SPARK = (4, 0), (4, 3)
# what each package is for, and where it is asked for
_PACKAGES = {
    "pandas": "Arrow between Spark and Python",
    "pyarrow": "Arrow between Spark and Python",
    "duckdb": "`python -m deltaic sql`",
}
_ASKED = (
    "import sys, importlib.util as u; "
    "print(*sys.version_info[:2], *(u.find_spec(name) is not None for name in sys.argv[1:]))"
)


def checks() -> Iterator[Check]:
    """The checks of this machine."""
    yield Check("deltaic", OK, f"{__version__}, Python {platform.python_version()}, {platform.platform()}")
    spark = _version("pyspark")
    yield _spark(spark)
    for name, purpose in _PACKAGES.items():
        yield _package(name, purpose)
    if spark is not None:
        yield _java()
        yield _worker()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _spark(found: str | None) -> Check:
    if found is None:
        return Check("PySpark", NOTE, "not installed: tables work without it", "pip install 'deltaic[spark]'")
    numbers = tuple(int(n) for n in re.findall(r"\d+", found)[:2])
    if _OLDEST_SPARK <= numbers <= _NEWEST_SPARK:
        return Check("PySpark", OK, found)
    newest = ".".join(map(str, _NEWEST_SPARK))
    if numbers > _NEWEST_SPARK:
        return Check("PySpark", NOTE, f"{found}, newer than what is tested", f"use 4.0 to {newest}")
    return Check("PySpark", PROBLEM, f"{found} is too old", f"use 4.0 to {newest}")


def _package(name: str, purpose: str) -> Check:
    found = _version(name)
    if found is None:
        return Check(name, NOTE, f"not installed: needed for {purpose}", f"pip install {name}")
    return Check(name, OK, found)


def _java() -> Check:
    try:
        return Check("Java", OK, str(find_java()))
    except UnsupportedError as error:
        return Check("Java", PROBLEM, str(error), "pip install 'deltaic[spark]' brings one")


def _worker() -> Check:
    """The Python that tasks run: of the same minor version, and with deltaic for the Arrow route."""
    name = "Python of workers"
    variable = os.environ.get("PYSPARK_PYTHON")
    command = variable or "python3"
    path = shutil.which(command)
    if path is None:
        return Check(name, PROBLEM, f"`{command}` is not there", f"set PYSPARK_PYTHON to {sys.executable}")
    arguments = [path, "-c", _ASKED, "pyarrow", "deltaic"]
    try:
        text = subprocess.run(arguments, capture_output=True, text=True, timeout=60, check=True).stdout  # noqa: S603
        major, minor, arrow, own = text.split()
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return Check(
            name, PROBLEM, f"`{path}` does not run ({error})", f"set PYSPARK_PYTHON to {sys.executable}"
        )
    where = f"{path} ({'PYSPARK_PYTHON' if variable else 'on PATH'}), Python {major}.{minor}"
    if (int(major), int(minor)) != sys.version_info[:2]:
        advice = (
            f"set PYSPARK_PYTHON to {sys.executable}: Spark refuses another minor version than the driver's"
        )
        return Check(name, PROBLEM, where, advice)
    missing = [package for package, there in (("pyarrow", arrow), ("deltaic", own)) if there != "True"]
    if missing:
        lacks = f"{where}, without {' and '.join(missing)}"
        return Check(name, NOTE, lacks, "install them there for reads and writes by Arrow in tasks")
    return Check(name, OK, where)
