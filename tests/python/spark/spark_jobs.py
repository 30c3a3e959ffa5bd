"""The jobs that a classic session runs."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession


def jobs_of(spark: SparkSession, work: Callable[[], object]) -> int:
    """Does the work in this thread; how many jobs it took."""
    context, group = spark.sparkContext, str(uuid.uuid4())
    context.setJobGroup(group, "work whose jobs are counted")
    try:
        work()
        return len(context.statusTracker().getJobIdsForGroup(group))
    finally:
        context._jsc.clearJobGroup()
