"""Conditions whose rows the core finds, without a Spark job: the same rows as Spark finds, and no other conditions."""

from __future__ import annotations

import datetime as dt
import random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from dml_tables import ids

import deltaic
from deltaic.spark.dml.conditions import plain
from deltaic.spark.dml.operation import Operation
from deltaic.spark.session.table_ref import TableRef
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.spark

VALUES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "b": (pa.bool_(), [True, False]),
    "t": (pa.int8(), [-128, -1, 0, 1, 7, 127]),
    "s": (pa.int16(), [-32768, -3, 0, 3, 32767]),
    "i": (pa.int32(), [-(2**31), -5, 0, 5, 1000, 2**31 - 1]),
    "l": (pa.int64(), [-(2**63), -7, 0, 7, 2**53 + 1, 2**63 - 1]),
    "d": (pa.date32(), [dt.date(1, 1, 1), dt.date(1582, 10, 4), dt.date(2026, 2, 28), dt.date(9999, 12, 31)]),
    "c": (pa.string(), ["", "A", "a", "a ", "ab", "Ünï", "\U0001f600", "\uffff"]),
    "p": (pa.int32(), [1, 2]),
}
WHOLE = ["t", "s", "i", "l"]


def _rows() -> pa.Table:
    draw = random.Random(7)
    columns = {
        name: pa.array([draw.choice([None, *values]) for _ in range(240)], data_type)
        for name, (data_type, values) in VALUES.items()
    }
    return pa.table({"id": pa.array(range(240), pa.int64()), **columns})


def _literal(draw: random.Random, column: str) -> str:
    if column in {*WHOLE, "p"}:
        values = VALUES[draw.choice(WHOLE)][1]
        number = draw.choice([v for v in values if v != -(2**63)])
        return str(number)
    value = draw.choice(VALUES[column][1])
    return {"b": str(value).lower(), "d": f"DATE '{value}'" if column == "d" else "", "c": f"'{value}'"}[
        column
    ]


