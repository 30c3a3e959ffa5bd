"""The columns that a merge with schema evolution adds to the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    DateType,
    MapType,
    NullType,
    NumericType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from deltaic.exceptions import SchemaMismatchError
from deltaic.spark.dml.assignments import readings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deltaic.spark.dml.clauses import Clauses
    from deltaic.spark.dml.operation import Operation

_INSTANTS = (DateType, TimestampType, TimestampNTZType)


def evolve(op: Operation, source: StructType, clauses: Clauses) -> None:
    """Gives the table the columns and fields of the source that a clause sets.

    An existing column keeps its type, unless the source's is wider and the table has type widening; a void one
    takes that of the source.

    Raises:
        SchemaMismatchError: for a type of the source that is not cast to the table's without being asked.
    """
    setting = clauses.of_source
    new = source
    if not any(c.is_star for c in setting):
        named = (path for c in setting for target in c.values or () for path in readings(op, target))
        paths = [[part.lower() for part in path] for path in named]
        new = StructType(_named(source, [], paths))
    for ours, theirs in _common(op.schema, new):
        if not _joins(ours.dataType, theirs.dataType):
            types = (ours.dataType.simpleString(), theirs.dataType.simpleString())
            reason = "`{}` is {} in the table and {} in the source".format(ours.name, *types)
            refusal = SchemaMismatchError.of(op.ref.path, reason)
            names = {"currentField": ours.name, "updateField": theirs.name}
            raise refusal.named("DELTA_FAILED_TO_MERGE_FIELDS", **names)
    op.evolve(new)


def _named(fields: StructType, within: list[str], paths: list[list[str]]) -> list[StructField]:
    """The fields at these paths, and of structs that have some of them these."""
    found = []
    for field in fields:
        path = [*within, field.name.lower()]
        if path in paths:
            found.append(field)
        elif isinstance(field.dataType, StructType) and any(p[: len(path)] == path for p in paths):
            within_it = _named(field.dataType, path, paths)
            found += [StructField(field.name, StructType(within_it))] if within_it else []
    return found


def _common(table: StructType, source: StructType) -> Iterator[tuple[StructField, StructField]]:
    theirs = {f.name.lower(): f for f in source.fields}
    return ((f, theirs[f.name.lower()]) for f in table.fields if f.name.lower() in theirs)


def _joins(ours: DataType, theirs: DataType) -> bool:
    """Whether values of a type become those of another without an explicit cast."""
    if isinstance(ours, StructType) and isinstance(theirs, StructType):
        return all(_joins(a.dataType, b.dataType) for a, b in _common(ours, theirs))
    if isinstance(ours, ArrayType) and isinstance(theirs, ArrayType):
        return _joins(ours.elementType, theirs.elementType)
    if isinstance(ours, MapType) and isinstance(theirs, MapType):
        return _joins(ours.keyType, theirs.keyType) and _joins(ours.valueType, theirs.valueType)
    nested = (StructType, ArrayType, MapType)
    if type(ours) is type(theirs) or isinstance(ours, NullType) or isinstance(theirs, NullType):
        return True
    if isinstance(ours, nested) or isinstance(theirs, nested):
        return False
    if isinstance(ours, StringType):
        return True
    kinds: list[tuple[type, ...]] = [(NumericType,), _INSTANTS]
    if isinstance(theirs, StringType):
        return isinstance(ours, (NumericType, BinaryType, *_INSTANTS))
    return any(isinstance(ours, kind) and isinstance(theirs, kind) for kind in kinds)
