"""The kinds of INSERT: each way that rows come into a table, played after one another on tables that are the same."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playing import condition_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from playing import Player

AUTO_MERGE = "spark.databricks.delta.schema.autoMerge.enabled"


@dataclass(frozen=True)
class Case:
    """A table and the rows that come, each as its columns and its rows as JSON. Both have a key, which is 1."""

    table: str
    before: str
    given: str
    rows: str
    key: str = "a"
    evolves: bool = False
    without: Collection[str] = ()
    """Kinds that are not played."""
    doors: Collection[str] = ("sql", "frames")
    properties: str = ""
    """Properties of the table, as SQL has them."""
    setting: bool | None = None
    """What the session says of evolution where a writer has an option for it."""


@dataclass(frozen=True)
class Into:
    """Where an INSERT goes, and what comes."""

    p: Player
    path: str
    columns: list[str]
    case: Case

    @property
    def table(self) -> str:
        return f"delta.`{self.path}`"

    @property
    def rows(self) -> Any:
        return self.p.read(f"{self.p.at}/given")

    @property
    def by_list(self) -> str:
        return ", ".join(self.columns)

    @property
    def others(self) -> str:
        return ", ".join(name for name in self.columns if name != self.case.key)

    @property
    def match(self) -> str:
        return f"{self.case.key} = 1"

    def name(self) -> str:
        """The table by a name of the catalog."""
        self.p.sql("DROP TABLE IF EXISTS {name}", f"CREATE TABLE {{name}} USING delta LOCATION '{self.path}'")
        return self.p.name

    def sql(self, text: str) -> None:
        self.p.conf(AUTO_MERGE, str(self.case.evolves).lower())
        self.p.sql(text.replace("[t]", self.table).replace("[s]", f"delta.`{self.p.at}/given`"))

    def session(self) -> None:
        """What the session says beside the option."""
        if self.case.setting is not None:
            self.p.conf(AUTO_MERGE, str(self.case.setting).lower())

    def writer(self, mode: str, **options: str) -> Any:
        self.session()
        writer = self.rows.write.format("delta").mode(mode)
        return writer.option("mergeSchema", str(self.case.evolves).lower()).options(**options)

    def replacing(self) -> Any:
        return self.writer("overwrite", replaceOn=f"t.{self.match}", targetAlias="t")

    def write_to(self) -> Any:
        self.session()
        return self.rows.writeTo(self.table).option("mergeSchema", str(self.case.evolves).lower())

    def stream(self) -> None:
        self.session()
        rows = self.p.spark.readStream.format("delta").load(f"{self.p.at}/given")
        writer = rows.writeStream.option("checkpointLocation", f"{self.path}-checkpoint")
        writer = writer.option("mergeSchema", str(self.case.evolves).lower())
        writer.format("delta").trigger(availableNow=True).toTable(self.name()).awaitTermination()


SQL: dict[str, Callable[[Into], None]] = {
    "INTO": lambda i: i.sql("INSERT INTO [t] SELECT * FROM [s]"),
    "OVERWRITE": lambda i: i.sql("INSERT OVERWRITE [t] SELECT * FROM [s]"),
    "INTO list": lambda i: i.sql(f"INSERT INTO [t] ({i.by_list}) SELECT {i.by_list} FROM [s]"),
    "OVERWRITE list": lambda i: i.sql(f"INSERT OVERWRITE [t] ({i.by_list}) SELECT {i.by_list} FROM [s]"),
    "INTO BY NAME": lambda i: i.sql(f"INSERT INTO [t] BY NAME SELECT {i.by_list} FROM [s]"),
    "OVERWRITE BY NAME": lambda i: i.sql(f"INSERT OVERWRITE [t] BY NAME SELECT {i.by_list} FROM [s]"),
    "REPLACE WHERE": lambda i: i.sql(f"INSERT INTO [t] REPLACE WHERE {i.match} SELECT {i.by_list} FROM [s]"),
    "PARTITION": lambda i: i.sql(f"INSERT OVERWRITE [t] PARTITION ({i.match}) SELECT {i.others} FROM [s]"),
    "PARTITION list": lambda i: i.sql(
        f"INSERT OVERWRITE [t] PARTITION ({i.match}) ({i.others}) SELECT {i.others} FROM [s]"
    ),
}
FRAMES: dict[str, Callable[[Into], None]] = {
    "insertInto append": lambda i: i.writer("append").insertInto(i.name()),
    "insertInto overwrite": lambda i: i.writer("overwrite").insertInto(i.table),
    "insertInto dynamic": lambda i: i.writer("overwrite", partitionOverwriteMode="dynamic").insertInto(
        i.table
    ),
    "insertInto replaceOn": lambda i: i.replacing().insertInto(i.name()),
    "saveAsTable append": lambda i: i.writer("append").saveAsTable(i.name()),
    "saveAsTable overwrite": lambda i: i.writer("overwrite").saveAsTable(i.name()),
    "save append": lambda i: i.writer("append").save(i.path),
    "save overwrite": lambda i: i.writer("overwrite").save(i.path),
    "save replaceOn": lambda i: i.replacing().save(i.path),
    "writeTo append": lambda i: i.write_to().append(),
    "writeTo overwrite": lambda i: i.write_to().overwrite(_match(i)),
    "writeTo overwritePartitions": lambda i: i.write_to().overwritePartitions(),
    "stream": lambda i: i.stream(),
}
DOORS = {"sql": SQL, "frames": FRAMES}


def _match(into: Into) -> Any:
    from pyspark.sql import functions

    return functions.col(into.case.key) == 1


def by_door(cases: dict[str, Case]) -> dict[str, tuple[str, Case]]:
    """Each case by each door."""
    return {f"{name}, {door}": (door, case) for name, case in cases.items() for door in case.doors}


def evolving_and_not(cases: dict[str, Case]) -> dict[str, Case]:
    """Each case twice: where the schema stays, and where it may evolve."""
    return cases | {f"{name}, evolving": replace(case, evolves=True) for name, case in cases.items()}


def play_kinds(p: Player, door: str, case: Case) -> None:
    """Plays a case by each kind of a door, and tells each one's schema and rows, or its error."""
    make(p, f"{p.at}/table", case.table, case.before, case.key, case.properties)
    make(p, f"{p.at}/given", case.given, case.rows)
    columns = [f"`{name}`" if "." in name else name for name in p.read(f"{p.at}/given").columns]
    reported: dict[str, Any] = {}
    written: dict[str, Any] = {}
    for number, (kind, insert) in enumerate(DOORS[door].items()):
        if kind in case.without:
            continue
        path = f"{p.at}/{number}"
        shutil.copytree(f"{p.at}/table", path)
        try:
            insert(Into(p, path, columns, case))
        except Exception as error:  # noqa: BLE001 the error is the answer
            reported[kind] = {"error": condition_of(error)}
            if len(list(Path(path, "_delta_log").glob("*.json"))) > 1:
                reported[kind] = {"written with": reported[kind]["error"]}
        else:
            written[kind] = p.read(path)
            reported[kind] = [written[kind].schema.simpleString(), []]
    for kind, row in _rows_of(written):
        reported[kind][1].append(row)
    for kind, answer in reported.items():
        p.tell({kind: answer})


def _rows_of(frames: dict[str, Any]) -> list[tuple[str, str]]:
    """The rows of many tables in one job, as sorted JSON texts beside the table's name."""
    every = None
    for kind, df in frames.items():
        row = "to_json(struct(*), map('ignoreNullFields', 'false')) AS row"
        numbered = df.toDF(*(str(i) for i in range(len(df.columns))))
        rows = numbered.selectExpr(f"'{kind}' AS kind", row)
        every = rows if every is None else every.unionAll(rows)
    return [] if every is None else sorted((found["kind"], found["row"]) for found in every.collect())


def make(p: Player, path: str, columns: str, rows: str, by: str | None = None, properties: str = "") -> None:
    """A table of rows that JSON has, an array of objects; void columns are null."""
    partitioned = f"PARTITIONED BY ({by})" if by else ""
    having = f"TBLPROPERTIES ({properties})" if properties else ""
    p.sql(
        f"""CREATE TABLE delta.`{path}` USING delta {partitioned} {having} AS
        SELECT r.* FROM (SELECT explode(from_json('{rows}', 'ARRAY<STRUCT<{columns}>>')) AS r)"""
    )
