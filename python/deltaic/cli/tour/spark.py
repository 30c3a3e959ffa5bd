"""The engine of the tour where there is PySpark: a local Spark."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING

from deltaic.cli.tour.engine import COUNTRIES, DAYS, PROPERTIES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession


@contextmanager
def quiet(log: Path) -> Iterator[None]:
    """What Spark's JVM and PySpark warn of, as at every start, is shown only where the tour fails."""
    shown = os.dup(2)
    with warnings.catch_warnings(), log.open("wb") as file:
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        # the JVM writes into the file itself; progress and errors of this process go where they went
        own, sys.stderr = sys.stderr, os.fdopen(os.dup(shown), "w", closefd=True)
        os.dup2(file.fileno(), 2)
        try:
            yield
        except BaseException:
            own.write(log.read_text(errors="replace"))
            raise
        finally:
            os.dup2(shown, 2)
            os.close(shown)
            sys.stderr.close()
            sys.stderr = own


class Spark:
    """A local Spark with Delta tables; `stop()` ends it. Its own files are in `folder`.

    Raises:
        UnsupportedError: there is no Java that it runs on.
    """

    def __init__(self, folder: Path) -> None:
        from pyspark.sql import SparkSession

        import deltaic
        from deltaic.spark.java import ensure_java

        ensure_java()
        builder = SparkSession.builder.master("local[*]").appName("deltaic tour")
        settings = {
            # the tour works without a network, whatever this machine calls itself
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.log.level": "ERROR",
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.warehouse.dir": (folder / "warehouse").as_uri(),
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
        }
        for key, value in settings.items():
            builder = builder.config(key, value)
        self._spark: SparkSession = deltaic.enable(builder.getOrCreate())

    def stop(self) -> None:
        """Ends it."""
        self._spark.stop()

    def append(self, path: str, month: str, first: int, count: int) -> None:
        """As `Engine.append`."""
        countries = ", ".join(f"'{c}'" for c in COUNTRIES)
        # the same orders in every run
        orders = (
            self._spark.range(first, first + count)
            .selectExpr(
                "id AS order_id",
                f"date_add(DATE'{month}-01', CAST((id - {first}) * {DAYS} DIV {count} AS INT)) AS order_date",
                f"element_at(array({countries}), CAST(1 + pmod(xxhash64(id), {len(COUNTRIES)}) AS INT)) AS country",
                "pmod(xxhash64(id, 'customer'), 5000) AS customer_id",
                "CAST(pmod(xxhash64(id, 'amount'), 100000) / 100 + 1 AS DECIMAL(10, 2)) AS amount",
                "IF(id % 10 = 0, NULL, concat('order ', id)) AS note",
            )
            .repartition(len(COUNTRIES), "country")
            .sortWithinPartitions("order_date")
        )
        writer = orders.write.format("delta").mode("append").partitionBy("country")
        writer.options(**PROPERTIES).save(path)

    def count(self, path: str, where: str | None = None, version: int | None = None) -> int:
        """As `Engine.count`."""
        reader = self._spark.read.format("delta")
        found = (reader if version is None else reader.option("versionAsOf", version)).load(path)
        if where is None:
            return int(found.count())
        return int(found.where(where).selectExpr("count(amount)").first()[0])
