"""The steps of random histories: what each one is on deltaic, through Spark, and on delta-spark."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import deltaic
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conftest import DeltaSpark
    from pyspark.sql import SparkSession

Values = dict[str, str]


@dataclass(frozen=True)
class Step:
    """What is done to a table. `versions` are those of the table after each step before."""

    def on_deltaic(self, spark: SparkSession, path: str, versions: Sequence[int]) -> None:
        raise NotImplementedError

    def on_delta_spark(self, peer: DeltaSpark, path: str, versions: Sequence[int]) -> None:
        peer.sql(self.statement(f"delta.`{path}`", versions))

    def statement(self, table: str, versions: Sequence[int]) -> str:
        raise NotImplementedError

    @property
    def kind(self) -> str:
        """The name under which the step is counted."""
        return type(self).__name__.lower()

    @property
    def may_be_refused(self) -> bool:
        """Whether the rows decide if it can be done: then both do it, or both refuse."""
        return False


@dataclass(frozen=True)
class Write(Step):
    """Creates, appends and overwrites. `route` is how deltaic writes the files."""

    what: str
    query: str
    mode: str
    options: Values = field(default_factory=dict)
    by: tuple[str, ...] = ()
    route: str = "auto"

    @property
    def kind(self) -> str:
        return self.what

    def on_deltaic(self, spark: SparkSession, path: str, versions: Sequence[int]) -> None:
        writer = spark.sql(self.query).write.format("delta").mode(self.mode).options(**self.options)
        writer.option("deltaicRoute", self.route).partitionBy(*self.by).save(path)

    def on_delta_spark(self, peer: DeltaSpark, path: str, versions: Sequence[int]) -> None:
        peer.write(path, self.query, self.mode, self.options, list(self.by))


@dataclass(frozen=True)
class Delete(Step):
    condition: str | None

    def on_deltaic(self, spark: SparkSession, path: str, versions: Sequence[int]) -> None:
        DeltaTable.forPath(spark, path).delete(self.condition)

    def statement(self, table: str, versions: Sequence[int]) -> str:
        return f"DELETE FROM {table}{_where(self.condition)}"


@dataclass(frozen=True)
class Update(Step):
    condition: str | None
    values: Values

    def on_deltaic(self, spark: SparkSession, path: str, versions: Sequence[int]) -> None:
        DeltaTable.forPath(spark, path).update(self.condition, self.values)

    def statement(self, table: str, versions: Sequence[int]) -> str:
        return f"UPDATE {table} SET {_assignments(self.values)}{_where(self.condition)}"


@dataclass(frozen=True)
class Clause:
    """Of a merge. `when` and `action` are in the words of SQL; without `values` it is UPDATE SET * or INSERT *."""

    when: str
    action: str
    condition: str | None
    values: Values | None = None

    def text(self) -> str:
        condition = "" if self.condition is None else f" AND {self.condition}"
        return f"WHEN {self.when}{condition} THEN {self._action()}"

    def _action(self) -> str:
        if self.action == "DELETE":
            return "DELETE"
        if self.values is None:
            return f"{self.action} {'SET ' if self.action == 'UPDATE' else ''}*"
        if self.action == "UPDATE":
            return f"UPDATE SET {_assignments(self.values)}"
        return f"INSERT ({', '.join(self.values)}) VALUES ({', '.join(self.values.values())})"

    def add(self, builder: Any) -> Any:
        whole = "All" if self.values is None and self.action != "DELETE" else ""
        name = f"when{self.when.title().replace(' ', '')}{self.action.title()}{whole}"
        given = [self.condition] if self.values is None else [self.condition, self.values]
        return getattr(builder, name)(*given)


@dataclass(frozen=True)
class Merge(Step):
    source: str
    condition: str
    clauses: tuple[Clause, ...]
    evolves: bool = False
    duplicates: bool = False

    @property
    def kind(self) -> str:
        return "evolving merge" if self.evolves else "merge"

    @property
    def may_be_refused(self) -> bool:
        return self.duplicates

    def on_deltaic(self, spark: SparkSession, path: str, versions: Sequence[int]) -> None:
        source = spark.sql(self.source).alias("s")
        builder = DeltaTable.forPath(spark, path).alias("t").merge(source, self.condition)
        if self.evolves:
            builder = builder.withSchemaEvolution()
        for clause in self.clauses:
            builder = clause.add(builder)
        builder.execute()

    def statement(self, table: str, versions: Sequence[int]) -> str:
        evolution = "WITH SCHEMA EVOLUTION " if self.evolves else ""
        clauses = " ".join(clause.text() for clause in self.clauses)
        return f"MERGE {evolution}INTO {table} AS t USING ({self.source}) AS s ON {self.condition} {clauses}"


@dataclass(frozen=True)
class Optimize(Step):
    condition: str | None
    zorder_by: tuple[str, ...] = ()

    def on_deltaic(self, spark: SparkSession, path: str, versions: Sequence[int]) -> None:
        builder = DeltaTable.forPath(spark, path).optimize()
        if self.condition is not None:
            builder = builder.where(self.condition)
        if self.zorder_by:
            builder.executeZOrderBy(*self.zorder_by)
        else:
            builder.executeCompaction()

    def statement(self, table: str, versions: Sequence[int]) -> str:
        curve = f" ZORDER BY ({', '.join(self.zorder_by)})" if self.zorder_by else ""
        return f"OPTIMIZE {table}{_where(self.condition)}{curve}"


@dataclass(frozen=True)
class Restore(Step):
    """To what the table was after a step, whichever version that is."""

    step: int

    def on_deltaic(self, spark: SparkSession, path: str, versions: Sequence[int]) -> None:
        DeltaTable.forPath(spark, path).restoreToVersion(versions[self.step])

    def statement(self, table: str, versions: Sequence[int]) -> str:
        return f"RESTORE TABLE {table} TO VERSION AS OF {versions[self.step]}"


@dataclass(frozen=True)
class AddColumn(Step):
    name: str
    type: str

    @property
    def kind(self) -> str:
        return "add column"

    def on_deltaic(self, spark: SparkSession, path: str, versions: Sequence[int]) -> None:
        deltaic.Table(path).add_columns(f"{self.name} {self.type}")

    def statement(self, table: str, versions: Sequence[int]) -> str:
        return f"ALTER TABLE {table} ADD COLUMNS ({self.name} {self.type})"


@dataclass(frozen=True)
class RenameColumn(Step):
    name: str
    new: str

    @property
    def kind(self) -> str:
        return "rename column"

    def on_deltaic(self, spark: SparkSession, path: str, versions: Sequence[int]) -> None:
        deltaic.Table(path).rename_column(self.name, self.new)

    def statement(self, table: str, versions: Sequence[int]) -> str:
        return f"ALTER TABLE {table} RENAME COLUMN {self.name} TO {self.new}"


@dataclass(frozen=True)
class DropColumn(Step):
    name: str

    @property
    def kind(self) -> str:
        return "drop column"

    def on_deltaic(self, spark: SparkSession, path: str, versions: Sequence[int]) -> None:
        deltaic.Table(path).drop_columns(self.name)

    def statement(self, table: str, versions: Sequence[int]) -> str:
        return f"ALTER TABLE {table} DROP COLUMN {self.name}"


def _where(condition: str | None) -> str:
    # `WHERE (c)` is an alias with names of columns to Spark's grammar
    return "" if condition is None else f" WHERE true AND {condition}"


def _assignments(values: Values) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())
