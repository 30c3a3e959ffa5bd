"""The picture of the README: commands of `deltaic` in a terminal, as docs/pictures/terminal.svg.

`python .ci/terminal_picture.py` writes it, `--check` compares it with what the commands print now. They run on a real
terminal of their own, on a table that is made for them. None of them prints a time or the name of a data file, which
differ from run to run.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import tempfile
import termios
from io import StringIO
from pathlib import Path

import pyarrow
from rich.console import CONSOLE_SVG_FORMAT, Console
from rich.text import Text

import deltaic

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "pictures" / "terminal.svg"
WIDTH, LINES = 114, 60
COMMANDS = (
    "deltaic log orders",
    "deltaic stats orders",
    'deltaic sql orders "SELECT country, count(*) AS orders, max(amount) AS largest FROM t GROUP BY ALL ORDER BY ALL"',
    "deltaic verify orders --deep",
)
# a progress display, which is gone from the terminal when it ends
PROGRESS = re.compile(r"\x1b\[\?25l.*\x1b\[\?25h(?:\s*\x1b\[(?:1A|2K))*", re.DOTALL)
# readers of Markdown load no fonts; a picture that asks for one tells another host who looks at it
FORMAT = re.sub(r"@font-face \{\{.*?\}\}\n", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)


def make_table(folder: Path) -> None:
    """Orders of three countries: appended, corrected by a merge, and some deleted."""
    table = folder / "orders"
    for first in (0, 1000):
        numbers = range(first, first + 1000)
        orders = {
            "id": list(numbers),
            "country": [("DE", "FR", "IT")[n % 3] for n in numbers],
            "amount": [n * 0.75 for n in numbers],
        }
        deltaic.write(table, pyarrow.table(orders), configuration={"delta.enableDeletionVectors": "true"})
    late = pyarrow.table({"id": [7, 5000], "country": ["FR", "DE"], "amount": [99.5, 1500.0]})
    merge = deltaic.Table(table).merge(late, ["id"])
    merge.when_matched_update_all().when_not_matched_insert_all().execute()
    deltaic.Table(table).delete("country = 'IT' AND amount < 100.0")


def on_a_terminal(command: str, folder: Path) -> str:
    """What the command prints on a terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, WIDTH, 0, 0))
    environment = {
        **{name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "COLUMNS", "LINES"}},
        "TERM": "xterm-256color",
    }
    words = shlex.split(command)
    assert words[0] == "deltaic"
    program = subprocess.Popen(
        [sys.executable, "-m", *words],
        cwd=folder,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment,
    )
    os.close(theirs)
    printed = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # Linux says so that the other end is closed
            break
        if not part:
            break
        printed += part
    os.close(ours)
    assert program.wait() == 0, printed.decode()
    return PROGRESS.sub("", printed.decode().replace("\r\n", "\n"))


def picture() -> str:
    console = Console(
        record=True, width=WIDTH, file=StringIO(), force_terminal=True, color_system="truecolor"
    )
    with tempfile.TemporaryDirectory() as folder:
        make_table(Path(folder))
        for command in COMMANDS:
            console.print(Text.assemble(("$ ", "bold green"), (command, "bold")))
            console.print(Text.from_ansi(on_a_terminal(command, Path(folder)).rstrip("\n")))
            if command is not COMMANDS[-1]:
                console.print()
    svg = console.export_svg(title="deltaic", code_format=FORMAT, unique_id="terminal")
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--check", action="store_true")
    now = picture()
    if not arguments.parse_args().check:
        PICTURE.parent.mkdir(exist_ok=True)
        PICTURE.write_text(now, encoding="utf-8")
    elif PICTURE.read_text(encoding="utf-8") != now:
        sys.exit(
            "docs/pictures/terminal.svg is not what the commands print: `python .ci/terminal_picture.py` writes it"
        )


if __name__ == "__main__":
    main()
