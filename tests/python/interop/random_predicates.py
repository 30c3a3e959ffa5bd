"""Random conditions on a table, and three answers to each: of a pruned scan, of Arrow, and of Spark on all rows."""

from __future__ import annotations

import datetime as dt
import decimal
import math
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 (its usual name)
from pyspark.sql import types as T  # noqa: N812 (its usual name)

import deltaic
from deltaic.exceptions import InvalidExpressionError, InvalidPredicateError

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

_WHOLE = {T.ByteType: ("Y", 8), T.ShortType: ("S", 16), T.IntegerType: ("", 32), T.LongType: ("L", 64)}
_COMPARED = (
    *_WHOLE,
    T.FloatType,
    T.DoubleType,
    T.DecimalType,
    T.DateType,
    T.TimestampType,
    T.TimestampNTZType,
    T.StringType,
    T.BooleanType,
    T.BinaryType,
)
_EPOCH = dt.datetime(1970, 1, 1)
# how many scans run in one job
_AT_ONCE = 25


class Column:
    """A column or a field of a struct, with some of its values."""

    def __init__(self, name: str, data_type: Any, values: list[Any]) -> None:
        self.name, self.data_type = name, data_type
        self.values = [v for v in values if v is not None][:200]

    @property
    def compared(self) -> bool:
        """Whether its values compare; the others are asked whether they are null."""
        return isinstance(self.data_type, _COMPARED)

    def literal(self, rng: random.Random) -> str:
        """One of its values, or one beside it."""
        if not self.values:
            return "NULL"
        value, nudge = rng.choice(self.values), rng.choice((-1, 0, 0, 0, 1))
        return _literal(self.data_type, value, nudge, rng)


def _literal(data_type: Any, value: Any, nudge: int, rng: random.Random) -> str:
    if isinstance(data_type, tuple(_WHOLE)):
        suffix, bits = _WHOLE[type(data_type)]
        number = max(-(2 ** (bits - 1)) + 1, min(2 ** (bits - 1) - 1, value + nudge))
        return rng.choice((f"{number}{suffix}", f"{number}", f"{number}.5", f"{number}L"))
    if isinstance(data_type, (T.FloatType, T.DoubleType)):
        if math.isnan(value) or math.isinf(value):
            return f"double('{value}')"
        shape = "{!r}D" if "e" in repr(value) else "CAST('{!r}' AS {})"
        kind = "FLOAT" if isinstance(data_type, T.FloatType) else "DOUBLE"
        return rng.choice((shape.format(value + nudge, kind), f"{int(value)}" if abs(value) < 2**62 else "0"))
    if isinstance(data_type, T.DecimalType):
        step = decimal.Decimal(nudge).scaleb(-data_type.scale)
        return f"{value + step if value.adjusted() < 30 else value:f}"
    if isinstance(data_type, T.DateType):
        day = value if not nudge or not dt.date.min < value < dt.date.max else value + dt.timedelta(nudge)
        return rng.choice((f"DATE '{day.isoformat()}'", f"'{day.isoformat()}'"))
    if isinstance(data_type, (T.TimestampType, T.TimestampNTZType)):
        inside = dt.datetime.min < value.replace(tzinfo=None) < dt.datetime.max - dt.timedelta(1)
        at = value + dt.timedelta(microseconds=nudge) if nudge and inside else value
        if isinstance(data_type, T.TimestampNTZType):
            return f"TIMESTAMP_NTZ '{at.isoformat(' ')}'"
        text = at.astimezone(dt.timezone.utc).replace(tzinfo=None).isoformat(" ")
        return f"TIMESTAMP '{text}Z'"
    if isinstance(data_type, T.BooleanType):
        return "true" if value else "false"
    if isinstance(data_type, T.BinaryType):
        return f"X'{bytes(value).hex()}'"
    text = value if not nudge else value[: rng.randrange(len(value) + 1)] + rng.choice(("", "z", "\u7f40"))
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def columns_of(schema: T.StructType, rows: list[dict[str, Any]], at: str = "") -> Iterator[Column]:
    """The columns, and the fields of structs in them."""
    for field in schema.fields:
        name = at + "`" + field.name.replace("`", "``") + "`"
        values = [row.get(field.name) for row in rows]
        yield Column(name, field.dataType, values)
        if isinstance(field.dataType, T.StructType):
            yield from columns_of(field.dataType, [v or {} for v in values], name + ".")


