"""Deletion vectors in a classic session: never a deleted row, and nothing of them to be seen."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import plans
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bridge_tables import Log, field, inline_vector
from pyspark.sql import functions as f

import deltaic

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

DELETED = {0, 1, 17, 500, 999}


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Ids 0 to 1999 in two files of many row groups; of the first, the rows `DELETED` are deleted."""
    return table(tmp_path, DELETED)


def table(tmp_path: Path, deleted: set[int]) -> str:
    """Ids 0 to 1999 in two files of many row groups; of the first, some rows are deleted."""
    log = Log(tmp_path / "t")
    fields = [
        field("id", "long"),
        field("p", "string"),
        field("s", {"type": "struct", "fields": [field("a", "long")]}),
    ]
    actions = []
    for number, vector in enumerate([inline_vector(*sorted(deleted)), None]):
        ids = pa.array(range(number * 1000, number * 1000 + 1000), pa.int64())
        table = pa.table({"id": ids, "s": pa.StructArray.from_arrays([ids], ["a"])})
        more: dict[str, Any] = {} if vector is None else {"deletionVector": vector}
        low, high = {"id": number * 1000}, {"id": number * 1000 + 999}
        stats = {"numRecords": 1000, "minValues": low, "maxValues": high, "tightBounds": vector is None}
        more["stats"] = json.dumps(stats)
        action = log.add(f"f{number}.parquet", table, partitionValues={"p": str(number)}, **more)
        pq.write_table(table, log.path / f"f{number}.parquet", row_group_size=100)
        action["add"]["size"] = (log.path / f"f{number}.parquet").stat().st_size
        actions.append(action)
    log.commit(log.protocol("deletionVectors"), log.metadata(fields, ("p",)), *actions)
    return str(log.path)


def _ids(df: DataFrame) -> set[int]:
    return {r.id for r in df.collect()}


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"spark.sql.parquet.enableVectorizedReader": "false"},
        {"spark.sql.codegen.wholeStage": "false"},
        {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"},
        {"spark.sql.files.maxPartitionBytes": "2000"},
        {"spark.sql.ansi.enabled": "false"},
        {"spark.sql.adaptive.enabled": "false"},
    ],
    ids=lambda s: ",".join(k.rsplit(".", 1)[-1] for k in s) or "default",
)
def test_deleted_rows_are_gone(
    spark: SparkSession, path: str, setting: Callable[[str, str], None], settings: dict[str, str]
) -> None:
    for name, value in settings.items():
        setting(name, value)
    df = spark.read.format("delta").load(path)
    assert df.count() == 1995
    assert _ids(df.where("id < 20")) == set(range(20)) - DELETED
    assert _ids(df.where("id > 990 and id < 1005")) == set(range(991, 1005)) - DELETED
    assert _ids(df.where("p = '1' and s.a = 1500").select("id")) == {1500}
    assert df.where("s.a >= 500").select("s.a").count() == 1498


@pytest.mark.parametrize("end", [0, 63, 64, 999, 100_000_000, 200_000_000, 2**31 + 5])
def test_vectors_of_each_length(spark: SparkSession, tmp_path: Path, end: int) -> None:
    """Tasks ask bits or a RoaringBitmap, whichever takes less; a vector may be longer than its file."""
    deleted = {*range(0, 500, 7), end}
    df = spark.read.format("delta").load(table(tmp_path, deleted))
    assert _ids(df) == set(range(2000)) - {row for row in deleted if row < 1000}


def test_nothing_of_them_shows(spark: SparkSession, path: str) -> None:
    df = spark.read.format("delta").load(path)
    assert df.columns == ["id", "p", "s"]
    assert spark.sql(f"SELECT * FROM delta.`{path}`").columns == df.columns
    assert "deletion" not in plans.analyzed(df)
    assert len(plans.shown(df.where("id = 5"))) < 5000, "no plan prints the vectors"
    df.createOrReplaceTempView("with_vectors")
    assert spark.table("with_vectors").count() == 1995


def test_metadata_columns_beside_them(spark: SparkSession, path: str) -> None:
    df = spark.read.format("delta").load(path)
    rows = (
        df.where("id in (16, 17, 18, 1003)")
        .select("id", "_metadata.row_index", "_metadata.file_name")
        .collect()
    )
    assert {tuple(r) for r in rows} == {
        (16, 16, "f0.parquet"),
        (18, 18, "f0.parquet"),
        (1003, 3, "f1.parquet"),
    }
    assert df.select("_metadata.file_path").distinct().count() == 2
    assert df.select("_metadata.row_index").count() == 1995
    assert {r._metadata.row_index for r in df.where("id < 3").select("_metadata").collect()} == {2}


