"""A limit plans no more files than hold its rows, and never gives other rows or fewer."""

from __future__ import annotations

import json
import tempfile
from tempfile import mkstemp
from typing import TYPE_CHECKING, Any

import plans
import pyarrow as pa
import pytest
from bridge_tables import Log, field, inline_vector

import deltaic

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

FILES, ROWS = 30, 10


@pytest.fixture(params=["counted", "deleted", "not counted", "partly counted"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Ids in files of ten rows each: with numbers of rows, with all but the first row deleted, and without numbers."""
    log = Log(tmp_path / "t")
    actions = []
    for number in range(FILES):
        rows = pa.table({"id": pa.array(range(number * ROWS, (number + 1) * ROWS), pa.int64())})
        more: dict[str, Any] = {}
        if request.param == "deleted":
            more["deletionVector"] = inline_vector(*range(1, ROWS))
        if request.param in ("counted", "deleted") or (request.param == "partly counted" and number % 2):
            more["stats"] = json.dumps({"numRecords": ROWS, "tightBounds": False})
        actions.append(log.add(f"f{number}.parquet", rows, **more))
    log.commit(log.protocol("deletionVectors"), log.metadata([field("id", "long")]), *actions)
    return str(log.path)


def _ids(df: DataFrame) -> list[int]:
    return [r.id for r in df.collect()]


def test_a_limit_gives_as_many_rows_as_there_are(spark: SparkSession, path: str) -> None:
    df = spark.read.format("delta").load(path)
    there = set(pa.table(deltaic.Table(path).to_arrow())["id"].to_pylist())
    for limit in (0, 1, 9, 10, 11, 25, 1000):
        found = _ids(df.limit(limit))
        assert len(found) == len(set(found)) == min(limit, len(there)), limit
        assert set(found) <= there
        assert df.limit(limit).count() == min(limit, len(there))
    assert len(df.take(7)) == 7
    assert len(_ids(df.offset(5).limit(7))) == 7
    assert len(_ids(df.limit(7).union(df.limit(8)))) == 15
    assert len(_ids(df.selectExpr("id + 1 AS id").limit(3).where("id >= 0"))) == 3


def test_what_stands_between_a_limit_and_the_scan_is_answered_from_all_files(
    spark: SparkSession, path: str
) -> None:
    df = spark.read.format("delta").load(path)
    last = (FILES - 1) * ROWS
    assert _ids(df.where(f"id = {last}").limit(1)) == [last]
    assert _ids(df.orderBy(df.id.desc()).where(f"id <= {last}").limit(1)) == [last]
    assert df.groupBy("id").count().limit(1000).count() == df.count()
    assert sorted(_ids(df.where("id % 290 = 0").limit(5))) == [0, last]
    df.createOrReplaceTempView("limited")
    query = f"SELECT id FROM limited WHERE id IN (SELECT max(id) FROM limited) OR id = {last} LIMIT 1"
    assert spark.sql(query).first() is not None


def test_few_files_are_planned(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    for number in range(FILES):
        deltaic.write(
            path, pa.table({"id": range(number * ROWS, (number + 1) * ROWS), "p": [number % 3] * ROWS})
        )
    deltaic.Table(path).checkpoint()
    df = spark.read.format("delta").load(path)
    assert plans.files_read(df.limit(15)) == 2
    assert plans.files_read(df.selectExpr("id * 2 AS twice").limit(10)) == 1
    assert plans.files_read(df.limit(FILES * ROWS)) == FILES
    # a later commit
    deltaic.write(path, pa.table({"id": [-1], "p": [0]}))
    assert plans.files_read(df.limit(1)) == 1
    assert len(df.limit(10_000).collect()) == FILES * ROWS + 1


def test_a_long_list_of_files_comes_by_a_file(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has every file, and is deleted by who reads it."""
    (tmp_path / "lists").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "lists"))
    made = []
    monkeypatch.setattr(tempfile, "mkstemp", lambda **how: made.append(how) or mkstemp(**how))
    log = Log(tmp_path / "t")
    name = "{:0100}.parquet"
    one = {"partitionValues": {}, "size": 1, "modificationTime": 0, "dataChange": True}
    adds = [{"add": {**one, "path": name.format(n)}} for n in range(15_000)]
    log.commit(log.protocol(), log.metadata([field("id", "long")]), *adds)
    found = spark.read.format("delta").load(str(log.path)).inputFiles()
    assert sorted(file.rpartition("/")[2] for file in found) == [name.format(n) for n in range(15_000)]
    assert len(made) == 1
    assert not [*(tmp_path / "lists").iterdir()]
