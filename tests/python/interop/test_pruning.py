"""Pruning is sound: random conditions on tables by delta-spark, as Spark answers them on all rows.

`DELTAIC_PRUNING_TABLES=<folder> python -m pytest -s tests/python/interop/test_pruning.py` asks the tables below a
folder, too, `DELTAIC_PRUNING_COUNT` conditions each, by `DELTAIC_PRUNING_SEED`.
"""

from __future__ import annotations

import datetime as dt
import decimal
import os
import random
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from random_predicates import differences

import deltaic
from deltaic.exceptions import DeltaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.spark

SEED = int(os.environ.get("DELTAIC_PRUNING_SEED", "7"))
COUNT = int(os.environ.get("DELTAIC_PRUNING_COUNT", "16"))
TABLES = os.environ.get("DELTAIC_PRUNING_TABLES")
ROWS, FILES = 120, 6
UTC = dt.timezone.utc
PREFIX = "a text that is longer than thirty-two characters, "
TEXTS = ("", "a", "b%", "\u00e9", "z\U0001f980", PREFIX, PREFIX + "a", PREFIX + "\U0001f980", PREFIX + "\x7f")


def rows() -> pa.Table:
    """Rows whose values grow with the file they go to; some files have nulls only."""
    rng = random.Random(SEED)
    zones = [dt.timezone(dt.timedelta(hours=h)) for h in (-8, 0, 5.5)]
    start = dt.datetime(1969, 12, 30, 12)
    made = []
    for number in range(ROWS):
        near = number // (ROWS // FILES) * 3 + rng.randrange(4)
        instant = start + dt.timedelta(
            hours=near * 7, microseconds=rng.randrange(3) * 500 + rng.randrange(2) * 999
        )
        row: dict[str, Any] = {
            "tiny": near - 9,
            "number": near * 1000 - 5000,
            "big": 2**53 + near,
            "price": decimal.Decimal(near * 25 - 100).scaleb(-2),
            "exact": decimal.Decimal(10**17 + near).scaleb(-4),
            "small": rng.choice((float("nan"), -0.0, 0.0, near / 10)),
            "real": rng.choice((float("inf"), -0.0, near / 3, near * 1e300)) if near % 4 else near / 3,
            "day": dt.date(1969, 12, 25) + dt.timedelta(near),
            "at": instant.replace(tzinfo=rng.choice(zones)),
            "clock": instant,
            "text": TEXTS[min(near // 2, len(TEXTS) - 1)],
            "flag": near % 5 > 2,
            "raw": bytes([near, 255]),
            "deep": {"x": near, "in": {"s": TEXTS[near % len(TEXTS)], "d": dt.date(2026, 1, 1 + near)}},
        }
        of_file = number // (ROWS // FILES)
        parts = {
            "p_day": dt.date(1969, 12, 30) + dt.timedelta(of_file),
            "p_at": (start + dt.timedelta(hours=of_file, microseconds=of_file // 2)).replace(tzinfo=UTC),
            "p_price": None if of_file == 1 else decimal.Decimal(of_file * 50 - 100).scaleb(-2),
            "p_text": None if of_file == 4 else TEXTS[of_file],
            "p_flag": of_file % 2 == 1,
            "p_real": (float("nan"), -0.0, 0.0, 1.5, -2.5, float("inf"))[of_file],
        }
        empty = number // (ROWS // FILES) == 2
        made.append(
            {
                "id": number,
                **{k: None if (empty and k != "day") or rng.random() < 0.12 else v for k, v in row.items()},
            }
        )
        made[-1].update(parts)
    types = {
        "id": pa.int64(),
        "tiny": pa.int8(),
        "number": pa.int32(),
        "big": pa.int64(),
        "price": pa.decimal128(9, 2),
        "exact": pa.decimal128(24, 4),
        "small": pa.float32(),
        "real": pa.float64(),
        "day": pa.date32(),
        "at": pa.timestamp("us", "UTC"),
        "clock": pa.timestamp("us"),
        "text": pa.string(),
        "flag": pa.bool_(),
        "raw": pa.binary(),
        "deep": pa.struct({"x": pa.int32(), "in": pa.struct({"s": pa.string(), "d": pa.date32()})}),
        "p_day": pa.date32(),
        "p_at": pa.timestamp("us", "UTC"),
        "p_price": pa.decimal128(9, 2),
        "p_text": pa.string(),
        "p_flag": pa.bool_(),
        "p_real": pa.float64(),
    }
    return pa.Table.from_pylist(made, schema=pa.schema(types))


# columns of partitions, and properties
KINDS = {
    "vectors and names": ("", "'delta.enableDeletionVectors' = 'true', 'delta.columnMapping.mode' = 'name'"),
    "partitions": (
        "PARTITIONED BY (p_day, p_at, p_price, p_text, p_flag, p_real)",
        "'delta.checkpointInterval' = '2', 'delta.checkpoint.writeStatsAsStruct' = 'true'",
    ),
}
COLUMNS = (
    "id BIGINT, tiny TINYINT, number INT, big BIGINT, price DECIMAL(9,2), exact DECIMAL(24,4), small FLOAT, "
    "real DOUBLE, day DATE, at TIMESTAMP, clock TIMESTAMP_NTZ, text STRING, flag BOOLEAN, raw BINARY, "
    "deep STRUCT<x: INT, in: STRUCT<s: STRING, d: DATE>>, "
    "p_day DATE, p_at TIMESTAMP, p_price DECIMAL(9,2), p_text STRING, p_flag BOOLEAN, p_real DOUBLE"
)


@pytest.fixture
def setting(spark: Any) -> Iterator[Callable[[str, str], None]]:
    """Sets a session setting for the test. Spark compiles nothing, which for few rows takes longer than they do."""
    before: dict[str, str] = {}

    def set_(name: str, value: str) -> None:
        before[name] = spark.conf.get(name)
        spark.conf.set(name, value)

    set_("spark.sql.codegen.wholeStage", "false")
    yield set_
    for name, value in before.items():
        spark.conf.set(name, value)


@pytest.mark.parametrize("kind", KINDS)
def test_every_row_that_matches_is_found(
    kind: str, delta_spark: Any, spark: Any, setting: Any, tmp_path: Path
) -> None:
    partitions, properties = KINDS[kind]
    table, source = tmp_path / "t", tmp_path / "rows.parquet"
    pq.write_table(rows(), source)
    insert = (
        f"INSERT INTO delta.`{table}` SELECT /*+ REPARTITION_BY_RANGE({{}}, id) */ * FROM parquet.`{source}`"
    )
    delta_spark.sql(
        f"CREATE TABLE delta.`{table}` ({COLUMNS}) USING delta {partitions} TBLPROPERTIES ({properties})",
        insert.format(FILES) + f" WHERE id < {ROWS // 2}",
        insert.format(FILES // 2) + f" WHERE id >= {ROWS // 2}",
        f"DELETE FROM delta.`{table}` WHERE id % 10 = 3",
    )
    setting("spark.sql.session.timeZone", "UTC" if partitions else "America/Los_Angeles")
    found, reported = differences(spark, str(table), random.Random(SEED), COUNT)
    assert found == []
    assert reported["matches"] > COUNT // 4
    assert reported["pruned"] > COUNT // 4
    assert reported["arrow"] > COUNT // 2


def tables() -> list[str]:
    return sorted({str(log.parent) for log in Path(TABLES).rglob("_delta_log")}) if TABLES else []


@pytest.mark.skipif(not TABLES, reason="DELTAIC_PRUNING_TABLES names no folder")
def test_tables_of_a_folder(spark: Any, setting: Any) -> None:
    # what is no number is null
    setting("spark.sql.ansi.enabled", "false")
    found: list[str] = []
    totals: dict[str, int] = {"tables": 0, "refused": 0}
    for path in tables():
        try:
            deltaic.Table(path)
            rng = random.Random(SEED + zlib.crc32(path.encode()))
            new, reported = differences(spark, path, rng, COUNT)
        except DeltaError as error:
            # broken, and features that are not there
            print(f"refused: {path}: {error}", flush=True)
            totals["refused"] += 1
            continue
        except Exception as error:  # noqa: BLE001 the others are to be asked as well
            found.append(f"{path}: {type(error).__name__}: {str(error)[:300]}")
            continue
        found += new
        totals["tables"] += 1
        print(totals["tables"], path, reported, *new, sep="\n  ", flush=True)
        for name, number in reported.items():
            totals[name] = totals.get(name, 0) + number
    print(totals)
    assert found == [], "\n".join(found)
