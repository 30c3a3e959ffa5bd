"""New values of rows: which columns and fields they go to, and how they are stored there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql.types import DataType, StructField, StructType

from deltaic.exceptions import InvalidArgumentError, SchemaMismatchError
from deltaic.predicates import name_parts
from deltaic.spark.dml.storing import Storing, casting_of, plainly
from deltaic.spark.frame import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from deltaic.spark.dml.operation import Operation

GENERATION = "delta.generationExpression"
DEFAULT = "CURRENT_DEFAULT"
IDENTITY, _EXPLICIT = "delta.identity.start", "delta.identity.allowExplicitInsert"


@dataclass(frozen=True)
class Assignment:
    """A column, or a field of it, and its value."""

    path: tuple[str, ...]
    value: Any
    data_type: DataType


class Assignments:
    """What an update sets, or an insert with `argument` `values`; with `may_be_none`, perhaps nothing.

    Those of a merge are of a `clause`. Without `new_columns` columns that join with the operation are not there.

    Raises:
        InvalidArgumentError: for no column at all, one that is not there or that is set twice.
        SchemaMismatchError: for an identity column whose values are always generated.
    """

    def __init__(
        self,
        op: Operation,
        given: Mapping[str, Any],
        argument: str = "set",
        clause: str | None = None,
        *,
        may_be_none: bool = False,
        new_columns: bool = True,
    ) -> None:
        if not given and not may_be_none:
            raise InvalidArgumentError.of(argument, "nothing is set: give columns and their values")
        self._op = op
        self.all: list[Assignment] = []
        for target, value in given.items():
            path, field = _resolve(op, target, argument, clause, new_columns=new_columns)
            clash = next((a for a in self.all if _overlap(a.path, path)), None)
            if clash is not None:
                reason = f"`{'.'.join(clash.path)}` and `{target}` set the same value"
                both = ", ".join(f"`{'.'.join(names)}`" for names in (clash.path, path))
                error = InvalidArgumentError.of(argument, reason)
                if argument != "set":
                    raise error.named("DELTA_DUPLICATE_COLUMNS_ON_INSERT")
                raise error.named("DELTA_CONFLICT_SET_COLUMN", columnList=f"[{both}]")
            if argument != "set" and len(path) > 1:
                raise InvalidArgumentError.of(
                    argument, f"`{target}` is a field: a new row is given whole columns"
                )
            top = op.written[path[0]]
            if IDENTITY in top.metadata and not top.metadata.get(_EXPLICIT, False):
                reason = f"`{top.name}` is GENERATED ALWAYS AS IDENTITY: it cannot be set"
                refusal = SchemaMismatchError.of(op.ref.path, reason)
                raise refusal.named("DELTA_IDENTITY_COLUMNS_UPDATE_NOT_SUPPORTED", colName=top.name)
            if isinstance(value, str) and value.strip().upper() == "DEFAULT" and len(path) == 1:
                value = op.default(field.name) if DEFAULT in field.metadata else "NULL"
            self.all.append(Assignment(path, value, field.dataType))

    def values(self) -> list[Any]:
        """The values, as they were given."""
        return [a.value for a in self.all]

    def stored(self, rows: Any, *, keeps_fields: bool = False) -> dict[tuple[str, ...], Any]:
        """The values by path, as the table stores them, for rows from which they are computed.

        With `keeps_fields` a struct that lacks fields of the table's leaves these as they are.
        """
        op, F = self._op, self._op.functions  # noqa: N806 (its usual name)
        typed = rows.select(*(op.column(a.value).alias(f"v{i}") for i, a in enumerate(self.all))).schema
        storing = Storing(F, casting_of(op), fills=op.evolving, path=op.ref.path)
        values = {}
        for a, given in zip(self.all, typed.fields, strict=True):
            old = old_value(op, op.written[a.path[0]]) if keeps_fields else None
            value = op.column(a.value)
            values[a.path] = storing.stored(value, given.dataType, a.data_type, a.path[-1], old)
        return values

    def new_values(self, values: Mapping[tuple[str, ...], Any]) -> dict[str, Any]:
        """The columns that are set, wholly or in part, with the values by path in them."""
        op = self._op
        tops = dict.fromkeys(a.path[0] for a in self.all)
        fields = {name: op.written[name] for name in tops}
        return {
            name: _replaced(op.functions, old_value(op, f), f.dataType, (name,), values)
            for name, f in fields.items()
        }

    def generated(self) -> list[StructField]:
        """The generated columns whose values follow from the others."""
        given = {a.path for a in self.all}
        return [f for f in self._op.written.fields if GENERATION in f.metadata and (f.name,) not in given]

    def new_rows(self, rows: Any) -> Any:
        """The rows with their new values, in the columns of the table, and behind them the other columns."""
        op, F = self._op, self._op.functions  # noqa: N806 (its usual name)
        more = [c for c in rows.columns if c not in set(op.schema.names)]
        new = self.new_values(self.stored(rows))
        columns = [new[f.name] if f.name in new else old_value(op, f) for f in op.schema.fields]
        names = [f.name for f in op.schema.fields]
        rows = rows.select(
            *(c.alias(n) for c, n in zip(columns, names, strict=True)), *(F.col(quoted(c)) for c in more)
        )
        anew = {f.name: op.generated(f, rows) for f in self.generated()}
        if not anew:
            return rows
        return rows.select(*(anew[c].alias(c) if c in anew else F.col(quoted(c)) for c in [*names, *more]))


def old_value(op: Operation, field: StructField) -> Any:
    """A column of the table as it will be, with the value that rows have in it now."""
    F = op.functions  # noqa: N806 (its usual name)
    if field.name not in op.schema.names:
        return F.lit(None).cast(field.dataType)
    alias = op.ref.alias
    name = quoted(field.name) if alias is None else f"{quoted(alias)}.{quoted(field.name)}"
    return Storing(F, plainly, fills=True).stored(
        F.col(name), op.schema[field.name].dataType, field.dataType, field.name
    )


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


def _resolve(
    op: Operation, target: str, argument: str, clause: str | None, *, new_columns: bool
) -> tuple[tuple[str, ...], StructField]:
    """The names of a column, or of a field of a struct, as the table spells them."""
    for parts in _readings(op, target):
        found = _at(op.written, parts)
        if found is not None and (new_columns or _at(op.schema, parts) is not None):
            return found
    error = InvalidArgumentError.of(
        argument, f"no column `{target}`. The table has {', '.join(op.written.names)}"
    )
    if clause is not None:
        there = ", ".join(op.written.names)
        of_merge = {"sqlExpr": target, "clause": f"{clause} clause", "cols": there}
        raise error.named("DELTA_MERGE_UNRESOLVED_EXPRESSION", **of_merge)
    proposal = ", ".join(quoted(name) for name in op.written.names)
    raise error.named("UNRESOLVED_COLUMN.WITH_SUGGESTION", objectName=quoted(target), proposal=proposal)


def _at(schema: StructType, parts: list[str]) -> tuple[tuple[str, ...], StructField] | None:
    path: list[str] = []
    level: DataType = schema
    found: StructField | None = None
    for part in parts:
        fields = level.fields if isinstance(level, StructType) else []
        found = next((f for f in fields if f.name.lower() == part.lower()), None)
        if found is None:
            return None
        path.append(found.name)
        level = found.dataType
    return None if found is None else (tuple(path), found)


def _readings(op: Operation, target: str) -> Iterator[list[str]]:
    yield [target]
    parts = name_parts(target)
    yield parts
    if op.ref.alias is not None and len(parts) > 1 and parts[0].lower() == op.ref.alias.lower():
        yield parts[1:]


def _overlap(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    shorter = min(len(a), len(b))
    return a[:shorter] == b[:shorter]
