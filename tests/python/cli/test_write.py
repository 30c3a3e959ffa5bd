"""`create`, `append` and `overwrite`: from data files of each format into real tables."""

import json
from datetime import date

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from command_line import document, output, process

import deltaic

ROWS = pa.table({"id": pa.array([1, 2], pa.int64()), "day": pa.array([date(2026, 1, 1), date(2026, 1, 2)])})


def rows(root):
    return sorted(pa.table(deltaic.Table(root).to_arrow()).to_pylist(), key=lambda row: row["id"])


@pytest.fixture
def files(tmp_path):
    """The same rows in a file of each format."""
    folder = tmp_path / "files"
    folder.mkdir()
    pyarrow.parquet.write_table(ROWS, folder / "a.parquet")
    pyarrow.feather.write_feather(ROWS, folder / "a.arrow", compression="uncompressed")
    (folder / "a.csv").write_text("id,day\n1,2026-01-01\n2,2026-01-02\n")
    (folder / "a.tsv").write_text("id\tday\n1\t2026-01-01\n2\t2026-01-02\n")
    (folder / "a.json").write_text('{"id":1,"day":"2026-01-01"}\n{"id":2,"day":"2026-01-02"}\n')
    return folder


@pytest.fixture
def root(tmp_path):
    output("create", tmp_path / "t", "--schema", "id BIGINT, day DATE", "--partition-by", "day")
    return tmp_path / "t"


class TestCreate:
    def test_columns_as_sql_writes_them(self, tmp_path):
        text = "id BIGINT NOT NULL COMMENT 'key', `a b` STRUCT<x: INT, y: ARRAY<DECIMAL(5,1)>>, v VARCHAR(3)"
        done = document(
            "create",
            tmp_path / "t",
            "--schema",
            text,
            "--property",
            "delta.columnMapping.mode=name",
            "--name",
            "n",
        )
        assert done == {"format": 1, "version": 0, "created": True, "replaced": False}
        table = deltaic.Table(tmp_path / "t")
        assert [(f.name, f.nullable) for f in table.schema] == [
            ("id", False),
            ("a b", True),
            ("v", True),
        ]
        assert table.schema.fields[0].metadata["comment"] == "key"
        assert table.schema.fields[2].metadata["__CHAR_VARCHAR_TYPE_STRING"] == "varchar(3)"
        assert pa.schema(table.schema).field("a b").type.field("y").type.value_type == pa.decimal128(5, 1)
        assert table.metadata.name == "n"
        assert table.history(1)[0]["operation"] == "CREATE TABLE"
        assert rows(tmp_path / "t") == []

    def test_clustered_and_replaced(self, tmp_path):
        root = tmp_path / "t"
        text = "id BIGINT, s STRUCT<a: INT>"
        output("create", root, "--schema", text, "--cluster-by", "id", "--cluster-by", "s.a")
        assert deltaic.Table(root).detail()["clusteringColumns"] == ["id", "s.a"]
        done = document("create", root, "--schema", "x INT", "--or-replace")
        assert done == {"format": 1, "version": 1, "created": False, "replaced": True}
        assert deltaic.Table(root).schema.names == ["x"]
        for more in (
            ("--like", "a.parquet", "--or-replace"),
            ("--schema", "x INT", "--or-replace", "--if-not-exists"),
        ):
            assert process("create", root, *more).returncode == 2

    def test_a_schema_of_the_protocol_from_a_file(self, tmp_path, root):
        file = tmp_path / "schema.json"
        file.write_text(output("schema", root, "--json"))
        output("create", tmp_path / "copy", "--schema", file)
        assert deltaic.Table(tmp_path / "copy").schema == deltaic.Table(root).schema

    def test_the_columns_of_a_data_file(self, tmp_path, files):
        assert document("create", tmp_path / "n", "--like", files / "a.parquet")["created"]
        assert deltaic.Table(tmp_path / "n").schema.names == ["id", "day"]
        assert rows(tmp_path / "n") == []

    def test_a_table_that_is_there(self, root):
        done = process("create", root, "--schema", "x INT")
        assert (done.returncode, "already exists" in done.stderr) == (1, True)
        assert document("create", root, "--schema", "x INT", "--if-not-exists") == {
            "format": 1,
            "version": 0,
            "created": False,
            "replaced": False,
        }

    @pytest.mark.parametrize(
        "schema",
        ["", "id", "id NONSENSE(1) X", "a INT PRIMARY KEY", "a INT, A INT", '{"x": 1}'],
    )
    def test_no_columns(self, tmp_path, schema):
        done = process("create", tmp_path / "t", "--schema", schema)
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
        assert not (tmp_path / "t").exists()

    def test_generated_and_default_columns(self, tmp_path):
        text = "at TIMESTAMP, day DATE GENERATED ALWAYS AS (CAST(at AS DATE))"
        output("create", tmp_path / "t", "--schema", text)
        field = deltaic.Table(tmp_path / "t").schema.fields[1]
        assert field.metadata["delta.generationExpression"] == "CAST(at AS DATE)"


