"""`changes`: the rows that versions changed."""

import json

import pyarrow as pa
import pytest
from click.testing import CliRunner
from command_line import document, output

import deltaic
from deltaic.cli.main import main


@pytest.fixture
def root(tmp_path):
    """Version 0 has the ids 0 to 4 in two partitions, 1 deletes one row, 2 adds a column."""
    path = tmp_path / "t"
    data = pa.table({"id": pa.array(range(5), pa.int64()), "n": [1, 9, 10, 2, None]})
    properties = {"delta.enableChangeDataFeed": "true", "delta.enableDeletionVectors": "true"}
    deltaic.write(
        path, data, partition_by="n", configuration={**properties, "delta.columnMapping.mode": "name"}
    )
    table = deltaic.Table(path)
    table.delete("id = 1")
    table.add_columns({"s": "string"})
    deltaic.write(path, pa.table({"id": pa.array([9, 8], pa.int64()), "n": [2, 2], "s": ["x", None]}))
    table.update()
    table.delete("id = 9")
    return path


class TestChanges:
    def test_for_people(self, root):
        shown = output("changes", root, "--from", 1, "--to", 1).splitlines()
        assert shown[0].split() == ["id", "n", "_change_type", "_commit_version", "_commit_timestamp"]
        assert shown[1].split()[:4] == ["1", "9", "delete", "1"]

    def test_one_line_of_json_a_row(self, root):
        arguments = ["--from", 0, "--where", "id < 3", "--columns", "id, _change_type", "--json"]
        found = [json.loads(line) for line in output("changes", root, *arguments).splitlines()]
        assert sorted((row["id"], row["_change_type"]) for row in found) == [
            (0, "insert"),
            (1, "delete"),
            (1, "insert"),
            (2, "insert"),
        ]
        assert len(output("changes", root, *arguments, "--limit", 2).splitlines()) == 2

    def test_files_only(self, root):
        found = document("changes", root, "--from", 1, "--files")
        assert [(c["version"], c["inserts"], c["deletes"]) for c in found] == [
            (1, 0, 1),
            (2, 0, 0),
            (3, 1, 0),
            (4, 0, 1),
        ]
        assert output("changes", root, "--from", 1, "--files").splitlines()[0].split()[:3] == [
            "version",
            "timestamp",
            "inserts",
        ]

    def test_times(self, root):
        at = document("history", root)[-2]["timestamp"]
        found = output("changes", root, "--from-time", at, "--to", 1, "--json").splitlines()
        assert [json.loads(line)["id"] for line in found] == [1]

    @pytest.mark.parametrize("arguments", [[], ["--from", "0", "--files", "--limit", "1"]])
    def test_what_is_missing_or_too_much_is_said(self, root, arguments):
        assert CliRunner().invoke(main, ["changes", str(root), *arguments]).exit_code == 2
