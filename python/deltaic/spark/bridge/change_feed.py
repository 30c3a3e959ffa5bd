"""Row-level changes for the JVM: a plan of the core as a relation that the bridge opens and asks for files."""

from __future__ import annotations

import json
from typing import Any

from deltaic import _core
from deltaic.spark.bridge.options import split_storage, verify_level
from deltaic.spark.bridge.sessions import session_of
from deltaic.spark.changes import Feed, wanted
from deltaic.spark.settings import refuse

__all__ = ["Relation", "again", "of_options", "wanted"]


class Relation:
    """Changes of a range of versions; answers as a `SparkTable`.

    Args:
        plan: The changes.
        latest: The version of the table that they were planned from.
    """

    def __init__(self, plan: Any, latest: int) -> None:
        self._plan = plan
        self._block: tuple[bytes, int] | None = None
        self._size: int | None = None
        self._facts = json.loads(plan.describe())
        # what is asked of a version that is not the newest may not be written to
        self._facts["timeTravel"] = True
        self._facts["changes"] = {"of": latest, "versions": plan.versions}
        self._facts["identity"] += f"@{latest}"
        self.identity: str = self._facts["identity"]

    def describe(self) -> str:
        """Schema, partitioning and properties as JSON."""
        return json.dumps(self._facts)

    def files(self, predicate: str | None) -> bytes:
        """All files: the JVM does not ask for some of them."""
        del predicate
        block, _ = self._block or self._plan.files()
        self._block = None
        return block

    def size(self) -> int:
        """Bytes of all files."""
        if self._size is None:
            # Spark asks for the files next
            self._block = self._plan.files()
            self._size = self._block[1]
        return self._size


def of_options(asked: dict[str, Any]) -> Relation:
    """The changes that the options of a read ask for.

    Raises:
        UnsupportedError: the session sets what changes would pass over in silence, by its name.
    """
    refuse(session_of(None), "changes")
    given, storage = split_storage(asked["options"])
    millis = (asked.get("startingTimestampOption"), asked.get("endingTimestampOption"))
    lenient = str(asked.get("changesOutOfRange")).lower() == "true"
    feed = Feed.parse(asked["path"], given, millis, allow_out_of_range=lenient)
    table = _core.Table(asked["path"], None, None, storage, verify_level(given))
    return Relation(feed.plan(table), table.version)


def again(asked: dict[str, Any]) -> Relation:
    """The same changes as before, from what `Relation` says of them."""
    given, storage = split_storage(asked["options"])
    latest: int = asked["changes"]["of"]
    table = _core.Table(asked["uri"], latest, None, storage, verify_level(given))
    versions = asked["changes"]["versions"]
    start, end = versions or (latest + 1, None)
    plan = table.changes(start, None, end, None, allow_out_of_range=versions is None)
    return Relation(plan, latest)
