"""Row ids and row commit versions of rows: `_metadata` on classic sessions, `row_ids` of reads everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import deltaic
from deltaic.exceptions import InvalidArgumentError
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark

TRACKED = "'delta.enableRowTracking' = 'true', 'delta.enableDeletionVectors' = 'true'"
ASKED = ("_metadata.row_id", "_metadata.row_commit_version")


@pytest.fixture(scope="module", params=["none", "id"])
def tracked(request: pytest.FixtureRequest, spark: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Rows that stayed, went, changed and moved, in two partitions and files of all kinds."""
    path = str(tmp_path_factory.mktemp("row_ids") / request.param)
    mapping = "" if request.param == "none" else f", 'delta.columnMapping.mode' = '{request.param}'"
    spark.sql(
        f"CREATE TABLE delta.`{path}` (id BIGINT, p STRING, n INT) USING delta PARTITIONED BY (p) "
        f"TBLPROPERTIES ({TRACKED}{mapping})"
    )
    rows = spark.range(0, 40, 1, 1).selectExpr("id", "IF(id % 2 = 0, 'x', 'y') AS p", "int(id) AS n")
    rows.write.format("delta").mode("append").save(path)
    table = DeltaTable.forPath(spark, path)
    table.delete("id IN (3, 4)")
    table.update("id IN (6, 7)", {"n": "-1"})
    deltaic.Table(path).optimize(where="p = 'x'")
    rows.where("id < 4").withColumn("id", rows.id + 100).write.format("delta").mode("append").save(path)
    table.delete("id = 100")
    return path


def ids(path: str, where: str | None = None) -> list[tuple[Any, ...]]:
    found = pa.table(deltaic.Table(path).to_arrow(["id"], where, row_ids=True))
    return sorted(tuple(row.values()) for row in found.to_pylist())


def test_every_api_gives_the_same(tracked: str, door: Any) -> None:
    expected = ids(tracked)
    assert len({row_id for _, row_id, _ in expected}) == len(expected) == 41
    changed = {key: version for key, _, version in expected}
    assert (changed[6], changed[7], changed[8], changed[101]) == (3, 3, 1, 5)
    df = deltaic.read(door, tracked, row_ids=True)
    assert df.columns == ["id", "p", "n", "_row_id", "_row_commit_version"]
    assert sorted(map(tuple, df.select("id", "_row_id", "_row_commit_version").collect())) == expected
    few = deltaic.read(door, tracked, where="id > 30 AND p = 'y'", row_ids=True)
    rows = sorted(map(tuple, few.select("id", "_row_id", "_row_commit_version").collect()))
    assert rows == ids(tracked, "id > 30 AND p = 'y'")


def test_they_are_metadata_of_every_classic_read(
    spark: Any, setting: Any, tracked: str, scanned: Any
) -> None:
    # files are read in pieces, and batches of few rows
    setting("spark.sql.files.maxPartitionBytes", "200")
    setting("spark.sql.parquet.columnarReaderBatchSize", "3")
    expected = ids(tracked)
    df = spark.read.format("delta").load(tracked)
    assert "_metadata" not in df.columns
    assert sorted(map(tuple, df.select("id", *ASKED).collect())) == expected
    assert df.select("*", *ASKED).where("id = 6").first()[3:] == expected[4][1:]
    sql = f"SELECT id, {', '.join(ASKED)} FROM delta.`{tracked}`"
    assert sorted(map(tuple, spark.sql(sql).collect())) == expected
    one = df.where(f"_metadata.row_id = {expected[9][1]}")
    assert [r.id for r in one.select("id").collect()] == [expected[9][0]]
    assert df.where("_metadata.row_commit_version = 3").count() == 2
    assert df.selectExpr("max(_metadata.row_id)").first()[0] == max(r[1] for r in expected)
    old = spark.read.format("delta").option("versionAsOf", 1).load(tracked)
    assert old.select(*ASKED).distinct().count() == 40
    # as constants of their files, and beside what Spark tells of every file
    facts = df.selectExpr("_metadata.*", "id").where("id = 101").first()
    assert (facts.row_id, facts.row_commit_version) == (facts.base_row_id + facts.row_index, 5)
    assert facts.default_row_commit_version == 5
    assert facts.file_path.endswith(facts.file_name)
    # filters on columns prune as ever
    assert scanned(df.where("id > 100").select("id", "_metadata.row_id")) < scanned(
        df.select("_metadata.row_id")
    )


def test_spark_s_row_by_row_reader_tells_the_same(spark: Any, setting: Any, tracked: str) -> None:
    setting("spark.sql.parquet.enableVectorizedReader", "false")
    setting("spark.sql.parquet.fieldId.read.enabled", "true")
    df = spark.read.format("delta").load(tracked)
    assert sorted(map(tuple, df.select("id", *ASKED).collect())) == ids(tracked)


def test_rows_without_ids_have_none(spark: Any, door: Any, tmp_path: Path) -> None:
    deltaic.write(tmp_path / "t", pa.table({"id": [1, 2]}))
    path = str(tmp_path / "t")
    with pytest.raises(InvalidArgumentError, match=r"set `delta\.enableRowTracking` to true"):
        deltaic.read(door, path, row_ids=True)
    with pytest.raises(InvalidArgumentError, match=r"set `delta\.enableRowTracking` to true"):
        deltaic.Table(path).to_arrow(row_ids=True)
    from pyspark.errors import AnalysisException

    with pytest.raises(AnalysisException, match="row_id"):
        spark.read.format("delta").load(path).select("_metadata.row_id").collect()


def test_a_column_of_the_name_is_refused(spark: Any, door: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    deltaic.write(path, pa.table({"_row_id": [1]}), configuration={"delta.enableRowTracking": "true"})
    with pytest.raises(InvalidArgumentError, match="has a column `_row_id` of its own"):
        deltaic.read(door, path, row_ids=True)
    with pytest.raises(InvalidArgumentError, match="has a column `_row_id` of its own"):
        deltaic.Table(path).to_arrow(row_ids=True)
    assert spark.read.format("delta").load(path).select("_metadata.row_id").first().row_id == 0
