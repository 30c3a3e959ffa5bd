"""A deep verification of many files: the core reads the log here, and Spark's tasks open the files."""

from __future__ import annotations

from typing import Any

from deltaic import _core
from deltaic.spark.session import tasks
from deltaic.spark.session.settings import footers_cluster_files
from deltaic.spark.session.worker_errors import PackageNotOnServerError


class VerifyTasks:
    """Opens the files of a deep verification, in this process or in Spark's tasks."""

    def __init__(self, spark: Any) -> None:
        self.spark = spark

    def __call__(self, document: str, works: list[str], files: int) -> list[str]:
        """The answers to works, in order; these have so many files.

        Raises:
            DeltaError: as `deltaic.verify`.
        """
        if files < footers_cluster_files(self.spark) or not tasks.are_possible(self.spark):
            tasks.tell_route("VERIFY", f"{files} files in this process")
            return _here(document, works)
        try:
            answers = tasks.answered(self.spark, works, tasks.CoreTask("VerifyTask", document), "verify")
        except PackageNotOnServerError as error:
            tasks.told_lacking(self.spark, "VERIFY", error)
            return _here(document, works)
        tasks.tell_route("VERIFY", f"{files} files in tasks")
        return answers


def _here(document: str, works: list[str]) -> list[str]:
    task = _core.VerifyTask(document)
    return [task.run(work) for work in works]
