"""The settings of a small Spark, and a session of a program with them."""

from __future__ import annotations

import os
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

# settings of every session that a test makes: small, quiet, and the same everywhere
_SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.log.level": "ERROR",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    # what Spark keeps of a query for its pages, which nobody looks at here
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.ui.retainedExecutions": "10",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}

LONG_LIVED = {"spark.driver.extraJavaOptions": "-XX:NewRatio=1 -XX:InitialRAMPercentage=4"}
"""For what answers many tests: a heap that is whole from the start, half of it for what is new, as a tenth of the time
of such a JVM went to collections."""

COMPILED = {"spark.sql.codegen.factoryMode": "FALLBACK", "spark.sql.codegen.wholeStage": "true"}
"""Spark compiles each query, as in sessions of users."""
_INTERPRETED = {"spark.sql.codegen.factoryMode": "NO_CODEGEN", "spark.sql.codegen.wholeStage": "false"}


def small() -> dict[str, str]:
    """The settings of a test's session.

    Most queries run once over a few rows: compiling them costs more than it gains. They are compiled in the full tier
    and on the oldest PySpark.
    """
    compiled = os.environ.get("DELTAIC_TESTS") == "full" or version("pyspark").startswith("4.0.")
    return _SETTINGS | (COMPILED if compiled else _INTERPRETED)


def hadoops(settings: Mapping[str, str]) -> dict[str, str]:
    """Settings of Hadoop as those of a session."""
    return {f"spark.hadoop.{name}": value for name, value in settings.items()}


def session(master: str, settings: Mapping[str, str]) -> Any:
    """A session with these settings beside the small ones, in which deltaic is enabled."""
    from pyspark.sql import SparkSession

    import deltaic

    builder = SparkSession.builder.master(master)
    for name, value in {**small(), **settings}.items():
        builder = builder.config(name, value)
    return deltaic.enable(builder.getOrCreate())
