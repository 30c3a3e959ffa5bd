"""Claims that are removed on purpose, in the process of a writer: the checker must find what comes of it.

They take the place of the functions by which the read set of a command is handed over.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any
from unittest import mock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def _reads_of_queries(patches: ExitStack) -> None:
    """What the query of a write and of a command's subqueries and source reads of the table is not claimed."""
    from deltaic.spark.read import read_set

    scans_of = read_set.scans_of

    def lent_only(df: Any) -> list[Any]:
        # a command's own rows are lent to Spark by a name of their own
        return [scan for scan in scans_of(df) if scan[0].startswith("deltaic-")]

    patches.enter_context(mock.patch.object(read_set, "scans_of", lent_only))


def _bound_frames(patches: ExitStack) -> None:
    """Frames are not bound to the version of the transaction: each reads what is newest when it runs."""
    from deltaic.spark.read import read_set

    patches.enter_context(mock.patch.object(read_set, "bind", lambda df, *_: df))


class _Claimless:
    """A `Dml` of the core, to which one of its methods is not handed over."""

    def __init__(self, dml: Any, method: str, instead: Callable[[Any], None]) -> None:
        self._dml, self._method, self._instead = dml, method, instead

    def __getattr__(self, name: str) -> Any:
        if name == self._method:
            return lambda _: self._instead(self._dml)
        return getattr(self._dml, name)


def _claimless(patches: ExitStack, method: str, instead: Callable[[Any], None]) -> None:
    from deltaic.spark.dml.operation import Operation

    begin = Operation.__init__

    def begun(self: Any, *args: Any, **kwargs: Any) -> None:
        begin(self, *args, **kwargs)
        self.dml = _Claimless(self.dml, method, instead)

    patches.enter_context(mock.patch.object(Operation, "__init__", begun))


def _matches(patches: ExitStack) -> None:
    """MERGE does not claim the files with rows that matched and that it does not change."""
    _claimless(patches, "read_files", lambda _: None)


def _conditions(patches: ExitStack) -> None:
    """The conditions of UPDATE and MERGE that Spark looks at are claimed as if no row could meet them."""
    _claimless(patches, "set_predicate", lambda dml: dml.set_predicate('{"or": []}'))


MUTATIONS: dict[str, Callable[[ExitStack], None]] = {
    "reads of queries": _reads_of_queries,
    "bound frames": _bound_frames,
    "matches": _matches,
    "conditions": _conditions,
}


@contextmanager
def without(name: str | None) -> Iterator[None]:
    """While the context lasts, this is missing; None: nothing is."""
    with ExitStack() as patches:
        if name is not None:
            MUTATIONS[name](patches)
        yield
