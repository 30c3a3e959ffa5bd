"""Columns of a new table, as delta-spark's builder takes them."""

from __future__ import annotations

from typing import Any

from pyspark.sql.types import DataType, StructField, StructType

from deltaic.columns import IdentityGenerator, check_text, field, refuse_type, type_of


def column(
    name: str,
    data_type: Any,
    *,
    nullable: bool,
    always: str | IdentityGenerator | None,
    by_default: IdentityGenerator | None,
    comment: str | None,
) -> dict[str, Any]:
    """A column by the arguments of `DeltaTableBuilder.addColumn`.

    Raises:
        TypeError, InvalidArgumentError, InvalidSchemaError: as `deltaic.columns.field` and `type_of`.
    """
    check_text("Column name", name)
    if not isinstance(data_type, str | DataType):
        refuse_type("Column data type must be str or DataType.", data_type)
    how: dict[str, Any] = {"always": always, "by_default": by_default, "comment": comment}
    return field(name, _type(data_type), nullable=nullable, **how)


def columns(given: Any) -> list[dict[str, Any]]:
    """Columns by the argument of `DeltaTableBuilder.addColumns`: a schema, or a list of its fields."""
    if isinstance(given, StructType):
        given = given.fields
    if not isinstance(given, list):
        refuse_type("Schema must be StructType or a list of StructField.", given)
    for one in given:
        if not isinstance(one, StructField):
            refuse_type("Column in existing schema must be StructField.", one)
    return [one.jsonValue() for one in given]


def _type(given: str | DataType) -> dict[str, Any]:
    if isinstance(given, DataType):
        value = given.jsonValue()
        if not (isinstance(value, str) and value.startswith(("char(", "varchar("))):
            return {"type": value, "metadata": {}}
        given = value
    return type_of(given)
