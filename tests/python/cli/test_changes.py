"""`changes`: the rows that versions changed."""

import json

import pytest
from click.testing import CliRunner
from command_line import document, output

from deltaic.cli.main import main


class TestChanges:
    def test_for_people(self, changed):
        shown = output("changes", changed, "--from", 1, "--to", 1).splitlines()
        assert shown[0].split() == ["id", "n", "_change_type", "_commit_version", "_commit_timestamp"]
        assert shown[1].split()[:4] == ["1", "9", "delete", "1"]

    def test_one_line_of_json_a_row(self, changed):
        arguments = ["--from", 0, "--where", "id < 3", "--columns", "id, _change_type", "--json"]
        found = [json.loads(line) for line in output("changes", changed, *arguments).splitlines()]
        assert sorted((row["id"], row["_change_type"]) for row in found) == [
            (0, "insert"),
            (1, "delete"),
            (1, "insert"),
            (2, "insert"),
        ]
        assert len(output("changes", changed, *arguments, "--limit", 2).splitlines()) == 2

    def test_files_only(self, changed):
        found = document("changes", changed, "--from", 1, "--files")
        assert [(c["version"], c["inserts"], c["deletes"]) for c in found] == [
            (1, 0, 1),
            (2, 0, 0),
            (3, 1, 0),
            (4, 0, 1),
        ]
        assert output("changes", changed, "--from", 1, "--files").splitlines()[0].split()[:3] == [
            "version",
            "timestamp",
            "inserts",
        ]

    def test_times(self, changed):
        at = document("history", changed)[-2]["timestamp"]
        found = output("changes", changed, "--from-time", at, "--to", 1, "--json").splitlines()
        assert [json.loads(line)["id"] for line in found] == [1]

    @pytest.mark.parametrize("arguments", [[], ["--from", "0", "--files", "--limit", "1"]])
    def test_what_is_missing_or_too_much_is_reported(self, changed, arguments):
        assert CliRunner().invoke(main, ["changes", str(changed), *arguments]).exit_code == 2
