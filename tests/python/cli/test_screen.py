"""What a command does to a terminal: pages, colours, and a clean screen after Ctrl-C. Each test has a real one."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import deltaic

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

ESCAPE = re.compile("\x1b\\[[0-9;?]*[A-Za-z]|\x1b[=>]")
COLOUR = re.compile("\x1b\\[[0-9;]*[349][0-7][0-9;]*m")


class Screen:
    """A terminal of 80 columns and some lines, on which a command runs."""

    def __init__(
        self,
        *arguments: object,
        lines: int = 10,
        start: Sequence[str] = ("-m", "deltaic"),
        **environment: str,
    ) -> None:
        self._own, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", lines, 80, 0, 0))
        plain = {
            k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "LESS", "PAGER", "COLUMNS", "LINES")
        }
        self.child = subprocess.Popen(
            [sys.executable, *start, *map(str, arguments)],
            stdin=other, stdout=other, stderr=other, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(other, termios.TIOCSCTTY, 0),
            env={**plain, "TERM": "xterm-256color", **environment},
        )  # fmt: skip
        os.close(other)
        self.shown = ""

    def until(self, done: Callable[[str], bool]) -> None:
        """Reads what is shown until there is enough of it; a minute at most."""
        end = time.monotonic() + 60
        while not done(self.shown) and time.monotonic() < end:
            ready, _, _ = select.select([self._own], [], [], 1)
            try:
                self.shown += os.read(self._own, 65536).decode(errors="replace") if ready else ""
            except OSError:  # the other side is closed
                break
        assert done(self.shown), self.shown

    def press(self, keys: str) -> None:
        """Types."""
        os.write(self._own, keys.encode())

    def end(self) -> int:
        """The exit code, when all is shown."""
        while True:
            try:
                part = os.read(self._own, 65536)
            except OSError:
                break
            if not part:
                break
            self.shown += part.decode(errors="replace")
        os.close(self._own)
        return self.child.wait(60)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table with more files than the screen has lines."""
    root = tmp_path_factory.mktemp("screen") / "t"
    deltaic.write(root, pa.table({"id": range(30), "n": range(30)}), partition_by="id")
    return root


def pager(folder: Path) -> str:
    """A pager that says so and shows all; a real process."""
    file = folder / "pager"
    file.write_text("#!/bin/sh\necho 'paged:'\ncat\n")
    file.chmod(0o755)
    return str(file)


def test_what_is_longer_than_the_screen_goes_through_the_pager(root: Path, tmp_path: Path) -> None:
    screen = Screen("files", root, PAGER=pager(tmp_path))
    assert (screen.end(), "paged:" in screen.shown) == (0, True)
    assert "30 files" in screen.shown


def test_less_shows_a_page_and_leaves_at_q(root: Path) -> None:
    screen = Screen("files", root)
    screen.until(lambda shown: "modified" in shown and ESCAPE.sub("", shown).endswith(":"))
    assert "30 files" not in screen.shown.rsplit("\x1b[2K", 1)[-1]
    screen.press("q")
    assert screen.end() == 0


@pytest.mark.parametrize("place", [0, 2])
def test_no_pager_is_obeyed_before_and_after_the_command(root: Path, tmp_path: Path, place: int) -> None:
    arguments: list[object] = ["files", root]
    arguments.insert(place, "--no-pager")
    screen = Screen(*arguments, PAGER=pager(tmp_path))
    assert (screen.end(), "paged:" in screen.shown) == (0, False)


@pytest.mark.parametrize(
    ("arguments", "lines"), [(["history"], 10), (["files"], 200), (["files", "--json"], 10), (["schema"], 10)]
)
def test_what_fits_and_what_machines_read_is_not_paged(
    root: Path, tmp_path: Path, arguments: list[str], lines: int
) -> None:
    screen = Screen(arguments[0], root, *arguments[1:], lines=lines, PAGER=pager(tmp_path))
    assert (screen.end(), "paged:" in screen.shown) == (0, False)


@pytest.mark.parametrize(
    ("paged", "environment"), [(True, {}), (False, {}), (True, {"NO_COLOR": "1"}), (False, {"NO_COLOR": "1"})]
)
def test_colours_are_for_terminals_that_want_them(
    root: Path, tmp_path: Path, environment: dict[str, str], *, paged: bool
) -> None:
    screen = Screen(
        "explain",
        root,
        "--where",
        "id >= 2",
        lines=10 if paged else 400,
        PAGER=pager(tmp_path),
        **environment,
    )
    assert (screen.end(), "paged:" in screen.shown) == (0, paged)
    assert bool(COLOUR.search(screen.shown)) is ("NO_COLOR" not in environment)


