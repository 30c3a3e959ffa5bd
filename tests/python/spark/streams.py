"""Helpers of the tests of streams."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import deltaic

if TYPE_CHECKING:
    from collections.abc import Iterable

# plenty: a query that takes longer hangs
PATIENCE = 120


def append(spark: Any, path: Path | str, ids: Iterable[int], files: int = 1) -> None:
    """One commit of rows `id`, `p` = `id % 2`."""
    rows = spark.createDataFrame([(i, i % 2) for i in ids], "id long, p long").repartition(files)
    deltaic.save(rows, str(path), mode="append", deltaicRoute="arrow")


def ids(spark: Any, path: Path | str) -> list[int]:
    """The ids of a table, with their repetitions."""
    return sorted(r.id for r in deltaic.read(spark, str(path)).select("id").collect())


def start(stream: Any, target: Path | str, checkpoint: Path | str, **options: Any) -> Any:
    """A query that copies a stream into a table and stops with what is there."""
    writer = stream.writeStream.format("delta").option("checkpointLocation", str(checkpoint))
    return writer.options(**options).trigger(availableNow=True).start(str(target))


def run(stream: Any, target: Path | str, checkpoint: Path | str, **options: Any) -> Any:
    """Runs a query that copies a stream into a table, to its end."""
    query = start(stream, target, checkpoint, **options)
    try:
        assert query.awaitTermination(PATIENCE), "the query hangs"
    finally:
        query.stop()
    return query


def offsets(checkpoint: Path | str) -> list[dict[str, Any]]:
    """The offsets of a query with one source, oldest first."""
    files = sorted(
        (f for f in Path(checkpoint, "offsets").iterdir() if f.name.isdigit()), key=lambda f: int(f.name)
    )
    return [json.loads(f.read_text().splitlines()[-1]) for f in files]
