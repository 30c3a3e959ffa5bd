"""Random histories of a table, by seed: what is written, changed and restored, in the words of SQL.

The columns of the table are followed, its rows are not: what they must be the two engines say.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from differential_steps import (
    AddColumn,
    Clause,
    Delete,
    DropColumn,
    Merge,
    Optimize,
    RenameColumn,
    Restore,
    Step,
    Update,
    Values,
    Write,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

Columns = dict[str, str]

# values of a type for the row `id`, where `{k}` makes them differ between steps; some rows get null instead
MAKERS = {
    "STRING": "element_at(array('x', 'a b', 'ü%/=', '', 'y{k}'), CAST(pmod(id + {k}, 5) AS INT) + 1)",
    "INT": "CAST(pmod(id * 31 + {k}, 11) AS INT)",
    "DOUBLE": "IF(pmod(id + {k}, 7) = 1, DOUBLE('NaN'), pmod(id * 17 + {k}, 100) / 8D)",
    "DECIMAL(12,2)": "CAST(pmod(id * 13 + {k}, 999) / 4D AS DECIMAL(12,2))",
    "DATE": "date_add(DATE'2026-01-01', CAST(pmod(id * 3 + {k}, 5) * 9 AS INT))",
    "TIMESTAMP": "timestamp_micros(1767225600000000 + pmod(id * 1000003 + {k}, 86400) * 999983)",
    "BOOLEAN": "pmod(id + {k}, 2) = 0",
    "STRUCT<a: INT, b: STRING>": "named_struct('a', CAST(pmod(id + {k}, 9) AS INT), 'b', concat('b', id))",
    "ARRAY<INT>": "array(CAST(pmod(id, 4) AS INT), NULL)",
}
NULLS = "IF(pmod(id + {k}, 6) = 0, NULL, {value})"
CONDITIONS = {
    "BIGINT": (
        "{c} % 7 = {v}",
        "{c} BETWEEN {v}0 AND {v}9",
        "{c} < {v}2",
        "{c} IN ({v}, {v}1, {v}3)",
        "{c} > 3{v}",
    ),
    "STRING": (
        "{c} = 'a b'",
        "{c} IN ('x', 'ü%/=')",
        "{c} < 'm'",
        "{c} IS NULL",
        "{c} LIKE 'y%'",
        "{c} <> ''",
    ),
    "INT": ("{c} > {v}", "{c} = {v}", "{c} IS NULL", "NOT {c} < {v}", "{c} <=> NULL OR {c} = {v}"),
    "DOUBLE": ("{c} < {v}.5", "{c} IS NULL", "isnan({c})", "{c} >= {v}"),
    "DECIMAL(12,2)": ("{c} < {v}0.25", "{c} IS NOT NULL", "{c} > 10{v}"),
    "DATE": ("{c} >= DATE'2026-01-1{v}'", "{c} IS NULL", "month({c}) = 2"),
    "TIMESTAMP": ("{c} < TIMESTAMP'2026-01-01 1{v}:00:00'", "hour({c}) = {v}", "{c} IS NULL"),
    "BOOLEAN": ("{c}", "NOT {c}", "{c} IS NULL"),
    "STRUCT<a: INT, b: STRING>": ("{c}.a = {v}", "{c}.b LIKE '%{v}'", "{c} IS NULL", "{c}.a IS NULL"),
    "ARRAY<INT>": ("array_contains({c}, {v})", "{c} IS NULL", "size({c}) = 2"),
}
CHANGES = {
    "STRING": ("concat({c}, '+')", "'a b'", "NULL", "upper({c})"),
    "INT": ("{c} + 1", "NULL", "-{c}", "{v}"),
    "DOUBLE": ("{c} / 2", "NULL", "{v}.5D"),
    "DECIMAL(12,2)": ("{c} + 0.25", "NULL", "{v}"),
    "DATE": ("date_add({c}, {v})", "NULL", "DATE'1901-12-1{v}'"),
    "TIMESTAMP": ("{c} + INTERVAL '{v}' HOUR", "NULL"),
    "BOOLEAN": ("NOT {c}", "NULL", "true"),
    "STRUCT<a: INT, b: STRING>": ("named_struct('a', {v}, 'b', {c}.b)", "NULL"),
    "ARRAY<INT>": ("array_append({c}, {v})", "NULL", "array({v})"),
}
# a file can be found by these
ORDERED = ("BIGINT", "INT", "DOUBLE", "DATE", "STRING")
PARTITIONABLE = ("STRING", "DATE", "BOOLEAN", "INT")
# what a step is, and how often
KINDS = {
    "append": 5,
    "overwrite": 2,
    "delete": 5,
    "update": 5,
    "merge": 7,
    "optimize": 3,
    "restore": 2,
    "change schema": 3,
}


class History:
    """The steps of a seed; the first creates the table. The same seed makes the same steps."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.steps: list[Step] = []
        # columns and partition columns after each step: what a restore goes back to
        self._before: list[tuple[Columns, tuple[str, ...]]] = []
        self._named = 0
        self._columns: Columns = {}
        self._by: tuple[str, ...] = ()
        self._mapped = False
        self._take(self._create())
        for _ in range(self.dice.randint(6, 12)):
            kind = self.dice.choices(list(KINDS), list(KINDS.values()))[0]
            self._take(getattr(self, f"_{kind.replace(' ', '_')}")())

    def _take(self, step: Step) -> None:
        self.steps.append(step)
        self._before.append((dict(self._columns), self._by))

    def _often(self, chance: float) -> bool:
        return self.dice.random() < chance

    # what there is to choose from

    def _new_column(self) -> str:
        self._named += 1
        return f"c{self._named}"

    def _any_columns(self) -> Columns:
        columns = {"id": "BIGINT", "p": "STRING", "n": "INT"}
        for kind in self.dice.sample([*MAKERS], self.dice.randint(1, 4)):
            columns[self._new_column()] = kind
        return columns

    def _any_partitioning(self) -> tuple[str, ...]:
        fit = [name for name, kind in self._columns.items() if kind in PARTITIONABLE]
        if not self._often(0.6):
            return ()
        # by more than these there are many files of few rows
        flags = [name for name in fit if self._columns[name] == "BOOLEAN"]
        return (self.dice.choice(fit),) if not flags or self._often(0.5) else ("p", self.dice.choice(flags))

    def _rows(self, columns: Mapping[str, str], *, duplicates: bool = False) -> str:
        """A query of rows of these columns in any order; a range of ids that others overlap."""
        first, count = self.dice.randrange(150), self.dice.choice((1, 3, 20, 20, 20, 60, 60, 60, 60, 1200))
        key = "IF(id % 50 = 49, NULL, id)" if self._often(0.2) else "id"
        if duplicates:
            key = f"{key} - id % 2"
        salt = self.dice.randrange(40)
        items = {
            name: NULLS.format(k=salt, value=MAKERS[kind].format(k=salt))
            for name, kind in columns.items()
            if name != "id"
        }
        items["id"] = key
        names = list(items)
        if self._often(0.3):
            self.dice.shuffle(names)
        else:
            names = list(columns)
        values = ", ".join(f"{items[name]} AS {name}" for name in names)
        return f"SELECT {values} FROM range({first}, {first + count}, 1, {self.dice.choice((1, 1, 2))})"

    def _condition(self, side: str = "", columns: Mapping[str, str] | None = None) -> str:
        def one() -> str:
            name, kind = self.dice.choice(list((columns or self._columns).items()))
            text = self.dice.choice(CONDITIONS[kind]).format(c=f"{side}{name}", v=self.dice.randrange(10))
            return f"({text})"

        if self._often(0.6):
            return one()
        return f"{'NOT ' if self._often(0.2) else ''}({one()} {self.dice.choice(('AND', 'OR'))} {one()})"

    def _changes(self, side: str = "") -> Values:
        """New values of some columns, at times of a field of a struct."""
        columns = {name: kind for name, kind in self._columns.items() if name != "id"}
        values = {}
        for name in self.dice.sample([*columns], self.dice.randint(1, min(3, len(columns)))):
            kind = columns[name]
            text = self.dice.choice(CHANGES[kind]).format(c=f"{side}{name}", v=self.dice.randrange(10))
            if kind.startswith("STRUCT") and self._often(0.5):
                values[f"{name}.a"] = f"{side}{name}.a + 1"
            else:
                values[name] = text
        return values

    def _route(self) -> str:
        return self.dice.choice(("auto", "auto", "direct", "arrow"))

    # the steps

    def _create(self) -> Step:
        self._columns = self._any_columns()
        self._by = self._any_partitioning()
        self._mapped = self._often(0.4)
        properties = {
            "delta.enableDeletionVectors": "true" if self._often(0.6) else "false",
            "delta.enableChangeDataFeed": "true" if self._often(0.3) else "false",
        }
        if self._often(0.3):
            properties["delta.enableRowTracking"] = "true"
        if self._mapped:
            properties["delta.columnMapping.mode"] = "name"
            # delta-spark gives no table its first rows that has both
            properties["delta.enableChangeDataFeed"] = "false"
        query = self._rows(self._columns)
        return Write("create", query, "errorifexists", properties, self._by, self._route())

    def _append(self) -> Step:
        columns = dict(self._columns)
        left = [name for name in columns if name not in ("id", *self._by)]
        if left and self._often(0.2):
            # a column that is not given is null
            del columns[self.dice.choice(left)]
        return Write("append", self._rows(columns), "append", route=self._route())

    def _overwrite(self) -> Step:
        query = self._rows(self._columns)
        how = self.dice.choice(("all", "where", "where", "partitions"))
        if how == "where":
            name = self.dice.choice([*self._by, "id", "n", "p"])
            if name not in self._columns:
                name = "id"
            simple = {
                "BIGINT": "{c} % 5 < 3 AND {c} BETWEEN 40 AND 90",
                "STRING": "{c} = 'a b'",
                "INT": "{c} > 5",
                "DATE": "month({c}) = 1",
                "BOOLEAN": "{c} = true",
            }
            where = simple[self._columns[name]].format(c=name)
            within = f"SELECT * FROM ({query}) WHERE {where}"
            return Write("replace where", within, "overwrite", {"replaceWhere": where}, route=self._route())
        if how == "partitions" and self._by:
            options = {"partitionOverwriteMode": "dynamic"}
            return Write("overwrite partitions", query, "overwrite", options, route=self._route())
        return Write("overwrite", query, "overwrite", route=self._route())

    def _delete(self) -> Step:
        return Delete(None if self._often(0.05) else self._condition())

    def _update(self) -> Step:
        return Update(None if self._often(0.1) else self._condition(), self._changes())

    def _merge(self) -> Step:
        evolves, duplicates = self._often(0.25), self._often(0.1)
        # a merge that may be refused adds no columns that later steps rely on
        duplicates &= not evolves
        columns = dict(self._columns)
        if evolves:
            left = [name for name in columns if name not in ("id", *self._by)]
            if left and self._often(0.5):
                del columns[self.dice.choice(left)]
            if self._often(0.7):
                columns[self._new_column()] = self.dice.choice([*MAKERS])
        source = self._rows(columns, duplicates=duplicates)
        on = self.dice.choice(("t.id = s.id",) * 3 + ("t.id <=> s.id", "s.id = t.id AND t.id > 60"))
        clauses = self._clauses(columns, evolves=evolves)
        if any(clause.when == "NOT MATCHED BY SOURCE" for clause in clauses):
            # delta-spark 4.4 with deletion vectors fails on `<=>` where keys of the source cannot be null
            on = on.replace("<=>", "=")
        if evolves and any(c.values is None and c.action != "DELETE" for c in clauses):
            self._columns = {**self._columns, **columns}
        return Merge(source, on, clauses, evolves, duplicates)

    def _clauses(self, source: Columns, *, evolves: bool) -> tuple[Clause, ...]:
        clauses: list[Clause] = []
        while not clauses:
            for when in ("MATCHED", "NOT MATCHED", "NOT MATCHED BY SOURCE"):
                many = self.dice.choice((0, 1, 1, 2) if when != "NOT MATCHED BY SOURCE" else (0, 0, 1))
                for number in range(many):
                    # only the last one of a kind may lack a condition
                    needs = number + 1 < many or (when == "NOT MATCHED BY SOURCE") or self._often(0.3)
                    clauses.append(self._clause(when, source, needs_condition=needs))
        return tuple(clauses)

    def _clause(self, when: str, source: Columns, *, needs_condition: bool) -> Clause:
        side = "s." if when == "NOT MATCHED" else "t."
        columns = source if when == "NOT MATCHED" else self._columns
        condition = self._condition(side, columns) if needs_condition else None
        if when == "NOT MATCHED":
            if self._often(0.6):
                return Clause(when, "INSERT", condition)
            both = [name for name in source if name in self._columns and name != "id"]
            some = ["id", *self.dice.sample(both, self.dice.randint(0, len(both)))]
            return Clause(when, "INSERT", condition, {name: f"s.{name}" for name in some})
        if self._often(0.3):
            return Clause(when, "DELETE", condition)
        if when == "MATCHED" and self._often(0.5):
            return Clause(when, "UPDATE", condition)
        return Clause(when, "UPDATE", condition, self._changes("t."))

    def _optimize(self) -> Step:
        where = None
        if self._by and self._often(0.4):
            name = self.dice.choice(self._by)
            where = self._condition("", {name: self._columns[name]})
        fit = [n for n, kind in self._columns.items() if kind in ORDERED and n not in self._by]
        curve = self.dice.sample(fit, self.dice.randint(1, min(2, len(fit)))) if self._often(0.4) else ()
        return Optimize(where, tuple(curve))

    def _restore(self) -> Step:
        to = self.dice.randrange(len(self.steps))
        self._columns, self._by = dict(self._before[to][0]), self._before[to][1]
        return Restore(to)

    def _change_schema(self) -> Step:
        free = [name for name in self._columns if name not in ("id", *self._by)]
        how = self.dice.choice(
            ("add", "append", "overwrite", *(("rename", "drop") * 2 if self._mapped else ()))
        )
        if how == "rename" and free:
            name, new = self.dice.choice(free), self._new_column()
            self._columns = {(new if n == name else n): kind for n, kind in self._columns.items()}
            return RenameColumn(name, new)
        if how == "drop" and len(free) > 1:
            name = self.dice.choice(free)
            del self._columns[name]
            return DropColumn(name)
        if how == "overwrite":
            self._columns = self._any_columns()
            self._by = self._any_partitioning()
            query = self._rows(self._columns)
            return Write("overwrite schema", query, "overwrite", {"overwriteSchema": "true"}, self._by)
        name, kind = self._new_column(), self.dice.choice([*MAKERS])
        self._columns[name] = kind
        if how == "append":
            return Write("merge schema", self._rows(self._columns), "append", {"mergeSchema": "true"})
        return AddColumn(name, kind)
