"""A batch of a stream, as the table knows it that it is written to."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from deltaic.spark.session.jvm import java_method


@dataclass(frozen=True)
class StreamBatch:
    """A batch of a stream, planned already, as the table knows it that it is written to."""

    reads: tuple[str | None, ...] = ()
    """The predicates by which it reads the table, for each scan; none is every row."""
    version: int | None = None
    """The version that its scans read; none where only its sources do."""

    @classmethod
    def of(cls, batch: Any, spark: Any, uri: str) -> StreamBatch:
        """Of a Java Dataset that is written to the table at `uri`."""
        found = json.loads(java_method(spark, "CommandReads", "ofBatch")(batch, uri))
        versions = [scan["version"] for scan in found if scan["version"] is not None]
        return cls(tuple(scan["predicate"] for scan in found), min(versions, default=None))
