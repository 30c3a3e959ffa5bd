"""Optimize, from Python and from the command line."""

import json

import pyarrow as pa
import pytest
from click.testing import CliRunner

import deltaic
from deltaic import exceptions
from deltaic.cli.main import main


@pytest.fixture
def root(tmp_path):
    """Three files in partition 1, one in partition 2."""
    root = tmp_path / "t"
    for id_ in range(3):
        deltaic.write(root, pa.table({"id": [id_], "p": [1]}), mode="append", partition_by="p")
    deltaic.write(root, pa.table({"id": [9], "p": [2]}), mode="append")
    return root


def ids(root):
    return sorted(pa.table(deltaic.Table(root).to_arrow())["id"].to_pylist())


def run(*arguments):
    result = CliRunner().invoke(main, [str(a) for a in arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_files_become_fewer_and_rows_stay(root):
    table = deltaic.Table(root)
    done = table.optimize(user_metadata="nightly")
    assert (done.version, done.considered_files, done.removed_files, done.added_files) == (4, 4, 3, 1)
    assert done.min_file_size == done.max_file_size == done.added_bytes
    assert table.version == 4
    assert ids(root) == [0, 1, 2, 9]
    newest = table.history(1)[0]
    assert (newest["operation"], newest["userMetadata"]) == ("OPTIMIZE", "nightly")
    again = table.optimize()
    assert (again.version, again.added_files, table.version) == (None, 0, 4)


def test_a_condition_and_sizes(root):
    table = deltaic.Table(root)
    assert table.optimize("p = 2").version is None
    assert table.optimize(min_size=1).version is None
    with pytest.raises(exceptions.InvalidArgumentError, match="partition columns"):
        table.optimize("id = 1")
    assert table.optimize("p = 1", 1 << 20).removed_files == 3


def test_the_command_line(root):
    assert json.loads(run("optimize", root, "--where", "p = 2", "--json"))["version"] is None
    assert run("optimize", root).startswith("version 4: 3 files became 1, ")
    assert run("optimize", root) == "nothing to do: 2 files are as they should be\n"
