"""The new values of an update: which columns and fields they go to, and how they are stored there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from deltaic.exceptions import InvalidArgumentError, SchemaMismatchError
from deltaic.spark.frame import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from deltaic.spark.dml.operation import Operation

GENERATION = "delta.generationExpression"
_DEFAULT = "CURRENT_DEFAULT"
_IDENTITY, _EXPLICIT = "delta.identity.start", "delta.identity.allowExplicitInsert"


@dataclass(frozen=True)
class Assignment:
    """A column, or a field of it, and its value."""

    path: tuple[str, ...]
    value: Any
    data_type: DataType


class Assignments:
    """What an update sets.

    Raises:
        InvalidArgumentError: for no column at all, one that is not there or that is set twice.
        SchemaMismatchError: for an identity column whose values are always generated.
    """

    def __init__(self, op: Operation, given: Mapping[str, Any]) -> None:
        if not given:
            raise _invalid("nothing is set: give columns and their values")
        self._op = op
        self.all: list[Assignment] = []
        for target, value in given.items():
            path, field = _resolve(op, target)
            clash = next((a for a in self.all if _overlap(a.path, path)), None)
            if clash is not None:
                raise _invalid(f"`{'.'.join(clash.path)}` and `{target}` set the same value")
            top = op.schema[path[0]]
            if _IDENTITY in top.metadata and not top.metadata.get(_EXPLICIT, False):
                reason = f"`{top.name}` is GENERATED ALWAYS AS IDENTITY: it cannot be updated"
                message = f"the data does not fit the table `{op.ref.path}`: {reason}"
                raise SchemaMismatchError(message, path=op.ref.path, reason=reason)
            if isinstance(value, str) and value.strip().upper() == "DEFAULT" and len(path) == 1:
                value = str(field.metadata.get(_DEFAULT, "NULL"))
            self.all.append(Assignment(path, value, field.dataType))

    def values(self) -> list[Any]:
        """The values, as they were given."""
        return [a.value for a in self.all]

    def new_rows(self, rows: Any, matched: Any = None) -> Any:
        """The rows with their new values, in the columns of the table, and behind them the other columns of the rows.

        Where `matched`, a boolean column, is not true, a row stays as it is.
        """
        op, F = self._op, self._op.functions  # noqa: N806 (its usual name)
        more = [c for c in rows.columns if c not in set(op.schema.names)]
        typed = rows.select(*(op.column(a.value).alias(f"v{i}") for i, a in enumerate(self.all))).schema
        values = {
            a.path: _stored(F, op.column(a.value), typed[i].dataType, a.data_type, ansi=self._ansi)
            for i, a in enumerate(self.all)
        }
        columns = []
        for field in op.schema.fields:
            old = F.col(self._qualified(field.name))
            new = _replaced(F, old, field.dataType, (field.name,), values)
            columns.append(_either(F, matched, new, old).alias(field.name))
        rows = rows.select(*columns, *(F.col(quoted(c)) for c in more))
        generated = [f for f in op.schema.fields if GENERATION in f.metadata and (f.name,) not in values]
        if not generated:
            return rows
        anew = {f.name: F.expr(f.metadata[GENERATION]).cast(f.dataType) for f in generated}
        columns = []
        for field in op.schema.fields:
            old = F.col(quoted(field.name))
            new = anew.get(field.name, old)
            columns.append(_either(F, matched if field.name in anew else None, new, old).alias(field.name))
        return rows.select(*columns, *(F.col(quoted(c)) for c in more))

    @property
    def _ansi(self) -> bool:
        return str(self._op.spark.conf.get("spark.sql.ansi.enabled", "true")).lower() == "true"

    def _qualified(self, name: str) -> str:
        alias = self._op.ref.alias
        return quoted(name) if alias is None else f"{quoted(alias)}.{quoted(name)}"


def _either(F: Any, matched: Any, new: Any, old: Any) -> Any:  # noqa: N803 (its usual name)
    return new if matched is None else F.when(matched, new).otherwise(old)


def _replaced(
    F: Any,  # noqa: N803 (its usual name)
    old: Any,
    data_type: DataType,
    path: tuple[str, ...],
    values: Mapping[tuple[str, ...], Any],
) -> Any:
    """The value with those at paths within it replaced. A struct that was null is one of nulls but for these."""
    if path in values:
        return values[path]
    if not any(p[: len(path)] == path for p in values):
        return old
    fields = data_type.fields if isinstance(data_type, StructType) else []
    parts = (
        _replaced(F, old.getField(f.name), f.dataType, (*path, f.name), values).alias(f.name) for f in fields
    )
    return F.struct(*parts)


def _stored(F: Any, value: Any, given: DataType, wanted: DataType, *, ansi: bool) -> Any:  # noqa: N803
    """The value as a column of a type stores it: cast, and an error where that loses something. Structs go by name."""
    if _same(given, wanted):
        return value
    if isinstance(given, StructType) and isinstance(wanted, StructType):
        theirs = {f.name.lower(): f for f in given.fields}
        if len(theirs) == len(wanted.fields) and all(f.name.lower() in theirs for f in wanted.fields):
            parts = (
                _stored(F, value.getField(t.name), t.dataType, f.dataType, ansi=ansi).alias(f.name)
                for f in wanted.fields
                for t in [theirs[f.name.lower()]]
            )
            return F.when(value.isNotNull(), F.struct(*parts))
    if isinstance(given, ArrayType) and isinstance(wanted, ArrayType):
        return F.transform(value, lambda v: _stored(F, v, given.elementType, wanted.elementType, ansi=ansi))
    if ansi:
        return value.cast(wanted)
    # outside of ANSI mode a cast would turn what does not fit into something else
    refusal = F.raise_error(F.lit(f"deltaic: a value does not fit into {wanted.simpleString()}"))
    fits = value.try_cast(wanted)
    return F.when(value.isNotNull() & fits.isNull(), refusal.cast(wanted)).otherwise(fits)


def _same(a: DataType, b: DataType) -> bool:
    """Whether types are equal but for what may be null, and metadata."""
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


def _resolve(op: Operation, target: str) -> tuple[tuple[str, ...], StructField]:
    """The names of a column, or of a field of a struct, as the table spells them."""
    for parts in _readings(op, target):
        path: list[str] = []
        level: DataType = op.schema
        found: StructField | None = None
        for part in parts:
            fields = level.fields if isinstance(level, StructType) else []
            found = next((f for f in fields if f.name.lower() == part.lower()), None)
            if found is None:
                break
            path.append(found.name)
            level = found.dataType
        if found is not None:
            return tuple(path), found
    raise _invalid(f"no column `{target}`. The table has {', '.join(op.schema.names)}")


def _readings(op: Operation, target: str) -> Iterator[list[str]]:
    yield [target]
    parts = _parts(target)
    yield parts
    if op.ref.alias is not None and len(parts) > 1 and parts[0].lower() == op.ref.alias.lower():
        yield parts[1:]


def _parts(target: str) -> list[str]:
    """The parts of a dotted name, of which some may be in backticks."""
    parts, part, inside = [], "", False
    for character in target:
        if character == "`":
            inside = not inside
        elif character == "." and not inside:
            parts.append(part)
            part = ""
        else:
            part += character
    return [*parts, part]


def _overlap(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    shorter = min(len(a), len(b))
    return a[:shorter] == b[:shorter]


def _invalid(reason: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"set: {reason}", argument="set", reason=reason)
