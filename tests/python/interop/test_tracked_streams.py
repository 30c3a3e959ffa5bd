"""Streams that keep a log of schemas: each engine goes on with the log of the other."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest
from areas.tracked_streams import ALLOWED, MAPPED, Stage, step

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import DeltaSpark
    from pyspark.sql import SparkSession


@pytest.mark.parametrize("first", ["deltaic", pytest.param("delta-spark", marks=pytest.mark.long)])
def test_the_other_goes_on_with_the_log(
    spark: SparkSession, delta_spark: DeltaSpark, tmp_path: Path, first: str
) -> None:
    ours = partial(step, spark)
    one, other = (ours, delta_spark.step) if first == "deltaic" else (delta_spark.step, ours)
    made = [
        f"CREATE TABLE {{t}} (a INT, b STRING) USING delta {MAPPED}",
        "ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableTypeWidening' = 'true')",
        "INSERT INTO {t} VALUES (1, 'x')",
    ]
    assert one(tmp_path, made, {}) == [[[["a", "b"], [[1, "x"]]]], None]
    evolved = "DELTA_STREAMING_METADATA_EVOLUTION"
    renamed = ["ALTER TABLE {t} RENAME COLUMN b TO c", "INSERT INTO {t} VALUES (2, 'y')"]
    # the one that sees the change writes it down, and the other goes on with it
    assert other(tmp_path, renamed, {}) == [[[["a", "b"], []]], evolved]
    assert one(tmp_path, [], ALLOWED) == [[[["a", "c"], []], [["a", "c"], [[2, "y"]]]], None]
    widened = ["ALTER TABLE {t} ALTER COLUMN a TYPE BIGINT", "INSERT INTO {t} VALUES (5000000000, 'z')"]
    assert one(tmp_path, widened, ALLOWED) == [[[["a", "c"], []]], evolved]
    allowed = {**ALLOWED, "allowSourceColumnTypeChange": "always"}
    rows = [[["a", "c"], []], [["a", "c"], [[5_000_000_000, "z"]]]]
    assert other(tmp_path, [], allowed) == [rows, None]
    assert other(tmp_path, ["ALTER TABLE {t} DROP COLUMN c"], allowed) == [[[["a", "c"], []]], evolved]
    assert one(tmp_path, ["INSERT INTO {t} VALUES (4)"], allowed) == [[[["a"], []], [["a"], [[4]]]], None]


@pytest.mark.long
def test_a_stream_from_now_on_keeps_schemas(spark: SparkSession, tmp_path: Path) -> None:
    # delta-spark looks for the version that is not there yet, and fails until it is started otherwise
    stage = Stage(spark, tmp_path)
    stage.sql(
        f"CREATE TABLE {{t}} (a BIGINT, b STRING) USING delta {MAPPED}", "INSERT INTO {t} VALUES (1, 'x')"
    )
    latest = {"startingVersion": "latest", **ALLOWED}
    stage.run(**latest)
    stage.sql(
        "INSERT INTO {t} VALUES (2, 'y')", "ALTER TABLE {t} DROP COLUMN b", "INSERT INTO {t} VALUES (3)"
    )
    stage.run(**latest)
    stage.run(**latest)
    evolved = "DELTA_STREAMING_METADATA_EVOLUTION"
    assert stage.reported == [
        [[[["a", "b"], []]], None],
        [[[["a", "b"], [[2, "y"]]]], evolved],
        [[[["a"], []], [["a"], [[3]]]], None],
    ]
