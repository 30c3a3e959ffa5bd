"""What a query needs of a table: the columns that it names, and the rows that its condition can keep.

Both are upper bounds. The engine evaluates the whole query on what it is given, so that a part which is not understood
here costs time and never rows.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, NamedTuple

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from deltaic.frames.conditions import TURNED, Columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from deltaic.schema import Schema

_WHOLE = {"byte", "short", "integer", "long"}
_COMPARISONS: dict[type, str] = {exp.EQ: "=", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="}


class Needs(NamedTuple):
    """What is read of one table."""

    columns: list[str] | None
    """Names of columns, or None for all."""
    where: str | None
    """A condition in SQL that every row which the query uses fulfils."""


ALL = Needs(None, None)


def needs(query: str, name: str, schema: Schema) -> Needs:
    """What `query` needs of the table that it calls `name`."""
    try:
        statements = sqlglot.parse(query, read="duckdb")
    except (SqlglotError, RecursionError):
        return ALL
    parsed = statements[0] if len(statements) == 1 else None
    if not isinstance(parsed, exp.Query):
        return ALL
    return Needs(_columns(parsed, name, schema), _where(parsed, name, schema))


def _columns(query: exp.Query, name: str, schema: Schema) -> list[str] | None:
    """The columns whose names are anywhere in the query; if there are none, one is read to count rows."""
    for star in query.find_all(exp.Star):
        if not isinstance(star.parent, exp.Count):
            return None
    if any(_takes_all(node) for node in query.walk()):
        return None
    tables = {table.alias_or_name.lower() for table in query.find_all(exp.Table)} | {name.lower()}
    named = {column.name.lower() for column in query.find_all(exp.Column) if not column.table}
    if named & tables:  # a table by its name is a struct of all columns
        return None
    words = {identifier.name.lower() for identifier in query.find_all(exp.Identifier)}
    found = [column for column in schema.names if column.lower() in words]
    return found or [_smallest(schema)]


def _takes_all(node: exp.Expr) -> bool:
    """Whether this takes columns that it does not name."""
    if isinstance(node, exp.Join):
        return node.method == "NATURAL"
    if isinstance(node, (exp.Anonymous, exp.Command)):
        return True
    return isinstance(node, (exp.Columns, exp.Pivot))


def _smallest(schema: Schema) -> str:
    flat = [field.name for field in schema if isinstance(field.type, str)]
    numbers = [field.name for field in schema if isinstance(field.type, str) and field.type in _WHOLE]
    return (numbers or flat or schema.names)[0]


def _where(query: exp.Query, name: str, schema: Schema) -> str | None:
    """The comparisons of columns with constants that every row of a query over this one table fulfils."""
    tables, source = list(query.find_all(exp.Table)), query.find(exp.From)
    condition = query.args.get("where")
    if not isinstance(query, exp.Select) or condition is None or query.args.get("joins") or len(tables) != 1:
        return None
    if source is None or source.parent is not query or source.this is not tables[0]:
        return None
    if tables[0].name.lower() != name.lower() or query.find(exp.TableSample) is not None:
        return None
    # DuckDB lets a condition use the names that the result gives
    given = {alias.alias.lower() for alias in query.find_all(exp.Alias)}
    types = {f.name.lower(): (f.name, f.type) for f in schema if f.name.lower() not in given}
    bound = _Bound(tables[0].alias_or_name.lower(), types)
    parts = [part for each in _conjuncts(condition.this) if (part := bound.comparison(each)) is not None]
    return " AND ".join(parts) or None


def _conjuncts(condition: exp.Expr) -> Iterator[exp.Expr]:
    condition = condition.unnest()
    if isinstance(condition, exp.And):
        yield from _conjuncts(condition.left)
        yield from _conjuncts(condition.right)
    else:
        yield condition


class _Bound(NamedTuple):
    """The one table of a query, by which its comparisons are understood."""

    table: str
    """The name that the query has for it, in lower case."""
    types: Mapping[str, tuple[str, object]]
    """Columns by their names in lower case: the name as it is, and the type."""

    def comparison(self, node: exp.Expr) -> str | None:
        """The comparison in the SQL of `to_arrow`, where it means the same there."""
        if isinstance(node, exp.Between):
            low = self._compared(node.this, ">=", node.args["low"])
            high = self._compared(node.this, "<=", node.args["high"])
            return None if low is None or high is None else f"{low} AND {high}"
        sign = _COMPARISONS.get(type(node))
        if sign is None:
            return None
        left, right = node.this, node.expression
        if isinstance(left, exp.Column):
            return self._compared(left, sign, right)
        return self._compared(right, TURNED[sign], left)

    def _compared(self, column: exp.Expr, sign: str, value: exp.Expr) -> str | None:
        if not isinstance(column, exp.Column) or column.name.lower() not in self.types:
            return None
        # `place.id` is a field of a column, unless `place` can only be the table
        if column.table and (
            column.table.lower() != self.table or self.table in self.types or len(column.parts) > 2
        ):
            return None
        name, data_type = self.types[column.name.lower()]
        return Columns({name: data_type}).compared(name, sign, _constant(value))


def _constant(value: exp.Expr) -> int | str | date | None:
    """The value of a literal; none of what is no literal, and of a kind that is not compared here."""
    negative = isinstance(value, exp.Neg)
    if isinstance(value, exp.Neg):
        value = value.this
    if isinstance(value, exp.Literal) and not value.is_string:
        whole = value.name.isascii() and value.name.isdigit()
        # a greater one is of another type to DuckDB
        if not whole or int(value.name) >= 2**31:
            return None
        return -int(value.name) if negative else int(value.name)
    if negative:
        return None
    if isinstance(value, exp.Literal):
        return value.name
    if isinstance(value, exp.Cast) and value.is_type("date"):
        day = value.this
        if isinstance(day, exp.Literal) and day.is_string:
            return _day(day.name)
    return None


def _day(text: str) -> date | None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if day.isoformat() == text else None
