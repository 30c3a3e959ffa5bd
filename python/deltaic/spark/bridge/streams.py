"""Streaming sources for the JVM: the core decides where a batch ends and which files it has."""

from __future__ import annotations

import json
import threading
from typing import Any

from deltaic import _core
from deltaic.exceptions import SchemaMismatchError, TableNotFoundError
from deltaic.spark.read.change_data_feed import COLUMNS
from deltaic.spark.read.held import Held
from deltaic.spark.read.options import split_storage
from deltaic.spark.session.jvm import session_of
from deltaic.spark.session.places import placed
from deltaic.spark.session.settings import may_keep_schemas_anywhere, of_streams
from deltaic.spark.stream.change_data_feed import open_stream

# batches whose files Spark may still ask for: the one that runs, and the last one, which a restart asks for again
_KEPT = 3

_lock = threading.Lock()
_open: dict[str, _Stream] = {}


class _Stream:
    """A source of a query, with the batches that it gave last."""

    def __init__(self, source: Any, path: str, storage: dict[str, str]) -> None:
        self.source = source
        self._path, self._storage = path, storage
        self._given: list[Held] = []

    def hold(self, parts: list[Any]) -> list[dict[str, Any]]:
        """The facts of each part of a batch, and the commit that inserted all of its rows."""
        batch = Held(self._path, self._storage)
        self._given.append(batch)
        facts = [
            {**batch.hold(_Relation(part)), "inserted": getattr(part, "inserted", None)} for part in parts
        ]
        self._release(len(self._given) - _KEPT)
        return facts

    def close(self) -> None:
        """No plan may ask any more."""
        self._release(len(self._given))

    def _release(self, oldest: int) -> None:
        for _ in range(oldest):
            self._given.pop(0).release()


class _Relation:
    """Files of a batch, as the bridge asks for them: see `SparkTable` in the core."""

    def __init__(self, part: Any) -> None:
        self._part = part

    def describe(self, identity: str) -> str:
        """Schema, partitioning and properties as JSON."""
        return str(self._part.describe(identity))

    def files(self, predicate: str | None) -> bytes:
        """All files: Spark applies filters by their footers."""
        del predicate
        return bytes(self._part.files())

    def scan(self, storage: dict[str, str], predicate: str | None, row_ids: bool) -> Any:  # noqa: FBT001
        """The plan of a read of all files by the core."""
        del storage, predicate, row_ids
        return self._part

    def size(self) -> int:
        """Bytes of all files."""
        return int(self._part.size())


def schema(asked: dict[str, Any]) -> str:
    """What a stream with these options reads, as JSON. The options are checked.

    Raises:
        SchemaMismatchError: when the user gives another schema.
    """
    try:
        source = _source(asked)
    except TableNotFoundError as error:
        raise error.named("DELTA_SCHEMA_NOT_SET") from None
    described = str(source.describe())
    if "given" in asked:
        own, given = (
            [(field["name"], field["type"]) for field in said["fields"]]
            for said in (json.loads(described)["schema"], json.loads(asked["given"]))
        )
        # for a table that is named Spark gives that of the table
        if given not in (own, [f for f in own if f not in COLUMNS]):
            reason = "a stream has the schema of its table: leave `.schema(…)` out"
            refusal = SchemaMismatchError.of(asked["path"], reason)
            raise refusal.named("DELTA_READ_SOURCE_SCHEMA_CONFLICT")
    return described


def open_source(asked: dict[str, Any]) -> str:
    """Opens a source of a query under its name, and describes it as JSON."""
    source = _source(asked)
    with _lock:
        _open[asked["stream"]] = _Stream(source, asked["path"], split_storage(asked["options"])[1])
    return str(source.describe())


def latest(asked: dict[str, Any]) -> str | None:
    """The end offset of the next batch."""
    source = _named(asked).source
    offset: str | None = source.latest(
        asked["start"], everything=asked["everything"], max_files=asked.get("maxFiles")
    )
    return offset


def available_now(asked: dict[str, Any]) -> None:
    """The query reads the existing rows and stops."""
    _named(asked).source.stop_at_what_is_there()


def batch(asked: dict[str, Any]) -> str:
    """The facts of which Frames.java makes the rows of a batch."""
    stream = _named(asked)
    return json.dumps(stream.hold(stream.source.batch(asked["start"], asked["end"])))


def commit(asked: dict[str, Any]) -> None:
    """A batch is done."""
    _named(asked).source.commit(asked["end"])


def check_places(asked: dict[str, Any]) -> None:
    """Checks where a query that starts keeps the schemas of its sources."""
    places: list[_core._StreamPlace] = [
        {"table": p["table"], "location": p["location"], "uri": p["uri"], "source": p.get("source")}
        for p in asked["places"]
    ]
    anywhere = may_keep_schemas_anywhere(session_of(None))
    _core.check_stream_places(asked["checkpoint"], places, anywhere)


def stop(asked: dict[str, Any]) -> None:
    """The query has ended."""
    with _lock:
        stream = _open.pop(asked["stream"], None)
    if stream is not None:
        stream.close()


def _named(asked: dict[str, Any]) -> _Stream:
    with _lock:
        return _open[asked["stream"]]


def _source(asked: dict[str, Any]) -> Any:
    settings = of_streams(session_of(None))
    options, storage = split_storage(asked["options"])
    given = (placed(session_of(None), asked["path"]), options, asked.get("since"), storage)
    return open_stream(*given, settings, asked.get("metadataPath"))
