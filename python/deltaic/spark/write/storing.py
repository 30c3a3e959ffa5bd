"""Values as those of a column: structs by the names of fields, whatever their order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from deltaic.exceptions import SchemaMismatchError

if TYPE_CHECKING:
    from collections.abc import Callable

    Casting = Callable[[Any, DataType, DataType, str], Any]
    """A value, its type, the one it gets, and the column for errors."""


def plainly(value: Any, _given: DataType, wanted: DataType, _column: str) -> Any:
    """A cast that cannot fail: to a wider type."""
    return value.cast(wanted)


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
