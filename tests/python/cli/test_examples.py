"""The examples in the help of each command run, and with `--json` they print what the schema says."""

from __future__ import annotations

import json
import shlex
import shutil
from typing import TYPE_CHECKING

import click
import pyarrow as pa
import pyarrow.parquet
import pytest
from click.testing import CliRunner
from command_line import check_json, process

import deltaic
from deltaic.cli.examples import EXAMPLES
from deltaic.cli.json_schema import names
from deltaic.cli.main import main
from deltaic.cli.tour.arrow import Arrow

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# these need a store, a Spark, or another shell: test_tour.py, test_completion.py and the tests of Spark run them
PARSED = ("s3://", "deltaic tour", "connect-conf", "deltaic completion")
# features that the table of the tour does not have
MAPPED = {"alter drop-columns", "alter rename-column", "alter drop-feature"}


def commands(group: click.Group, *before: str) -> Iterator[str]:
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        if isinstance(command, click.Group):
            yield from commands(command, *before, name)
        else:
            yield " ".join([*before, name])


@pytest.fixture(scope="module")
def toured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which a newcomer tries the examples."""
    folder = tmp_path_factory.mktemp("examples")
    made = process("tour", "--engine", "arrow", "--rows", "3000", "--keep", folder / "orders", "--json")
    assert made.returncode == 0, made.stderr
    Arrow().append(str(folder / "april"), "2026-04", 3000, 100)
    april = pa.table(deltaic.Table(folder / "april").to_arrow())
    pyarrow.parquet.write_table(april, folder / "april.parquet")
    (folder / "parquet-files" / "year=2026").mkdir(parents=True)
    pyarrow.parquet.write_table(pa.table({"n": [1]}), folder / "parquet-files" / "year=2026" / "a.parquet")
    deltaic.write(folder / "countries", pa.table({"country": ["DE"], "name": ["Germany"]}))
    changes = {"removes": [], "adds": [], "domains": []}
    reads = {"wholeTable": True, "predicates": [], "files": [], "apps": []}
    lost = {"readVersion": 0, "operation": "DELETE", "reads": reads, "changes": changes}
    (folder / "lost.json").write_text(json.dumps(lost))
    return folder


@pytest.fixture
def folder(toured: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    copy = tmp_path / "here"
    shutil.copytree(toured, copy)
    monkeypatch.chdir(copy)
    return copy


def test_every_command_has_one() -> None:
    assert set(EXAMPLES) == set(commands(main))


@pytest.mark.parametrize(
    ("name", "line"), [(name, line) for name, lines in EXAMPLES.items() for line in lines]
)
def test_it_runs(name: str, line: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = shlex.split(line.removeprefix('eval "$(').removesuffix(')"'))
    words = words[: next((n for n, word in enumerate(words) if word in ("|", ">>")), None)]
    assert words[: 1 + len(name.split())] == ["deltaic", *name.split()]
    if any(part in line for part in PARSED):
        command: click.Command = main
        for word in name.split():
            assert isinstance(command, click.Group)
            command = command.get_command(click.Context(command), word)
        command.make_context(name, words[1 + len(name.split()) :])
        return
    if name in MAPPED:
        properties = {"delta.columnMapping.mode": "name", "delta.enableDeletionVectors": "true"}
        deltaic.Table("orders").set_properties(properties)
    shutil.copytree(folder, folder.parent / "again")
    result = CliRunner().invoke(main, words[1:], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    if name != "json-schema" and "-o" not in words:
        monkeypatch.chdir(folder.parent / "again")
        result = CliRunner().invoke(main, [*words[1:], "--json"], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        check_json(words[1:], result.stdout)


def test_there_is_a_schema_for_every_command_with_json() -> None:
    assert set(names()) - {"error"} == {
        name.replace(" ", "-") for name in commands(main) if name not in ("completion", "json-schema")
    }


def test_errors_have_a_schema(tmp_path: Path) -> None:
    for arguments in (["inspect", "nowhere"], ["files", "nowhere"], ["sql", "nowhere", "FROM t"]):
        printed = CliRunner().invoke(main, [*arguments, "--json"]).stdout
        check_json(["error"], printed)
    assert json.loads(printed)["error"]["kind"] == "TableNotFound"


def test_the_schemas_are_printed() -> None:
    everything = json.loads(process("json-schema").stdout)
    assert sorted(everything) == names()
    one = json.loads(process("json-schema", "alter", "add-columns").stdout)
    assert one == everything["alter-add-columns"]
    unknown = process("json-schema", "histroy")
    assert (unknown.returncode, "Did you mean history?" in unknown.stderr) == (2, True)
