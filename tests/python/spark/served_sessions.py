"""Sessions of Spark Connect, and the processes by which a server serves them."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def session(url: str) -> Any:
    """A new one, which knows nothing of deltaic."""
    from pyspark.sql.connect.session import SparkSession

    return SparkSession.builder.remote(url).create()


def unserved(url: str) -> Any:
    """A new one, enabled, of a server whose admin lets no client attach to it."""
    import pytest

    import deltaic

    made = session(url)
    with pytest.warns(UserWarning, match=r"does not allow it \(spark\.deltaic\.connect\.clientDoor\)"):
        return deltaic.enable(made)


def server_of(spark: Any) -> int:
    """The process of the server's JVM."""
    return int(spark.range(0, 1, 1, 1).mapInArrow(_grandparent, "pid long").first()[0])


def agents_of(spark: Any) -> list[int]:
    """The processes that serve a server's sessions: children of its JVM."""
    return agents_below(server_of(spark))


def agents_below(server: int) -> list[int]:
    """As `agents_of`, by the process of the server's JVM."""
    command = ["pgrep", "-f", "-P", str(server), "bridge.agent"]
    return [int(pid) for pid in subprocess.run(command, capture_output=True, text=True).stdout.split()]


def _grandparent(_: Any) -> Iterator[Any]:
    # a worker is the child of its daemon, which the JVM started
    import os

    import pyarrow as pa

    status = Path(f"/proc/{os.getppid()}/stat").read_text()
    yield pa.RecordBatch.from_pydict({"pid": [int(status.rpartition(")")[2].split()[1])]})


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 180
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.2)
