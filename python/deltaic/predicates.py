"""SQL text of a condition becomes the predicate tree of the core, as JSON.

The text is Spark SQL, read by sqlglot. What the tree cannot say (a function, arithmetic, two columns,
another LIKE) becomes `{"unknown": text}`: it keeps every file, and rows are filtered by the text of the condition.
Nothing is guessed: a part is translated only where the tree means exactly the same, three-valued logic
and all. A timestamp without a time zone is read as UTC.
"""

from __future__ import annotations

import json
import re
import struct
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NoReturn, overload

import sqlglot
from sqlglot import exp
from sqlglot.dialects.databricks import Databricks
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError, TokenError

from deltaic import times
from deltaic.exceptions import InvalidPredicateError

if TYPE_CHECKING:
    from collections.abc import Callable

Json = dict[str, Any]
# the base class of sqlglot's nodes has different names in different versions
Node = Any
_Type = exp.DataType.Type


class Dialect(Spark):
    """Spark SQL in which a doubled quote is a quote, as it is from Spark 4 on, and VOID a type."""

    class Tokenizer(Spark.Tokenizer):  # noqa: D106 (sqlglot's own way to declare it)
        STRING_ESCAPES = ["\\", "'", '"']  # noqa: RUF012 (sqlglot's own way to declare it)
        KEYWORDS = {**Spark.Tokenizer.KEYWORDS, "VOID": Databricks.Tokenizer.KEYWORDS["VOID"]}  # noqa: RUF012

    class Generator(Spark.Generator):  # type: ignore[misc,valid-type]  # noqa: D106 (a variable to mypy)
        TYPE_MAPPING = {**Spark.Generator.TYPE_MAPPING, _Type.NULL: "VOID"}  # noqa: RUF012


# characters of a long condition that its error shows
_SHOWN = 200


class _Untranslatable(Exception):  # noqa: N818 (never leaves this module)
    """A part that the tree cannot say."""


@overload
def from_sql(text: str) -> str: ...
@overload
def from_sql(text: str | None) -> str | None: ...
def from_sql(text: str | None) -> str | None:
    """The predicate tree of a condition, as the JSON that the core reads; none where no condition is given.

    Raises:
        InvalidPredicateError: the text is not one SQL condition, or holds a date or time that does not exist.
            The error points at the word.
    """
    if text is None:
        return None
    if not text.strip():
        raise InvalidPredicateError("the predicate is empty", predicate=text, reason="it is empty")
    try:
        tree = sqlglot.parse_one(text, dialect=Dialect, into=exp.Condition)
    except ParseError as error:
        _reject(text, error)
    except TokenError as error:
        reason = "a quote or comment is not closed"
        raise InvalidPredicateError(f"predicate `{text}`: {reason}", predicate=text, reason=reason) from error
    except RecursionError:
        raise _too_deep(text) from None
    try:
        return json.dumps(_condition(tree, text), ensure_ascii=False)
    except RecursionError:
        raise _too_deep(text) from None


def _too_deep(text: str) -> InvalidPredicateError:
    reason = "it is nested too deeply; many values of one column are `IN (…)`"
    short = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    return InvalidPredicateError(f"predicate `{short}`: {reason}", predicate=text, reason=reason)


def parsed(text: str) -> Node | None:
    """An SQL condition as sqlglot has it; `None` if sqlglot cannot parse it."""
    try:
        return sqlglot.parse_one(text, dialect=Dialect, into=exp.Condition)
    except (ParseError, TokenError, RecursionError):
        return None


def unqualified(text: str, name: str, *, case_sensitive: bool) -> str:
    """A condition whose columns have no `name.` before them; text that sqlglot cannot parse is unchanged."""
    try:
        tokens = Dialect().tokenize(text)
    except TokenError:
        return text
    wanted, out, at = name if case_sensitive else name.lower(), "", 0
    for before, token, dot, then in zip([None, *tokens], tokens, tokens[1:], tokens[2:], strict=False):
        found = token.text if case_sensitive else token.text.lower()
        is_first = before is None or before.token_type != sqlglot.TokenType.DOT
        if (
            found == wanted
            and is_first
            and dot.token_type == sqlglot.TokenType.DOT
            and token.token_type != sqlglot.TokenType.STRING
        ):
            out, at = out + text[at : token.start], then.start
    return out + text[at:]


