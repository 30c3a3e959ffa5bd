"""The source of a merge: computed once, counted, and its keys known before the table is read."""

from __future__ import annotations

import datetime as dt
import json
import struct
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.types import BinaryType, NumericType, StringType

from deltaic.identifiers import quoted
from deltaic.spark.dml.keys import keys_of
from deltaic.spark.session.jvm import java_method
from deltaic.spark.session.projection import Taken, select
from deltaic.spark.write.routes import driver

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deltaic.spark.dml.keys import Key
    from deltaic.spark.dml.operation import Operation

SOURCE_ROW = "__deltaic_source_row"
"""Column that numbers the rows."""
_COPY = "__deltaic_source_"
# values that a scan is asked for one by one; of more only the range
_MOST_VALUES = 1000
# tasks of whose rows the first look fetches the values of the keys; a number of `monotonically_increasing_id` has the
# task above these bits
_LOOKED_TASKS, _ROW_BITS = 16, 33
# bytes of a source that every task may have a copy of, and that the driver holds
_MOST_BROADCAST, _MOST_HELD = 32 << 20, 16 << 20


class Source:
    """The rows of the source, under the names that the user knows them by.

    They are computed once: whoever reads them gets the same, also where the source would not give the same twice.
    """

    def __init__(self, op: Operation, given: Any, condition: Any, *, by_name: bool) -> None:
        F = op.functions  # noqa: N806 (its usual name)
        self._op, self._given = op, given.schema
        self._ranges: dict[Key, tuple[Any, ...]] = {}
        """Least and largest value, number of nulls, and about how many values."""
        self._all: dict[Key, list[Any]] | None = None
        self._copies: dict[str, str] = {}
        self._columns: dict[str, Any] = {}
        if by_name:
            self._copies = {f.name.lower(): f"{_COPY}{i}" for i, f in enumerate(self._given.fields)}
        copies = (Taken(f.name, self._copies[f.name.lower()]) for f in self._given.fields if by_name)
        number = F.monotonically_increasing_id().alias(SOURCE_ROW)
        rows = select(given, [F.col("*"), *copies, number])
        self.rows, self._held = op.computed_once(rows, now=not op.connect)
        if not self._held and not op.connect:
            kept = driver.kept(self.rows, _MOST_HELD)
            if kept is not None:
                self.rows, self._held = kept, True
        self._keys: list[Key] = keys_of(op, condition, self._given)
        sizes = (F.coalesce(F.octet_length(F.col(n)), F.lit(0)) for n in self._texts())
        size = sum(sizes, start=F.lit(0)).cast("bigint")
        keys = (F.col(quoted(key.source)) for key in self._keys)
        self._here: Any = driver.rows_here(self.rows.select(size, *keys)) if self._held else None
        """Sizes and keys of the rows, where the driver has them."""
        if self._here is None:
            self._look(size)
        else:
            self._look_at(self._here)
        others = sum(8 if isinstance(f.dataType, NumericType) else 64 for f in self._given.fields)
        self._size = self.count * (others + 16) + self._texts_size

    def _look_at(self, here: Any) -> None:
        """At the sizes of texts and the keys of rows that the driver has, in Arrow."""
        self.count, self._texts_size = here.num_rows, pc.sum(here.column(0)).as_py() or 0
        self._all = {}
        for key, column in zip(self._keys, here.columns[1:], strict=True):
            values = pc.unique(column).drop_null()
            bounds = pc.min_max(values).as_py()
            self._ranges[key] = bounds["min"], bounds["max"], column.null_count, len(values)
            self._all[key] = values.to_pylist() if len(values) <= _MOST_VALUES else []

    def _look(self, size: Any) -> None:
        F = self._op.functions  # noqa: N806 (its usual name)
        number = F.col(SOURCE_ROW)
        row, task = number.bitwiseAND(F.lit((1 << _ROW_BITS) - 1)), F.shiftright(number, _ROW_BITS)
        early = (row < _MOST_VALUES) & (task < _LOOKED_TASKS)
        asked = [F.count(F.lit(1)), F.sum(size), F.count_if(early)]
        for key in self._keys:
            column = F.col(quoted(key.source))
            asked += [
                F.min(column),
                F.max(column),
                F.count_if(column.isNull()),
                F.approx_count_distinct(column),
                F.sort_array(F.collect_set(F.when(early, column))),
            ]
        self.count, texts, looked, *facts = self.rows.agg(*asked).head()
        self._texts_size = texts or 0
        self._ranges = {key: tuple(facts[5 * i : 5 * i + 4]) for i, key in enumerate(self._keys)}
        if looked == self.count:
            self._all = {key: facts[5 * i + 4] for i, key in enumerate(self._keys)}

    def _texts(self) -> list[str]:
        kinds = (StringType, BinaryType)
        names = [f.name for f in self._given.fields]
        return [
            quoted(f.name)
            for f in self._given.fields
            if isinstance(f.dataType, kinds) and names.count(f.name) == 1
        ]

    def column(self, name: str) -> Any:
        """The column of a name, whatever the table has of that name; None where there is none."""
        copy = self._copies.get(name.lower())
        if copy is not None and copy not in self._columns:
            self._columns[copy] = self._op.functions.col(copy)
        return None if copy is None else self._columns[copy]

    @property
    def names(self) -> list[str]:
        """The names of its columns."""
        return list(self._given.names)

    @property
    def key_columns(self) -> list[str]:
        """The columns of the table that must equal one of the source."""
        return list(dict.fromkeys(k.target for k in self._keys))

    @property
    def is_small(self) -> bool:
        """Whether the driver holds its rows."""
        return bool(self._size <= _MOST_HELD)

    @property
    def is_listable(self) -> bool:
        """Whether the driver has its rows, and they are so few that their numbers can be listed."""
        return self._held and self.count <= _MOST_VALUES

    @property
    def has_keys_here(self) -> bool:
        """Whether there are keys, and the driver has the rows."""
        return bool(self._keys) and self._here is not None

    def key_values(self) -> tuple[list[tuple[str, str, bool]], Any]:
        """The keys: a column of the table, one of the values, and whether nulls are equal; and the values, in Arrow."""
        keys = [(key.target, f"{i}", key.null_safe) for i, key in enumerate(self._keys)]
        return keys, pa.Table.from_arrays(self._here.columns[1:], [source for _, source, _ in keys])

    def without(self, numbers: Sequence[int]) -> Any:
        """The rows without those of some numbers, where the driver has them."""
        from pyspark.sql.classic.dataframe import DataFrame

        place = self.rows.columns.index(SOURCE_ROW)
        without = java_method(self._op.spark, "MergePairs", "without")
        return DataFrame(
            without(self.rows._jdf, place, struct.pack(f">{len(numbers)}q", *numbers)), self._op.spark
        )

    def joinable(self) -> Any:
        """The rows, to be joined with those of the table: sent to every task where they are few."""
        limit = str(self._op.spark.conf.get("spark.sql.autoBroadcastJoinThreshold", "10MB"))
        few = self._size <= _MOST_BROADCAST and not limit.startswith("-")
        return self._op.functions.broadcast(self.rows) if few else self.rows

    def announce(self) -> None:
        """On Spark Connect, hands the keys to the core before the files of the table are planned.

        A classic session raises it when Spark reads.
        """
        if self._op.connect:
            self._op.dml.set_predicate(json.dumps(self.predicate()))

    def prune(self, target: Any) -> Any:
        """The rows of the table that may match a row of the source, and perhaps others.

        Files that have none are not read, and other writers may change them.
        """
        op, F = self._op, self._op.functions  # noqa: N806 (its usual name)
        for key, (low, high, nulls, _) in self._ranges.items():
            column = F.col(f"{quoted(str(op.ref.alias))}.{quoted(key.target)}")
            if low is None:
                bounds = F.lit(False)
            elif key in self._listed:
                bounds = column.isin(self._listed[key])
            else:
                bounds = column.between(low, high)
            target = target.where(bounds | column.isNull() if key.null_safe and nulls > 0 else bounds)
        return target

    def predicate(self) -> dict[str, Any]:
        """What is true for every row of the table that has the keys of a row, for the core."""
        return {"and": [self._predicate(key) for key in self._ranges]}

    def _predicate(self, key: Key) -> dict[str, Any]:
        low, high, nulls, _ = self._ranges[key]
        column = [key.target]
        if low is None:
            found: dict[str, Any] = {"constant": False}
        elif key in self._listed:
            found = {"in": {"column": column, "values": [_literal(v) for v in self._listed[key]]}}
        else:
            bounds = [(">=", low), ("<=", high)]
            compared = [{"compare": {"op": o, "column": column, "value": _literal(v)}} for o, v in bounds]
            found = {"and": compared}
        return {"or": [found, {"isnull": {"column": column}}]} if key.null_safe and nulls > 0 else found

    @cached_property
    def _listed(self) -> dict[Key, list[Any]]:
        """The values of the keys that have few."""
        F = self._op.functions  # noqa: N806 (its usual name)
        if self._all is not None:
            return {k: v for k, v in self._all.items() if 0 < len(v) <= _MOST_VALUES}
        # the number is not exact
        few = [k for k, (low, _, _, n) in self._ranges.items() if low is not None and n <= _MOST_VALUES]
        if not few:
            return {}
        values = self.rows.agg(*(F.sort_array(F.collect_set(quoted(k.source))) for k in few)).head()
        return dict(zip(few, values, strict=True))


def _literal(value: Any) -> dict[str, Any]:
    if isinstance(value, int):
        return {"type": "long", "value": value}
    if isinstance(value, str):
        return {"type": "string", "value": value}
    if isinstance(value, dt.date):
        return {"type": "date", "value": (value - dt.date(1970, 1, 1)).days}
    return {"type": "decimal", "value": f"{value:f}"}
