"""Files that a frame of Frames.java reads: Spark asks for them when it plans, and their owner answers until it ends."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakValueDictionary

from deltaic.exceptions import InternalError

if TYPE_CHECKING:
    from collections.abc import Mapping


class Relation(Protocol):
    """Some files of a version."""

    def describe(self, identity: str) -> str:
        """Schema, partitioning and properties as JSON, as of a `SparkTable`, under this identity."""

    def files(self, predicate: str | None) -> bytes:
        """The files that may hold a row for which the predicate is true, in the layout of `SparkTable.files`."""

    def scan(self, storage: dict[str, str], predicate: str | None, row_ids: bool) -> Any:  # noqa: FBT001
        """The plan of a read of these files by the core, as `SparkTable.scan`."""

    def size(self) -> int:
        """Bytes of all files."""


# the owners hold the relations: this only finds them
_found: WeakValueDictionary[str, Relation] = WeakValueDictionary()


class Held:
    """The relations of one owner, a command or a batch of a stream, from `hold` to `release`.

    Args:
        path: The table, as the user wrote it.
        storage_options: Those by which its files are read.
    """

    def __init__(self, path: str, storage_options: Mapping[str, str]) -> None:
        self._path = path
        self._options = dict(storage_options)
        self._relations: dict[str, Relation] = {}

    def hold(self, relation: Relation) -> dict[str, Any]:
        """The facts of which Frames.java makes a frame; plans of the frame find the relation by their `identity`."""
        identity = f"deltaic-{uuid.uuid4()}"
        facts = json.loads(relation.describe(identity))
        self._relations[identity] = _found[identity] = relation
        return {**facts, "path": self._path, "options": self._options, "held": True}

    def __contains__(self, identity: str) -> bool:
        return identity in self._relations

    def release(self) -> None:
        """Ends it: no plan finds these relations any more."""
        for identity in self._relations:
            _found.pop(identity, None)
        self._relations.clear()


def find(identity: str, path: str) -> Relation:
    """The relation that an owner holds.

    Raises:
        InternalError: when the owner has ended. Without it, a plan would read other files than it chose.
    """
    relation = _found.get(identity)
    if relation is None:
        operation, reason = "plan", f"the statement that chose these files of `{path}` has ended"
        message = f"internal error in `{operation}`: {reason}. This is a bug of deltaic: please report it"
        raise InternalError(message, operation=operation, reason=reason)
    return relation
