"""INSERT and TRUNCATE for sessions whose Spark cannot carry them out on Delta tables: those of Spark Connect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltaic.exceptions import SchemaMismatchError, TableNotFoundError
from deltaic.identifiers import quoted
from deltaic.spark.dml.delete import delete
from deltaic.spark.maintenance import result_frames
from deltaic.spark.save import save
from deltaic.spark.session import local_frames
from deltaic.spark.session.kind import functions
from deltaic.spark.session.pyspark_errors import raises_pyspark_errors
from deltaic.spark.session.settings import Settings, storage
from deltaic.spark.statements.named import ref_of
from deltaic.spark.statements.queries import query
from deltaic.statements.insert import Insert, begin, finish
from deltaic.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@raises_pyspark_errors
def run_insert(spark: Any, text: str) -> DataFrame | None:
    """Carries it out, once; None for other statements and tables of other formats, which the server knows.

    Raises:
        InvalidArgumentError: as `parse_insert`.
        UnsupportedError: for a clause that is not about rows, by its name.
        DeltaError: as `deltaic.save`.
    """
    begun = begin(text)
    if begun is None:
        return None
    try:
        ref = ref_of(spark, begun[1].name)
    except TableNotFoundError:
        return None
    insert = finish(*begun)
    if insert.truncates:
        delete(ref, truncates=True)
    else:
        table = Table(ref.path, storage_options=storage(spark, {}))
        rows = _placed(query(spark, insert.rows), insert, ref.path, table.schema.names)
        options = _options(spark, insert, table.partition_columns)
        mode = "overwrite" if insert.overwrites else "append"
        save(spark, rows, ref.path, mode, None, options, whole_partitions=False)
    nothing: DataFrame = local_frames.frame(spark, result_frames.NOTHING, [])
    return nothing


def _placed(rows: Any, insert: Insert, path: str, columns: list[str]) -> Any:
    """The rows with the names of the columns that they are for, and the values that PARTITION gives."""
    fixed = _fixed(insert)
    if not insert.by_name:
        given = {name.lower() for name in fixed}
        there = [name for name in columns if name.lower() not in given]
        targets = insert.columns or there
        more = rows.columns[len(targets) :]
        if len(rows.columns) < len(targets) or (more and not insert.evolves):
            reason = f"the query has {len(rows.columns)} columns ({', '.join(rows.columns)}) for {', '.join(targets)}"
            raise SchemaMismatchError.of(path, reason)
        rows = rows.toDF(*targets, *more)
    F = functions(rows)  # noqa: N806 (as everywhere)
    return rows.withColumns({name: F.expr(value) for name, value in fixed.items()}) if fixed else rows


def _fixed(insert: Insert) -> dict[str, str]:
    return {name: value for name, value in (insert.partition or {}).items() if value is not None}


def _options(spark: Any, insert: Insert, partition_columns: list[str]) -> dict[str, str]:
    options = {"mergeSchema": "true"} if insert.evolves else {}
    if not insert.overwrites:
        return options
    fixed = _fixed(insert)
    dynamic = Settings.of(spark).dynamic_partitions
    if insert.replaced is not None:
        options["replaceWhere"] = insert.replaced
    elif dynamic and len(partition_columns) > len(fixed):
        options["partitionOverwriteMode"] = "dynamic"
    elif fixed:
        options["replaceWhere"] = " AND ".join(_equal(name, value) for name, value in fixed.items())
    else:
        options["partitionOverwriteMode"] = "static"
    return options


def _equal(name: str, value: str) -> str:
    return f"{quoted(name)} IS NULL" if value.upper() == "NULL" else f"{quoted(name)} = {value}"
