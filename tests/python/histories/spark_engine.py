"""Operations in Spark, by deltaic or by delta-spark: the statements and frames that a program would have."""

from __future__ import annotations

import re
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any
from unittest import mock

from operations import METADATA, row

if TYPE_CHECKING:
    from collections.abc import Callable

    from operations import Operation
    from pyspark.sql import DataFrame, SparkSession

_CHANGED = {
    "rewrite": "CASE WHEN id % {mod} = 0 THEN n + 1 ELSE n END",
    "replace partition": "n + {add}",
}


class SparkEngine:
    """Operations on one table in a session with the format `delta`."""

    def __init__(self, spark: SparkSession, path: str, retention_hours: float, tables: Any) -> None:
        self.spark, self.path, self.retention_hours = spark, path, retention_hours
        self.tables = tables
        """`DeltaTable` of the engine."""
        self.races: list[str] = []
        """Rules by which commits within the operation have lost, where the engine tells."""
        self.name = f"delta.`{path}`"
        self.kept = self._frame()
        """A frame that is made once, and read over and over."""
        spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")

    def do(self, operation: Operation, document: str) -> None:
        """Does it; the commit carries the document."""
        self.spark.conf.set(METADATA, document)
        given = operation.given
        act = getattr(self, "_" + operation.kind.replace(" ", "_"), None)
        if act is not None:
            act(given)
        else:
            self.spark.sql(self._statement(operation.kind, given))

    def _statement(self, kind: str, given: dict[str, Any]) -> str:
        t = self.name
        where = "id >= {low} AND id < {high}".format(**given) if "low" in given else ""
        if kind == "append":
            return f"INSERT INTO {t} {_values(given)}"
        if kind == "insert count":
            p, id_, _ = row(given["id"], 0)
            return f"INSERT INTO {t} SELECT {p}L, {id_}L, count(*) FROM {t}"
        if kind == "counter":
            return f"UPDATE {t} SET n = (SELECT max(n) + 1 FROM {t}) WHERE id = {given['id']}"
        if kind in ("merge insert", "upsert"):
            update = "" if kind == "merge insert" else "WHEN MATCHED THEN UPDATE SET n = t.n + s.n "
            source = f"(SELECT * FROM ({_values(given)}) AS v(p, id, n)) AS s"
            insert = "WHEN NOT MATCHED THEN INSERT (p, id, n) VALUES (s.p, s.id, s.n)"
            return f"MERGE INTO {t} AS t USING {source} ON t.id = s.id {update}{insert}"
        return {
            "delete": f"DELETE FROM {t} WHERE {where}",
            "delete top": f"DELETE FROM {t} WHERE n = (SELECT max(n) FROM {t})",
            "update": f"UPDATE {t} SET n = n + {given.get('add')} WHERE {where}",
            "optimize": f"OPTIMIZE {t}",
            "vacuum": f"VACUUM {t} RETAIN {self.retention_hours} HOURS",
        }[kind]

    def _insert_absent(self, given: dict[str, Any]) -> None:
        values = f"(SELECT * FROM ({_values(given)}) AS v(p, id, n)) AS s"
        if given["kept"]:
            there = self.kept.select("id")
            rows = self.spark.sql(f"SELECT * FROM {values}").join(there, "id", "left_anti")
            rows.select("p", "id", "n").write.format("delta").mode("append").save(self.path)
        else:
            anti = f"LEFT ANTI JOIN {self.name} AS t ON s.id = t.id"
            self.spark.sql(f"INSERT INTO {self.name} SELECT s.p, s.id, s.n FROM {values} {anti}")

    def _transfer(self, given: dict[str, Any]) -> None:
        source, to = given["from"], given["to"]
        n = f"CASE WHEN b.id = {to} THEN b.n + a.n ELSE 0L END AS n"
        where = f"a.id = {source} AND c.id = {to} AND b.id IN ({source}, {to})"
        if given["kept"]:
            a, b, c = (self.kept.alias(name) for name in "abc")
            rows = a.crossJoin(b).crossJoin(c).where(where).selectExpr("b.id AS id", n)
            merge = (
                self.tables.forPath(self.spark, self.path).alias("t").merge(rows.alias("s"), "t.id = s.id")
            )
            merge.whenMatchedUpdate(set={"n": "s.n"}).execute()
        else:
            t = self.name
            rows = f"SELECT b.id AS id, {n} FROM {t} AS a, {t} AS b, {t} AS c WHERE {where}"
            update = "WHEN MATCHED THEN UPDATE SET n = s.n"
            self.spark.sql(f"MERGE INTO {t} AS t USING ({rows}) AS s ON t.id = s.id {update}")

    def _rewrite(self, given: dict[str, Any]) -> None:
        rows = self.kept if given["kept"] else self._frame()
        n = _CHANGED["rewrite"].format(**given)
        rows.selectExpr("p", "id", f"{n} AS n").write.format("delta").mode("overwrite").save(self.path)

    def _replace_partition(self, given: dict[str, Any]) -> None:
        rows, where = self.kept if given["kept"] else self._frame(), f"p = {given['p']}"
        n = _CHANGED["replace partition"].format(**given)
        self._replace(rows.where(where).selectExpr("p", "id", f"{n} AS n"), where)

    def _replace_range(self, given: dict[str, Any]) -> None:
        rows = self.spark.sql(f"SELECT * FROM ({_values(given)}) AS v(p, id, n)")
        self._replace(rows, f"id >= {given['low']} AND id < {given['high']}")

    def _replace(self, rows: DataFrame, where: str) -> None:
        rows.write.format("delta").mode("overwrite").option("replaceWhere", where).save(self.path)

    def _frame(self) -> DataFrame:
        return self.spark.read.format("delta").load(self.path)


