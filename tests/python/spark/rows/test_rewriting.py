"""Files with matching rows, rewritten by the core in this process or by tasks of Spark: the same comes out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from dml_tables import KINDS, ROW_TRACKING, actions, last_commit, live, make, metrics, row_ids

import deltaic
from deltaic.exceptions import InvariantViolationError
from deltaic.spark.dml import operation
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.spark
REWRITING = ["rewrite", "rewrite with feed and row ids"]


@pytest.fixture(params=["in this process", "by tasks"])
def where(request: pytest.FixtureRequest, setting: Callable[[str, str], None]) -> str:
    """What is too much for this process is left to tasks."""
    if request.param == "by tasks":
        setting("spark.deltaic.dml.clusterBytes", "0")
    return str(request.param)


def _rows(spark: Any, path: str) -> dict[int, tuple[Any, ...]]:
    rows = deltaic.read(spark, path).selectExpr("id", "p", "n", "s.a").collect()
    assert len({r[0] for r in rows}) == len(rows)
    return {r[0]: tuple(r)[1:] for r in rows}


def _reported(path: str) -> dict[str, list[int]]:
    """The ids of the newest version's changes, by what happened to them."""
    table = deltaic.Table(path)
    found: dict[str, list[int]] = {}
    for change in pa.table(table.changes(table.version)).select(["id", "_change_type"]).to_pylist():
        found.setdefault(change["_change_type"], []).append(change["id"])
    return {kind: sorted(ids) for kind, ids in found.items()}


@pytest.mark.parametrize("by", [[], ["p"]], ids=["", "partitioned"])
@pytest.mark.parametrize("kind", [*REWRITING, "everything"])
@pytest.mark.usefixtures("where")
def test_each_operation_does_what_it_says(spark: Any, kind: str, by: list[str], tmp_path: Path) -> None:
    path = make(spark, tmp_path / "t", kind, by=by)
    table = DeltaTable.forPath(spark, path)
    tells = "delta.enableChangeDataFeed" in KINDS[kind]
    tracks = ROW_TRACKING.items() <= KINDS[kind].items()
    rows, ids = _rows(spark, path), row_ids(path) if tracks else {}

    def check(reported: dict[str, list[int]]) -> None:
        assert _rows(spark, path) == rows
        if tells:
            assert _reported(path) == reported
        if tracks:
            now = row_ids(path)
            for i in rows.keys() & ids.keys():
                assert {row for row, _ in now[i]} == {row for row, _ in ids[i]}, i
        assert deltaic.Table(path).verify(deep=True).findings == []

    table.update("id % 10 = 3", {"n": "n + 1000", "s.a": "-1"})
    for i in range(3, 100, 10):
        p, n, _ = rows[i]
        rows[i] = (p, None if n is None else n + 1000, -1)
    hit = list(range(3, 100, 10))
    check({"update_preimage": hit, "update_postimage": hit})
    assert metrics(path)["numUpdatedRows"] == 10

    table.delete("id % 10 = 4")
    gone = list(range(4, 100, 10))
    for i in gone:
        del rows[i]
    check({"delete": gone})
    assert metrics(path)["numDeletedRows"] == 10

    source = spark.sql("SELECT id, 'new' AS p, -7 AS n FROM range(95, 103)")
    (
        table.alias("t")
        .merge(source.alias("s"), "t.id = s.id")
        .whenMatchedDelete("t.id = 96")
        .whenMatchedUpdate(set={"n": "s.n", "p": "s.p"})
        .whenNotMatchedInsert(values={"id": "s.id", "n": "s.n"})
        .execute()
    )
    del rows[96]
    for i in (95, 97, 98, 99):
        rows[i] = ("new", -7, rows[i][2])
    for i in (100, 101, 102):
        rows[i] = (None, -7, None)
    there = [95, 97, 98, 99]
    check(
        {
            "update_preimage": there,
            "update_postimage": there,
            "delete": [96],
            "insert": [100, 101, 102],
        }
    )
    m = metrics(path)
    numbers = [m[f"numTargetRows{n}"] for n in ("Updated", "Deleted", "Inserted")]
    assert numbers == [4, 1, 3]
    for action in actions(path):
        if "cdc" in action:
            assert "_change_data/" in action["cdc"]["path"]