def has_subquery(text: str) -> bool:
    """Whether an SQL condition has a subquery."""
    try:
        tokens = Dialect().tokenize(text)
    except TokenError:
        return False
    return any(token.token_type == sqlglot.TokenType.SELECT for token in tokens)


def columns_of(text: str) -> list[list[str]] | None:
    """The columns that an SQL condition names, each as the parts of its name; `None` if sqlglot cannot parse it."""
    tree = parsed(text)
    if tree is None:
        return None
    return [[part.name for part in column.parts] for column in tree.find_all(exp.Column)]


def equalities(text: str) -> list[tuple[list[str], list[str], bool]]:
    """The columns that an SQL condition wants equal: the parts of both names, and whether nulls are equal.

    Only what must be so for the condition to be true; none where it is no SQL to sqlglot.
    """
    tree, found = parsed(text), []
    if tree is None:
        return []
    tree = tree.unnest()
    for part in tree.flatten() if isinstance(tree, exp.And) else [tree]:
        node = part.unnest()
        if isinstance(node, exp.And):
            found += equalities(node.sql(dialect=Dialect))
        elif isinstance(node, (exp.EQ, exp.NullSafeEQ)):
            try:
                sides = _column(node.this), _column(node.expression)
            except _Untranslatable:
                continue
            found.append((*sides, isinstance(node, exp.NullSafeEQ)))
    return found


def name_parts(name: str) -> list[str]:
    """The parts of a dotted name, of which some may be in backticks: two of these within one are one of the name."""
    parts, part, inside, at = [], "", False, 0
    while at < len(name):
        character = name[at]
        if inside and name.startswith("``", at):
            part += "`"
            at += 1
        elif character == "`":
            inside = not inside
        elif character == "." and not inside:
            parts.append(part)
            part = ""
        else:
            part += character
        at += 1
    return [*parts, part]


def _reject(text: str, error: ParseError) -> NoReturn:
    found = error.errors[0] if error.errors else {}
    word = found.get("highlight") or ""
    description = str(found.get("description") or "not a condition").rstrip(".")
    # the column that sqlglot counts is that of the end of the word
    at = max(int(found.get("col") or len(word)) - len(word) + 1, 1)
    reason = f"{description}, at `{word}` (character {at})" if word else description
    raise InvalidPredicateError(f"predicate `{text}`: {reason}", predicate=text, reason=reason) from error


_COMPARE = {
    exp.EQ: "=",
    exp.NEQ: "!=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "<=>",
    exp.NullSafeNEQ: "<=>",
}
_FLIPPED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<=", "<=>": "<=>"}


def _condition(node: Node, text: str) -> Json:
    node = node.unnest()
    if isinstance(node, (exp.And, exp.Or)):
        key = "and" if isinstance(node, exp.And) else "or"
        return {key: [_condition(part, text) for part in node.flatten()]}
    if isinstance(node, exp.Not):
        return _not(_condition(node.this, text))
    try:
        found = _leaf(node, text)
    except _Untranslatable:
        return {"unknown": node.sql(dialect=Dialect)}
    negated = isinstance(node, exp.NullSafeNEQ) or _is_negated(node)
    return _not(found) if negated else found


def _is_negated(node: Node) -> bool:
    """Newer versions of sqlglot keep the NOT of `NOT LIKE … ESCAPE` as an argument of the operator."""
    return bool(node.args.get("negate") or (isinstance(node, exp.Escape) and node.this.args.get("negate")))


def _not(part: Json) -> Json:
    if "isnull" in part:
        return {"isnotnull": part["isnull"]}
    return {"not": part}


def _leaf(node: Node, text: str) -> Json:
    if type(node) in _COMPARE:
        return _comparison(_COMPARE[type(node)], node.this, node.expression, text)
    if isinstance(node, exp.Between) and not node.args.get("symmetric"):
        low = _comparison(">=", node.this, node.args["low"], text)
        return {"and": [low, _comparison("<=", node.this, node.args["high"], text)]}
    if (
        isinstance(node, exp.In)
        and node.expressions
        and not any(node.args.get(k) for k in ("query", "unnest", "field"))
    ):
        return {"in": {"column": _column(node.this), "values": [_literal(v, text) for v in node.expressions]}}
    if isinstance(node, exp.Is):
        return _is(node, text)
    if isinstance(node, exp.Escape) and isinstance(node.this, exp.Like):
        return _like(node.this, _string(node.expression))
    if isinstance(node, exp.Like):
        return _like(node, "\\")
    if isinstance(node, exp.StartsWith):
        return {"startswith": {"column": _column(node.this), "prefix": _string(node.expression)}}
    if isinstance(node, exp.Null):
        return {"constant": None}
    if isinstance(node, exp.Boolean):
        return {"constant": bool(node.this)}
    return _compare("=", _column(node), {"type": "boolean", "value": True})


