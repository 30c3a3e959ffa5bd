"""Vectors of Spark's machine learning, by deltaic and by delta-spark: the same schema in the log, the same rows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.ml.linalg import DenseVector, Matrices, MatrixUDT, SparseVector, VectorUDT
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import IntegerType, StructField, StructType

import deltaic
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import DeltaSpark
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.classic("compares what delta-spark does in a classic session")]

COLUMNS = StructType(
    [StructField("id", IntegerType()), StructField("v", VectorUDT()), StructField("m", MatrixUDT())]
)
ROWS = [
    (1, DenseVector([1.0, 2.0]), Matrices.dense(2, 1, [3.0, 4.0])),
    (2, SparseVector(3, {1: 5.0}), None),
    (3, None, Matrices.sparse(2, 2, [0, 1, 1], [1], [6.0])),
]


def _frame(spark: SparkSession) -> DataFrame:
    rows = spark.createDataFrame(ROWS, COLUMNS)
    return rows.selectExpr("*", "array(v) AS a", "map('k', v) AS k", "named_struct('v', v, 'id', id) AS s")


def _rows(of: DataFrame) -> list[str]:
    return sorted(row[0] for row in of.select(F.to_json(F.struct("*"))).collect())


def _logged(path: Path) -> Any:
    lines = (path / "_delta_log/00000000000000000000.json").read_text().splitlines()
    (metadata,) = (json.loads(line)["metaData"] for line in lines if "metaData" in line)
    return json.loads(metadata["schemaString"])


def test_both_read_and_write_the_tables_of_the_other(
    spark: SparkSession, delta_spark: DeltaSpark, tmp_path: Path
) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    frame = _frame(spark)
    frame.write.format("delta").save(str(ours))
    delta_spark.sql(f"CREATE TABLE delta.`{theirs}` USING delta AS SELECT * FROM delta.`{ours}`")
    assert _logged(ours) == _logged(theirs)
    copied = spark.read.format("delta").load(str(theirs))
    assert copied.schema.simpleString() == frame.schema.simpleString()
    assert _rows(copied) == _rows(frame)
    assert copied.where("id = 1").first().v == DenseVector([1.0, 2.0])
    delta_spark.sql(f"INSERT INTO delta.`{ours}` SELECT * FROM delta.`{theirs}`")
    copied.write.format("delta").mode("append").save(str(theirs))
    DeltaTable.forPath(spark, str(theirs)).update("id = 3", {"v": "a[0]", "id": "id + 10"})
    for path in (ours, theirs):
        assert delta_spark.read(path).num_rows == 6
        told = delta_spark.answer(f"SELECT to_json(struct(*)) AS row FROM delta.`{path}`")[1]
        assert sorted(json.loads(row)["row"] for row in told) == _rows(
            spark.read.format("delta").load(str(path))
        )


@pytest.mark.parametrize("mode", ["none", "name", "id"])
def test_columns_are_mapped_and_what_they_are_stored_as_is_not(
    spark: SparkSession, delta_spark: DeltaSpark, mode: str, tmp_path: Path
) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    frame = _frame(spark)
    frame.write.format("delta").option("delta.columnMapping.mode", mode).save(str(ours))
    delta_spark.sql(
        f"CREATE TABLE delta.`{theirs}` USING delta TBLPROPERTIES ('delta.columnMapping.mode' = '{mode}') "
        f"AS SELECT * FROM delta.`{ours}`"
    )
    for path in (ours, theirs):
        assert _rows(spark.read.format("delta").load(str(path))) == _rows(frame)
    types = [[field["type"] for field in _logged(path)["fields"][1:3]] for path in (ours, theirs)]
    assert types[0] == types[1]


def test_without_spark_they_are_what_they_are_stored_as(
    spark: SparkSession, delta_spark: DeltaSpark, tmp_path: Path
) -> None:
    path, copy = tmp_path / "t", tmp_path / "copy"
    _frame(spark).select("id", "v").write.format("delta").save(str(path))
    delta_spark.sql(f"CREATE TABLE delta.`{copy}` USING delta AS SELECT * FROM delta.`{path}`")
    for place in (path, copy):
        table = deltaic.Table(place)
        rows = {row["id"]: row["v"] for row in pa.table(table.to_arrow()).to_pylist()}
        assert rows[1] == {"type": 1, "size": None, "indices": None, "values": [1.0, 2.0]}
        assert rows[3] is None
        table.delete("id = 2")
        table.optimize()
        more = pa.table(deltaic.Table(place).to_arrow(where="id = 1"))
        deltaic.write(place, more, mode="append")
        assert deltaic.Table(place).verify().ok
        assert (
            spark.read.format("delta").load(str(place)).where("id = 1").select("v").collect()
            == [(DenseVector([1.0, 2.0]),)] * 2
        )
        assert delta_spark.read(place).num_rows == 3
