"""The settings of a small Spark, and a session of a program with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

# settings of every session that a test makes: small, quiet, and the same everywhere
SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    # sessions are short: what the second compiler costs does not come back
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.log.level": "ERROR",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def hadoops(settings: Mapping[str, str]) -> dict[str, str]:
    """Settings of Hadoop as those of a session."""
    return {f"spark.hadoop.{name}": value for name, value in settings.items()}


def session(master: str, settings: Mapping[str, str]) -> Any:
    """A session with these settings beside the small ones, in which deltaic is enabled."""
    from pyspark.sql import SparkSession

    import deltaic

    builder = SparkSession.builder.master(master)
    for name, value in {**SETTINGS, **settings}.items():
        builder = builder.config(name, value)
    return deltaic.enable(builder.getOrCreate())
