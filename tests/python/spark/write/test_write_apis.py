"""Writing and reading through both doors: a classic session and Spark Connect give the same answers."""

from __future__ import annotations

import datetime
import json
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import deltalake
import pyarrow as pa
import pytest

import deltaic
from deltaic import exceptions
from deltaic.spark.session.kind import is_connect, served_name

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark


COLUMNS = """
    id, id % 3 = 0 AS flag, cast(id % 100 AS tinyint) AS b, cast(id AS smallint) AS sh, cast(id AS int) AS i,
    cast(id AS float) / 4 AS f, cast(id AS double) / 3 AS d, cast(id AS decimal(20,4)) AS dec,
    if(id % 4 = 1, null, concat('text ', id)) AS s, cast(concat('x', id) AS binary) AS bin,
    date_add(date'2024-02-28', cast(id AS int)) AS day, timestamp_micros(1700000000123456 + id) AS at,
    cast(timestamp_micros(1700000000123456 + id) AS timestamp_ntz) AS ntz,
    if(id % 5 = 2, null, array(id, null)) AS a, map('k', id) AS m, named_struct('x', id, 'y', struct('deep' AS z)) AS st
"""


def rows(df: Any) -> list[tuple[Any, ...]]:
    return sorted((tuple(r) for r in df.collect()), key=repr)


@pytest.mark.parametrize("route", ["auto", "driver", "arrow"])
def test_every_type_comes_back(door: Any, route: str, tmp_path: Path) -> None:
    path = str(tmp_path / "täble 1")
    df = door.sql(f"SELECT {COLUMNS} FROM range(0, 2000, 1, 2)")
    assert deltaic.save(df, path, deltaicRoute=route) == 0
    assert deltaic.save(df, path, mode="append", deltaicRoute=route) == 1
    expected = rows(df.union(df))
    assert rows(deltaic.read(door, path)) == expected
    assert rows(door.read.format("delta").load(path)) == expected
    assert rows(deltaic.read(door, path, version=0)) == rows(df)
    assert rows(door.read.format("delta").option("versionAsOf", 0).load(path)) == rows(df)
    assert deltaic.read(door, path).schema == door.read.format("delta").load(path).schema
    assert pa.table(deltaic.Table(path).to_arrow(columns=["id"])).num_rows == 4000


VALUES = {
    "string": ["a/b=c d%20", "ü水:#?&", "..", "", None],
    "int": [-1, 0, 2**31 - 1, None],
    "boolean": [True, False, None],
    "double": [1.5, -1e300, float("inf"), None],
    "decimal(12,2)": [Decimal("1.50"), Decimal("1234567890.12"), None],
    "date": [datetime.date(1582, 10, 15), datetime.date(2024, 2, 29), None],
    "timestamp_ntz": [datetime.datetime(2024, 11, 3, 1, 30, 0, 5), None],
    "timestamp": [
        datetime.datetime(2024, 11, 3, 1, 30),
        datetime.datetime(1969, 12, 31, 23, 59, 59, 999999),
        None,
    ],
}


