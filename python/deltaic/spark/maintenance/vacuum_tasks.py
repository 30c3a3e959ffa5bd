"""VACUUM of many files: the core reads and writes the log here, and Spark's tasks list and delete files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltaic.spark.session import tasks
from deltaic.spark.session.settings import vacuum_cluster_files
from deltaic.spark.session.worker_errors import PackageNotOnServerError

if TYPE_CHECKING:
    from deltaic import _core


class VacuumRun:
    """Runs a vacuum in this process or, of many files, in Spark's tasks."""

    def __init__(self, spark: Any, *, dry_run: bool = False) -> None:
        self.spark = spark
        self.dry_run = dry_run

    def __call__(self, vacuum: _core.Vacuum) -> str:
        """What it did, as JSON.

        Raises:
            DeltaError: as `deltaic.Table.vacuum`.
        """
        limit = vacuum_cluster_files(self.spark)
        if not tasks.are_possible(self.spark):
            return vacuum.run(tasks.DRIVER)
        try:
            if vacuum.expected_files() >= limit and (folders := vacuum.folders()):
                vacuum.take_listing(self._answers(vacuum, folders))
                tasks.tell_route("VACUUM", f"{len(folders)} folders were listed in tasks")
            found = vacuum.plan()
            if self.dry_run or found < limit:
                tasks.tell_route("VACUUM", f"{found} files in this process")
                return vacuum.run(tasks.DRIVER)
            tasks.tell_route("VACUUM", f"{found} files in tasks")
            return vacuum.finish(self._answers(vacuum, vacuum.begin()))
        except PackageNotOnServerError as error:
            tasks.told_lacking(self.spark, "VACUUM", error)
            # it goes on from what was done last
            return vacuum.run(tasks.DRIVER)

    def _answers(self, vacuum: _core.Vacuum, works: list[str]) -> list[str]:
        return tasks.answered(self.spark, works, tasks.CoreTask("VacuumTask", vacuum.task()), "vacuum")