class Deltaic(SparkEngine):
    """deltaic on Spark."""

    def __init__(self, spark: SparkSession, path: str, retention_hours: float) -> None:
        from deltaic.spark.dml.operation import Operation
        from deltaic.spark.write import transaction
        from deltaic.tables import DeltaTable

        super().__init__(spark, path, retention_hours, DeltaTable)
        self._commits = (Operation, transaction)

    def do(self, operation: Operation, document: str) -> None:
        self.races.clear()
        with ExitStack() as watched:
            for where in self._commits:
                watched.enter_context(mock.patch.object(where, "commit", self._watched(where.commit)))
            super().do(operation, document)

    def _watched(self, commit: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*args: Any, **kwargs: Any) -> Any:
            try:
                return commit(*args, **kwargs)
            except Exception as error:
                lost = lost_by_deltaic(error)
                self.races += [] if lost is None else [str(lost[1])]
                raise

        return watched

    @staticmethod
    def lost(error: Exception) -> tuple[str, str | None] | None:
        """Kind and rule of a lost race; None for another error."""
        return lost_by_deltaic(error)


class DeltaSpark(SparkEngine):
    """delta-spark."""

    def __init__(self, spark: SparkSession, path: str, retention_hours: float) -> None:
        from delta.tables import DeltaTable

        super().__init__(spark, path, retention_hours, DeltaTable)

    @staticmethod
    def lost(error: Exception) -> tuple[str, str | None] | None:
        """As of `Deltaic`; its classes stay in Java."""
        text = f"{type(error).__name__} {error}"
        found = re.search(r"DELTA_CONCURRENT\w*|DELTA_METADATA_CHANGED\w*|DELTA_PROTOCOL_CHANGED\w*", text)
        found = found or re.search(
            r"Concurrent\w+Exception|MetadataChangedException|CommitFailedException", text
        )
        return None if found is None else (found[0], None)


def lost_by_deltaic(error: Exception) -> tuple[str, str | None] | None:
    """Kind and rule of a lost race; None for another error."""
    import deltaic

    if isinstance(error, deltaic.exceptions.CommitConflictError):
        return type(error).__name__, error.rule
    return None


def _values(given: dict[str, Any]) -> str:
    rows = (row(id_, n) for id_, n in given["rows"])
    return "VALUES " + ", ".join(f"({p}L, {id_}L, {n}L)" for p, id_, n in rows)
