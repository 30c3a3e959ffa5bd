"""Void columns: each engine reads what the other wrote."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa

import deltaic

if TYPE_CHECKING:
    from pathlib import Path


def test_delta_spark_reads_what_arrow_wrote_and_the_other_way_round(
    delta_spark: Any, tmp_path: Path, same: Any
) -> None:
    path = tmp_path / "t"
    inner = pa.struct({"a": pa.int64(), "n": pa.null()})
    rows = pa.table(
        {
            "id": pa.array([1, 2], pa.int64()),
            "v": pa.nulls(2),
            "s": pa.array([{"a": 1, "n": None}, None], inner),
        }
    )
    deltaic.write(path, rows)
    schema, found = delta_spark.answer(f"SELECT * FROM delta.`{path}` WHERE v IS NULL ORDER BY id")
    assert [f["type"] for f in schema["fields"]][:2] == ["long", "void"]
    assert [json.loads(row) for row in found] == rows.to_pylist()
    delta_spark.sql(f"INSERT INTO delta.`{path}` VALUES (3, NULL, named_struct('a', 5L, 'n', NULL))")
    read = pa.table(deltaic.Table(path).to_arrow())
    assert read.schema.types == rows.schema.types
    more = pa.table(
        {
            "id": pa.array([3], pa.int64()),
            "v": pa.nulls(1),
            "s": pa.array([{"a": 5, "n": None}], inner),
        }
    )
    same(read, pa.concat_tables([rows, more]))