@pytest.mark.usefixtures("ctrl_c")
def test_an_interrupt_leaves_a_clean_screen(tmp_path: Path) -> None:
    # a hint that is a pipe: opening the table waits for whoever writes to it, below a progress bar
    deltaic.write(tmp_path / "t", pa.table({"id": [1]}))
    hint = tmp_path / "t" / "_delta_log" / "_last_checkpoint"
    os.mkfifo(hint)
    screen = Screen("verify", tmp_path / "t")
    with hint.open("w"):
        screen.until(lambda shown: "verifying" in shown)
        screen.child.send_signal(signal.SIGINT)
        assert screen.end() == 130
    # the bar is gone: its line is erased, the cursor is back, and only the reason is left
    left = screen.shown.rsplit("\x1b[2K", 1)[-1]
    assert left.replace("\x1b[?25h", "").strip() == "deltaic: interrupted"
    assert screen.shown.count("\x1b[?25l") == screen.shown.count("\x1b[?25h") > 0


def test_a_write_counts_its_rows_and_leaves_a_clean_screen(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("id\n" + "1\n" * 1234)
    screen = Screen("append", tmp_path / "new", tmp_path / "rows.csv")
    assert screen.end() == 0
    assert "1,234 rows" in screen.shown.rpartition("\x1b[2K")[0]
    left = ESCAPE.sub("", screen.shown.rpartition("\x1b[2K")[2]).strip()
    assert left.startswith("version 0: 1,234 rows, ")
    assert screen.shown.count("\x1b[?25l") == screen.shown.count("\x1b[?25h") > 0


def test_a_bar_shows_files_and_bytes_and_is_gone_at_the_end(root: Path) -> None:
    size = sum(file.stat().st_size for file in root.rglob("*.parquet"))
    screen = Screen("optimize", root, "--zorder-by", "n")
    assert screen.end() == 0
    assert f"30 of 30 files, {size / 1024:.1f} KiB of {size / 1024:.1f} KiB" in screen.shown
    left = ESCAPE.sub("", screen.shown.rsplit("\x1b[2K", 1)[-1]).strip()
    assert left.startswith("version 1: 30 files became 30")
    assert screen.shown.count("\x1b[?25l") == screen.shown.count("\x1b[?25h") > 0


@pytest.mark.parametrize(
    ("command", "shown", "said"),
    [
        (["delete", "--where", "n < 5"], "5 of 5 files", "version 30: 5 rows deleted"),
        (["update", "--set", "n=n+1", "--where", "n < 5"], "10 of 10 files", "version 30: 5 rows updated"),
        (["restore", "--version", "9", "--yes"], "20 of 20 files", "version 30 is version 9 again: "),
        (["clone", "clone"], "30 of 30 files", "version 0 of "),
    ],
)
def test_changes_of_a_table_show_a_bar(tmp_path: Path, command: list[str], shown: str, said: str) -> None:
    for n in range(30):
        deltaic.write(tmp_path / "t", pa.table({"n": [n]}))
    name, *others = command
    arguments = [str(tmp_path / "clone") if part == "clone" else part for part in others]
    screen = Screen(name, tmp_path / "t", *arguments)
    assert screen.end() == 0
    assert shown in ESCAPE.sub("", screen.shown)
    left = ESCAPE.sub("", screen.shown.rsplit("\x1b[2K", 1)[-1]).strip()
    assert left.startswith(said)
    assert screen.shown.count("\x1b[?25l") == screen.shown.count("\x1b[?25h") > 0


def test_python_shows_a_bar_and_then_what_was_done(root: Path) -> None:
    program = "import deltaic, sys; deltaic.Table(sys.argv[1]).verify(deep=True, progress=True)"
    screen = Screen(root, start=("-c", program))
    assert screen.end() == 0
    left = ESCAPE.sub("", screen.shown.rsplit("\x1b[2K", 1)[-1]).strip()
    assert re.fullmatch(r"verify: 30 files, [0-9.]+ KiB in [0-9.]+ s", left)
