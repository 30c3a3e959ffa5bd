"""`sql`: queries by DuckDB, what is read for them, and the forms of the result."""

import json
from datetime import date, datetime, timezone

import pyarrow as pa
import pyarrow.parquet
import pytest
from command_line import output, process

import deltaic
from deltaic.cli.sql.needs import ALL, Needs, needs

ROWS = pa.table(
    {
        "id": pa.array(range(6), pa.int64()),
        "Day": pa.array([date(2026, 1, 1 + n % 3) for n in range(6)]),
        "name": ["a", "b", None, "d'e", "", "f"],
        "seen": pa.array([datetime(2026, 1, 1, 12, tzinfo=timezone.utc)] * 6, pa.timestamp("us", "UTC")),
        "place": pa.array([{"city": "x", "id": n} for n in range(6)]),
        "ratio": [0.5] * 6,
    }
)


@pytest.fixture
def root(tmp_path):
    deltaic.write(tmp_path / "t", ROWS, partition_by=["Day"])
    return tmp_path / "t"


def lines(root, query, *options):
    return [json.loads(line) for line in output("sql", root, query, "--json", *options).splitlines()]


class TestRows:
    def test_a_table_for_people(self, root):
        shown = output("sql", root, "SELECT id, name, seen FROM t WHERE id < 3 ORDER BY id").splitlines()
        assert shown[0].split() == ["id", "name", "seen"]
        assert shown[1].split() == ["0", "a", "2026-01-01", "12:00:00+00"]
        assert shown[3].split()[:2] == ["2", "-"]
        assert len(shown) == 4

    def test_a_long_table_says_what_it_leaves_out(self, root):
        shown = output("sql", root, "SELECT unnest(range(1200)) AS n FROM t LIMIT 1100")
        assert "999\n" in shown
        assert "1000\n" not in shown
        assert "first 1,000 rows" in shown

    def test_json_is_one_object_a_line(self, root):
        found = lines(root, "SELECT id, name, place FROM t WHERE Day = DATE '2026-01-02' ORDER BY id")
        assert found == [
            {"id": 1, "name": "b", "place": {"city": "x", "id": 1}},
            {"id": 4, "name": "", "place": {"city": "x", "id": 4}},
        ]

    def test_csv_and_parquet_into_files(self, root, tmp_path):
        output("sql", root, "SELECT id, day FROM t ORDER BY id", "-o", tmp_path / "o'ne.parquet")
        written = pyarrow.parquet.read_table(tmp_path / "o'ne.parquet")
        assert written.column("id").to_pylist() == list(range(6))
        assert output("sql", root, "SELECT id FROM t WHERE id > 4", "--format", "csv") == "id\n5\n"
        output("sql", root, "SELECT id FROM t WHERE id > 4", "--output", tmp_path / "r.csv")
        assert (tmp_path / "r.csv").read_text() == "id\n5\n"

    def test_a_result_appended_to_a_file_leaves_what_is_there(self, root, tmp_path):
        file = tmp_path / "all.csv"
        file.write_text("before\n")
        done = process("sql", root, "SELECT 1 AS x FROM t LIMIT 1", "--format", "csv")
        with file.open("a") as out:
            out.write(done.stdout)
        assert done.returncode == 0, done.stderr
        assert file.read_text() == "before\nx\n1\n"

    def test_other_tables_and_other_versions(self, root, tmp_path):
        deltaic.write(tmp_path / "u", pa.table({"id": pa.array([3], pa.int64()), "more": ["m"]}))
        joined = lines(root, "SELECT name, more FROM t JOIN u USING (id)", "--with", f"u={tmp_path / 'u'}")
        assert joined == [{"name": "d'e", "more": "m"}]
        deltaic.write(root, ROWS, mode="append")
        count = "SELECT count(*) AS n FROM t"
        assert lines(root, count) == [{"n": 12}]
        assert lines(f"{root}@v0", count) == [{"n": 6}]
        assert lines(root, "SELECT count(*) AS n FROM t, t AS b WHERE t.id = b.id") == [{"n": 24}]

    @pytest.mark.parametrize(
        "query",
        [
            "FROM t ORDER BY id",
            "SELECT * EXCLUDE (seen) FROM t WHERE id >= 2 AND name <> 'f' ORDER BY ALL",
            "SELECT t FROM t WHERE id = 1",
            "SELECT id + 1 AS id FROM t WHERE id = 1",
            "SELECT COLUMNS('i.*|name') FROM t ORDER BY 1",
            "SELECT place.city, t.place.id FROM t WHERE place.id = 3",
            "SELECT x.ID FROM t AS x WHERE x.day BETWEEN DATE '2026-01-02' AND DATE '2026-01-03' ORDER BY 1",
            "SELECT id FROM (SELECT id * 2 AS id FROM t) WHERE id = 4",
            "WITH t2 AS (SELECT * FROM t WHERE id > 2) SELECT max(name) FROM t2 WHERE id < 5",
            "SELECT count(*) FROM t WHERE id > 2 OR name = 'a'",
            "SELECT id FROM t WHERE 4 <= id",
            "SELECT a.id, b.name FROM t a JOIN t b ON a.id = b.id + 1 WHERE a.id = 3",
            "SELECT id FROM t WHERE name = 'd''e'",
            "SELECT sum(id) FILTER (WHERE id > 3) FROM t",
            "SUMMARIZE SELECT id FROM t",
            "SELECT id FROM t WHERE ratio = 0.5 AND id = -1",
            "SELECT DISTINCT day FROM t QUALIFY row_number() OVER (ORDER BY id) < 3 ORDER BY 1",
            "SELECT id FROM t WHERE id = 1 UNION ALL SELECT id FROM t WHERE id = 5",
        ],
    )
    def test_the_rows_are_those_of_the_whole_table(self, root, query):
        """What is left out for a query changes nothing: DuckDB says the same of the table in memory."""
        import duckdb

        connection = duckdb.connect()
        connection.execute("SET TimeZone = 'UTC'")
        connection.register("t", pa.table(deltaic.Table(root).to_arrow()))
        wanted = connection.execute(f"SELECT COLUMNS(*)::VARCHAR FROM ({query})").fetchall()
        from deltaic.cli.sql.engine import Query

        names, rows = Query(query, {"t": deltaic.Table(root)}).rows(None)
        assert list(rows) == wanted
        assert names == [column[0] for column in connection.description]


