"""Metrics that the user observes of rows while they are written."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from playing import Area

if TYPE_CHECKING:
    from collections.abc import Callable

    from playing import Player

AREA = Area("observations")
_PATIENCE = 20


def observed(p: Player, rows: Any, write: Callable[[Any], Any]) -> None:
    """Tells the metrics of rows once they are written; nothing where Spark never says them."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as F  # noqa: N812

    seen = Observation(f"of_{p.name}_{len(p.reported)}")
    write(rows.observe(seen, F.count(F.lit(1)).alias("rows"), F.sum("id").alias("sum")))
    found: list[Any] = []
    # what was never said is waited for without end
    waits = threading.Thread(target=lambda: found.append(seen.get), daemon=True)
    waits.start()
    waits.join(_PATIENCE)
    p.tell(found)


def to(p: Player, mode: str = "append", **options: Any) -> Callable[[Any], Any]:
    return lambda rows: rows.write.format("delta").mode(mode).options(**options).save(p.path)


@AREA.situation()
def of_writes(p: Player) -> None:
    """Rows that the driver has, few rows, rows of tasks, and rows of a table."""
    p.sql(
        "CREATE TABLE {name} (id BIGINT) USING delta LOCATION '{at}/t'", "INSERT INTO {name} VALUES (7), (8)"
    )
    for rows in (
        p.spark.createDataFrame([(1,), (2,)], "id BIGINT"),
        p.spark.range(3),
        p.spark.range(3).repartition(2),
        p.spark.range(120_000),
        p.sql("SELECT id FROM {t} WHERE id > 1"),
    ):
        observed(p, rows, to(p))
    observed(p, p.spark.range(5), to(p, "overwrite", replaceWhere="id < 5"))
    observed(p, p.spark.range(4), lambda rows: rows.write.insertInto(p.name))
    observed(p, p.spark.range(4), lambda rows: rows.writeTo(p.name).append())

    def insert(rows: Any) -> None:
        rows.createOrReplaceTempView(f"view_of_{p.name}")
        p.sql(f"INSERT INTO {{t}} SELECT * FROM view_of_{p.name}")
        p.spark.catalog.dropTempView(f"view_of_{p.name}")

    observed(p, p.spark.range(4), insert)
    p.sql("ALTER TABLE {t} ADD CONSTRAINT small CHECK (id < 1000000)")
    observed(p, p.spark.range(4), to(p))
    observed(p, p.spark.range(20_000), to(p))
    p.rows("SELECT count(*), sum(id) FROM {t}")


@AREA.situation()
def of_merges(p: Player) -> None:
    p.sql("CREATE TABLE {t} USING delta PARTITIONED BY (p) AS SELECT id, id % 3 AS p FROM range(20)")

    def merge(rows: Any) -> None:
        of = p.table().alias("t").merge(rows.alias("s"), "t.id = s.id")
        of.whenMatchedUpdate(set={"p": "s.id"}).whenNotMatchedInsert(values={"id": "s.id"}).execute()

    def insert(rows: Any) -> None:
        of = p.table().alias("t").merge(rows.alias("s"), "t.id = s.id")
        of.whenNotMatchedInsert(values={"id": "s.id", "p": "1"}).execute()

    for by in (merge, insert):
        for rows in (p.spark.range(18, 22), p.spark.range(30_000)):
            observed(p, rows, by)
    p.rows("SELECT count(*), sum(id) FROM {t}")
