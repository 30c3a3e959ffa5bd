"""The options of every JVM that tests start, and its classes in an archive (class data sharing), with which it starts
in less than half the time.

An archive is made once for a Java and a PySpark, by a session that does what tests do. A JVM that it does not fit
ignores it, so no answer depends on it.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pyspark
from filelock import FileLock

from deltaic.spark.java import ensure_java

HERE = Path(__file__).parent
# the `java` command adds what it holds to its own options
OPTIONS = "JDK_JAVA_OPTIONS"
# sessions are short: what the second compiler costs does not come back, and what the first one made is not made again
_SHORT = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"


def share_own() -> None:
    """Every JVM that this process starts from now on has the options, and uses the archive of this PySpark, which is
    made where it is not there. It lies in the virtual environment; outside one there is none."""
    if sys.prefix == sys.base_prefix:
        os.environ[OPTIONS] = _SHORT
        return
    jars = Path(pyspark.__file__).parent / "jars"
    folder = Path(sys.prefix) / "share" / "deltaic-tests"
    os.environ.update(_shared(dict(os.environ), folder, "deltaic", jars, [sys.executable]))


def shared_peer(environment: dict[str, str], folder: Path, command: list[str], jars: Path) -> dict[str, str]:
    """The environment of a process with delta-spark, whose JVM uses an archive in the folder.

    Args:
        environment: Of the process, without an archive.
        folder: Where the archive lies.
        command: The Python with delta-spark's PySpark, and what follows the program.
        jars: The folder of that PySpark's JARs.
    """
    return environment | _shared(environment, folder, "peer", jars, command)


def _shared(
    environment: dict[str, str], folder: Path, name: str, jars: Path, command: list[str]
) -> dict[str, str]:
    """The option that names the archive, after it was made where it is not there."""
    java = ensure_java()
    parts = [str(java), (java / "release").read_text(encoding="utf-8"), str(jars)]
    parts += (f"{jar.name} {jar.stat().st_mtime_ns}" for jar in sorted(jars.glob("*.jar")))
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    archive = folder / f"{name}-{key}.jsa"
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / f"{name}.lock"):
        if not archive.exists():
            _make(archive, environment, command)
            for other in folder.glob(f"{name}-*.jsa"):
                if other != archive:
                    other.unlink()
    # a JVM that the archive does not fit would say so on its standard output
    quiet = "-Xlog:disable -Xlog:all=error:stderr"
    shares = f" -XX:SharedArchiveFile={archive} {quiet}" if archive.stat().st_size else ""
    return {OPTIONS: _SHORT + shares}


def _make(archive: Path, environment: dict[str, str], command: list[str]) -> None:
    """Runs the program, at whose end its JVM writes the archive. An empty file says that this Java writes none."""
    draft = archive.with_suffix(".draft")
    options = f"{_SHORT} -XX:ArchiveClassesAtExit={draft} -Xlog:disable"
    with tempfile.TemporaryDirectory() as work:
        interpreter, *arguments = command
        subprocess.run(
            [interpreter, HERE / "class_data_program.py", work, *arguments],
            env={**environment, OPTIONS: options},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=600,
            check=False,
        )
    draft.touch()
    draft.replace(archive)