class TestNeeds:
    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            ("SELECT name FROM t WHERE id = 7", Needs(["id", "name"], "`id` = 7")),
            ("SELECT count(*) FROM t", Needs(["id"], None)),
            ("SELECT DAY FROM t x WHERE x.day >= DATE '2026-01-02'", Needs(["Day"], "`Day` >= DATE '2026-01-02'")),
            ("SELECT id FROM t WHERE 3 > id AND (name = 'x' AND id = 1.0)", Needs(["id", "name"], "`id` < 3 AND `name` = 'x'")),  # noqa: E501
            ("SELECT id FROM t WHERE id IN (1, 2) OR id = 3", Needs(["id"], None)),
            ("SELECT id FROM t WHERE id = '3'", Needs(["id"], None)),
            ("SELECT id FROM t WHERE place.id = 3", Needs(["id", "place"], None)),
            ("SELECT id FROM t JOIN u USING (id) WHERE t.id = 3", Needs(["id"], None)),
            ("SELECT id FROM t USING SAMPLE 3 ROWS WHERE id = 3", Needs(["id"], None)),
            ("SELECT * FROM t WHERE id = 3", Needs(None, "`id` = 3")),
            ("DESCRIBE t", ALL),
            ("no query", ALL),
        ],
    )  # fmt: skip
    def test_of_a_query(self, root, query, expected):
        assert needs(query, "t", deltaic.Table(root).schema) == expected


class TestFailures:
    def test_a_mistake_is_shown_at_its_place(self, root):
        done = process("sql", root, "SELECT id,, name FROM t")
        assert done.returncode == 2
        assert "SELECT id,, name" in done.stderr
        assert "^" in done.stderr
        assert "Traceback" not in done.stderr

    def test_a_table_that_is_not_there_names_those_that_are(self, root):
        done = process("sql", root, "SELECT * FROM orders", "--with", f"other={root}")
        assert done.returncode == 2
        assert "Table with name orders does not exist" in done.stderr
        assert "Tables in QUERY: `t`, `other` (`t` is TABLE, --with NAME=TABLE adds others)" in done.stderr

    @pytest.mark.parametrize(
        "query", ["CREATE TABLE x (a INT)", "SELECT 1; SELECT 2", "INSERT INTO t VALUES (1)", "SELEC 1", ""]
    )
    def test_only_one_query(self, root, query):
        done = process("sql", root, query)
        assert (done.returncode, done.stdout) == (2, "")

    def test_options_that_say_two_things(self, root, tmp_path):
        for options in (
            ["--json", "--format", "csv"],
            ["-o", "x.txt"],
            ["--format", "table", "-o", "x"],
            ["--with", "t=x"],
        ):
            assert process("sql", root, "FROM t", *options).returncode == 2

    def test_a_file_that_is_gone_is_deltaics_error(self, root):
        for file in root.rglob("*.parquet"):
            file.unlink()
        done = process("sql", root, "SELECT name FROM t")
        assert done.returncode == 1
        assert ".parquet" in done.stderr

    def test_no_table(self, tmp_path):
        assert process("sql", tmp_path / "none", "FROM t").returncode == 1
