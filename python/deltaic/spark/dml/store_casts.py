"""How values become those of a column: by the names of fields, and cast by the settings of the session."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from deltaic.exceptions import SchemaMismatchError
from deltaic.spark.session.jvm import java_method

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from deltaic.spark.dml.operation import Operation

    Casting = Callable[[Any, DataType, DataType, str], Any]
    """A value, its type, the one it gets, and the column for errors."""

_POLICY = "spark.sql.storeAssignmentPolicy"
_OVERFLOW = re.compile(
    r"\[CAST_OVERFLOW_IN_TABLE_INSERT\] Fail to \w+ a value of \"([^\"]+)\" type (?:in)?to the "
    r"\"([^\"]+)\" type column (?:or variable )?(\S+)"
)


def plainly(value: Any, _given: DataType, wanted: DataType, _column: str) -> Any:
    """A cast that cannot fail: to a wider type."""
    return value.cast(wanted)


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
def refusing_overflows(path: str) -> Iterator[None]:
    """Within it, an error of Spark because a value does not fit into the type of its column is one of the table.

    Raises:
        SchemaMismatchError: that names the column and both types.
    """
    try:
        yield
    except Exception as error:
        if (found := _OVERFLOW.search(str(error))) is None:
            raise
        given, wanted, column = found[1], found[2], found[3]
        reason = f"a value of type {given} does not fit into the column {column}, of type {wanted}"
        parameters = {"sourceType": given, "targetType": wanted, "columnName": column.strip("`")}
        refusal = SchemaMismatchError.of(path, reason)
        raise refusal.named("DELTA_CAST_OVERFLOW_IN_TABLE_WRITE", **parameters) from error


@dataclass(frozen=True)
class Storing:
    """How values become those of a column: cast, and an error where that loses something. Structs match by name."""

    F: Any
    cast: Casting
    fills: bool = False
    """Whether a struct may lack fields: they are null, or as they were."""
    path: str = ""
    """The table, for errors."""

    def stored(self, value: Any, given: DataType, wanted: DataType, column: str, old: Any = None) -> Any:
        """The value, of one type, as one of another, of a column; `old` is the current value.

        With it, fields that only the table has stay as they are, also where the value is null.

        Raises:
            SchemaMismatchError: a struct has fields that the column has not, or lacks some.
        """
        F = self.F  # noqa: N806 (its usual name)
        if _same(given, wanted):
            return value
        if isinstance(given, StructType) and isinstance(wanted, StructType):
            theirs = {f.name.lower(): f for f in given.fields}
            wants = {f.name.lower() for f in wanted.fields}
            if not theirs.keys() <= wants or not (self.fills or len(given.fields) == len(wanted.fields)):
                raise self._other_fields(given, wanted)
            parts = [
                self._field(value, theirs.get(f.name.lower()), f, old).alias(f.name) for f in wanted.fields
            ]
            there = value.isNotNull()
            if old is not None and _has_more(wanted, given):
                there |= old.isNotNull()
            return F.when(there, F.struct(*parts))
        if not _has_structs(given):
            return self.cast(value, given, wanted, column)
        # a cast would take the fields by their position
        if isinstance(given, ArrayType) and isinstance(wanted, ArrayType):
            return F.transform(value, lambda v: self.stored(v, given.elementType, wanted.elementType, column))
        if isinstance(given, MapType) and isinstance(wanted, MapType):
            keys, values = (given.keyType, wanted.keyType), (given.valueType, wanted.valueType)
            if not _same(*keys):
                value = F.transform_keys(value, lambda k, _: self.stored(k, *keys, column))
            if not _same(*values):
                value = F.transform_values(value, lambda _, v: self.stored(v, *values, column))
            return value
        return self.cast(value, given, wanted, column)

    def _other_fields(self, given: StructType, wanted: StructType) -> SchemaMismatchError:
        types = (given.simpleString(), wanted.simpleString())
        error = SchemaMismatchError.of(
            self.path, "cannot cast {} to {}: all fields must match".format(*types)
        )
        catalogs = dict(zip(("fromCatalog", "toCatalog"), types, strict=True))
        return error.named("DELTA_UPDATE_SCHEMA_MISMATCH_EXPRESSION", **catalogs)

    def _field(self, value: Any, theirs: StructField | None, wanted: StructField, old: Any) -> Any:
        kept = None if old is None else old.getField(wanted.name)
        if theirs is not None:
            return self.stored(
                value.getField(theirs.name), theirs.dataType, wanted.dataType, wanted.name, kept
            )
        return self.F.lit(None).cast(wanted.dataType) if kept is None else kept


def _has_more(wanted: StructType, given: StructType) -> bool:
    """Whether a struct, or one within it, has fields that the other has not."""
    theirs = {f.name.lower(): f.dataType for f in given.fields}
    for field in wanted.fields:
        other = theirs.get(field.name.lower())
        within = isinstance(field.dataType, StructType) and isinstance(other, StructType)
        if other is None or (within and _has_more(field.dataType, other)):
            return True
    return False


def _has_structs(data_type: DataType) -> bool:
    if isinstance(data_type, ArrayType):
        return _has_structs(data_type.elementType)
    if isinstance(data_type, MapType):
        return _has_structs(data_type.keyType) or _has_structs(data_type.valueType)
    return isinstance(data_type, StructType)


def _same(a: DataType, b: DataType) -> bool:
    """Whether types are equal except for nullability and metadata."""
    if isinstance(a, StructType) and isinstance(b, StructType):
        return len(a.fields) == len(b.fields) and all(
            x.name == y.name and _same(x.dataType, y.dataType)
            for x, y in zip(a.fields, b.fields, strict=True)
        )
    if isinstance(a, ArrayType) and isinstance(b, ArrayType):
        return _same(a.elementType, b.elementType)
    if isinstance(a, MapType) and isinstance(b, MapType):
        return _same(a.keyType, b.keyType) and _same(a.valueType, b.valueType)
    return bool(a == b)
