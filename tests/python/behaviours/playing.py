"""What a behaviour is: steps that delta-spark and deltaic both play, and what they answer.

An area (`areas/`) is a module with one `Area`. Its situations are functions of a `Player`; a family is one function
for many cases. Nothing here needs deltaic or pytest: delta-spark's process, which has neither, imports it, too.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
FEED = "delta.enableChangeDataFeed"
VECTORS = "delta.enableDeletionVectors"


@dataclass(frozen=True)
class Situation:
    play: Callable[[Player], None]
    differs: str | None
    """Why deltaic answers something else, where it does."""
    long: bool
    """Left to the full tier."""


@dataclass
class Area:
    """The behaviours of one page of `tests/behaviours`."""

    name: str
    situations: dict[str, Situation] = field(default_factory=dict)

    def situation(
        self, differs: str | None = None, *, long: bool = False
    ) -> Callable[[Callable[[Player], None]], Any]:
        """The function is a situation, by its name; `differs` says why deltaic answers something else."""

        def add(play: Callable[[Player], None]) -> Callable[[Player], None]:
            self.add(play.__name__, play, differs, long=long)
            return play

        return add

    def family(
        self,
        cases: Mapping[str, Any],
        differs: Mapping[str, str] | None = None,
        quick: Collection[str] | None = None,
    ) -> Callable[[Callable[[Player, Any], None]], Any]:
        """The function is a situation for each case, which it is given.

        Args:
            cases: What is given, by its name.
            differs: Why deltaic answers something else, by case.
            quick: The cases that every change plays; all by default. The full tier plays the others, too.
        """
        reasons, every = differs or {}, set(cases) if quick is None else set(quick)
        unknown = (set(reasons) | every) - set(cases)
        if unknown:
            raise ValueError(f"{self.name}: no such case: {sorted(unknown)}")

        def add(play: Callable[[Player, Any], None]) -> Callable[[Player, Any], None]:
            for name, case in cases.items():
                named, one = f"{play.__name__} ({name})", lambda p, c=case: play(p, c)
                self.add(named, one, reasons.get(name), long=name not in every)
            return play

        return add

    def grid(
        self, cases: Mapping[str, Any], *made: str, differs: str | None = None, long: bool = False
    ) -> Callable[[Callable[[Player, Any], None]], Any]:
        """The function is one situation that plays every case, each on a copy of the table that statements made.

        That is the cheap way to play many cases: making a table is what costs. A case that differs is a
        situation of its own.

        Args:
            cases: What is given, by its name, which is recorded before what the case tells.
            made: Statements before the cases; a case finds a copy of the folder of `{t}`.
            differs: As for a situation.
            long: As for a situation.
        """

        def add(play: Callable[[Player, Any], None]) -> Callable[[Player, Any], None]:
            def every(p: Player) -> None:
                p.sql(*made)
                for name, case in cases.items():
                    p.tell({"case": name})
                    p.beside().play(lambda p, case=case: play(p, case))

            self.add(play.__name__, every, differs, long=long)
            return play

        return add

    def add(
        self, name: str, play: Callable[[Player], None], differs: str | None = None, *, long: bool = False
    ) -> None:
        if name in self.situations:
            raise ValueError(f"{self.name}: {name} is there twice")
        self.situations[name] = Situation(play, differs, long)


# a name is used once in a process: what another situation left in the warehouse is not found
_NUMBERS = itertools.count()


class Player:
    """A session, and a place of its own for one situation.

    In texts of SQL `{t}` is the situation's table by its path, `{u}` another one, `{name}` a name of the catalog that
    is dropped at the end, and `{at}` the folder of all.
    """

    def __init__(self, spark: Any, tables: Any, folder: Path, number: int) -> None:
        self.spark, self.tables = spark, tables
        self.folder = folder / str(number)
        self.at = str(self.folder)
        self.path = f"{self.at}/t"
        self._name = f"behaviour_{next(_NUMBERS)}"
        self._named = False
        self.reported: list[Any] = []
        self._before: dict[str, str | None] = {}
        self._places = 0

    @property
    def name(self) -> str:
        """A name of the catalog; who asks for it may make it."""
        self._named = True
        return self._name

    # -- what has to work

    def text(self, sql: str) -> str:
        places = {"{t}": f"delta.`{self.path}`", "{u}": f"delta.`{self.at}/u`", "{at}": self.at}
        for name, value in places.items():
            sql = sql.replace(name, value)
        return sql.replace("{name}", self.name) if "{name}" in sql else sql

    def sql(self, *statements: str) -> Any:
        """Runs statements in order: the DataFrame of the last one."""
        found = None
        for statement in statements:
            found = self.spark.sql(self.text(statement))
        return found

    def conf(self, name: str, value: Any) -> None:
        """A setting of the session, until the situation ends."""
        self._before.setdefault(name, self.spark.conf.get(name, None))
        self.spark.conf.set(name, str(value))

    def read(self, path: str | None = None, **options: Any) -> Any:
        return self.spark.read.format("delta").options(**options).load(path or self.path)

    def write(
        self,
        rows: Any,
        mode: str = "append",
        path: str | None = None,
        by: tuple[str, ...] = (),
        **options: Any,
    ) -> None:
        """Saves a DataFrame, or the rows of a query."""
        df = self.sql(rows) if isinstance(rows, str) else rows
        writer = df.write.format("delta").mode(mode).options(**options)
        (writer.partitionBy(*by) if by else writer).save(path or self.path)

    def table(self, path: str | None = None) -> Any:
        """The `DeltaTable` of the engine."""
        return self.tables.forPath(self.spark, path or self.path)

    def newest(self, path: str | None = None) -> int:
        """The version of the newest commit; -1 where there is none."""
        commits = Path(path or self.path, "_delta_log").glob("*.json")
        return max((int(commit.stem) for commit in commits), default=-1)

    def actions(self, version: int | None = None, path: str | None = None) -> list[dict[str, Any]]:
        """The actions of a commit: of the newest one, or of a version."""
        version = self.newest(path) if version is None else version
        text = Path(path or self.path, "_delta_log", f"{version:020}.json").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]

    def stream(self, to: str | None = None, rows: Any = None, mode: str = "append", **options: Any) -> None:
        """Streams what is there: from `rows` (a streaming DataFrame; else the table) into another table."""
        rows = self.spark.readStream.format("delta").load(self.path) if rows is None else rows
        query = rows.writeStream.format("delta").outputMode(mode).options(**options)
        query = query.option("checkpointLocation", f"{self.at}/checkpoint")
        query.trigger(availableNow=True).start(to or f"{self.at}/u").awaitTermination()

    # -- what is recorded

    def each(self, names: Iterable[str]) -> Iterator[str]:
        """Tells each name, and gives it a table of its own."""
        for number, name in enumerate(names):
            self.tell(name)
            self.path = f"{self.at}/t{number}"
            yield name

    def tell(self, value: Any) -> None:
        """Anything that JSON has."""
        self.reported.append(self._plain(json.loads(json.dumps(value, default=str))))

    def attempt(self, *what: str | Callable[[], Any]) -> None:
        """Tells of each statement (or call) that it is done, or the condition of its error."""
        for step in what:
            try:
                found = self.sql(step) if isinstance(step, str) else step()
                if hasattr(found, "collect"):
                    found.collect()
            except Exception as error:  # noqa: BLE001 the error is the answer
                self.reported.append({"error": condition_of(error)})
            else:
                self.reported.append("done")

    def answers(self, *of: str | Callable[[], Any]) -> None:
        """Tells of each query (or call that makes a DataFrame) its rows, or the condition of its error."""
        for step in of:
            try:
                self.reported.append({"rows": self.list_rows(step if isinstance(step, str) else step())})
            except Exception as error:  # noqa: BLE001 the error is the answer
                self.reported.append({"error": condition_of(error)})

    def rows(self, of: Any = None) -> None:
        """Tells rows, in an order that both engines share: of the table, of a query, or of a DataFrame."""
        self.reported.append({"rows": self.list_rows(of)})

    def list_rows(self, of: Any = None) -> list[str]:
        """Rows as sorted JSON texts."""
        df = self.read() if of is None else self.sql(of) if isinstance(of, str) else of
        names = [str(i) for i in range(len(df.columns))]
        text = "to_json(struct(*), map('ignoreNullFields', 'false')) AS row"
        found = df.toDF(*names).selectExpr(text).collect() if names else []
        return sorted(self._plain(row["row"]) for row in found)

    def schema(self, of: Any = None) -> None:
        """Tells names, types, nullness and metadata of columns."""
        df = self.read() if of is None else self.sql(of) if isinstance(of, str) else of
        columns = [
            [c.name, c.dataType.simpleString(), c.nullable, *([c.metadata] if c.metadata else [])]
            for c in df.schema
        ]
        self.tell({"schema": columns})

    def logged_schema(self) -> None:
        """Tells the schema of the newest metadata in the log, as it stands there."""
        for version in range(self.newest(), -1, -1):
            if Path(self.path, "_delta_log", f"{version:020}.json").exists():
                for action in self.actions(version):
                    if "metaData" in action:
                        self.tell(json.loads(action["metaData"]["schemaString"]))
                        return

    def commit(self, table: str = "{t}", *, metrics: bool = True) -> None:
        """Tells what the history says of the newest commit; metrics without bytes, times and files."""
        last = self.sql(f"DESCRIBE HISTORY {table} LIMIT 1").collect()[0]
        reported = [
            last.version,
            last.operation,
            last.operationParameters,
            last.isBlindAppend,
            last.userMetadata,
        ]
        counted = {k: v for k, v in (last.operationMetrics or {}).items() if not _UNSTEADY.search(k)}
        self.tell([*reported, counted] if metrics else reported)

    def changes(self, start: int | None = None, **options: Any) -> None:
        """Tells the change data since a version: by default since the newest one."""
        first = self.sql("DESCRIBE HISTORY {t} LIMIT 1").first().version if start is None else start
        feed = self.read(readChangeFeed="true", startingVersion=first, **options)
        self.rows(feed.drop("_commit_timestamp"))

    def detail(self, table: str = "{t}") -> None:
        """Tells partitioning, clustering, properties and protocol."""
        row = self.sql(f"DESCRIBE DETAIL {table}").first().asDict()
        names = (
            "partitionColumns",
            "clusteringColumns",
            "properties",
            "minReaderVersion",
            "minWriterVersion",
        )
        self.tell([*(row[name] for name in names), sorted(row["tableFeatures"] or [])])

    # -- around it

    def play(self, steps: Callable[[Player], None]) -> None:
        """Plays steps. An error where none is expected is reported at the end."""
        try:
            steps(self)
        except Exception as error:  # noqa: BLE001 the error is the answer
            text = self._plain(str(error))[:300]
            self.reported.append({"stopped by": condition_of(error) or type(error).__name__, "text": text})
        finally:
            self.end()

    def beside(self) -> Player:
        """A place within this one, with a copy of the table: what is recorded there is recorded here."""
        self._places += 1
        one = Player(self.spark, self.tables, self.folder, self._places)
        one.reported = self.reported
        one.folder.mkdir()
        if Path(self.path).exists():
            shutil.copytree(self.path, one.path)
        return one

    def end(self) -> None:
        for name, value in self._before.items():
            if value is None:
                self.spark.conf.unset(name)
            else:
                self.spark.conf.set(name, value)
        for kind in ("TABLE", "VIEW") if self._named else ():
            try:
                self.spark.sql(f"DROP {kind} IF EXISTS {self.name}")
            except Exception:  # noqa: BLE001 it is of the other kind
                continue

    def _plain(self, value: Any) -> Any:
        """Without what is another one in each run: the place, and identifiers."""
        if isinstance(value, str):
            value = value.replace(f"file:{self.at}", "<at>").replace(self.at, "<at>")
            return _UUID.sub("<uuid>", value).replace(self._name, "<name>")
        if isinstance(value, list):
            return [self._plain(v) for v in value]
        if isinstance(value, dict):
            return {self._plain(k): self._plain(v) for k, v in value.items()}
        return value


_UNSTEADY = re.compile(r"Bytes|Ms$|Time|Files|FileSize|Size")


def condition_of(error: BaseException) -> str | None:
    """The condition of the innermost error that has one: of what failed in a job, not of the job."""
    from py4j.java_gateway import is_instance_of
    from pyspark import SparkContext

    found = None
    cause = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    while cause is not None:
        if is_instance_of(SparkContext._gateway, cause, "org.apache.spark.SparkThrowable"):
            found = cause.getCondition() or found
        if found == "DELTA_FAILED_TO_MERGE_FIELDS":
            break  # it says which field; what is below it says that types differ
        cause = cause.getCause()
    return error.getCondition() if found is None and hasattr(error, "getCondition") else found


def play(area: Area, name: str, spark: Any, tables: Any, folder: Path) -> Any:
    """What an engine tells in a situation."""
    number = list(area.situations).index(name)
    p = Player(spark, tables, folder, number)
    p.folder.mkdir(parents=True)
    p.play(area.situations[name].play)
    return p.reported


def alike(ours: Any, theirs: Any) -> bool:
    """Whether both answers are the same.

    Where delta-spark's error has no condition, or is `INTERNAL_ERROR`, any error will do.
    """
    if isinstance(theirs, dict) and isinstance(ours, dict):
        if set(theirs) == {"error"} and theirs["error"] in (None, "INTERNAL_ERROR"):
            return set(ours) == {"error"}
        return set(ours) == set(theirs) and all(alike(ours[k], theirs[k]) for k in theirs)
    if isinstance(theirs, list) and isinstance(ours, list):
        return len(ours) == len(theirs) and all(map(alike, ours, theirs))
    return bool(ours == theirs)


def in_utc() -> None:
    """Times are recorded in UTC on every machine."""
    os.environ["TZ"] = "UTC"
    if hasattr(time, "tzset"):
        time.tzset()
