"""Conditions that the core evaluates, which knows no time zone but UTC, for a session that has another one."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta, timezone, tzinfo
from typing import TYPE_CHECKING, Any

import sqlglot
from sqlglot import exp

from deltaic import times
from deltaic.exceptions import TableNotFoundError, UnsupportedError
from deltaic.predicates import TIMESTAMPS, Dialect, parsed
from deltaic.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    Fields = list[dict[str, Any]]

TIME_ZONE = "spark.sql.session.timeZone"
"""The setting of the time zone."""
_UTC = frozenset({"UTC", "Etc/UTC", "Z", "GMT", "+00:00"})
# their result depends on the time zone, for any argument
_ZONED = frozenset(
    {"current_date", "curdate", "current_timestamp", "now", "localtimestamp", "current_timezone"}
    | {"to_timestamp", "to_timestamp_ltz", "unix_timestamp", "to_unix_timestamp", "from_unixtime"}
    | {"timestamp_seconds", "timestamp_millis", "timestamp_micros", "make_timestamp", "make_timestamp_ltz"}
)
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def is_utc(zone: str) -> bool:
    """Whether the time zone of a session is UTC."""
    return zone in _UTC


def in_utc(zone: str, text: str, path: str, storage_options: Mapping[str, str] | None) -> str:
    """An SQL condition on the rows of a table that means in any time zone what it means in this one.

    Times that timestamps are compared with become instants; everything else is unchanged.

    Raises:
        UnsupportedError: what it means depends on the time zone in another way.
    """
    if is_utc(zone):
        return text
    try:
        schema = Table(path, storage_options=storage_options).schema
    except TableNotFoundError:
        return text
    return _in_utc(zone, text, [{"name": field.name, "type": field.type} for field in schema], path)


def pruning(zone: str, text: str, schema: str, path: str) -> str | None:
    """As `in_utc`, for the files of a version with this schema (JSON); `None` where it is of no use for that."""
    try:
        return _in_utc(zone, text, json.loads(schema)["fields"], path)
    except UnsupportedError:
        return None


def _in_utc(zone: str, text: str, schema: Fields, path: str) -> str:
    tree = parsed(text)
    if tree is None:
        # what it names is not known
        words = {word.lower() for word in re.findall(r"\w+", text)}
    else:
        words = {token.text.lower() for token in Dialect().tokenize(text) if not _is_text(token)}
    instants = {field["name"].lower() for field in schema if _has_instants(field["type"])}
    if tree is None or words & _ZONED:
        if words & (_ZONED | instants | {"timestamp"}):
            raise _refusal(zone, text, path)
        return text
    try:
        local = times.zone_of(zone)
    except ValueError:
        raise _refusal(zone, text, path) from None
    given: set[int] = set()
    for node in [*tree.walk()]:
        for column, values in _comparisons(node):
            if _type_of(schema, column) != "timestamp":
                continue
            instant = [_micros(value, local) for value in values]
            if any(found is _UNKNOWN for found in instant):
                continue
            given.add(id(column))
            for value, found in zip(values, instant, strict=True):
                if found is not None:
                    put = _instant(found)
                    given.update(id(part) for part in put.walk())
                    value.replace(put)
    if _depends(tree, schema, given):
        raise _refusal(zone, text, path)
    return str(tree.sql(dialect=Dialect)) if given else text


def _depends(tree: Any, schema: Fields, given: set[int]) -> bool:
    """Whether there is an instant that has not been given its zone."""
    for node in tree.walk():
        if id(node) in given:
            continue
        if isinstance(node, (exp.Cast, exp.TryCast)) and node.args["to"].this in TIMESTAMPS:
            return True
        is_read = isinstance(node, exp.Column) and not isinstance(node.parent, exp.Is)
        if is_read and _has_instants(_type_of(schema, node)):
            return True
    return False


def _comparisons(node: Any) -> list[tuple[Any, list[Any]]]:
    """Columns, and the expressions that they are compared with."""
    if isinstance(node, exp.Between):
        found = [(node.this, [node.args["low"], node.args["high"]])]
    elif isinstance(node, exp.In) and node.expressions:
        found = [(node.this, node.expressions)]
    elif isinstance(node, (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ)):
        found = [(node.this, [node.expression]), (node.expression, [node.this])]
    else:
        found = []
    plain = [(column.unnest(), values) for column, values in found]
    return [(column, values) for column, values in plain if isinstance(column, exp.Column)]


_UNKNOWN = object()


def _micros(node: Any, zone: tzinfo) -> Any:
    """Microseconds since the epoch of a constant in the zone; `None` for null, `_UNKNOWN` if it is not constant."""
    node = node.unnest()
    if isinstance(node, exp.Null):
        return None
    if isinstance(node, (exp.Cast, exp.TryCast)):
        kind = node.args["to"].this
        if kind not in TIMESTAMPS and kind != exp.DataType.Type.DATE:
            return _UNKNOWN
        node = node.this.unnest()
    if not (isinstance(node, exp.Literal) and node.is_string):
        return _UNKNOWN
    try:
        return times.micros(str(node.this), zone)
    except ValueError:
        return _UNKNOWN


def _instant(micros: int) -> Any:
    when = _EPOCH + timedelta(microseconds=micros)
    text = when.replace(tzinfo=None).isoformat(" ", "microseconds") + "Z"
    return exp.Cast(this=exp.Literal.string(text), to=exp.DataType.build("timestamp", dialect=Dialect))


def _type_of(schema: Fields, column: Any) -> Any:
    """The type of a column or field of a struct, as JSON has it; `None` where there is none."""
    fields, found = schema, None
    for part in column.parts:
        found = next((f["type"] for f in fields if f["name"].lower() == part.name.lower()), None)
        fields = found["fields"] if isinstance(found, dict) and "fields" in found else []
    return found


def _has_instants(kind: Any) -> bool:
    if isinstance(kind, dict):
        parts = [kind.get(key) for key in ("type", "elementType", "keyType", "valueType")]
        parts += [field["type"] for field in kind.get("fields", ())]
        return any(_has_instants(part) for part in parts)
    return bool(kind == "timestamp")


def _is_text(token: Any) -> bool:
    return bool(token.token_type in {sqlglot.TokenType.STRING, sqlglot.TokenType.RAW_STRING})


def _refusal(zone: str, text: str, path: str) -> UnsupportedError:
    what = f"the condition `{text}` in the time zone {zone}"
    instead = f"compare columns of timestamps with constants only, or set {TIME_ZONE} to UTC"
    return UnsupportedError(f"`{path}`: {what} is not supported: {instead}", path=path, what=what)