@pytest.mark.parametrize("route", ["auto", "arrow"])
@pytest.mark.parametrize("kind", VALUES)
def test_partitions_of_every_type(door: Any, kind: str, route: str, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    values = VALUES[kind]
    schema = f"id long, p {kind}"
    df = door.createDataFrame([(i, values[i % len(values)]) for i in range(20)], schema)
    deltaic.save(df, path, partition_by="p", deltaicRoute=route)
    # the protocol has one form for null and for empty text
    read_back = [None if value == "" else value for value in values]
    expected = rows(door.createDataFrame([(i, read_back[i % len(values)]) for i in range(20)], schema))
    assert rows(deltaic.read(door, path)) == expected
    assert rows(door.read.format("delta").load(path)) == expected
    table = pa.table(deltalake.DeltaTable(path).to_pyarrow_table())
    assert sorted(table.column("id").to_pylist()) == list(range(20))
    assert deltalake.DeltaTable(path).metadata().partition_columns == ["p"]


def test_modes(door: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    df = door.range(5)
    assert deltaic.save(df, path, mode="ignore") == 0
    assert deltaic.save(df, path, mode="ignore") is None
    with pytest.raises(exceptions.TableAlreadyExistsError, match="already exists"):
        deltaic.save(df, path)
    with pytest.raises(exceptions.UnsupportedError, match="save mode `upsert`"):
        deltaic.save(df, path, mode="upsert")
    with pytest.raises(exceptions.UnsupportedError, match="write option `useNullIntolerantEqualityWithDPO`"):
        deltaic.save(df, path, mode="append", useNullIntolerantEqualityWithDPO="true")
    df.write.format("delta").mode("append").save(path)
    assert deltaic.read(door, path).count() == 10
    assert deltaic.Table(path).version == 1


def test_a_condition_on_partition_and_data_columns_reads_the_files_it_needs(
    door: Any, scanned: Any, tmp_path: Path
) -> None:
    path = str(tmp_path / "t")
    for start in (0, 10, 20):
        df = door.range(start, start + 10, 1, 1).selectExpr("id", "id % 5 AS p")
        deltaic.save(df, path, mode="append", partition_by="p")
    where = "p = 3 OR id < 10"
    found = deltaic.read(door, path, where=where)
    if served_name(door) is None:  # a server does not tell its metrics
        assert (len(found.inputFiles()) if is_connect(door) else scanned(found)) == 7
    assert sorted(r.id for r in found.collect()) == [*range(10), 13, 18, 23, 28]


def test_no_rows(door: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    empty = door.range(100).where("id < 0")
    assert deltaic.save(empty, path, deltaicRoute="auto") == 0
    assert deltaic.save(empty, path, mode="append") is None
    assert deltaic.read(door, path).count() == 0
    assert [(f.name, f.dataType) for f in deltaic.read(door, path).schema] == [
        (f.name, f.dataType) for f in empty.schema
    ]
    assert deltaic.Table(path).version == 0


def test_what_does_not_fit_is_refused_before_a_file(door: Any, tmp_path: Path) -> None:
    path = tmp_path / "t"
    deltaic.save(door.range(5), str(path))
    before = sorted(path.rglob("*"))
    with pytest.raises(exceptions.SchemaMismatchError, match="`x` is not in the table"):
        deltaic.save(door.sql("SELECT 1L AS id, 2 AS x"), str(path), mode="append")
    with pytest.raises(exceptions.SchemaMismatchError, match="`id` is string"):
        deltaic.save(door.sql("SELECT 'a' AS id"), str(path), mode="append")
    assert sorted(path.rglob("*")) == before


@pytest.mark.parametrize("route", ["auto", "arrow"])
def test_a_failed_job_leaves_the_table_as_it_was(door: Any, route: str, tmp_path: Path) -> None:
    path = tmp_path / "t"
    deltaic.save(door.range(5), str(path))
    before = deltaic.Table(str(path))
    files = sorted(p for p in path.rglob("*.parquet"))
    bad = door.range(0, 100_000, 1, 4).selectExpr(
        "if(id = 99999, cast(raise_error('boom') AS long), id) AS id"
    )
    with pytest.raises(Exception, match="boom"):
        deltaic.save(bad, str(path), mode="append", deltaicRoute=route)
    assert deltaic.Table(str(path)).version == before.version
    assert sorted(p for p in path.rglob("*.parquet")) == files


def test_an_application_writes_each_of_its_versions_once(door: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    options = {"txnAppId": "app", "txnVersion": "7", "userMetadata": "batch 7"}
    assert deltaic.save(door.range(5), path, mode="append", **options) == 0
    assert deltaic.save(door.range(5), path, mode="append", **options) is None
    assert deltaic.read(door, path).count() == 5
    log = [json.loads(line) for line in (tmp_path / "t/_delta_log/00000000000000000000.json").open()]
    assert next(line["commitInfo"] for line in log if "commitInfo" in line)["userMetadata"] == "batch 7"


@pytest.mark.parametrize("mode", ["name", "id"])
@pytest.mark.parametrize("route", ["auto", "arrow", "driver"])
def test_column_mapping(door: Any, mode: str, route: str, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    nested = "named_struct('x y', id, 'l', array(named_struct('q', 'v'))) AS `a b`"
    df = door.sql(f"SELECT id, {nested}, id % 2 AS p FROM range(2000)")
    options = {"delta.columnMapping.mode": mode, "deltaicRoute": route}
    deltaic.save(df, path, partition_by="p", **options)
    assert rows(deltaic.read(door, path)) == rows(df)
    assert rows(door.read.format("delta").load(path).where("p = 1")) == rows(df.where("p = 1"))


def test_missing_columns_are_null(door: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    deltaic.save(door.sql("SELECT 1L AS id, 'a' AS s"), path)
    for route in ("auto", "arrow", "driver"):
        deltaic.save(
            door.sql("SELECT id + 2 AS ID FROM range(2000)"), path, mode="append", deltaicRoute=route
        )
    assert deltaic.read(door, path).where("s IS NULL").count() == 6000
    assert rows(deltaic.read(door, path, where="id = 1")) == [(1, "a")]


def test_errors_name_the_table_and_the_range(door: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    with pytest.raises(exceptions.TableNotFoundError):
        deltaic.read(door, path).count()
    deltaic.save(door.range(5), path)
    with pytest.raises(exceptions.VersionNotFoundError, match="0 to 0"):
        deltaic.read(door, path, version=3).count()
    with pytest.raises(exceptions.DeltaError):
        deltaic.read(door, path, timestamp="1999-01-01").count()


def test_a_level_says_what_a_read_checks_of_a_log(door: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    for _ in range(3):
        deltaic.save(door.range(5), path, mode="append")

    def read(verify: str | None, **options: Any) -> Any:
        reader = door.read.format("delta").options(**options)
        return (reader if verify is None else reader.option("verify", verify)).load(path)

    for level in (None, "fast", "checked", "full", "Full", "true", "false"):
        assert read(level).count() == read(level, versionAsOf=2).count() == 15
    log = tmp_path / "t" / "_delta_log"
    commits = [log / f"{version:020}.json" for version in range(3)]
    commits[2].write_bytes(commits[1].read_bytes())
    for level in ("fast", "false"):
        assert read(level).count() == 10
    for level in (None, "checked"):
        assert read(level, versionAsOf=1).count() == 10
        with pytest.raises(Exception, match="the checksum of version 1 matches the log"):
            read(level).collect()
    for level in ("full", "true"):
        with pytest.raises(Exception, match="ContradictoryCommit"):
            read(level, versionAsOf=1).collect()
    with pytest.raises(Exception, match="none of `fast`, `checked` and `full`"):
        read("maybe").collect()


def test_appends_at_once_all_land(door: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    deltaic.save(door.range(0), path)

    def append(number: int) -> int | None:
        start = number * 10_000
        # a job for the even ones, rows of the driver for the odd ones
        df = door.range(start, start + (5000 if number % 2 == 0 else 50))
        return deltaic.save(df, path, mode="append")

    with ThreadPoolExecutor(4) as pool:
        versions = list(pool.map(append, range(8)))
    assert sorted(v for v in versions if v is not None) == list(range(1, 9))
    expected = {n * 10_000 + i for n in range(8) for i in range(5000 if n % 2 == 0 else 50)}
    assert {r.id for r in deltaic.read(door, path).collect()} == expected


def test_tables_made_at_once_become_one(door: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")

    def append(number: int) -> int | None:
        return deltaic.save(door.range(number, number + 1), path, mode="append")

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(append, range(4))) == [0, 1, 2, 3]
    assert sorted(r.id for r in deltaic.read(door, path).collect()) == [0, 1, 2, 3]


def test_zeros_and_nan_are_found_in_files_that_have_nothing_else(door: Any, tmp_path: Path) -> None:
    """Spark's Parquet reader would skip the row groups: it takes -0.0 for another number, and NaN for none."""
    path = str(tmp_path / "t")
    for first, values in ((0, [-0.0] * 10), (10, [0.0] * 10), (20, [1.0, float("nan")]), (30, [-1.0] * 10)):
        numbers = range(first, first + len(values))
        narrow = pa.array(values, pa.float32())
        nested = pa.array([{"x": value} for value in values], pa.struct([("x", pa.float64())]))
        deltaic.write(path, pa.table({"id": numbers, "x": values, "f": narrow, "s": nested}))
    df = deltaic.read(door, path)
    zeros, one, nan, less = [*range(20)], 20, 21, [*range(30, 40)]
    conditions = {
        "x = 0D": zeros,
        "x = -0.0D": zeros,
        "x IN (0D, 7D)": zeros,
        "x >= 0D": [*zeros, one, nan],
        "x > 5D": [nan],
        "x <> 1D": [*zeros, nan, *less],
        "NOT (x <= 1D)": [nan],
        "x <= 0D": [*zeros, *less],
        "x = 1D": [one],
        "x = double('NaN')": [nan],
        "f = 0F": zeros,
        "f > 5F": [nan],
        "s.x = 0D": zeros,
        "s.x > 5D": [nan],
    }
    # one job for all would not push them down
    for condition, wanted in conditions.items():
        found = sorted(row.id for row in df.where(condition).select("id").collect())
        assert found == sorted(wanted), condition
