"""Where the tables of histories are: in folders, or on a store behind a faulty network."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from proxy import Proxy

# about one request in ten: a request succeeds that is sent a few times
RATES = {"busy": 0.02, "reset": 0.02, "cut": 0.02, "torn": 0.02, "lost": 0.03, "hung": 0.001}
PATIENCE = "2s"


@dataclass(frozen=True)
class Place:
    """Where the tables of a play are."""

    folder: Path
    """The folder in which a table's files are found, whatever writes them."""
    uri: str | None = None
    """How the writers name it; without it they name the folder."""
    options: dict[str, str] = field(default_factory=dict)
    """How deltaic reaches it."""
    straight: dict[str, str] = field(default_factory=dict)
    """The same without faults: for engines that take an answer that was lost for a lost race, and for checks."""
    network: Proxy | None = None

    def table(self, name: str) -> tuple[str, Path]:
        """How a table is named, and the folder of its files."""
        path = self.folder / name
        return f"{self.uri}/{name}" if self.uri else str(path), path

    def options_of(self, engine: str) -> dict[str, str]:
        """How an engine reaches it."""
        return self.options if engine == "table" else self.straight


@contextmanager
def faulty_store(folder: Path, seed: int) -> Iterator[Place]:
    """versitygw behind a faulty network. It keeps objects as files, which an independent reader finds there."""
    beside = str(Path(__file__).parents[1] / "stores")
    if beside not in sys.path:
        sys.path[:0] = [str(Path(beside).parent), beside]
    import servers
    from proxy import Network, proxy

    faults = Network(seed, RATES, hangs=3.0, latency=0.004)
    with servers.versitygw(folder / "versitygw") as server, proxy(server.endpoint, faults) as network:
        by_network = {**replace(server, endpoint=network.endpoint).options, "timeout": PATIENCE}
        uri = f"s3://{servers.BUCKET}"
        yield Place(folder / "versitygw" / "data" / servers.BUCKET, uri, by_network, server.options, network)
