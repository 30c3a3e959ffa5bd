"""Casts of values to the type of their column, by the settings of the session."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from deltaic.exceptions import SchemaMismatchError
from deltaic.spark.session.jvm import java_method
from deltaic.spark.write.row_errors import raise_sparks_checks
from deltaic.spark.write.storing import plainly

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql.types import DataType

    from deltaic.spark.dml.operation import Operation
    from deltaic.spark.write.storing import Casting

_POLICY = "spark.sql.storeAssignmentPolicy"
_OVERFLOW = re.compile(
    r"\[CAST_OVERFLOW_IN_TABLE_INSERT\] Fail to \w+ a value of \"([^\"]+)\" type (?:in)?to the "
    r"\"([^\"]+)\" type column (?:or variable )?(\S+)"
)


def casting_of(op: Operation) -> Casting:
    """Casts as `spark.sql.storeAssignmentPolicy` asks for them.

    `ANSI` raises for what does not fit, `LEGACY` stores what the cast makes of it, and `STRICT` takes only types of
    which every value fits. Spark Connect has casts by `spark.sql.ansi.enabled` alone: values that do not fit are an
    error there by every policy.
    """
    if op.connect:
        return _on_connect(op)
    policy = str(op.spark.conf.get(_POLICY)).upper()
    zone = str(op.spark.conf.get("spark.sql.session.timeZone"))

    def cast(value: Any, given: DataType, wanted: DataType, column: str) -> Any:
        from pyspark.sql.classic.column import Column

        java = java_method(op.spark, "StoreCasts", "cast")
        return Column(java(value._jc, given.json(), wanted.json(), column, policy, zone))

    return cast


def _on_connect(op: Operation) -> Casting:
    F = op.functions  # noqa: N806 (its usual name)
    if str(op.spark.conf.get("spark.sql.ansi.enabled", "true")).lower() == "true":
        return plainly

    def cast(value: Any, _given: DataType, wanted: DataType, _column: str) -> Any:
        # a cast would turn what does not fit into something else
        refusal = F.raise_error(F.lit(f"deltaic: a value does not fit into {wanted.simpleString()}"))
        fits = value.try_cast(wanted)
        return F.when(value.isNotNull() & fits.isNull(), refusal.cast(wanted)).otherwise(fits)

    return cast


@contextmanager
def refusing_values(path: str) -> Iterator[None]:
    """Within it, an error of Spark because a value does not fit into its column is one of the table.

    Raises:
        SchemaMismatchError: for the type, the length, or a null.
    """
    try:
        yield
    except Exception as error:
        raise_sparks_checks(error, path)
        if (found := _OVERFLOW.search(str(error))) is None:
            raise
        given, wanted, column = found[1], found[2], found[3]
        reason = f"a value of type {given} does not fit into the column {column}, of type {wanted}"
        parameters = {"sourceType": given, "targetType": wanted, "columnName": column.strip("`")}
        refusal = SchemaMismatchError.of(path, reason)
        raise refusal.named("DELTA_CAST_OVERFLOW_IN_TABLE_WRITE", **parameters) from error
