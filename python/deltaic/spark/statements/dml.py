"""DELETE, UPDATE and MERGE for sessions whose Spark cannot carry them out: those of Spark Connect."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from deltaic.spark.dml.delete import delete
from deltaic.spark.dml.merge import merge
from deltaic.spark.dml.update import update
from deltaic.spark.statements.named import ref_of
from deltaic.spark.statements.queries import query, views

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from deltaic.spark.session.table_ref import TableRef
    from deltaic.statements.dml import Change

_COUNTS = "num_affected_rows long"
_MERGE_COUNTS = f"{_COUNTS}, num_updated_rows long, num_deleted_rows long, num_inserted_rows long"
_UNKNOWN = -1


def run_change(spark: Any, change: Change) -> DataFrame:
    """Carries it out, once; the numbers of rows, as of delta-spark.

    Raises:
        TableNotFoundError: there is no table of this name.
        DeltaError: as the method of `DeltaTable` that does the same.
    """
    ref = replace(ref_of(spark, change.name), alias=change.alias or change.name[-1])
    with views(spark) as viewed:
        numbers = _run(ref, change.with_texts(viewed))
    frame: DataFrame = spark.createDataFrame([tuple(numbers)], _MERGE_COUNTS if len(numbers) > 1 else _COUNTS)
    return frame


def _run(ref: TableRef, change: Change) -> list[int]:
    if change.kind == "DELETE":
        done = delete(ref, change.condition)
        return [done.get("numDeletedRows", _UNKNOWN) if done else 0]
    if change.kind == "UPDATE":
        done = update(ref, change.values, change.condition)
        return [done.get("numUpdatedRows", _UNKNOWN) if done else 0]
    # the text is the user's own statement
    rows = query(ref.spark, f"SELECT * FROM {change.source}")  # noqa: S608
    source = rows.alias(change.source_alias or "source")
    merged = merge(ref, source, change.condition, change.clauses, with_schema_evolution=change.evolves)
    counts = [merged.metrics[f"numTargetRows{what}"] for what in ("Updated", "Deleted", "Inserted")]
    return [sum(counts), *counts]
