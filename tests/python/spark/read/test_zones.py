"""Conditions with times mean what they mean in the time zone of the session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import deltaic
from deltaic import exceptions
from deltaic.spark.session.time_zone import in_utc
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.spark

ZONE = "America/New_York"
# an hour apart, from nine hours before the new year in London on: it comes to New York five hours later
ROWS = """SELECT id, TIMESTAMP '2025-12-31 15:00:00Z' + make_dt_interval(0, CAST(id AS INT)) AS ts,
    id % 2 AS p, CAST(id AS STRING) AS s, DATE '2025-12-31' AS d,
    named_struct('ts', TIMESTAMP '2025-12-31 15:00:00Z' + make_dt_interval(0, CAST(id AS INT))) AS n FROM range(20)"""


@pytest.fixture
def zoned(door: Any) -> Iterator[Any]:
    """A session in New York."""
    before = door.conf.get("spark.sql.session.timeZone")
    door.conf.set("spark.sql.session.timeZone", ZONE)
    yield door
    door.conf.set("spark.sql.session.timeZone", before)


@pytest.fixture
def path(zoned: Any, tmp_path: Path) -> str:
    at = str(tmp_path / "t")
    for half in ("id < 10", "id >= 10"):
        deltaic.save(zoned.sql(f"SELECT * FROM ({ROWS}) WHERE {half}"), at, mode="append")
    return at


def ids(path: str) -> list[int]:
    return sorted(pa.table(deltaic.Table(path).to_arrow(["id"])).column("id").to_pylist())


CONDITIONS = {
    "a time": "ts >= '2026-01-01 00:00:00'",
    "a day": "'2026-01-01' > ts",
    "a timestamp": "ts = TIMESTAMP '2025-12-31 19:00:00' OR ts = TIMESTAMP '2025-12-31 15:00:00Z'",
    "a date": "ts < DATE '2026-01-01' AND p = 1",
    "a range": "ts BETWEEN '2025-12-31 20:00:00' AND '2026-01-01 01:00:00'",
    "some": "ts IN ('2025-12-31 20:00:00', '2025-12-31 22:00:00', NULL)",
    "not": "NOT ts < '2026-01-01 00:00:00'",
    "a field": "n.ts > '2026-01-01 00:00:00'",
    "no time": "s = '7' OR d < '2025-12-31' OR ts IS NULL",
    "an hour": "hour(ts) = 20",
    "a day of a time": "CAST(ts AS DATE) = '2025-12-31'",
    "the time of a day": "d < TIMESTAMP '2026-01-01 00:00:00' AND p = 1",
    "today": "d < current_date() AND p = 1",
    "a computed time": "ts > CAST(concat('2026-01-0', p + 1) AS TIMESTAMP)",
}


@pytest.mark.parametrize("where", CONDITIONS.values(), ids=CONDITIONS)
def test_rows_are_replaced(zoned: Any, path: str, where: str) -> None:
    replaced = [row.id for row in zoned.sql(f"SELECT id FROM ({ROWS}) WHERE {where}").collect()]
    assert 0 < len(replaced) < 20
    new = zoned.sql(f"SELECT id + 100 AS id, ts, p, s, d, n FROM ({ROWS}) WHERE {where}")
    deltaic.save(new, path, mode="overwrite", replaceWhere=where)
    kept = {*range(20)} - {*replaced}
    assert ids(path) == sorted([*kept, *(i + 100 for i in replaced)])
    assert deltaic.Table(path).history(limit=1)[0]["operationParameters"]["predicate"] == where


@pytest.mark.parametrize("where", CONDITIONS.values(), ids=CONDITIONS)
def test_files_are_left_out(zoned: Any, path: str, where: str) -> None:
    expected = sorted(row.id for row in zoned.sql(f"SELECT id FROM ({ROWS}) WHERE {where}").collect())
    assert sorted(row.id for row in deltaic.read(zoned, path, where=where).collect()) == expected


def test_the_format_on_connect(connect: Any, tmp_path: Path) -> None:
    before = connect.conf.get("spark.sql.session.timeZone")
    connect.conf.set("spark.sql.session.timeZone", ZONE)
    try:
        deltaic.enable(connect)
        path = str(tmp_path / "t")
        deltaic.save(connect.sql(ROWS), path)
        where = "ts >= '2026-01-01 00:00:00'"
        new = connect.sql(f"SELECT * FROM ({ROWS}) WHERE {where} AND id < 16")
        new.write.format("delta").mode("overwrite").option("replaceWhere", where).save(path)
        assert ids(path) == [*range(16)]
    finally:
        connect.conf.set("spark.sql.session.timeZone", before)
        deltaic.enable(connect)


def test_partitions_are_optimized(zoned: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    for _ in range(2):
        rows = zoned.sql(f"SELECT id, ts FROM ({ROWS}) WHERE id IN (8, 9, 10, 14)")
        deltaic.save(rows.coalesce(1), path, mode="append", partition_by="ts")
    table = DeltaTable.forPath(zoned, path)
    (row,) = table.optimize().where("ts >= '2025-12-31 20:00:00'").executeCompaction().collect()
    assert (row.metrics.partitionsOptimized, row.metrics.numFilesAdded) == (2, 2)
    # the core knows instants, and a partition may be one without a zone
    with pytest.raises(exceptions.UnsupportedError, match=ZONE):
        table.optimize().where("hour(ts) = 20").executeCompaction()


def test_partitions_of_the_day_are_optimized(zoned: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    days = "SELECT id, date_sub(current_date(), CAST(id AS INT)) AS d FROM range(4)"
    for _ in range(2):
        deltaic.save(zoned.sql(days).coalesce(1), path, mode="append", partition_by="d")
    where = "d >= current_date() - INTERVAL 1 DAY"
    (row,) = DeltaTable.forPath(zoned, path).optimize().where(where).executeCompaction().collect()
    assert (row.metrics.partitionsOptimized, row.metrics.numFilesRemoved) == (2, 4)
    assert where in deltaic.Table(path).history(limit=1)[0]["operationParameters"]["predicate"]


def test_the_text_stays_where_nothing_is_to_be_said(path: str) -> None:
    for text in ("s = '7'  AND id % 2=0", "d < '2026-01-01'", "ts IS NOT NULL"):
        assert in_utc(ZONE, text, path, None) == text
    for zone in ("UTC", "Etc/UTC", "Z"):
        assert in_utc(zone, "hour(ts) = 1", path, None) == "hour(ts) = 1"
    for zone, utc in (
        ("+02:00", "2025-12-31 22:00:00"),
        (ZONE, "2026-01-01 05:00:00"),
        ("GMT-1", "2026-01-01 01:00:00"),
    ):
        expected = f"CAST('{utc}.000000Z' AS TIMESTAMP) <= ts"
        assert in_utc(zone, "'2026-01-01' <= ts", path, None) == expected