def _condition(draw: random.Random, depth: int = 2) -> str:
    if depth and draw.random() < 0.6:
        left, right = _condition(draw, depth - 1), _condition(draw, depth - 1)
        return draw.choice([f"({left} AND {right})", f"({left} OR {right})", f"NOT ({left})"])
    column = draw.choice(list(VALUES))
    match draw.randrange(7):
        case 0:
            return f"{column} IS {draw.choice(['', 'NOT '])}NULL"
        case 1:
            return f"{column} IN ({', '.join(_literal(draw, column) for _ in range(3))})"
        case 2:
            return f"{column} BETWEEN {_literal(draw, column)} AND {_literal(draw, column)}"
        case 3 if column in {*WHOLE, "p"}:
            return f"{column} % {draw.choice([2, 3, -4, 1000, 5000000000])} = {draw.choice([0, 1, -1, 7])}"
        case 4 if column in {*WHOLE, "p"}:
            return f"{column} {draw.choice(['=', '<', '>='])} {draw.choice(WHOLE)}"
        case 5 if column == "b":
            return "b"
    operator = draw.choice(["=", "<>", "<", "<=", ">", ">=", "<=>"])
    sides = [column, _literal(draw, column)]
    draw.shuffle(sides)
    return f"{sides[0]} {operator} {sides[1]}"


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Rows of every type in files of some of them."""
    path = str(tmp_path_factory.mktemp("plain") / "t")
    rows = _rows()
    for start in range(0, 240, 80):
        deltaic.write(path, rows.slice(start, 80), partition_by=["p"])
    return path


@pytest.fixture
def op(spark: Any, table: str) -> Iterator[Operation]:
    with Operation(TableRef(spark, table), "DELETE", {}) as op:
        yield op


@pytest.mark.classic("asks an operation of this process")
def test_the_core_finds_the_rows_that_spark_finds(spark: Any, table: str) -> None:
    draw = random.Random(11)
    conditions = list(dict.fromkeys(_condition(draw) for _ in range(120)))
    judged = [f"({condition}) AS c{n}" for n, condition in enumerate(conditions)]
    rows = spark.createDataFrame(_rows()).selectExpr("id", *judged).collect()
    for n, condition in enumerate(conditions):
        with Operation(TableRef(spark, table), "DELETE", {}) as op:
            sql = plain(op, condition)
            assert sql is not None, condition
            assert op.dml.take_where(sql, 1 << 30)
            found = pa.table(pa.RecordBatchReader.from_stream(op.dml.matched_rows()))
        wanted = [row["id"] for row in rows if row[f"c{n}"]]
        assert sorted(found["id"].to_pylist()) == wanted, (condition, sql)


@pytest.mark.classic("asks an operation of this process")
@pytest.mark.parametrize(
    "condition",
    [
        "c = 1",  # a cast
        "CAST(i AS STRING) = '5'",
        "i = 5.0",
        "i / 2 = 1",
        "i % 0 = 1",
        "i % s = 1",
        "i + 1 = 6",
        "c = NULL",
        r"c = 'it\'s'",
        "c LIKE 'a%'",
        "upper(c) = 'A'",
        "c COLLATE UTF8_LCASE = 'a'",
        "d > '2026-01-01' OR d = current_date()",
        "id IN (SELECT 1)",
        "i = (SELECT 5)",
    ],
)
def test_what_may_mean_something_else_is_left_to_spark(op: Operation, condition: str) -> None:
    assert plain(op, condition) is None


@pytest.mark.classic("asks an operation of this process")
def test_padded_texts_are_left_to_spark(spark: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    DeltaTable.create(spark).location(path).addColumn("c", "CHAR(3)").addColumn("v", "VARCHAR(3)").execute()
    with Operation(TableRef(spark, path), "DELETE", {}) as op:
        assert plain(op, "c = 'a'") is None
        assert plain(op, "v = 'a'") is None


@pytest.mark.classic("asks an operation of this process")
def test_tasks_look_in_what_is_too_much_for_this_process(spark: Any, table: str) -> None:
    with Operation(TableRef(spark, table), "DELETE", {}) as op:
        sql = plain(op, "i = 5")
        assert sql is not None
        assert not op.dml.take_where(sql, 10)
        assert op.counts()["touchedFiles"] == 0


def test_a_delete_and_an_update_change_what_the_core_found(spark: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    deltaic.write(path, _rows())
    table = DeltaTable.forPath(spark, path).alias("t")
    table.delete("t.id % 10 = 3 OR t.`id` BETWEEN 200 AND 1000")
    table.update("id = 5", {"c": "'new'"})
    df = deltaic.read(spark, path)
    assert ids(df) == [i for i in range(200) if i % 10 != 3]
    assert [row[0] for row in df.where("id = 5").select("c").collect()] == ["new"]


@pytest.mark.parametrize("vectors", ["true", "false"])
def test_whole_partitions_where_spark_cannot_ask_the_log(spark: Any, tmp_path: Path, vectors: str) -> None:
    """Instants in partitions are read in the zone of the session, which the log does not know."""
    path = str(tmp_path / "t")
    rows = pa.table({"id": [1, 2, 3], "p": [1, 1, 2], "at": pa.array([0, 1, 2], pa.timestamp("us", "UTC"))})
    deltaic.write(
        path, rows, partition_by=["p", "at"], configuration={"delta.enableDeletionVectors": vectors}
    )
    spark.conf.set("spark.sql.session.timeZone", "Asia/Kolkata")
    try:
        table = DeltaTable.forPath(spark, path)
        table.update("p = 2", {"id": "id + 10"})
        table.delete("p = 1")
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
    assert ids(deltaic.read(spark, path)) == [13]
    assert deltaic.Table(path).verify(deep=True).findings == []
