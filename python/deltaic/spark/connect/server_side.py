"""What a Python worker of the server runs for a client that has no JAR for the Spark there."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEMA = "name string, content binary"
# a worker's own Java gateway, standard output and settings stay out of it
_MAKE = (
    "import sys; from pathlib import Path; from deltaic.spark.bridge.server_jar import server_jar; "
    "server_jar(Path(sys.argv[1]))"
)


def make_jar(_: Any) -> Iterator[Any]:
    """The JAR of the bridge for the Spark of this machine, by `mapInArrow`: one row with its name and its content."""
    import pyarrow as pa

    with tempfile.TemporaryDirectory(prefix="deltaic-") as folder:
        made = subprocess.run(  # noqa: S603  (this Python, and a program of this file)
            [sys.executable, "-W", "ignore", "-c", _MAKE, folder],
            capture_output=True,
            text=True,
            check=False,
        )
        found = list(Path(folder).glob("*.jar"))
        if not found:
            last = made.stderr.strip().splitlines() or [f"exit code {made.returncode}"]
            raise RuntimeError(f"the JAR cannot be made: {last[-1]}")
        yield pa.RecordBatch.from_pydict({"name": [found[0].name], "content": [found[0].read_bytes()]})