def _is(node: exp.Is, text: str) -> Json:
    operand, what = node.this.unnest(), node.expression.unnest()
    if isinstance(what, exp.Null):
        if isinstance(operand, exp.Null):
            return {"constant": True}
        return {"isnull": {"column": _column(operand)}}
    if isinstance(what, exp.Boolean):
        return _comparison("<=>", operand, what, text)
    raise _Untranslatable


def _comparison(op: str, left: Node, right: Node, text: str) -> Json:
    left, right = left.unnest(), right.unnest()
    if _is_column(left):
        return _compare(op, _column(left), _literal(right, text))
    if _is_column(right):
        return _compare(_FLIPPED[op], _column(right), _literal(left, text))
    return _constants(op, _literal(left, text), _literal(right, text))


def _compare(op: str, column: list[str], value: Json) -> Json:
    return {"compare": {"op": op, "column": column, "value": value}}


def _constants(op: str, left: Json, right: Json) -> Json:
    """`1 = 1` and its like; only for types whose Python order is the SQL one."""
    null = left["type"] == "null" or right["type"] == "null"
    if op == "<=>" and null:
        return {"constant": left["type"] == right["type"]}
    if null:
        return {"constant": None}
    if left["type"] != right["type"] or left["type"] not in {
        "long",
        "boolean",
        "date",
        "timestamp",
        "timestampntz",
    }:
        raise _Untranslatable
    a, b = left["value"], right["value"]
    answers = {"=": a == b, "<=>": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}
    return {"constant": answers[op]}


def _like(node: exp.Like, escape: str) -> Json:
    column, pattern = _column(node.this), _string(node.expression)
    if len(escape) != 1:
        raise _Untranslatable
    literal, rest = "", pattern
    while rest and rest[0] not in "%_":
        if rest[0] == escape:
            if rest[1:2] not in {"%", "_", escape}:
                raise _Untranslatable  # Spark refuses such a pattern
            rest = rest[1:]
        literal, rest = literal + rest[0], rest[1:]
    prefix: Json = {"startswith": {"column": column, "prefix": literal}}
    if not rest:
        # both: on a column that is no string LIKE compares its text, which the comparison alone would not
        return {"and": [prefix, _compare("=", column, {"type": "string", "value": literal})]}
    if rest.strip("%"):
        raise _Untranslatable
    return prefix


def _is_column(node: Node) -> bool:
    return isinstance(node, (exp.Column, exp.Dot))


def _column(node: Node) -> list[str]:
    """The parts of a name. A dotted name is a field of a struct, since a predicate has one table."""
    node = node.unnest()
    if isinstance(node, exp.Dot):
        if not isinstance(node.expression, exp.Identifier):
            raise _Untranslatable
        return [*_column(node.this), node.expression.name]
    if isinstance(node, exp.Column) and all(isinstance(part, exp.Identifier) for part in node.parts):
        return [part.name for part in node.parts]
    raise _Untranslatable


def _string(node: Node) -> str:
    node = node.unnest()
    if isinstance(node, exp.RawString) or (isinstance(node, exp.Literal) and node.is_string):
        return str(node.this)
    raise _Untranslatable


_LONG = range(-(2**63), 2**63)
_WHOLE = {
    _Type.TINYINT: range(-(2**7), 2**7),
    _Type.SMALLINT: range(-(2**15), 2**15),
    _Type.INT: range(-(2**31), 2**31),
    _Type.BIGINT: _LONG,
}
TIMESTAMPS = {_Type.TIMESTAMP, _Type.TIMESTAMPTZ, _Type.TIMESTAMPLTZ}