def test_joins_subqueries_and_aggregates(spark: SparkSession, path: str) -> None:
    df = spark.read.format("delta").load(path)
    joined = df.alias("a").join(df.alias("b"), f.expr("a.id = b.id + 1000"))
    assert joined.count() == 995
    assert joined.select("a._metadata.row_index", "b._metadata.row_index").distinct().count() == 995
    assert {(r.p, r["count"]) for r in df.groupBy("p").count().collect()} == {("0", 995), ("1", 1000)}
    query = f"SELECT count(*) FROM delta.`{path}` WHERE id IN (SELECT id FROM delta.`{path}` WHERE p = '0')"
    assert spark.sql(query).first()[0] == 995
    query = f"SELECT (SELECT min(id) FROM delta.`{path}`) AS least"
    assert spark.sql(query).first().least == 2


def test_dynamic_partition_pruning_by_a_table_with_them(
    spark: SparkSession, path: str, tmp_path: Path
) -> None:
    query = f"SELECT count(*) FROM delta.`{path}` f JOIN delta.`{path}` d ON f.p = d.p WHERE d.id = 17"
    assert spark.sql(query).first()[0] == 0, "17 is deleted"
    query = f"SELECT count(*) FROM delta.`{path}` f JOIN delta.`{path}` d ON f.p = d.p WHERE d.id = 18"
    assert spark.sql(query).first()[0] == 995


def test_a_condition_on_partition_and_data_columns_beside_them(
    spark: SparkSession, path: str, scanned: Callable[[DataFrame], int]
) -> None:
    df = spark.read.format("delta").load(path).where("p = '0' and id < 20 or id < 2")
    assert scanned(df) == 1
    assert _ids(df) == set(range(20)) - DELETED


def test_cache_and_new_session(spark: SparkSession, another: Any, path: str) -> None:
    df = spark.read.format("delta").load(path).cache()
    try:
        assert df.count() == df.count() == 1995
    finally:
        df.unpersist()
    assert another().read.format("delta").load(path).count() == 1995


def test_a_python_function_above_them(spark: SparkSession, path: str) -> None:
    twice = f.udf(lambda n: 2 * n, "long")
    df = spark.read.format("delta").load(path).where("id < 5").select(twice("id").alias("id"))
    assert _ids(df) == {4, 6, 8}


@pytest.mark.parametrize("route", ["data source", "native"])
def test_deleted_rows_are_gone_on_connect(connect: Any, path: str, route: str) -> None:
    by_format = route == "data source"
    df = connect.read.format("delta").load(path) if by_format else deltaic.read(connect, path)
    assert df.columns == ["id", "p", "s"]
    assert df.count() == 1995
    assert _ids(df) == set(range(2000)) - DELETED
    assert _ids(df.where("id < 20")) == set(range(20)) - DELETED
    assert _ids(df.where("p = '0' and s.a > 990")) == set(range(991, 999))
    where = "p = '1' or id < 20"
    found = df.where(where) if by_format else deltaic.read(connect, path, where=where)
    assert _ids(found) == (set(range(20)) - DELETED) | set(range(1000, 2000))


@pytest.mark.parametrize("checkpoint", [None, "classic", "v2"])
def test_a_version_without_them_is_read_as_plain_parquet(
    spark: SparkSession, tmp_path: Path, checkpoint: str | None
) -> None:
    """Neither row numbers nor a filter, while no file has a vector; both from the first one on until the last one."""
    path = str(tmp_path / "t")
    properties = {"delta.enableDeletionVectors": "true", "delta.checkpointPolicy": checkpoint or "classic"}
    deltaic.create(path, "id BIGINT", configuration=properties)
    for first in (0, 1000):
        deltaic.write(path, pa.table({"id": range(first, first + 1000)}))

    def written() -> None:
        if checkpoint:
            deltaic.Table(path).checkpoint()

    def plain(version: int | None = None) -> bool:
        reader = spark.read.format("delta").options(**({} if version is None else {"versionAsOf": version}))
        df = reader.load(path).where("id % 7 = 1")
        plan = plans.physical(df)
        hidden = {name in plan for name in ("__deltaic_deletion_vector", "_tmp_metadata_row_index")}
        assert len(hidden) == 1, plan
        rows = pa.table(deltaic.Table(path, version=version).to_arrow()).column("id").to_pylist()
        assert _ids(df) == {n for n in rows if n % 7 == 1}
        return hidden == {False}

    written()
    assert plain()
    deltaic.Table(path).delete("id = 8")
    assert not plain()
    written()
    deltaic.write(path, pa.table({"id": range(2000, 2010)}))
    assert not plain()
    assert plain(2)
    # one file of all
    deltaic.Table(path).optimize()
    assert plain()
    written()
    assert plain()
    assert not plain(3)
