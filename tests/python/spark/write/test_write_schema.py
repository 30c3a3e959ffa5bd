"""What a write does with columns that the table does not have, or has of another type, through both doors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import deltaic
from deltaic import exceptions

pytestmark = pytest.mark.spark


def columns(path: str) -> list[tuple[str, Any]]:
    """Names and types of the newest `metaData`."""
    for file in sorted(Path(path, "_delta_log").glob("*.json"), reverse=True):
        for action in map(json.loads, file.read_text().splitlines()):
            if "metaData" in action:
                fields = json.loads(action["metaData"]["schemaString"])["fields"]
                return [(f["name"], f["type"]) for f in fields]
    raise AssertionError(path)


def rows(door: Any, path: str) -> list[dict[str, Any]]:
    found = (row.asDict(recursive=True) for row in deltaic.read(door, path).collect())
    return sorted(found, key=lambda row: int(row["id"]))


DEEP = """SELECT id, named_struct('x', id) AS s, array(named_struct('y', id)) AS l, map('k', named_struct('z', id)) AS m
    FROM range(2)"""
DEEPER = """SELECT map('k', named_struct('n', 2, 'Z', id)) AS m, array(named_struct('n', 1, 'y', id)) AS L,
    named_struct('n', 'new', 'X', id) AS S, id AS ID, 'top' AS n FROM range(2, 4)"""


@pytest.mark.parametrize("route", ["auto", "driver", "arrow"])
def test_columns_are_added_at_every_depth(door: Any, route: str, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    deltaic.save(door.sql(DEEP), path, deltaicRoute=route)
    with pytest.raises(exceptions.SchemaMismatchError) as error:
        deltaic.save(door.sql(DEEPER), path, mode="append", deltaicRoute=route)
    for said in (
        "`n` is not in the table",
        "`S.n`",
        "`L.element.n`",
        "`m.value.n`",
        "Table: struct<",
        "Data: struct<",
    ):
        assert said.lower() in str(error.value).lower()
    deltaic.save(door.sql(DEEPER), path, mode="append", mergeSchema="true", deltaicRoute=route)
    assert [name for name, _ in columns(path)] == ["id", "s", "l", "m", "n"]
    first, *_, last = rows(door, path)
    assert first["s"] == {"x": 0, "n": None}
    assert last == {
        "id": 3,
        "s": {"x": 3, "n": "new"},
        "l": [{"y": 3, "n": 1}],
        "m": {"k": {"z": 3, "n": 2}},
        "n": "top",
    }
    # old rows in a new order are read as they are
    deltaic.save(door.sql(DEEP), path, mode="append", deltaicRoute=route)
    assert len(rows(door, path)) == 6


def test_the_setting_merges_schemas(door: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    deltaic.save(door.range(1), path)
    door.conf.set("spark.databricks.delta.schema.autoMerge.enabled", "true")
    try:
        wider = door.range(1, 2).selectExpr("id", "'x' AS n")
        with pytest.raises(exceptions.SchemaMismatchError):
            deltaic.save(wider, path, mode="append", mergeSchema="false")
        deltaic.save(wider, path, mode="append")
    finally:
        door.conf.unset("spark.databricks.delta.schema.autoMerge.enabled")
    assert rows(door, path) == [{"id": 0, "n": None}, {"id": 1, "n": "x"}]


@pytest.mark.parametrize("route", ["auto", "arrow"])
def test_types_widen_where_the_table_allows_it(door: Any, route: str, tmp_path: Path) -> None:
    narrow = door.sql("SELECT 1 AS id, cast(1 AS float) AS x, array(cast(1 AS smallint)) AS l")
    wide = door.sql("SELECT 3000000000L AS id, 1e300D AS x, array(100000) AS l")
    for properties, widens in (({}, False), ({"delta.enableTypeWidening": "true"}, True)):
        path = str(tmp_path / f"t{widens}")
        deltaic.save(narrow, path, deltaicRoute=route, **properties)
        if not widens:
            with pytest.raises(exceptions.SchemaMismatchError, match="`id` is long in the data and integer"):
                deltaic.save(wide, path, mode="append", mergeSchema="true", deltaicRoute=route)
            continue
        deltaic.save(wide, path, mode="append", mergeSchema="true", deltaicRoute=route)
        assert [kind if isinstance(kind, str) else kind["elementType"] for _, kind in columns(path)] == [
            "long",
            "double",
            "integer",
        ]
        assert [(row["id"], row["l"]) for row in rows(door, path)] == [(1, [1]), (3000000000, [100000])]
        # narrow data still fits
        deltaic.save(narrow, path, mode="append", deltaicRoute=route)


@pytest.mark.parametrize("mapping", ["none", "name"])
def test_the_schema_is_overwritten(door: Any, mapping: str, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    first = door.range(4).selectExpr("id", "id % 2 AS p")
    deltaic.save(first, path, partition_by="p", **{"delta.columnMapping.mode": mapping})
    other = door.range(4).selectExpr("cast(id AS string) AS id", "id % 2 = 0 AS even")
    with pytest.raises(exceptions.SchemaMismatchError, match="`even` is not in the table"):
        deltaic.save(other, path, mode="overwrite")
    deltaic.save(other, path, mode="overwrite", overwriteSchema="true", partition_by="even")
    assert columns(path) == [("id", "string"), ("even", "boolean")]
    assert [row["even"] for row in rows(door, path)] == [True, False, True, False]
    assert deltaic.Table(path).partition_columns == ["even"]
    # without partition columns it has none
    deltaic.save(first, path, mode="overwrite", overwriteSchema="true")
    assert deltaic.Table(path).partition_columns == []
    assert rows(door, path) == [{"id": i, "p": i % 2} for i in range(4)]


def test_appends_that_add_columns_at_once(door: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    deltaic.save(door.range(1), path)
    from concurrent.futures import ThreadPoolExecutor

    def append(n: int) -> str | None:
        data = door.range(1).selectExpr(f"{n} + id AS id", f"{n} AS c{n}")
        try:
            deltaic.save(data, path, mode="append", mergeSchema="true")
        except exceptions.CommitConflictError as error:
            return f"{error.version}"
        return None

    with ThreadPoolExecutor(3) as pool:
        lost = [v for v in pool.map(append, (1, 2, 3)) if v is not None]
    # the loser's error names the winner, and it has added nothing
    assert len(columns(path)) == len(rows(door, path)) == 4 - len(lost)
    assert all(int(version) <= 3 for version in lost)


@pytest.mark.parametrize("route", ["auto", "driver", "arrow"])
def test_null_structs_with_fields_that_are_never_null(door: Any, route: str, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    nested = door.sql(
        """SELECT id, IF(id = 0, NULL, named_struct('x', id)) AS s,
            array(IF(id = 0, NULL, named_struct('y', id))) AS l FROM range(2)"""
    )
    deltaic.save(nested, path, deltaicRoute=route)
    assert rows(door, path) == [
        {"id": 0, "s": None, "l": [None]},
        {"id": 1, "s": {"x": 1}, "l": [{"y": 1}]},
    ]
