"""Row-level changes for the JVM: a plan of the core as a relation that the bridge opens and asks for files."""

from __future__ import annotations

import json
from typing import Any

from deltaic import _core
from deltaic.spark.read.change_data_feed import Feed, wanted
from deltaic.spark.read.options import split_storage, verify_level
from deltaic.spark.session.jvm import session_of
from deltaic.spark.session.settings import refuse

__all__ = ["Relation", "again", "of_options", "wanted"]


class Relation:
    """Changes of a range of versions; answers as a `SparkTable`.

    Args:
        plan: The changes.
        table: The `_core.Table` that they were planned from.
        last: The last version that is included once it exists; None if later versions are not included.
    """

    def __init__(self, plan: Any, table: Any, last: int | None) -> None:
        self._plan = plan
        self._files: _core._ChangeFiles | None = None
        self._size: int | None = None
        self._facts = json.loads(plan.describe())
        # a frame of a version that is not the newest may not be written to
        self._facts["timeTravel"] = True
        # a range that is empty stays empty
        is_open = plan.versions is not None and last is not None and last > table.version
        self._facts["changes"] = {
            "of": table.version,
            "versions": plan.versions,
            "open": is_open,
            "last": last,
            "table": _id_of(table),
        }
        self._facts["identity"] += f"@{table.version}" + (f"@open-{last}" if is_open else "")
        self.identity: str = self._facts["identity"]

    def describe(self) -> str:
        """Schema, partitioning and properties as JSON."""
        return json.dumps(self._facts)

    def files(self, predicate: str | None) -> bytes:
        """All files: the JVM does not ask for some of them."""
        del predicate
        files = self._files or self._plan.files()
        self._files = None
        return bytes(files["block"])

    def scan(self, storage: dict[str, str], predicate: str | None, row_ids: bool) -> Any:  # noqa: FBT001
        """The plan of a read of all files by the core."""
        del storage, predicate, row_ids
        return self._plan

    def check_analyzed(self, facts: str) -> None:
        """Checks that a query that was analyzed with these columns can read the changes.

        Raises:
            SchemaChangedError: when it cannot.
        """
        self._plan.check_analyzed(facts)

    def size(self) -> int:
        """Bytes of all files."""
        if self._size is None:
            # Spark asks for the files next
            self._files = self._plan.files()
            self._size = self._files["size"]
        return self._size


def of_options(asked: dict[str, Any]) -> Relation:
    """The changes that the options of a read ask for.

    Raises:
        UnsupportedError: the session sets what changes would ignore, by its name.
    """
    refuse(session_of(None), "changes")
    given, storage = split_storage(asked["options"])
    millis = (asked.get("startingTimestampOption"), asked.get("endingTimestampOption"))
    lenient = str(asked.get("changesOutOfRange")).lower() == "true"
    feed = Feed.parse(asked["path"], given, millis, allow_out_of_range=lenient)
    table = _core.Table(asked["path"], None, None, storage, verify_level(given))
    return Relation(feed.plan(table), table, feed.last)


def newest(asked: dict[str, Any]) -> Relation | None:
    """The changes up to the newest version, or until another one; none where that is the one that is known.

    Args:
        asked: The JSON of `Relation` for changes that later versions may extend.
    """
    given, storage = split_storage(asked["options"])
    table = _core.Table(asked["uri"], asked.get("until"), None, storage, verify_level(given))
    known = asked["changes"]
    if (table.version, _id_of(table)) == (known["of"], known["table"]):
        return None
    # a session that accepts stale answers may know less than the start
    plan = table.changes(known["versions"][0], None, known["last"], None, allow_out_of_range=True)
    return Relation(plan, table, known["last"])


def again(asked: dict[str, Any]) -> Relation:
    """The same changes as before, from the JSON of `Relation`."""
    given, storage = split_storage(asked["options"])
    latest: int = asked["changes"]["of"]
    table = _core.Table(asked["uri"], latest, None, storage, verify_level(given))
    versions = asked["changes"]["versions"]
    start, end = versions or (latest + 1, None)
    plan = table.changes(start, None, end, None, allow_out_of_range=versions is None)
    return Relation(plan, table, asked["changes"]["last"])


def _id_of(table: Any) -> str:
    return str(json.loads(table.metadata())["id"])
