"""The peers: delta-spark in its own process, from Maven Central, and `deltalake`."""

from __future__ import annotations

import datetime as dt
import decimal
import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import peers
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("interop")
            # the first one fetches delta-spark and its PySpark
            item.add_marker(pytest.mark.timeout(1800))


def _command(script: str, warehouse: Path) -> tuple[list[str], dict[str, str]]:
    """The command and the environment of a script here that runs with delta-spark."""
    return peers.command(HERE / script, warehouse)


@pytest.fixture(scope="session")
def peer() -> Callable[[str, Path], tuple[list[str], dict[str, str]]]:
    return _command


@pytest.fixture(scope="session")
def delta_package() -> Path:
    with peers.alone():
        return peers.package()


@pytest.fixture(scope="session")
def delta_jars() -> list[str]:
    with peers.alone():
        return peers.jars()


class DeltaSpark:
    """delta-spark, by request and answer."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._reads = 0
        command, environment = _command("delta_spark.py", folder / "warehouse")
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "delta-spark has ended"
        answer: dict[str, Any] = json.loads(line)
        assert "error" not in answer, answer["error"]
        return answer

    def sql(self, *statements: str) -> None:
        """Runs statements in order."""
        for statement in statements:
            self._ask({"sql": statement})

    def answer(self, statement: str) -> tuple[dict[str, Any], list[str]]:
        """Runs a statement: schema and rows (JSON) of its answer."""
        answer = self._ask({"sql": statement, "answer": True})
        return answer["schema"], answer["rows"]

    def read(self, path: Path | str, **options: str) -> pa.Table:
        """The rows of a table."""
        return self.read_where(path, "true", **options)

    def read_where(self, path: Path | str, where: str, **options: str) -> pa.Table:
        """The rows of a table that meet a condition."""
        self._reads += 1
        into = self._folder / f"rows-{self._reads}"
        self._ask({"read": str(path), "options": options, "where": where, "into": str(into)})
        return pq.ParquetDataset(into).read()

    def write(self, path: Path | str, query: str, mode: str, options: dict[str, str], by: list[str]) -> None:
        """Writes the rows of a query with a DataFrameWriter."""
        self._ask({"write": str(path), "query": query, "mode": mode, "options": options, "by": by})

    def stream(self, path: Path, to: Path, checkpoint: Path, **options: str) -> None:
        """Streams what is there from one table into another."""
        paths = {"stream": str(path), "to": str(to), "checkpoint": str(checkpoint)}
        self._ask({**paths, "options": options})

    def step(self, at: Path, statements: list[str], options: dict[str, str]) -> Any:
        """What one run of a query of `tracked_streams` tells."""
        return self._ask({"step": statements, "at": str(at), "options": options})["reported"]

    def call(self, path: Path | str, *calls: list[Any]) -> tuple[dict[str, Any], list[str]]:
        """Schema and rows (JSON) of what methods give, each called on what the one before gave."""
        answer = self._ask({"table": str(path), "calls": calls})
        return answer["schema"], answer["rows"]

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=60)


@pytest.fixture(scope="session")
def delta_spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DeltaSpark]:
    peer = DeltaSpark(tmp_path_factory.mktemp("delta-spark"))
    yield peer
    peer.close()


def _plain(value: Any) -> Any:
    """A value whose `repr` is the same whichever engine typed it."""
    if isinstance(value, dict):
        return {name: _plain(value[name]) for name in sorted(value)}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


class Same:
    """Asserts that two tables hold the same rows, whatever the order of rows and columns."""

    def __call__(self, left: Any, right: Any) -> None:
        ours, theirs = pa.table(left), pa.table(right)
        assert sorted(ours.column_names) == sorted(theirs.column_names)
        assert self.rows(ours) == self.rows(theirs)

    @staticmethod
    def rows(table: pa.Table) -> list[str]:
        return sorted(repr(_plain(row)) for row in table.to_pylist())


@pytest.fixture(scope="session")
def same() -> Same:
    return Same()


@pytest.fixture(scope="session")
def every_type() -> pa.Table:
    """One column a type; the first row has low values, the second high ones, the third nulls."""
    utc = dt.timezone.utc
    columns = {
        "id": pa.array([1, 2, 3], pa.int64()),
        "integer": pa.array([-(2**31), 2**31 - 1, None], pa.int32()),
        "short": pa.array([-(2**15), 2**15 - 1, None], pa.int16()),
        "byte": pa.array([-128, 127, None], pa.int8()),
        "float": pa.array([-1.5, float("inf"), None], pa.float32()),
        "double": pa.array([float("nan"), 1e300, None], pa.float64()),
        "decimal": pa.array(
            [decimal.Decimal("-1234567890123456.7890"), decimal.Decimal("0.0001"), None], pa.decimal128(20, 4)
        ),
        "flag": pa.array([False, True, None], pa.bool_()),
        "text": pa.array(["", "zß水🦀", None], pa.string()),
        "raw": pa.array([b"", b"\x00\xff", None], pa.binary()),
        "day": pa.array([dt.date(1900, 1, 1), dt.date(9999, 12, 31), None], pa.date32()),
        "at": pa.array(
            [
                dt.datetime(1969, 12, 31, 23, 59, 59, 999999, utc),
                dt.datetime(2026, 1, 2, 3, 4, 5, 678901, utc),
                None,
            ],
            pa.timestamp("us", "UTC"),
        ),
        "clock": pa.array(
            [
                dt.datetime(1969, 12, 31, 23, 59, 59, 999999),
                dt.datetime(2026, 1, 2, 3, 4, 5, 678901),
                None,
            ],
            pa.timestamp("us"),
        ),
        "list": pa.array([[], [1, None], None], pa.list_(pa.int32())),
        "struct": pa.array(
            [{"a": 1, "b": None}, {"a": None, "b": "x"}, None], pa.struct({"a": pa.int64(), "b": pa.string()})
        ),
        "map": pa.array([[], [("k", 1), ("l", None)], None], pa.map_(pa.string(), pa.int32())),
    }
    return pa.table(columns)


# what a path has to escape, and what it must not
PARTITIONS = [
    "plain",
    "a b",
    "a%20b",
    "100%",
    "a/b",
    "a=b",
    "a:b",
    "ü水",
    "#?&;+",
    "{[^~|\\\"']}",
    "..",
    None,
]


@pytest.fixture(scope="session")
def odd_partitions() -> pa.Table:
    """Partition values with every kind of character, and null."""
    return pa.table(
        {"id": pa.array(range(len(PARTITIONS)), pa.int64()), "p": pa.array(PARTITIONS, pa.string())}
    )
