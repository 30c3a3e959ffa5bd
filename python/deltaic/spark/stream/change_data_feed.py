"""The row-level changes of a table as a stream: first the existing rows, as inserts, then those of each version.

It answers as `_core.StreamSource`, which decides the next offset, and the plans of the change feed give the rows. A
batch has whole versions, so that both images of an update come together.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from deltaic import _core
from deltaic.exceptions import InvalidArgumentError
from deltaic.spark.read import change_data_feed
from deltaic.spark.read.change_data_feed import COLUMNS
from deltaic.spark.session.switches import switch

if TYPE_CHECKING:
    from collections.abc import Mapping

_BEFORE = -1
_BEFORE_IN_FORM_3 = -100
# what they say of commits that change rows means nothing where changes are read
_WITHOUT_EFFECT = ("ignoreDeletes", "ignoreChanges", "ignoreFileDeletion", "skipChangeCommits")


def open_stream(
    path: str,
    options: Mapping[str, str],
    since: int | None,
    storage: dict[str, str],
    settings: dict[str, str] | None = None,
    metadata_path: str | None = None,
) -> Any:
    """A source of a stream with these options (names in lower case).

    Args:
        path: Path or URL of the table.
        options: The options.
        since: `startingTimestamp` in milliseconds.
        storage: Options of the store.
        settings: Settings of the session, as `_core.StreamSource` takes them.
        metadata_path: Where the source of a query that runs has its part of the checkpoint.

    Raises:
        InvalidArgumentError: for a value that makes no sense, by the name of the option.
        UnsupportedError: for an option by its name.
        ChangesNotRecordedError: when the changes of the table are asked for and not recorded.
    """
    given = (path, dict(options), since, storage, settings, metadata_path)
    return ChangeStream(*given) if change_data_feed.wanted(options) else _core.StreamSource(*given)


def with_changes(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema of Spark with the columns of changes."""
    made = [{"name": n, "type": t, "nullable": True, "metadata": {}} for n, t in COLUMNS]
    return {**schema, "fields": [*schema["fields"], *made]}


@dataclass(frozen=True)
class _Offset:
    table: str
    version: int
    index: int
    initial: bool
    mark: bool = False

    @classmethod
    def of(cls, text: str) -> _Offset:
        given = json.loads(text)
        mark = given["sourceVersion"] == 3 and given["index"] == _BEFORE_IN_FORM_3
        index = max(given["index"], _BEFORE)
        return cls(
            given["reservoirId"], given["reservoirVersion"], index, given["isStartingVersion"], mark=mark
        )

    def before(self, version: int, *, initial: bool = False) -> _Offset:
        return replace(self, version=version, index=_BEFORE, initial=initial, mark=False)

    def json(self) -> str:
        written = {
            "sourceVersion": 3 if self.mark else 1,
            "reservoirId": self.table,
            "reservoirVersion": self.version,
            "index": _BEFORE_IN_FORM_3 if self.mark else self.index,
            "isStartingVersion": self.initial,
        }
        return json.dumps(written, separators=(",", ":"))


