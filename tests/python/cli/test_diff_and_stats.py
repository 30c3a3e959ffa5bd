"""`diff` and `stats`."""

from command_line import document, output


class TestDiff:
    def test_for_machines(self, changed):
        found = document("diff", changed, 0, 4)
        assert found["columns"] == {"s": [None, "string"]}
        assert {kind: len(files) for kind, files in found["files"].items()} == {
            "added": 1,
            "removed": 1,
            "changed": 0,
        }
        assert [file["deleted_rows"] for file in found["files"]["added"]] == [1]
        assert found["protocol"] == {}
        back = document("diff", changed, 4, 0)
        assert back["columns"] == {"s": ["string", None]}
        assert back["files"]["removed"] == found["files"]["added"]

    def test_a_file_with_other_deleted_rows_is_changed(self, changed):
        found = document("diff", changed, 3, 4)["files"]
        assert [file["deleted_rows"] for file in found["changed"]] == [1]
        assert found["added"] == found["removed"] == []

    def test_for_people(self, changed):
        shown = output("diff", changed, 0, 4, "--files")
        assert "+" in shown
        assert "columns s" in shown
        assert "1 file added" in shown
        assert shown.count(".parquet") == 2

    def test_the_same_version_has_no_differences(self, changed):
        shown = output("diff", changed, 2, 2).splitlines()
        assert [line[:9] for line in shown] == ["+ 0 files", "- 0 files", "~ 0 files"]


class TestStats:
    def test_for_machines(self, changed):
        found = document("stats", changed)
        columns = {column["name"]: column for column in found["columns"]}
        assert found["rows"] == 5
        assert (columns["id"]["min"], columns["id"]["max"], columns["id"]["nulls"]) == (0, 9, 0)
        # numbers of partitions compare as numbers
        assert (columns["n"]["min"], columns["n"]["max"], columns["n"]["nulls"]) == ("1", "10", 1)
        # not every file has this column, and those say nothing of it
        assert (columns["s"]["min"], columns["s"]["max"], columns["s"]["nulls"]) == ("x", "x", None)

    def test_a_predicate_prunes(self, changed):
        found = document("stats", changed, "--where", "n = 10")
        assert (found["files"], found["rows"]) == (1, 1)
        assert found["columns"][0]["min"] == 2

    def test_for_people(self, changed):
        shown = output("stats", changed).splitlines()
        assert shown[0].split() == ["column", "type", "min", "max", "nulls", "files"]
        assert shown[1].split()[:4] == ["id", "long", "0", "9"]
        assert shown[-1].endswith("files, 5 rows")