def _literal(node: Node, text: str) -> Json:
    node = node.unnest()
    sign = ""
    while isinstance(node, exp.Neg):
        sign = "" if sign else "-"
        node = node.this.unnest()
    if isinstance(node, exp.Literal) and not node.is_string:
        return _number(sign + str(node.this))
    if isinstance(node, (exp.Cast, exp.TryCast)):
        return _cast(node, sign, text)
    if sign:
        raise _Untranslatable
    if isinstance(node, exp.Null):
        return {"type": "null"}
    if isinstance(node, exp.Boolean):
        return {"type": "boolean", "value": bool(node.this)}
    if isinstance(node, exp.HexString) and not node.args.get("is_integer") and len(str(node.this)) % 2 == 0:
        return {"type": "binary", "value": str(node.this).lower()}
    return {"type": "string", "value": _string(node)}


def _number(digits: str) -> Json:
    """A number as Spark types it: whole, decimal, or with an exponent double."""
    if "e" in digits.lower():
        return _double(float(digits))
    value = _decimal(digits)
    if "." not in digits and int(value) in _LONG:
        return {"type": "long", "value": int(value)}
    return {"type": "decimal", "value": f"{value:f}"}


def _double(value: float) -> Json:
    if value in {float("inf"), float("-inf")}:
        raise _Untranslatable  # a literal that overflows is an error in Spark
    return {"type": "double", "value": value}


def _decimal(digits: str) -> Decimal:
    if not re.fullmatch(r"-?\d*\.?\d*(?:[eE][+-]?\d{1,2})?", digits, re.ASCII) or not any(
        map(str.isdigit, digits)
    ):
        raise _Untranslatable
    value = Decimal(digits)
    _, figures, exponent = value.as_tuple()
    if not isinstance(exponent, int) or len(figures) + abs(exponent) > 38:
        raise _Untranslatable  # more than a decimal of Spark holds
    return value


def _cast(node: Node, sign: str, text: str) -> Json:
    """Typed literals: `DATE '…'`, `CAST('…' AS TIMESTAMP)`, `5L`, `CAST(5 AS DECIMAL(3,1))`."""
    kind, operand = node.args["to"].this, node.this.unnest()
    while isinstance(operand, exp.Neg):
        sign = "" if sign else "-"
        operand = operand.this.unnest()
    if not isinstance(operand, exp.Literal):
        raise _Untranslatable
    value = str(operand.this)
    if operand.is_string and not sign:
        if kind == _Type.DATE:
            return {"type": "date", "value": _time(times.days, value, text)}
        if kind in TIMESTAMPS:
            return {"type": "timestamp", "value": _time(times.micros, value, text)}
        if kind == _Type.TIMESTAMPNTZ:
            return {"type": "timestampntz", "value": _time(times.local_micros, value, text)}
    return _numeric_cast(kind, sign + value, node.args["to"].expressions, text_operand=operand.is_string)


def _numeric_cast(kind: object, digits: str, parameters: list[Node], *, text_operand: bool) -> Json:
    number = _decimal(digits)
    if (
        kind in _WHOLE
        and number == number.to_integral_value()
        and int(number) in _WHOLE[kind]
        and not text_operand
    ):
        return {"type": "long", "value": int(number)}
    if kind == _Type.DOUBLE and not text_operand:
        return _double(float(digits))
    if kind == _Type.FLOAT and not text_operand and _is_single(float(digits)):
        return _double(float(digits))
    if kind == _Type.DECIMAL and parameters:
        precision = int(parameters[0].name)
        scale = int(parameters[1].name) if len(parameters) > 1 else 0
        exact = (
            number.quantize(Decimal(1).scaleb(-scale)) if abs(number) < Decimal(10) ** (38 - scale) else None
        )
        if exact is not None and exact == number and abs(number) < Decimal(10) ** (precision - scale):
            return {"type": "decimal", "value": f"{exact:f}"}
    raise _Untranslatable


def _is_single(value: float) -> bool:
    """Whether 32 bits hold the number exactly."""
    return abs(value) < 2.0**127 and bool(struct.unpack("<f", struct.pack("<f", value))[0] == value)


def _time(parse: Callable[[str], int], value: str, text: str) -> int:
    try:
        return parse(value)
    except ValueError as error:
        raise InvalidPredicateError(
            f"predicate `{text}`: {error}", predicate=text, reason=str(error)
        ) from None