class ChangeStream:
    """The source; see the module."""

    def __init__(
        self,
        path: str,
        options: Mapping[str, str],
        since: int | None,
        storage: dict[str, str],
        settings: dict[str, str] | None = None,
        metadata_path: str | None = None,
    ) -> None:
        if "excluderegex" in options:
            raise InvalidArgumentError.of("excludeRegex", "not with readChangeFeed, which gives every change")
        for name in _WITHOUT_EFFECT:
            switch(name, options.get(name.lower()))
        left = {"readchangefeed", "readchangedata", *map(str.lower, _WITHOUT_EFFECT)}
        # commits that change rows are what the query reads
        rest = {name: value for name, value in options.items() if name not in left}
        given = {**rest, "ignorechanges": "true"}
        self._source = _core.StreamSource(path, given, since, storage, settings, metadata_path)
        self._at_table = "startingversion" not in options and "startingtimestamp" not in options
        self._path, self._storage = path, storage
        self._facts = json.loads(self._source.describe())
        self._facts["schema"] = with_changes(self._facts["schema"])
        if self._facts["properties"].get("delta.enableChangeDataFeed", "").lower() != "true":
            newest = self._source.schema_version
            self._table(newest).changes(newest, None, newest, None)

    def describe(self) -> str:
        """As `_core.StreamSource`."""
        return json.dumps(self._facts)

    @property
    def schema(self) -> str:
        """As `_core.StreamSource`."""
        return json.dumps(self._facts["schema"])

    def stop_at_what_is_there(self) -> None:
        """As `_core.StreamSource`."""
        self._source.stop_at_what_is_there()

    def commit(self, end: str) -> None:
        """As `_core.StreamSource`."""
        self._source.commit(end)

    def first(self) -> str:
        """As `_core.StreamSource`."""
        return str(self._source.first())

    def head(self) -> str:
        """As `_core.StreamSource`."""
        return str(self._source.head())

    def latest(
        self, start: str | None = None, *, everything: bool = False, max_files: int | None = None
    ) -> str | None:
        """As `_core.StreamSource`, but a batch ends after the initial rows, and between versions."""
        found = self._source.latest(start, everything=everything, max_files=max_files)
        if found is None:
            return None
        begin, end = _Offset.of(start or self.first()), _Offset.of(found)
        if end.mark or end.initial or (end.version, end.index) == (begin.version, begin.index):
            return str(found)
        if begin.initial:
            return begin.before(begin.version + 1).json()
        if end.index == _BEFORE:
            return str(found)
        return end.before(max(end.version, begin.version + 1)).json()

    def batch(self, start: str | None, end: str) -> list[Any]:
        """The parts of a batch. At least one, which may be empty."""
        self._source.begin_log(start, end)
        # also reports what is wrong with the offsets
        nothing = [Inserts(part, 0, 0) for part in self._source.batch(end, end)]
        goal = _Offset.of(end)
        at = self._begin(goal) if start is None else _Offset.of(start)
        at, goal = self._settled(at), self._settled(goal)
        parts: list[Any] = []
        if at.initial or at.index > _BEFORE:
            upto = (
                goal
                if (goal.version, goal.initial) == (at.version, at.initial)
                else at.before(at.version + 1)
            )
            parts += self._inserts(at, upto)
            at = upto
        if at.version < goal.version:
            plan = self._table(goal.version - 1).changes(at.version, None, goal.version - 1, None)
            parts.append(Changes(plan))
            at = at.before(goal.version)
        if at.index < goal.index:
            # delta-spark cut a version that only adds rows
            parts += self._inserts(at, goal)
        return parts or nothing

    def _settled(self, offset: _Offset) -> _Offset:
        """After the version, whose changes are one batch: delta-spark names the last file of such a one."""
        if offset.initial or offset.index == _BEFORE:
            return offset
        found = json.loads(
            self._table(offset.version).changes(offset.version, None, offset.version, None).commits()
        )
        only_adds = found and all(commit["deletes"] == commit["cdc"] == 0 for commit in found)
        return offset if only_adds else offset.before(offset.version + 1)

    def _begin(self, end: _Offset) -> _Offset:
        """Where the first batch of a query began, of which the checkpoint knows only the end."""
        if end.mark:
            return end
        if self._at_table:
            return end.before(end.version if end.initial else end.version - 1, initial=True)
        return _Offset.of(self.first())

    def _inserts(self, start: _Offset, end: _Offset) -> list[Any]:
        time = _core.Table(self._path, start.version, None, self._storage).timestamp()
        parts = self._source.batch(start.json(), end.json())
        return [Inserts(part, start.version, time) for part in parts]

    def _table(self, version: int) -> Any:
        """The table in the schema that the stream has."""
        return _core.Table(self._path, max(version, self._source.schema_version), None, self._storage)


class Inserts:
    """Files whose rows were inserted with a version, of which the plan does not say so.

    Args:
        part: The files, a `_core.StreamPart`.
        version: The version.
        millis: Its time.
    """

    def __init__(self, part: Any, version: int, millis: int) -> None:
        self._part = part
        self.inserted: tuple[int, int] | None = (version, millis)

    def describe(self, identity: str) -> str:
        """As `_core.StreamPart`."""
        return str(self._part.describe(identity))

    def files(self) -> bytes:
        """As `_core.StreamPart`."""
        return bytes(self._part.files())

    def size(self) -> int:
        """As `_core.StreamPart`."""
        return int(self._part.size())

    def splits(self, most_bytes: int) -> list[bytes]:
        """As `_core.StreamPart`."""
        return list(self._part.splits(most_bytes))


class Changes:
    """Whole versions.

    Args:
        plan: Their changes, a `_core.Changes`.
    """

    inserted: tuple[int, int] | None = None

    def __init__(self, plan: Any) -> None:
        self._plan = plan

    def describe(self, identity: str) -> str:
        """As `_core.StreamPart`."""
        facts = json.loads(self._plan.describe())
        return json.dumps({**facts, "identity": identity, "timeTravel": True, "changes": None})

    def files(self) -> bytes:
        """As `_core.StreamPart`."""
        return bytes(self._plan.files()["block"])

    def size(self) -> int:
        """As `_core.StreamPart`."""
        return int(self._plan.files()["size"])

    def splits(self, most_bytes: int) -> list[bytes]:
        """As `_core.StreamPart`."""
        return list(self._plan.splits(most_bytes))