def condition(rng: random.Random, columns: list[Column], depth: int = 3) -> str:
    """A random condition."""
    kind = rng.random()
    if depth and kind < 0.5:
        parts = [condition(rng, columns, depth - 1) for _ in range(rng.choice((2, 2, 3)))]
        return "(" + rng.choice((" AND ", " AND ", " OR ")).join(parts) + ")"
    if depth and kind < 0.6:
        return f"NOT ({condition(rng, columns, depth - 1)})"
    column = rng.choice(columns)
    name = column.name
    if not column.compared or rng.random() < 0.1:
        return f"{name} IS {rng.choice(('', 'NOT '))}NULL"
    literal = lambda: column.literal(rng)  # noqa: E731
    if isinstance(column.data_type, T.BooleanType) and rng.random() < 0.4:
        return rng.choice((name, f"NOT {name}"))
    if isinstance(column.data_type, T.StringType) and column.values and rng.random() < 0.3:
        value = rng.choice(column.values)
        prefix = value[: rng.randrange(len(value) + 1)]
        if not set(prefix) & set("%_\\'"):
            return f"{name} LIKE '{prefix}%'"
    form = rng.random()
    if form < 0.15:
        many = [literal() for _ in range(rng.randrange(1, 5))] + ["NULL"] * (rng.random() < 0.2)
        return f"{name} {rng.choice(('', 'NOT '))}IN ({', '.join(many)})"
    if form < 0.3:
        return f"{name} {rng.choice(('', 'NOT '))}BETWEEN {literal()} AND {literal()}"
    op = rng.choice(("=", "<", "<=", ">", ">=", "<>", "<=>", "=", "=="))
    value = "NULL" if rng.random() < 0.05 else literal()
    return f"{value} {op} {name}" if rng.random() < 0.2 else f"{name} {op} {value}"


def differences(spark: Any, path: str, rng: random.Random, count: int) -> tuple[list[str], dict[str, int]]:
    """What conditions a scan or Arrow answers otherwise than Spark does on all rows, and how many were asked."""
    scan = spark.read.format("delta").load(path)
    whole = pa.table(deltaic.Table(path).to_arrow())
    columns = list(columns_of(scan.schema, whole.slice(0, 2000).to_pylist()))
    # read whole, and then no relation of ours: Spark alone filters it
    everything = scan.localCheckpoint()
    asked = [condition(rng, columns) for _ in range(count)]
    reported = {"predicates": 0, "matches": 0, "pruned": 0, "arrow": 0}
    found: list[str] = []
    for start in range(0, count, _AT_ONCE):
        some = asked[start : start + _AT_ONCE]
        theirs, ours = (_matching(rows, some) for rows in (everything, scan))
        for number, text in enumerate(some):
            reported["predicates"] += 1
            expected = theirs.get(number, (0, 0))
            reported["matches"] += 0 < expected[0] < whole.num_rows
            if ours.get(number, (0, 0)) != expected:
                found.append(f"{path}: {text}: Spark has {expected}, the scan {ours.get(number)}")
            table = deltaic.Table(path)
            try:
                reported["pruned"] += table.explain(text, limit=0)["dropped"]["files"] > 0
                rows = pa.table(table.to_arrow(where=text)).num_rows
            except (InvalidExpressionError, InvalidPredicateError):
                continue
            reported["arrow"] += 1
            if rows != expected[0]:
                found.append(f"{path}: {text}: Spark has {expected[0]} rows, Arrow {rows}")
    return found, reported


def _matching(rows: Any, conditions: list[str]) -> dict[int, tuple[int, int]]:
    """Number of rows, and a sum that tells them apart, of each condition that matches any."""
    row = F.xxhash64(F.to_json(F.struct(*(F.col(f"`{c.replace('`', '``')}`") for c in rows.columns))))
    each = [
        rows.where(text).select(F.lit(number).alias("number"), row.cast("decimal(38,0)").alias("row"))
        for number, text in enumerate(conditions)
    ]
    union = each[0]
    for part in each[1:]:
        union = union.union(part)
    sums = union.groupBy("number").agg(F.count("*").alias("count"), F.sum("row").alias("sum"))
    return {r["number"]: (r["count"], int(r["sum"])) for r in sums.collect()}