class TestAppend:
    @pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "a.csv", "a.tsv", "a.json"])
    def test_each_format(self, root, files, name):
        done = document("append", root, files / name)
        assert (done["version"], done["rows"], done["created"]) == (1, 2, False)
        assert rows(root) == ROWS.to_pylist()

    def test_a_new_table(self, tmp_path, files):
        output(
            "append", tmp_path / "n", files / "a.parquet", "--partition-by", "day", "--property", "owner=me"
        )
        table = deltaic.Table(tmp_path / "n")
        assert (table.partition_columns, table.properties) == (["day"], {"owner": "me"})

    def test_several_files_and_a_format_by_name(self, root, files):
        (files / "b").write_text("id,day\n3,2026-01-03\n")
        (files / "c").write_text("id\n4\n")
        output("append", root, files / "b", files / "c", "--format", "csv")
        assert rows(root)[0] == {"id": 3, "day": date(2026, 1, 3)}
        assert rows(root)[1] == {"id": 4, "day": None}

    def test_a_column_that_the_table_has_not_is_refused(self, root, files):
        (files / "more.csv").write_text("id,day,more\n3,2026-01-03,x\n")
        done = process("append", root, files / "a.csv", files / "more.csv")
        assert (done.returncode, "more" in done.stderr) == (2, True)
        assert rows(root) == []

    def test_an_application_writes_once(self, root, files):
        arguments = ("append", root, files / "a.csv", "--app-transaction", "job", 7)
        assert not document(*arguments)["skipped"]
        assert output(*arguments) == "nothing to write: the table is at version 1\n"
        assert len(rows(root)) == 2

    @pytest.mark.parametrize(("name", "code"), [("gone.csv", 1), ("a.txt", 2)])
    def test_no_data(self, root, files, name, code):
        done = process("append", root, files / name)
        assert (done.returncode, "Traceback" in done.stderr) == (code, False)

    def test_a_value_that_does_not_fit_leaves_the_table_as_it_was(self, root, files):
        (files / "bad.csv").write_text("id,day\nx,2026-01-03\n")
        assert process("append", root, files / "bad.csv").returncode != 0
        assert deltaic.Table(root).version == 0


class TestOverwrite:
    @pytest.fixture(autouse=True)
    def _rows(self, root, files):
        output("append", root, files / "a.csv")
        (files / "b.csv").write_text("id,day\n9,2026-01-02\n")

    def test_everything(self, root, files):
        done = document("overwrite", root, files / "b.csv")
        assert (done["version"], done["removed"]) == (2, 2)
        assert [row["id"] for row in rows(root)] == [9]

    def test_the_rows_of_a_condition(self, root, files):
        output("overwrite", root, files / "b.csv", "--replace-where", "day = '2026-01-02'")
        assert [row["id"] for row in rows(root)] == [1, 9]
        done = process("overwrite", root, files / "b.csv", "--replace-where", "day = '2026-01-01'")
        assert (done.returncode, "does not match" in done.stderr) == (2, True)

    def test_the_partitions_of_the_rows(self, root, files):
        output("overwrite", root, files / "b.csv", "--partitions", "--yes")
        assert [row["id"] for row in rows(root)] == [1, 9]

    def test_the_history_says_who_and_what(self, root, files):
        output("overwrite", root, files / "b.csv", "--user-metadata", "by hand")
        newest = json.loads(output("history", root, "--json", "--limit", 1))[0]
        assert (newest["operationParameters"]["mode"], newest["userMetadata"]) == ("Overwrite", "by hand")
