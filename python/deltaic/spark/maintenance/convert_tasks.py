"""CONVERT TO DELTA of many files: the core lists and commits here, and Spark's tasks read the footers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltaic.spark.session import tasks
from deltaic.spark.session.settings import footers_cluster_files
from deltaic.spark.session.worker_errors import PackageNotOnServerError

if TYPE_CHECKING:
    from deltaic import _core


class ConvertRun:
    """Runs a conversion in this process or, of many files, in Spark's tasks."""

    def __init__(self, spark: Any) -> None:
        self.spark = spark

    def __call__(self, convert: _core.Convert) -> str:
        """What it did, as JSON.

        Raises:
            DeltaError: as `deltaic.convert`.
        """
        found, limit = convert.plan(), footers_cluster_files(self.spark)
        if found == 0 or found < limit or not tasks.are_possible(self.spark):
            tasks.tell_route("CONVERT", f"{found} files in this process")
            return convert.run()
        try:
            works = convert.works()
            task = tasks.CoreTask("ConvertTask", convert.task())
            while works:
                works = convert.take(tasks.answered(self.spark, works, task, "convert"))
        except PackageNotOnServerError as error:
            tasks.told_lacking(self.spark, "CONVERT", error)
            return convert.run()
        tasks.tell_route("CONVERT", f"{found} files in tasks")
        return convert.commit()
