"""How far an operation is: for a function of the caller, or as a bar."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deltaic.printable import counted, size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console


@dataclass(frozen=True)
class Progress:
    """What an operation has done, and what it is to do."""

    files: int
    """Files that are done."""
    all_files: int
    """All files; 0 until it is known. It grows where files in which rows were found are rewritten then. An operation
    that is retried begins anew."""
    bytes: int
    """Bytes of the files that are done."""
    all_bytes: int
    """Bytes of all files; 0 where the operation does not know them."""

    def __str__(self) -> str:
        files = counted(self.files, "file")
        return f"{files}, {size(self.bytes)}" if self.bytes else files


@contextmanager
def followed(
    progress: bool | Callable[[Progress], object],  # noqa: FBT001 as users give it
    what: str,
) -> Iterator[Callable[[int, int, int, int], object] | None]:
    """What the core calls with how far it is: for a function of the caller, or a bar on standard error."""
    if progress is False:
        yield None
    elif progress is True:
        from rich.console import Console

        console = Console(stderr=True)
        started = time.perf_counter()
        with bar(console, what) as tell:
            last = Progress(0, 0, 0, 0)

            def told(*reached: int) -> None:
                nonlocal last
                last = Progress(*reached)
                tell(last)

            yield told
        if console.is_terminal or console.is_jupyter:
            console.print(f"{what}: {last} in {time.perf_counter() - started:.1f} s", highlight=False)
    else:
        follow = progress
        yield lambda *reached: follow(Progress(*reached))


@contextmanager
def bar(console: Console, what: str) -> Iterator[Callable[[Progress], object]]:
    """A bar with files and bytes, which is gone at the end; nothing where the console is no terminal or notebook."""
    if not (console.is_terminal or console.is_jupyter):
        yield lambda _: None
        return
    from rich import progress as rich

    columns = (
        rich.SpinnerColumn(),
        rich.TextColumn("{task.description}", markup=False),
        rich.BarColumn(),
        rich.TextColumn("{task.fields[done]}", markup=False),
        rich.TimeElapsedColumn(),
        rich.TimeRemainingColumn(),
    )
    with rich.Progress(*columns, console=console, transient=True) as shown:
        task = shown.add_task(what, total=None, done="")

        def tell(reached: Progress) -> None:
            total, done = (
                (reached.all_bytes, reached.bytes)
                if reached.all_bytes
                else (reached.all_files, reached.files)
            )
            shown.update(task, total=total or None, completed=done, done=_text(reached))

        yield tell


def _text(reached: Progress) -> str:
    files = f"{reached.files:,} of {counted(reached.all_files, 'file')}"
    if reached.all_bytes:
        return f"{files}, {size(reached.bytes)} of {size(reached.all_bytes)}"
    return f"{files}, {size(reached.bytes)}" if reached.bytes else files