@pytest.mark.usefixtures("where")
def test_new_rows_go_to_the_files_of_those_that_are_left(spark: Any, tmp_path: Path) -> None:
    path = make(spark, tmp_path / "t", "rewrite")
    before = len(live(path))
    table = DeltaTable.forPath(spark, path)
    source = spark.sql("SELECT 42L AS id")
    for n in range(3):
        table.update("id = 41", {"n": str(n)})
        merged = table.alias("t").merge(source.alias("s"), "t.id = s.id")
        merged.whenMatchedUpdate(set={"n": str(n)}).execute()
    assert len(live(path)) == before
    removed = [a for a in last_commit(path)[1] if "remove" in a]
    assert len(removed) == 1


@pytest.mark.parametrize("kind", REWRITING)
@pytest.mark.usefixtures("where")
def test_a_new_row_that_breaks_a_rule_leaves_the_table_as_it_was(
    spark: Any, kind: str, tmp_path: Path
) -> None:
    path = make(spark, tmp_path / "t", kind)
    deltaic.Table(path).add_constraint("small", "n IS NULL OR n < 100")
    table, rows = DeltaTable.forPath(spark, path), _rows(spark, path)
    version = deltaic.Table(path).version
    with pytest.raises(InvariantViolationError, match="small"):
        table.update("id = 41", {"n": "1000"})
    merged = table.alias("t").merge(spark.sql("SELECT 42L AS id").alias("s"), "t.id = s.id")
    with pytest.raises(InvariantViolationError, match="small"):
        merged.whenMatchedUpdate(set={"n": "1000"}).execute()
    assert (_rows(spark, path), deltaic.Table(path).version) == (rows, version)
    listed = {add["path"] for add in live(path)}
    assert {f.name for f in (tmp_path / "t").rglob("*.parquet")} == {
        name.rpartition("/")[2] for name in listed
    }


@pytest.mark.parametrize("kind", REWRITING)
@pytest.mark.usefixtures("where")
def test_more_rows_than_the_driver_holds_get_their_values(
    spark: Any, kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(operation, "_FEW_ROWS", 5)
    path = make(spark, tmp_path / "t", kind)
    before = _rows(spark, path)
    table = DeltaTable.forPath(spark, path)
    table.update("id >= 20", {"n": "1"})
    merged = table.alias("t").merge(spark.range(10, 30).alias("s"), "t.id = s.id")
    merged.whenMatchedUpdate(set={"n": "2"}).execute()
    expected = {i: (p, 2 if 10 <= i < 30 else 1 if i >= 20 else n, a) for i, (p, n, a) in before.items()}
    assert _rows(spark, path) == expected


@pytest.mark.parametrize("kind", ["rewrite", "everything"])
@pytest.mark.usefixtures("where")
def test_values_of_every_type_stay_as_they_are(
    spark: Any, kind: str, setting: Callable[[str, str], None], tmp_path: Path
) -> None:
    setting("spark.sql.session.timeZone", "America/New_York")
    path = str(tmp_path / "t")
    properties = ", ".join(f"'{name}' = '{value}'" for name, value in KINDS[kind].items()) or "'k' = 'v'"
    spark.sql(
        f"""CREATE TABLE delta.`{path}` (id BIGINT, c CHAR(5), v VARCHAR(5), flag BOOLEAN, b TINYINT, f FLOAT,
            d DECIMAL(38,10), bin BINARY, day DATE, at TIMESTAMP, ntz TIMESTAMP_NTZ, a ARRAY<INT>,
            m MAP<STRING, STRUCT<x: INT>>, s STRUCT<at: TIMESTAMP, l: ARRAY<STRING>>, n INT)
            USING delta PARTITIONED BY (day) TBLPROPERTIES ({properties})"""
    )
    spark.sql(
        f"""INSERT INTO delta.`{path}` SELECT id, 'ab', 'cd', id % 2 = 0, id, id / 4, id / 7,
            CAST(CAST(id AS STRING) AS BINARY), DATE'1582-10-15' + CAST(id % 2 AS INT),
            TIMESTAMP'1969-12-31 23:59:59.999999' + make_interval(0, 0, 0, CAST(id AS INT)),
            TIMESTAMP_NTZ'2024-11-03 01:30:00', array(1, NULL), map('k', named_struct('x', 1)),
            IF(id % 4 = 1, NULL, named_struct('at', TIMESTAMP'2024-11-03 01:30:00', 'l', array('x'))), 0
            FROM range(0, 40, 1, 2)"""
    )
    before = spark.read.format("delta").load(path).drop("n").orderBy("id").collect()
    DeltaTable.forPath(spark, path).update("id % 10 = 3", {"n": "id"})
    after = spark.read.format("delta").load(path)
    assert after.drop("n").orderBy("id").collect() == before
    assert {r.id: r.n for r in after.where("n > 0").collect()} == {i: i for i in (3, 13, 23, 33)}
