"""What a stranger wrote into a table does not steer the terminal of who looks at it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from click.testing import CliRunner

import deltaic
from deltaic.cli.main import main
from deltaic.exceptions import DeltaError

if TYPE_CHECKING:
    from pathlib import Path

# the title of the window, a colour by one byte, a way back to the begin of the line, text that runs to the left
BAD = "x\x1b]0;owned\x07\x9b31m\rno\u202efdp\x00\x7f"
ESCAPED = r"\x1b]0;owned\x07\x9b31m\x0dno\u202efdp"


def _hidden(text: str) -> list[str]:
    return [c for c in text if (c < " " and c != "\n") or "\x7f" <= c <= "\x9f" or c == "\u202e"]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table each text of which is hostile."""
    root = tmp_path / "table"
    log = root / "_delta_log"
    log.mkdir(parents=True)
    column = {"name": BAD, "type": "string", "nullable": True, "metadata": {}}
    commits: list[list[dict[str, object]]] = [
        [
            {
                "commitInfo": {
                    "timestamp": 1,
                    "operation": BAD,
                    "operationParameters": {BAD: BAD},
                    "engineInfo": BAD,
                }
            },
            {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
            {
                "metaData": {
                    "id": BAD,
                    "name": BAD,
                    "description": f"a\nforged line{BAD}",
                    "format": {"provider": "parquet", "options": {}},
                    "schemaString": json.dumps({"type": "struct", "fields": [column]}),
                    "partitionColumns": [],
                    "configuration": {BAD: BAD},
                }
            },
        ],
        [
            {
                "commitInfo": {
                    "timestamp": 2,
                    "operation": "WRITE",
                    "userMetadata": BAD,
                    "engineInfo": f"a\nb{BAD}",
                }
            },
            {
                "add": {
                    "path": BAD,
                    "partitionValues": {},
                    "size": 3,
                    "modificationTime": 1,
                    "dataChange": True,
                }
            },
            {"txn": {"appId": BAD, "version": 1}},
            {"domainMetadata": {"domain": BAD, "configuration": BAD, "removed": False}},
        ],
    ]
    for version, actions in enumerate(commits):
        (log / f"{version:020}.json").write_text("\n".join(map(json.dumps, actions)))
    return root


@pytest.mark.parametrize(
    "command",
    [
        "history", "properties", "inspect", "log", "schema", "files", "stats", "explain --where 1=1", "verify",
        "verify --deep", "diff 0 1 --files", "fsck --dry-run", "changes", "vacuum --dry-run", "clean-log",
    ],
)  # fmt: skip
def test_commands_show_control_characters(table: Path, command: str) -> None:
    name, *more = command.split()
    for form in ([], ["--json"]):
        result = CliRunner().invoke(main, [name, str(table), *more, *form])
        shown = result.output + str(result.exception or "")
        assert _hidden(shown) == [], (command, shown)
        assert not any(line.startswith(("forged line", "b\\x1b")) for line in shown.splitlines()), shown


def test_they_are_shown_and_not_left_out(table: Path) -> None:
    shown = CliRunner().invoke(main, ["history", str(table)]).output
    assert ESCAPED in shown
    reported = json.loads(CliRunner().invoke(main, ["properties", str(table), "--json"]).output)
    assert reported[BAD] == BAD


def test_errors_show_control_characters(table: Path) -> None:
    with pytest.raises(DeltaError) as caught:
        pa.table(deltaic.Table(table).to_arrow())
    assert _hidden(str(caught.value)) == []
    assert ESCAPED in str(caught.value)
    assert vars(caught.value)["path"].endswith(BAD)
    ended = subprocess.run(
        [sys.executable, "-m", "deltaic", "history", f"{table}{BAD.replace(chr(0), '')}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert _hidden(ended.stderr) == []
