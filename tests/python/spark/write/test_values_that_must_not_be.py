"""Nulls and texts that the table must not have are refused on every route, and the table stays as it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from bridge_tables import Log, field

import deltaic
from deltaic.exceptions import (
    InvalidArgumentError,
    InvalidExpressionError,
    InvariantViolationError,
    SchemaMismatchError,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROUTES = ["auto", "direct", "arrow", "driver"]


def _table(path: Path, fields: list[dict[str, Any]], partition_by: tuple[str, ...] = ()) -> str:
    log = Log(path)
    protocol = {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}
    log.commit(protocol, log.metadata(fields, partition_by))
    return str(path)


def _solid(name: str, data_type: Any, **metadata: Any) -> dict[str, Any]:
    return {**field(name, data_type, **metadata), "nullable": False}


def _struct(*fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "struct", "fields": list(fields)}


def _files(path: str) -> list[str]:
    return sorted(str(f) for f in Path(path).rglob("*") if f.is_file())


def _refused(df: DataFrame, path: str, route: str, message: str) -> None:
    before = _files(path)
    with pytest.raises(SchemaMismatchError, match=message) as error:
        deltaic.save(df, path, mode="append", deltaicRoute=route)
    assert error.value.path.endswith(path.rpartition("/")[2])
    assert error.value.reason in str(error.value)
    assert _files(path) == before


@pytest.mark.parametrize("route", ROUTES)
def test_a_null_in_a_column_that_forbids_it(spark: SparkSession, route: str, tmp_path: Path) -> None:
    path = _table(tmp_path / "t", [_solid("id", "long"), field("s", "string")])
    bad = spark.sql("SELECT if(id = 1999, null, id) AS id, 'a' AS s FROM range(0, 2000, 1, 2)")
    _refused(bad, path, route, "`id` must not be null")
    deltaic.save(bad.where("id IS NOT NULL"), path, mode="append", deltaicRoute=route)
    assert deltaic.read(spark, path).count() == 1999


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("value", ["null", "''"])
def test_a_null_in_a_partition_column_that_forbids_it(
    spark: SparkSession, route: str, value: str, tmp_path: Path
) -> None:
    path = _table(tmp_path / "t", [field("id", "long"), _solid("p", "string")], ("p",))
    bad = spark.sql(f"SELECT id, if(id = 1999, {value}, 'a') AS p FROM range(0, 2000, 1, 2)")
    _refused(bad, path, route, "`p` must not be null")


NESTED = {
    "a field of a struct": (
        _struct(_solid("a", "long")),
        "named_struct('a', if(id = 7, null, id))",
        r"`c\.a` must not be null",
    ),
    "an element of an array": (
        {"type": "array", "elementType": "long", "containsNull": False},
        "array(if(id = 7, null, id))",
        r"`c\.element` must not be null",
    ),
    "a value of a map": (
        {"type": "map", "keyType": "string", "valueType": "long", "valueContainsNull": False},
        "map('k', if(id = 7, null, id))",
        r"`c\.value` must not be null",
    ),
    "a field of a struct in an array": (
        {"type": "array", "elementType": _struct(_solid("a", "long")), "containsNull": True},
        "array(named_struct('a', if(id = 7, null, id)))",
        r"`c\.element\.a` must not be null",
    ),
}


@pytest.mark.parametrize("route", ["auto", "arrow", "driver"])
@pytest.mark.parametrize("case", NESTED)
def test_a_null_within_a_column(spark: SparkSession, route: str, case: str, tmp_path: Path) -> None:
    data_type, expression, message = NESTED[case]
    path = _table(tmp_path / "t", [field("c", data_type)])
    bad = spark.sql(f"SELECT {expression} AS c FROM range(0, 2000, 1, 2)")
    _refused(bad, path, route, message)
    # a null parent has no field that could be null
    good = spark.sql(f"SELECT if(id = 7, null, {expression}) AS c FROM range(0, 2000, 1, 2)")
    deltaic.save(good, path, mode="append", deltaicRoute=route)
    assert deltaic.read(spark, path).where("c IS NULL").count() == 1


def test_the_direct_route_refuses_what_it_cannot_check(spark: SparkSession, tmp_path: Path) -> None:
    path = _table(tmp_path / "t", [field("c", _struct(_solid("a", "long")))])
    df = spark.sql("SELECT named_struct('a', id) AS c FROM range(2000)")
    with pytest.raises(InvalidArgumentError, match="deltaicRoute"):
        deltaic.save(df, path, mode="append", deltaicRoute="direct")
    assert deltaic.Table(path).version == 0


SIZED = [
    field("id", "long"),
    field("v", "string", __CHAR_VARCHAR_TYPE_STRING="varchar(4)"),
    field("c", "string", __CHAR_VARCHAR_TYPE_STRING="char(4)"),
    field("p", "string", __CHAR_VARCHAR_TYPE_STRING="char(2)"),
]
LONG = {
    "v": "`v` is varchar\\(4\\), and the data holds a (longer text|text of 5)",
    "c": "`c` is char\\(4\\), and the data holds a (longer text|text of 5)",
    "p": "`p` is char\\(2\\), and the data holds a (longer text|text of 5)",
}


@pytest.mark.parametrize("route", ROUTES)
def test_lengths_of_char_and_varchar(spark: SparkSession, route: str, tmp_path: Path) -> None:
    path = _table(tmp_path / "t", SIZED, ("p",))
    for column, message in LONG.items():
        values = {"v": "'ok'", "c": "'ok'", "p": "'ok'", column: "if(id = 1999, 'fünf5', 'ok')"}
        listed = ", ".join(f"{value} AS {name}" for name, value in values.items())
        bad = spark.sql(f"SELECT id, {listed} FROM range(0, 2000, 1, 2)")
        _refused(bad, path, route, message)
    good = spark.sql(
        "SELECT id, if(id = 0, null, 'äöüß    ') AS v, if(id = 0, null, if(id = 1, 'a', 'abcd  ')) AS c, "
        "if(id = 0, null, 'p') AS p FROM range(0, 2000, 1, 2)"
    )
    deltaic.save(good, path, mode="append", deltaicRoute=route)
    # as other readers see it: Spark pads char itself when it reads
    rows = pa.table(deltaic.Table(path).to_arrow(where="id < 3")).sort_by("id").to_pylist()
    assert rows == [
        {"id": 0, "v": None, "c": None, "p": None},
        {"id": 1, "v": "äöüß", "c": "a   ", "p": "p "},
        {"id": 2, "v": "äöüß", "c": "abcd", "p": "p "},
    ]
    df = deltaic.read(spark, path)
    assert df.where("p = 'p' AND c = 'a' AND id = 1").count() == 1


@pytest.mark.parametrize("route", ["auto", "arrow", "driver"])
def test_lengths_within_a_column(spark: SparkSession, route: str, tmp_path: Path) -> None:
    nested = _struct(
        field("a", "string"), field("l", {"type": "array", "elementType": "string", "containsNull": True})
    )
    declared = "struct<a:varchar(2),l:array<char(2)>>"
    path = _table(tmp_path / "t", [field("s", nested, __CHAR_VARCHAR_TYPE_STRING=declared)])
    for value, message in {
        "named_struct('a', 'long', 'l', array('x'))": r"`s\.a` is varchar\(2\)",
        "named_struct('a', 'x', 'l', array('long'))": r"`s\.l\.element` is char\(2\)",
    }.items():
        _refused(spark.sql(f"SELECT {value} AS s FROM range(0, 2000, 1, 2)"), path, route, message)
    good = spark.sql("SELECT named_struct('a', 'x ', 'l', array('x', null)) AS s FROM range(1)")
    deltaic.save(good, path, mode="append", deltaicRoute=route)
    (row,) = pa.table(deltaic.Table(path).to_arrow()).to_pylist()
    assert row == {"s": {"a": "x ", "l": ["x ", None]}}


def test_lengths_in_python_and_in_sql(spark: SparkSession, tmp_path: Path) -> None:
    path = _table(tmp_path / "t", SIZED, ("p",))
    before = _files(path)
    row = {"id": [1], "v": ["v"], "c": ["c"], "p": ["p"]}
    with pytest.raises(SchemaMismatchError, match=r"`v` is varchar\(4\), and the data holds a text of 5"):
        deltaic.write(path, pa.table({**row, "v": ["fünf5"]}), mode="append")
    with pytest.raises(SchemaMismatchError, match=r"`p` is char\(2\)"):
        deltaic.write(path, pa.table({**row, "p": ["fünf5"]}), mode="append")
    # Spark checks what it inserts itself, and delta-spark has a name for it
    with pytest.raises(SchemaMismatchError, match="DELTA_EXCEED_CHAR_VARCHAR_LIMIT"):
        spark.sql(f"INSERT INTO delta.`{path}` VALUES (1, 'fünf5', 'c', 'p')")
    assert _files(path) == before
    deltaic.write(path, pa.table(row), mode="append")
    spark.sql(f"INSERT INTO delta.`{path}` VALUES (1, 'v', 'c', 'p')")
    one, two = pa.table(deltaic.Table(path).to_arrow()).to_pylist()
    assert one == two == {"id": 1, "v": "v", "c": "c   ", "p": "p "}


def _ruled(path: Path, fields: list[dict[str, Any]], properties: dict[str, str]) -> str:
    log = Log(path)
    protocol = {"protocol": {"minReaderVersion": 1, "minWriterVersion": 6}}
    metadata = log.metadata(fields)
    metadata["metaData"]["configuration"] = properties
    log.commit(protocol, metadata)
    return str(path)


@pytest.mark.parametrize("route", ["direct", "arrow", "driver"])
def test_a_constraint_holds_on_every_route(spark: SparkSession, route: str, tmp_path: Path) -> None:
    fields = [field("id", "long"), field("half", "long", **{"delta.generationExpression": "id DIV 2"})]
    path = _ruled(tmp_path / "t", fields, {"delta.constraints.few": "id < 1999 AND 10 / (id + 1) > 0"})
    before = _files(path)
    data = spark.range(0, 2000, 1, 2)
    with pytest.raises(InvariantViolationError) as error:
        deltaic.save(data, path, mode="append", deltaicRoute=route)
    assert (error.value.rule, error.value.row) == ("CHECK constraint few", "id = 1999")
    assert error.value.expression == "id < 1999 AND 10 / (id + 1) > 0"
    with pytest.raises(InvalidExpressionError, match="Division by zero") as zero:
        deltaic.save(spark.sql("SELECT -1L AS id"), path, mode="append", deltaicRoute=route)
    assert zero.value.expression == "id < 1999 AND 10 / (id + 1) > 0"
    assert _files(path) == before
    deltaic.save(data.where("id < 1999"), path, mode="append", deltaicRoute=route)
    assert deltaic.read(spark, path).where("half = id DIV 2").count() == 1999


@pytest.mark.parametrize("route", ["direct", "arrow", "driver"])
def test_identities_of_many_tasks_differ(spark: SparkSession, route: str, tmp_path: Path) -> None:
    identity = {
        "delta.identity.start": 7,
        "delta.identity.step": 3,
        "delta.identity.allowExplicitInsert": False,
    }
    path = _ruled(tmp_path / "t", [field("key", "long", **identity), field("id", "long")], {})
    data = spark.range(0, 100, 1, 7)
    for mode in ("append", "append", "overwrite"):
        deltaic.save(data, path, mode=mode, deltaicRoute=route)
    keys = [r.key for v in (2, 3) for r in deltaic.read(spark, path, version=v).select("key").collect()]
    assert len(keys) == len(set(keys)) == 300
    assert min(keys) == 7
    assert all(key % 3 == 1 for key in keys)
    # tasks interleave: 7 tasks of at most 15 rows leave few gaps
    assert max(keys) <= 7 + 3 * 7 * 15 * 3
    log = Path(path, "_delta_log", f"{3:020}.json").read_text().splitlines()
    schema = next(a["metaData"]["schemaString"] for a in map(json.loads, log) if "metaData" in a)
    (column, _) = json.loads(schema)["fields"]
    assert column["metadata"]["delta.identity.highWaterMark"] == max(keys)
    with pytest.raises(SchemaMismatchError, match="GENERATED ALWAYS AS IDENTITY"):
        deltaic.save(data.withColumn("key", data.id), path, mode="append", deltaicRoute=route)
