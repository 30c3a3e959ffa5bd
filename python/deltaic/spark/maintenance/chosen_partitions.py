"""The partitions of a condition that Spark evaluates: what the core does not know, or in another time zone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql.types import LongType, StructField, StructType, TimestampType

from deltaic import _core
from deltaic.exceptions import DeltaError, InvalidArgumentError, InvalidExpressionError
from deltaic.predicates import has_subquery
from deltaic.spark.session.kind import functions
from deltaic.spark.session.settings import storage
from deltaic.spark.session.time_zone import TIME_ZONE, is_utc

if TYPE_CHECKING:
    from deltaic.spark.session.table_ref import TableRef

_NUMBER = "__deltaic_partition"


def chosen_partitions(ref: TableRef, condition: str, refusal: DeltaError) -> list[dict[str, str | None]]:
    """The partitions for which a condition is true, by their values in the log. One job runs.

    Raises:
        InvalidExpressionError: it has a subquery.
        InvalidArgumentError: it names a column that the table is not partitioned by.
        DeltaError: `refusal`, that of the core, where only it can tell what the partitions are.
        AnalysisException: of Spark, for what is no condition.
    """
    if has_subquery(condition):
        refused = InvalidExpressionError.of(condition, "it has a subquery")
        raise refused.named("DELTA_UNSUPPORTED_SUBQUERY_IN_PARTITION_PREDICATES")
    table = _core.SparkTable(ref.path, None, None, storage(ref.spark, ref.storage_options))
    facts = json.loads(table.describe())
    names = facts["partitionColumns"]
    fields = {f.name: f for f in StructType.fromJson(facts["schema"]).fields}
    kinds = [fields[name] for name in names]
    zone = ref.spark.conf.get(TIME_ZONE)
    if not names or (not is_utc(zone) and any(isinstance(f.dataType, TimestampType) for f in kinds)):
        # an instant may be written without its zone
        raise refusal
    values = pa.table(pa.RecordBatchReader.from_stream(table.partitions()))
    values = values.append_column(_NUMBER, pa.array(range(values.num_rows), pa.int64()))
    rows = ref.spark.createDataFrame(values, StructType([*kinds, StructField(_NUMBER, LongType())]))
    F = functions(ref.spark)  # noqa: N806 (its usual name)
    try:
        chosen = rows.where(F.expr(condition)).select(_NUMBER)
        _ = chosen.schema
    except AnalysisException as error:
        if not str(error.getCondition()).startswith("UNRESOLVED_COLUMN"):
            raise
        column = (error.getMessageParameters() or {}).get("objectName", "")
        listed = ", ".join(names)
        reason = f"`{condition}` names {column}. Only the partition columns may be named: [{listed}]"
        unknown = InvalidArgumentError.of("where", reason)
        unknown.named("DELTA_NON_PARTITION_COLUMN_REFERENCE", columnName=column, columnList=listed)
        raise unknown from error
    in_log = table.partition_values()
    return [in_log[row[0]] for row in chosen.collect()]
