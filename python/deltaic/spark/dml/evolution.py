"""The columns that a merge with schema evolution adds to the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql.types import ArrayType, DataType, NullType, StructField, StructType

from deltaic.predicates import name_parts

if TYPE_CHECKING:
    from deltaic.spark.dml.clauses import Clauses
    from deltaic.spark.dml.operation import Operation


def evolve(op: Operation, source: StructType, clauses: Clauses) -> None:
    """Gives the table the columns of the source that a clause sets, with the fields that structs of both differ by.

    A column that is there keeps its type; a void one takes that of the source.
    """
    new = [f for f in source.fields if _is_set(op, f.name, clauses)]
    op.evolve(_joined(op.schema, StructType(new)))


def _is_set(op: Operation, name: str, clauses: Clauses) -> bool:
    setting = [*clauses.updates.values(), *clauses.inserts.values()]
    if any(c.is_star for c in setting):
        return True
    paths = [[p.lower() for p in name_parts(target)] for c in setting for target in c.values or ()]
    alias = str(op.ref.alias).lower()
    return any(p[0] == name.lower() or p[:2] == [alias, name.lower()] for p in paths)


def _joined(table: StructType, source: StructType) -> StructType:
    theirs = {f.name.lower(): f for f in source.fields}
    fields = []
    for field in table.fields:
        other = theirs.pop(field.name.lower(), None)
        data_type = field.dataType if other is None else _type(field.dataType, other.dataType)
        fields.append(StructField(field.name, data_type, field.nullable))
    return StructType(fields + [StructField(f.name, f.dataType) for f in theirs.values()])


def _type(table: DataType, source: DataType) -> DataType:
    if isinstance(table, StructType) and isinstance(source, StructType):
        return _joined(table, source)
    if isinstance(table, ArrayType) and isinstance(source, ArrayType):
        return ArrayType(_type(table.elementType, source.elementType), table.containsNull)
    return source if isinstance(table, NullType) else table
