"""A batch of a stream, as the table knows it that it is written to."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from deltaic.spark.session.jvm import java_method


@dataclass
class StreamBatch:
    """A batch of a stream, planned already, as the table knows it that it is written to."""

    planned: Any = None
    """A Java Dataset: the batch as Spark planned it. None where only Spark has it."""
    few: bool = False
    """Whether it may have few rows, as the batch before it had; of a batch that is written, whether it had."""
    reads: tuple[str | None, ...] = ()
    """The predicates by which it reads the table, for each scan; none is every row."""
    version: int | None = None
    """The version that its scans read; none where only its sources do."""

    def of_table(self, spark: Any, uri: str) -> None:
        """It is written to the table at `uri`: finds what it reads of it."""
        found = json.loads(java_method(spark, "CommandReads", "ofBatch")(self.planned, uri))
        versions = [scan["version"] for scan in found if scan["version"] is not None]
        self.reads = tuple(scan["predicate"] for scan in found)
        self.version = min(versions, default=None)

    def starts_again(self) -> None:
        """Its rows are computed once more: Spark must not count them twice in the progress of the query."""
        self.planned.queryExecution().executedPlan().resetMetrics()
