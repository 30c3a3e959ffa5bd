"""Rules that delta-spark puts on a table hold for what deltaic writes, and delta-spark goes on from there."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import deltaic
from deltaic.exceptions import InvariantViolationError

if TYPE_CHECKING:
    from pathlib import Path


def test_constraints_generated_and_default_columns_and_identities(delta_spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "t"
    delta_spark.sql(
        f"""CREATE TABLE delta.`{path}` (
            key BIGINT GENERATED ALWAYS AS IDENTITY (START WITH 100 INCREMENT BY 10),
            at TIMESTAMP,
            day DATE GENERATED ALWAYS AS (CAST(at AS DATE)),
            month STRING GENERATED ALWAYS AS (date_format(at, 'yyyy-MM')),
            status STRING DEFAULT 'new',
            price DECIMAL(10,2)
        ) USING delta PARTITIONED BY (month) TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')""",
        f"ALTER TABLE delta.`{path}` ADD CONSTRAINT dear CHECK (price * 1.2 > 1 AND status IN ('new', 'old'))",
        f"INSERT INTO delta.`{path}` (at, price) VALUES (TIMESTAMP '2024-01-31 23:59:59', 3.50)",
    )
    times = [
        dt.datetime(2024, 2, 29, 12, tzinfo=dt.timezone.utc),
        dt.datetime(2025, 1, 1, tzinfo=dt.timezone.utc),
    ]

    def rows(*prices: str) -> pa.Table:
        decimals = pa.array([Decimal(price) for price in prices], pa.decimal128(10, 2))
        return pa.table({"at": pa.array(times, pa.timestamp("us", "UTC")), "price": decimals})

    version = deltaic.Table(str(path)).version
    with pytest.raises(InvariantViolationError, match="CHECK constraint dear") as error:
        deltaic.write(str(path), rows("1.00", "0.00"), mode="append")
    assert error.value.row == "status = new, price = 0.00"
    assert deltaic.Table(str(path)).version == version
    deltaic.write(str(path), rows("1.50", "2.00"), mode="append")
    delta_spark.sql(f"INSERT INTO delta.`{path}` (at, price) VALUES (TIMESTAMP '2026-01-01 00:00:00', 9.99)")
    found = delta_spark.read(path).sort_by("at").to_pydict()
    assert found["day"] == [
        dt.date(2024, 1, 31),
        dt.date(2024, 2, 29),
        dt.date(2025, 1, 1),
        dt.date(2026, 1, 1),
    ]
    assert found["month"] == ["2024-01", "2024-02", "2025-01", "2026-01"]
    assert found["status"] == ["new"] * 4
    assert len(set(found["key"])) == 4
    assert sorted(key % 10 for key in found["key"]) == [0] * 4
    # each goes on after the mark of the other
    assert found["key"][0] < min(found["key"][1:3])
    assert max(found["key"][:3]) < found["key"][3]
