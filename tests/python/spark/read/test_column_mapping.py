"""Column mapping in a classic session: names and ids, with pushdown and nested pruning kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import plans
import pyarrow as pa
import pytest
from bridge_tables import Log, field, inline_vector, mapped

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession


def _struct(fields: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "struct", "fields": fields}


def _with_id(name: str, data_type: pa.DataType, number: int) -> pa.Field:
    return pa.field(name, data_type, metadata={"PARQUET:field_id": str(number)})


def _table(path: Path, mode: str) -> Log:
    """Logical `id`, `s {a, b}`, `l [{c}]`, `m {text: {d}}`, `missing`, partition `p`; by id, the names in the
    file are of no use."""
    log = Log(path)
    inner = _struct([mapped("a", "integer", "col-a", 3), mapped("b", "string", "col-b", 4)])
    item = _struct([mapped("c", "integer", "col-c", 6)])
    value = _struct([mapped("d", "integer", "col-d", 8)])
    fields = [
        mapped("id", "long", "col-id", 1),
        mapped("s", inner, "col-s", 2),
        mapped("l", {"type": "array", "elementType": item, "containsNull": True}, "col-l", 5),
        mapped(
            "m",
            {"type": "map", "keyType": "string", "valueType": value, "valueContainsNull": True},
            "col-m",
            7,
        ),
        mapped("missing", "string", "col-missing", 9),
        mapped("p", "string", "col-p", 10),
    ]
    name = (lambda n: f"col-{n}") if mode == "name" else (lambda n: f"file_{n}")
    schema = pa.schema(
        [
            _with_id(name("id"), pa.int64(), 1),
            _with_id(
                name("s"),
                pa.struct([_with_id(name("a"), pa.int32(), 3), _with_id(name("b"), pa.string(), 4)]),
                2,
            ),
            _with_id(name("l"), pa.list_(pa.struct([_with_id(name("c"), pa.int32(), 6)])), 5),
            _with_id(name("m"), pa.map_(pa.string(), pa.struct([_with_id(name("d"), pa.int32(), 8)])), 7),
        ]
    )
    rows = [
        {
            name("id"): n,
            name("s"): {name("a"): n, name("b"): f"v{n}"},
            name("l"): [{name("c"): n}],
            name("m"): [("k", {name("d"): n})],
        }
        for n in range(10)
    ]
    data = pa.Table.from_pylist(rows, schema=schema)
    log.commit(
        log.protocol("columnMapping", "deletionVectors"),
        log.metadata(fields, ("p",), delta__columnMapping__mode=mode),
        log.add("a.parquet", data, partitionValues={"col-p": "left"}),
        log.add("b.parquet", data, partitionValues={"col-p": "right"}, deletionVector=inline_vector(0, 9)),
    )
    return log


_READERS = {
    "vectorized": {},
    "row by row": {"spark.sql.parquet.enableVectorizedReader": "false"},
    "row by row, nested": {"spark.sql.parquet.enableNestedColumnVectorizedReader": "false"},
    "row by row, by ids": {
        "spark.sql.parquet.enableVectorizedReader": "false",
        "spark.sql.parquet.fieldId.read.enabled": "true",
    },
}


@pytest.mark.parametrize("reader", _READERS)
@pytest.mark.parametrize("mode", ["name", "id"])
def test_logical_names_are_read(
    spark: SparkSession, tmp_path: Path, setting: Callable[[str, str], None], mode: str, reader: str
) -> None:
    for name, value in _READERS[reader].items():
        setting(name, value)
    df = spark.read.format("delta").load(str(_table(tmp_path / "t", mode).path))
    assert df.columns == ["id", "s", "l", "m", "missing", "p"]
    assert df.count() == 18
    row = df.where("id = 3 and p = 'left'").first()
    assert row.s.a == 3
    assert row.s.b == "v3"
    assert row.l[0].c == 3
    assert row.m["k"].d == 3
    assert row.missing is None
    assert df.where("s.a > 6").select("s.b").count() == 5
    assert df.where("missing is null").count() == 18
    assert df.where("m['k'].d = 9").count() == 1
    assert [r.p for r in df.where("id = 9").collect()] == ["left"]


def test_annotations_do_not_show_in_the_schema(spark: SparkSession, tmp_path: Path) -> None:
    df = spark.read.format("delta").load(str(_table(tmp_path / "t", "name").path))
    assert all(not f.metadata for f in df.schema.fields)
    assert all(not f.metadata for f in df.schema["s"].dataType.fields)


@pytest.mark.parametrize("mode", ["name", "id"])
def test_pushdown_and_nested_pruning_are_kept(spark: SparkSession, tmp_path: Path, mode: str) -> None:
    df = (
        spark.read.format("delta").load(str(_table(tmp_path / "t", mode).path)).where("s.a > 6").select("s.b")
    )
    plan = plans.physical(df)
    assert "GreaterThan(s.a,6)" in plan
    assert "s:struct<a:int,b:string>" in plan
    narrow = spark.read.format("delta").load(str(_table(tmp_path / "n", mode).path)).select("s.b")
    assert "s:struct<b:string>" in plans.physical(narrow)
    assert narrow.count() == 18


def test_stale_annotations_are_ignored_without_a_mode(spark: SparkSession, tmp_path: Path) -> None:
    log = Log(tmp_path / "t")
    log.commit(
        {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
        log.metadata([mapped("id", "long", "col-stale", 1), field("v", "string")]),
        log.add("a.parquet", pa.table({"id": pa.array([5], pa.int64()), "v": ["x"]})),
    )
    assert [tuple(r) for r in spark.read.format("delta").load(str(log.path)).collect()] == [(5, "x")]


@pytest.mark.parametrize("mode", ["name", "id"])
def test_variants_are_read(spark: SparkSession, tmp_path: Path, mode: str) -> None:
    t = f"delta.`{tmp_path / 't'}`"
    columns = "id INT, v VARIANT, s STRUCT<w: VARIANT>"
    spark.sql(
        f"CREATE TABLE {t} ({columns}) USING delta TBLPROPERTIES ('delta.columnMapping.mode' = '{mode}')"
    )
    spark.sql(f"""INSERT INTO {t} SELECT 1, parse_json('{{"a": 2}}'), named_struct('w', parse_json('3'))""")
    query = f"SELECT variant_get(v, '$.a', 'int'), CAST(s.w AS STRING), CAST(v AS STRING) FROM {t}"
    assert [tuple(r) for r in spark.sql(query).collect()] == [(2, "3", '{"a":2}')]
    assert spark.sql(f"SELECT * FROM {t}").count() == 1
