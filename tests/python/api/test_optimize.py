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
    assert run("optimize", root) == "nothing to do: of 2 files none needs a change\n"


@pytest.fixture
def scattered(tmp_path):
    """Eight files, each with values from all over."""
    root = tmp_path / "scattered"
    for part in range(8):
        numbers = range(part * 200, part * 200 + 200)
        rows = {
            "a": [n * 7919 % 10007 for n in numbers],
            "b": [n * 3571 % 9973 for n in numbers],
            "n": list(numbers),
        }
        deltaic.write(root, pa.table(rows), mode="append")
    return root


def read_files(root, condition):
    return deltaic.Table(root).totals(condition).files


def test_a_z_order_lets_conditions_on_each_column_read_few_files(scattered):
    table = deltaic.Table(scattered)
    rows = sorted(pa.table(table.to_arrow()).to_pylist(), key=lambda row: row["n"])
    conditions = ("a BETWEEN 1000 AND 1500", "b BETWEEN 8000 AND 8500")
    assert [read_files(scattered, c) for c in conditions] == [8, 8]
    size = table.totals().bytes // 8
    done = table.optimize(target_size=size, zorder_by=["a", "b"])
    assert (done.removed_files, done.zorder.merged_files, done.zorder.new_cubes, done.clustering) == (
        8,
        8,
        1,
        None,
    )
    assert all(read_files(scattered, c) <= 6 for c in conditions)
    assert sorted(pa.table(table.to_arrow()).to_pylist(), key=lambda row: row["n"]) == rows
    assert table.history(1)[0]["operationParameters"]["zOrderBy"] == '["a","b"]'


def test_what_cannot_be_z_ordered_by(root):
    table = deltaic.Table(root)
    for columns, said in (
        (["p"], "is a partition column"),
        (["x"], "does not exist in data schema"),
        ([""], "no column"),
    ):
        with pytest.raises(exceptions.InvalidArgumentError, match=said):
            table.optimize(zorder_by=columns)
    with pytest.raises(exceptions.InvalidArgumentError, match="only supported for clustered tables"):
        table.optimize(full=True)


def test_a_z_order_on_the_command_line(root):
    done = json.loads(run("optimize", root, "--zorder-by", "id", "--json"))
    assert (done["removed_files"], done["added_files"], done["zorder"]["merged_files"]) == (4, 2, 4)
    assert ids(root) == [0, 1, 2, 9]


def test_a_table_compacts_itself(tmp_path):
    root = tmp_path / "t"
    configuration = {"delta.autoOptimize.autoCompact": "true"}
    for id_ in range(50):
        deltaic.write(root, pa.table({"id": [id_]}), mode="append", configuration=configuration)
    table = deltaic.Table(root)
    assert (table.version, table.totals().files, ids(root)) == (50, 1, list(range(50)))
    newest = table.history(1)[0]
    assert (newest["operation"], newest["operationParameters"]["auto"]) == ("OPTIMIZE", True)
