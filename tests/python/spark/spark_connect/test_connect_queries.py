"""Queries, INSERT and TRUNCATE by `deltaic.sql`: the same on a classic session and on Spark Connect."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import AnalysisException

import deltaic
from deltaic.exceptions import (
    InvalidArgumentError,
    InvariantViolationError,
    SchemaMismatchError,
    UnsupportedError,
    VersionNotFoundError,
)
from deltaic.statements.insert import Insert, parse_insert
from deltaic.statements.references import references

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

spark_test = pytest.mark.spark


@pytest.fixture
def path(tmp_path: Path) -> str:
    import pyarrow as pa

    path = str(tmp_path / "t")
    for start in (0, 3):
        rows = pa.table({"id": pa.array(range(start, start + 3), pa.int64()), "p": [f"p{start}"] * 3})
        deltaic.write(path, rows, mode="append", partition_by=["p"] if start == 0 else None)
    return path


@pytest.fixture
def name(door: Any, path: str) -> Iterator[str]:
    name = f"t_{uuid.uuid4().hex[:8]}"
    door.sql(f"CREATE TABLE {name} USING delta LOCATION '{path}'")
    yield name
    door.sql(f"DROP TABLE {name}")


def answer(door: Any, text: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in deltaic.sql(door, text).collect())


def content(path: str) -> list[tuple[Any, ...]]:
    import pyarrow as pa

    rows = pa.table(deltaic.Table(path).to_arrow()).to_pylist()
    return sorted((tuple(row.values()) for row in rows), key=str)


def operation(path: str) -> tuple[str, dict[str, str]]:
    newest = deltaic.Table(path).history(1)[0]
    return newest["operation"], dict(newest["operationParameters"])


@spark_test
def test_tables_in_queries_are_found_by_path_and_by_name(door: Any, path: str, name: str) -> None:
    table = f"delta.`{path}`"
    assert answer(door, f"SELECT count(*) FROM {table}") == [(6,)]
    assert answer(door, f"SELECT max({name}.id) FROM {name} WHERE p = 'p0'") == [(2,)]
    assert answer(door, f"SELECT a.id FROM {table} AS a JOIN default.{name} b ON a.id = b.id + 4") == [
        (4,),
        (5,),
    ]
    assert answer(door, f"WITH c AS (SELECT id FROM {name} WHERE id > 4) SELECT * FROM c") == [(5,)]
    assert answer(door, f"SELECT id FROM range(9) WHERE id IN (SELECT id + 6 FROM {table})") == [
        (6,),
        (7,),
        (8,),
    ]
    assert answer(door, f"SELECT '{{x}}', p FROM {table} UNION SELECT 'y', 'q'") == [
        ("y", "q"),
        ("{x}", "p0"),
        ("{x}", "p3"),
    ]


@spark_test
def test_queries_of_other_versions(door: Any, path: str, name: str) -> None:
    table = f"delta.`{path}`"
    time = deltaic.Table(path).history(1)[0]["timestamp"]
    texts = [
        f"SELECT count(*) FROM {table} VERSION AS OF 0",
        f"SELECT count(*) FROM {name} FOR VERSION AS OF '0' WHERE true",
        f"SELECT count(*) FROM {name}@v0",
        f"SELECT count(*) FROM delta.`{path}@v0`",
    ]
    assert [answer(door, text) for text in texts] == [[(3,)]] * 4
    assert answer(door, f"SELECT count(x.id) FROM {name} TIMESTAMP AS OF '{time}' AS x") == [(6,)]
    later = f"SELECT count(*) FROM {table} FOR TIMESTAMP AS OF timestamp'{time}'"
    assert answer(door, later) == [(6,)]
    with pytest.raises(VersionNotFoundError):
        deltaic.sql(door, f"SELECT * FROM {table} VERSION AS OF 7").collect()


@spark_test
def test_partitions_are_shown(door: Any, path: str, name: str) -> None:
    deltaic.sql(door, f"INSERT INTO {name} VALUES (9, NULL)")
    shown = deltaic.sql(door, f"SHOW PARTITIONS {name}")
    assert (shown.columns, [row[0] for row in shown.collect()]) == (["p"], [None, "p0", "p3"])
    assert answer(door, f"SHOW PARTITIONS delta.`{path}` PARTITION (p = 'p3')") == [("p3",)]
    assert answer(door, f"SHOW PARTITIONS {name} PARTITION (P = NULL);") == [(None,)]
    with pytest.raises(InvalidArgumentError, match="none of the partition columns"):
        deltaic.sql(door, f"SHOW PARTITIONS {name} PARTITION (id = 1)")


@spark_test
def test_rows_are_inserted(door: Any, path: str, name: str) -> None:
    deltaic.sql(door, f"INSERT INTO delta.`{path}` VALUES (10, 'p9'), (11, NULL)")
    assert operation(path)[0] == "WRITE"
    deltaic.sql(door, f"INSERT INTO {name} (p, id) SELECT p, id + 20 FROM {name} WHERE id > 10")
    deltaic.sql(door, f"INSERT INTO TABLE {name} BY NAME SELECT 'p8' AS p, 30L AS id")
    deltaic.sql(door, f"INSERT INTO {name} PARTITION (p = 'fix') (SELECT 40)")
    deltaic.sql(
        door, f"INSERT INTO {name} PARTITION (p) SELECT id + 50, p FROM delta.`{path}@v0` WHERE id = 0"
    )
    new = [row for row in content(path) if row[0] > 5]
    assert new == [(10, "p9"), (11, None), (30, "p8"), (31, None), (40, "fix"), (50, "p0")]
    deltaic.sql(door, f"INSERT WITH SCHEMA EVOLUTION INTO {name} BY NAME SELECT 60L AS id, 'more' AS extra")
    assert deltaic.Table(path).schema.names == ["id", "p", "extra"]
    assert content(path)[-1] == (60, None, "more")


@spark_test
def test_rows_are_overwritten(door: Any, path: str, name: str) -> None:
    deltaic.sql(door, f"INSERT OVERWRITE {name} PARTITION (p = 'p3') SELECT 7")
    assert content(path) == [(0, "p0"), (1, "p0"), (2, "p0"), (7, "p3")]
    deltaic.sql(door, f"INSERT INTO {name} REPLACE WHERE id < 2 SELECT * FROM VALUES (1, 'p1') AS v(id, p)")
    assert content(path) == [(1, "p1"), (2, "p0"), (7, "p3")]
    door.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    try:
        deltaic.sql(door, f"INSERT OVERWRITE TABLE {name} VALUES (8, 'p3'), (9, 'p4')")
    finally:
        door.conf.unset("spark.sql.sources.partitionOverwriteMode")
    assert content(path) == [(1, "p1"), (2, "p0"), (8, "p3"), (9, "p4")]
    deltaic.sql(door, f"INSERT OVERWRITE {name} SELECT 1L, 'all'")
    assert content(path) == [(1, "all")]
    deltaic.sql(door, f"TRUNCATE TABLE {name}")
    assert (content(path), operation(path)[0]) == ([], "TRUNCATE")


@spark_test
def test_a_merge_takes_its_source_from_a_table(door: Any, path: str, name: str) -> None:
    text = f"""MERGE INTO {name} t USING (SELECT id + 4 AS id, 'm' AS p FROM delta.`{path}@v0`) s ON t.id = s.id
        WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT *"""
    deltaic.sql(door, text)
    assert [row[0] for row in content(path)] == [0, 1, 2, 3, 6]


@spark_test
def test_subqueries_of_tables_decide_what_changes(door: Any, path: str, name: str) -> None:
    views = {table.name for table in door.catalog.listTables()}
    deltaic.sql(door, f"DELETE FROM {name} WHERE id IN (SELECT id + 1 FROM delta.`{path}@v0`)")
    assert [row[0] for row in content(path)] == [0, 4, 5]
    latest = f"(SELECT max(id) FROM {name} VERSION AS OF 1)"
    deltaic.sql(door, f"UPDATE {name} SET p = CONCAT('p', {latest}) WHERE id = {latest}")
    assert content(path) == [(0, "p0"), (4, "p3"), (5, "p5")]
    assert {table.name for table in door.catalog.listTables()} == views


@spark_test
def test_what_cannot_be_inserted_leaves_nothing(door: Any, path: str, name: str) -> None:
    deltaic.Table(path).add_constraint("small", "id < 100")
    version = deltaic.Table(path).version
    for text, error in (
        (f"INSERT INTO {name} VALUES (500, 'p')", InvariantViolationError),
        (f"INSERT INTO {name} SELECT 1", (SchemaMismatchError, AnalysisException)),
        (f"INSERT INTO {name} VALUES (1, 'p', 2)", (SchemaMismatchError, AnalysisException)),
        (
            f"INSERT OVERWRITE {name} PARTITION (p = 'x') IF NOT EXISTS SELECT 1",
            (UnsupportedError, AnalysisException),
        ),
        (f"TRUNCATE TABLE {name} PARTITION (p = 'p0')", (UnsupportedError, AnalysisException)),
    ):
        with pytest.raises(error):
            deltaic.sql(door, text)
        assert deltaic.Table(path).version == version, text


@spark_test
def test_tables_of_other_formats_are_the_servers(connect: Any, path: str) -> None:
    connect.sql("CREATE TABLE plain (id BIGINT, p STRING) USING parquet")
    try:
        deltaic.sql(connect, "INSERT INTO plain VALUES (1, 'a')")
        deltaic.sql(connect, "INSERT INTO plain TABLE plain")
        assert (
            answer(connect, f"SELECT a.id, b.p FROM plain a JOIN delta.`{path}` b ON a.id = b.id")
            == [(1, "p0")] * 2
        )
        deltaic.sql(connect, "TRUNCATE TABLE plain")
        assert answer(connect, "SELECT * FROM plain") == []
    finally:
        connect.sql("DROP TABLE plain")


def test_what_an_insert_says() -> None:
    said = parse_insert("insert into a.b (x, `y z`) -- to\n SELECT 1; ")
    assert said == Insert(["a", "b"], "SELECT 1", columns=["x", "y z"])
    said = parse_insert("INSERT OVERWRITE TABLE t PARTITION (p = 'a, b', q) (SELECT 1)")
    assert said == Insert(["t"], "(SELECT 1)", overwrites=True, partition={"p": "'a, b'", "q": None})
    said = parse_insert("INSERT INTO delta.`/x` REPLACE WHERE (a = 'SELECT') FROM b SELECT *")
    assert said == Insert(["delta", "/x"], "FROM b SELECT *", overwrites=True, replaced="(a = 'SELECT')")
    assert parse_insert("INSERT OVERWRITE LOCAL DIRECTORY '/x' SELECT 1") is None
    assert parse_insert("SELECT 1") is None
    with pytest.raises(InvalidArgumentError, match=r"expected INTO, found `IN` \(line 1, column 8\)"):
        parse_insert("INSERT IN t SELECT 1")
    with pytest.raises(InvalidArgumentError, match="expected a query, found the end"):
        parse_insert("INSERT INTO t (a)")


def test_the_tables_of_a_query() -> None:
    text = """WITH c AS (SELECT 1) SELECT '@v1' FROM c, a.`b c` FOR TIMESTAMP AS OF date_sub(now(), 1) x, t@v3,
        table_changes('f', 2, '2026-01-01')"""
    found = [
        (r.name, text[r.start : r.end], r.alias, r.version, r.timestamp, r.changes) for r in references(text)
    ]
    assert found == [
        (
            ["a", "b c"],
            "a.`b c` FOR TIMESTAMP AS OF date_sub(now(), 1)",
            "",
            None,
            "(date_sub(now(), 1))",
            (),
        ),
        (["t"], "t@v3", " AS `t`", 3, None, ()),
        (["f"], "table_changes('f', 2, '2026-01-01')", "", None, None, (2, "2026-01-01")),
    ]
    assert references("DROP TABLE delta.`/x`") == []
    assert references("SELECT FROM WHERE") == []
