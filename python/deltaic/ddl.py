"""Columns as SQL writes them become a schema in the form of the protocol."""

from __future__ import annotations

import json
from typing import Any, NoReturn

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, TokenError

from deltaic.exceptions import InvalidSchemaError
from deltaic.predicates import Dialect

Json = dict[str, Any]
# the base class of sqlglot's nodes has different names in different versions
Node = Any
_Type = exp.DataType.Type

_NAMES = {
    _Type.BIGINT: "long",
    _Type.BINARY: "binary",
    _Type.BOOLEAN: "boolean",
    _Type.DATE: "date",
    _Type.DOUBLE: "double",
    _Type.FLOAT: "float",
    _Type.INT: "integer",
    _Type.NULL: "void",
    _Type.SMALLINT: "short",
    _Type.TEXT: "string",
    _Type.TIMESTAMP: "timestamp",
    _Type.TIMESTAMPLTZ: "timestamp",
    _Type.TIMESTAMPTZ: "timestamp",
    _Type.TIMESTAMPNTZ: "timestamp_ntz",
    _Type.TINYINT: "byte",
    _Type.VARIANT: "variant",
}
_LENGTHS = {_Type.CHAR: "char", _Type.VARCHAR: "varchar"}


def schema_json(text: str) -> str:
    """The schema of a list of columns: `id BIGINT NOT NULL, name STRING COMMENT 'of the buyer'`.

    Types are those of Spark SQL. A column may have NOT NULL, COMMENT, DEFAULT and GENERATED ALWAYS AS.

    Raises:
        InvalidSchemaError: it is not a list of columns, or has a type or clause that is not known.
    """
    try:
        tree = sqlglot.parse_one(f"CREATE TABLE t ({text})", dialect=Dialect)
    except (ParseError, TokenError) as error:
        reason = (
            error.errors[0]["description"] if isinstance(error, ParseError) and error.errors else "a quote"
        )
        _refuse(f"`{text}` is not a list of columns: {reason}")
    columns = tree.this.expressions if isinstance(tree.this, exp.Schema) else []
    if not columns or not all(isinstance(column, exp.ColumnDef) for column in columns):
        _refuse(f"`{text}` is not a list of columns, such as `id BIGINT NOT NULL, name STRING`")
    return json.dumps({"type": "struct", "fields": [_field(column) for column in columns]})


def _field(column: Node) -> Json:
    name, data_type = column.name, column.args.get("kind")
    if data_type is None:
        _refuse(f"column `{name}` has no type")
    field: Json = {"name": name, "type": None, "nullable": True, "metadata": {}}
    if data_type.this in _LENGTHS:
        field["type"] = "string"
        length = ",".join(p.name for p in data_type.expressions)
        field["metadata"]["__CHAR_VARCHAR_TYPE_STRING"] = f"{_LENGTHS[data_type.this]}({length})"
    else:
        field["type"] = _type(data_type, name)
    for constraint in column.args.get("constraints") or ():
        _constrain(field, constraint.args["kind"])
    return field


def _constrain(field: Json, kind: Node) -> None:
    if isinstance(kind, exp.NotNullColumnConstraint):
        field["nullable"] = bool(kind.args.get("allow_null"))
    elif isinstance(kind, exp.CommentColumnConstraint):
        field["metadata"]["comment"] = kind.this.name
    elif isinstance(kind, exp.DefaultColumnConstraint):
        field["metadata"]["CURRENT_DEFAULT"] = kind.this.sql(Dialect)
    elif isinstance(kind, exp.ComputedColumnConstraint):
        field["metadata"]["delta.generationExpression"] = kind.this.sql(Dialect)
    else:
        _refuse(f"column `{field['name']}`: {kind.sql(Dialect)} is not known here; give the schema as JSON")


def _type(data_type: Node, column: str) -> str | Json:
    kind, parts = data_type.this, data_type.expressions
    if kind in _NAMES:
        return _NAMES[kind]
    if kind == _Type.DECIMAL:
        given = tuple(part.name for part in parts)
        precision, scale = given + ("10", "0")[len(given) :]
        return f"decimal({precision},{scale})"
    if kind == _Type.STRUCT and all(isinstance(part, exp.ColumnDef) for part in parts):
        return {"type": "struct", "fields": [_field(part) for part in parts]}
    if kind == _Type.ARRAY and len(parts) == 1:
        return {"type": "array", "elementType": _type(parts[0], column), "containsNull": True}
    if kind == _Type.MAP and len(parts) == 2:
        key, value = (_type(part, column) for part in parts)
        return {"type": "map", "keyType": key, "valueType": value, "valueContainsNull": True}
    return _refuse(f"column `{column}`: `{data_type.sql(Dialect)}` is not a type of a table")


def _refuse(reason: str) -> NoReturn:
    raise InvalidSchemaError(f"schema: {reason}", reason=reason)
