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
    from deltaic.spark import command_reads

    scans_of = command_reads.scans_of

    def lent_only(df: Any) -> list[Any]:
        # a command's own rows are lent to Spark by a name of their own
        return [scan for scan in scans_of(df) if scan[0].startswith("deltaic-")]

    patches.enter_context(mock.patch.object(command_reads, "scans_of", lent_only))


def _bound_frames(patches: ExitStack) -> None:
    """Frames are not bound to the version of the transaction: each reads what is newest when it runs."""
    from deltaic.spark import command_reads

    patches.enter_context(mock.patch.object(command_reads, "bind", lambda df, *_: df))


MUTATIONS: dict[str, Callable[[ExitStack], None]] = {
    "reads of queries": _reads_of_queries,
    "bound frames": _bound_frames,
}


@contextmanager
def without(name: str | None) -> Iterator[None]:
    """While the context lasts, this is missing; None: nothing is."""
    with ExitStack() as patches:
        if name is not None:
            MUTATIONS[name](patches)
        yield
