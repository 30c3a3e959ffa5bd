"""Void columns without Spark: written from Arrow's null type, read, changed, refused where files cannot have them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic
from deltaic.exceptions import InvalidSchemaError, SchemaMismatchError

if TYPE_CHECKING:
    from pathlib import Path

NESTED = pa.struct({"a": pa.int64(), "n": pa.null()})


def rows(*ids: int) -> pa.Table:
    nested = pa.array([{"a": i, "n": None} if i % 2 else None for i in ids], NESTED)
    return pa.table({"id": pa.array(ids, pa.int64()), "v": pa.nulls(len(ids)), "s": nested})


def read(path: Path, **options: Any) -> pa.Table:
    return pa.table(deltaic.Table(path).to_arrow(**options)).sort_by("id")


def test_files_have_no_void_columns_and_rows_do(tmp_path: Path) -> None:
    path = tmp_path / "t"
    deltaic.write(path, rows(1, 2))
    deltaic.write(path, rows(3).drop_columns(["v"]))
    table = deltaic.Table(path)
    assert (table.protocol.min_reader_version, table.protocol.min_writer_version) == (1, 2)
    assert [f.type for f in table.schema][:2] == ["long", "void"]
    assert read(path).to_pylist() == rows(1, 2, 3).to_pylist()
    assert read(path).schema.types == rows().schema.types
    stats = [json.loads(file["stats"]) for file in table.file_list(stats=True)]
    counts = {2: {"id": 0, "v": 2, "s": {"a": 1, "n": 2}}, 1: {"id": 0, "v": 1, "s": {"a": 0, "n": 1}}}
    assert [s["nullCount"] for s in stats] == [counts[s["numRecords"]] for s in stats]
    for file in path.glob("*.parquet"):
        assert pq.read_schema(file).field("s").type == pa.struct({"a": pa.int64()})
        assert "v" not in pq.read_schema(file).names


@pytest.mark.parametrize(
    ("where", "ids"),
    [("v IS NULL", [1, 2, 3]), ("v IS NOT NULL", []), ("v = 1", []), ("s.n IS NULL AND id > 1", [2, 3])],
)
def test_conditions_on_void_columns(tmp_path: Path, where: str, ids: list[int]) -> None:
    deltaic.write(tmp_path / "t", rows(1, 2, 3))
    assert read(tmp_path / "t", where=where)["id"].to_pylist() == ids


def test_rows_are_changed_and_joined(tmp_path: Path) -> None:
    path = tmp_path / "t"
    feed = {"delta.enableChangeDataFeed": "true", "delta.checkpointInterval": "2"}
    deltaic.write(path, rows(1, 2), configuration=feed)
    deltaic.write(path, rows(3, 4))
    deltaic.Table(path).update_rows({"id": "id + 10", "v": "NULL"}, "id = 1 AND v IS NULL")
    deltaic.Table(path).delete("id = 4")
    deltaic.Table(path).optimize()
    found = read(path)
    assert found["id"].to_pylist() == [2, 3, 11]
    assert found["v"].null_count == 3
    changes = pa.table(deltaic.Table(path).changes(0))
    assert changes.schema.field("v").type == pa.null()
    assert changes["_change_type"].to_pylist().count("insert") == 4
    assert deltaic.verify(path, deep=True).findings == []


def test_a_void_column_is_added_and_takes_a_type(tmp_path: Path) -> None:
    path = tmp_path / "t"
    deltaic.create(path, "id BIGINT, s STRUCT<a: BIGINT>")
    deltaic.Table(path).add_columns("v VOID")
    deltaic.write(path, rows(1).drop_columns(["s"]))
    typed = pa.table({"id": [2], "v": ["x"]})
    with pytest.raises(SchemaMismatchError) as error:
        deltaic.write(path, typed)
    assert error.value.condition == "DELTA_METADATA_MISMATCH"
    deltaic.Table(path).change_column("v", data_type="string")
    deltaic.write(path, typed)
    assert read(path)["v"].to_pylist() == [None, "x"]


@pytest.mark.parametrize(
    ("data", "condition"),
    [
        ({"v": pa.nulls(1)}, "DELTA_CANNOT_WRITE_EMPTY_SCHEMA.TABLE_ALL_VOID_COLUMNS"),
        (
            {"id": [1], "s": pa.array([{"n": None}], pa.struct({"n": pa.null()}))},
            "DELTA_CANNOT_WRITE_EMPTY_SCHEMA.STRUCT_ALL_VOID_FIELDS",
        ),
        (
            {"id": [1], "l": pa.array([[None]], pa.list_(pa.null()))},
            "DELTA_COMPLEX_TYPE_COLUMN_CONTAINS_NULL_TYPE",
        ),
    ],
)
def test_what_files_cannot_hold_is_refused(tmp_path: Path, data: dict[str, Any], condition: str) -> None:
    with pytest.raises(InvalidSchemaError) as error:
        deltaic.write(tmp_path / "t", pa.table(data))
    assert error.value.condition == condition
    assert not (tmp_path / "t").exists()
