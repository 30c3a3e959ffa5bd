"""A projection in one request gives what the functions of columns give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from deltaic.spark.session.projection import Taken, select

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

ODD = ("a b", "x.y", "q`r", "ü", "1")
STRUCT = {
    "type": "struct",
    "fields": [
        {"name": "p", "type": "long", "nullable": True, "metadata": {"parquet.field.id": 7}},
        {
            "name": "q",
            "type": {"type": "array", "elementType": "string", "containsNull": True},
            "nullable": True,
            "metadata": {},
        },
    ],
}


def alike(df: Any, columns: list[Any]) -> Any:
    """The rows with the columns, which are the same by the functions of columns."""
    found = select(df, columns)
    there = df.select(*(c.column(F) if isinstance(c, Taken) else c for c in columns))
    assert found.schema == there.schema
    assert [f.metadata for f in found.schema] == [f.metadata for f in there.schema]
    assert found.collect() == there.collect()
    return found


def test_names_types_and_metadata(spark: SparkSession) -> None:
    df = spark.range(3).select(
        F.col("id").alias("id", metadata={"comment": "kept"}),
        *(F.lit(name).alias(name) for name in ODD),
        F.struct(F.lit(1).alias("a"), F.array(F.lit("z")).alias("b")).alias("s"),
    )
    names = [Taken(name, f"new {name}") for name in ODD]
    found = alike(
        df,
        [
            Taken("ID", "same"),
            F.lit(None).cast("int").alias("given"),
            *names,
            Taken("id", "text", "string", {}),
            Taken("s", "rearranged", STRUCT, {"parquet.field.id": 3}),
            (F.col("id") + 1).alias("more"),
        ],
    )
    assert found.schema["same"].metadata == {"comment": "kept"}
    assert found.schema["text"].metadata == {}
    assert found.schema["rearranged"].dataType["p"].metadata == {"parquet.field.id": 7}
    assert found.columns == ["same", "given", *(f"new {name}" for name in ODD), "text", "rearranged", "more"]


def test_everything_and_more(spark: SparkSession) -> None:
    found = alike(
        spark.range(2), [F.col("*"), Taken("id", "copy"), F.monotonically_increasing_id().alias("n")]
    )
    assert found.columns == ["id", "copy", "n"]


def test_no_column(spark: SparkSession) -> None:
    assert alike(spark.range(2), []).columns == []
