"""The JAR for a server, made without a session: by a JVM of the Spark that is installed here."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from deltaic.exceptions import UnsupportedError
from deltaic.spark.bridge import compiler
from deltaic.spark.cache import put
from deltaic.spark.java import ensure_java

if TYPE_CHECKING:
    from pathlib import Path

# of the process that runs here, if it is a client or a worker itself
_NOT_FOR_IT = (
    "PYSPARK_GATEWAY_PORT",
    "PYSPARK_GATEWAY_SECRET",
    "PYSPARK_SUBMIT_ARGS",
    "SPARK_CONNECT_MODE_ENABLED",
    "SPARK_REMOTE",
)


def server_jar(folder: Path | None = None) -> Path:
    """The JAR for the Spark that PySpark finds here: in a folder, for all users to read, or in the cache of this user.

    Raises:
        UnsupportedError: when PySpark or its JARs are not here, no Java, or no place for the JAR.
    """
    ensure_java()
    try:
        from pyspark.java_gateway import launch_gateway
    except ImportError as error:
        raise _unsupported(
            f"the JAR without PySpark ({error})", "install the PySpark of the server"
        ) from error
    for name in _NOT_FOR_IT:
        os.environ.pop(name, None)
    gateway = launch_gateway(popen_kwargs={"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL})
    try:
        made = compiler.jar(gateway)
        if folder is not None:
            kept = folder.absolute() / made.name
            put(kept, made.read_bytes(), 0o644)
            return kept
        if compiler.is_temporary(made):
            raise _unsupported("the JAR without a cache (XDG_CACHE_HOME)", "name a folder by --folder")
        return made
    finally:
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait()


def _unsupported(what: str, instead: str) -> UnsupportedError:
    return UnsupportedError(f"{what} is not supported: {instead}", path="", what=what)
