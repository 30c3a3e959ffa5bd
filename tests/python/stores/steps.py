"""Steps that Spark takes on a file system of Hadoop, whichever it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import deltaic

if TYPE_CHECKING:
    from collections.abc import Mapping


def tables_of_the_warehouse(spark: Any, warehouse: str, hadoop: Mapping[str, str]) -> None:
    """`warehouse` is where the session has it, as the core takes it with the settings of Hadoop."""
    spark.range(3).write.format("delta").saveAsTable("managed")
    spark.range(3).writeTo("managed").append()
    spark.sql("CREATE OR REPLACE TABLE made USING delta AS SELECT id + 1 AS id FROM managed")
    assert spark.table("made").count() == 6
    assert deltaic.Table(f"{warehouse}/made", storage_options=hadoop).version == 0
    spark.sql("DROP TABLE managed")


def streams(spark: Any, base: str, read: str) -> None:
    """Copies the table `orders` below the base; `read` is the base as the copy is read by."""
    query = spark.readStream.format("delta").load(f"{base}/orders").writeStream.format("delta")
    query = query.option("checkpointLocation", f"{base}/checkpoint").trigger(availableNow=True)
    query.start(f"{base}/copy").awaitTermination()
    assert spark.read.format("delta").load(f"{read}/copy").count() == 1999


def every_route(spark: Any, base: str) -> None:
    for route in ("driver", "arrow", "direct"):
        rows = spark.range(100).selectExpr("id", "id % 2 AS p")
        write = rows.write.format("delta").partitionBy("p").option("deltaicRoute", route)
        write.save(f"{base}/{route}")
        assert spark.read.format("delta").load(f"{base}/{route}").where("p = 1").count() == 50
