"""Overwrites with `replaceUsing` and `replaceOn`: which rows leave, and what history and changes say."""

from __future__ import annotations

import json
import uuid
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from error_situations import reported
from playing import Area
from pyspark.sql.functions import expr

if TYPE_CHECKING:
    from collections.abc import Callable

    import playing

    Make = Callable[["Player"], str]

LETTERS = "SELECT 1L id, 'a' v UNION ALL SELECT 2L, 'b' UNION ALL SELECT 3L, 'c' UNION ALL SELECT NULL, 'n'"
SOURCE = "SELECT 2L id, 'B' v UNION ALL SELECT 2L, 'BB' UNION ALL SELECT 9L, 'z' UNION ALL SELECT NULL, 'N'"
ONE = "SELECT 2L id, 'B' v"
NONE = f"{ONE} WHERE 1 = 0"
MATCH = {"replaceOn": "t.id = s.id", "targetAlias": "t"}
FEED, VECTORS = "delta.enableChangeDataFeed", "delta.enableDeletionVectors"


class Player:
    """A session, and tables of its own for each situation."""

    def __init__(self, spark: Any, folder: str) -> None:
        self.spark, self.folder = spark, folder
        self._unchanged: str | None = None

    def place(self) -> str:
        return f"{self.folder}/{uuid.uuid4()}"

    def table(
        self, *on: str, query: str = LETTERS, by: tuple[str, ...] = (), files: int = 1, **more: str
    ) -> str:
        """A table, with properties that are true."""
        at = self.place()
        rows = self.spark.sql(query).repartition(files).write.format("delta").partitionBy(*by)
        rows.options(**dict.fromkeys(on, "true"), **more).save(at)
        return at

    def unchanged(self) -> str:
        """One table for all writes that are refused."""
        self._unchanged = self._unchanged or self.table()
        return self._unchanged

    def by_sql(self, columns: str, rows: str, *on: str) -> str:
        at = self.place()
        properties = ", ".join(f"'{name}' = 'true'" for name in ("some", *on))
        self.spark.sql(f"CREATE TABLE delta.`{at}` ({columns}) USING delta TBLPROPERTIES ({properties})")
        self.spark.sql(f"INSERT INTO delta.`{at}` (id, v) SELECT /*+ COALESCE(1) */ * FROM VALUES {rows}")
        return at

    def writer(self, query: str, mode: str, **options: str) -> Any:
        rows = self.spark.sql(query)
        if "replaceOn" in options:
            rows = rows.alias("s")
        return rows.coalesce(1).write.format("delta").mode(mode).options(**options)

    def write(self, at: str, query: str = SOURCE, mode: str = "overwrite", **options: str) -> None:
        self.writer(query, mode, **options).save(at)

    def rows(self, at: str) -> list[str]:
        return sorted(str(tuple(r)) for r in self.spark.read.format("delta").load(at).collect())

    def state(self, at: str) -> dict[str, Any]:
        """What a version, its history and its changes say."""
        last = self.spark.sql(f"DESCRIBE HISTORY delta.`{at}`").orderBy("version").collect()[-1]
        # whoever splits rows over files in another way has written and read other numbers of files
        metrics = {k: v for k, v in last.operationMetrics.items() if "Bytes" not in k}
        reported = Path(f"{at}/_delta_log/{last.version:020}.json").read_text(encoding="utf-8")
        actions = [json.loads(line) for line in reported.splitlines()]
        vectors = [a["add"] for a in actions if "deletionVector" in a.get("add", {})]
        state = {
            "version": last.version,
            "operation": [last.operation, last.operationParameters, last.isBlindAppend, last.userMetadata],
            "metrics": metrics,
            "rows": self.rows(at),
            "marked": [v["deletionVector"]["cardinality"] for v in vectors],
            "transactions": [[a["txn"]["appId"], a["txn"]["version"]] for a in actions if "txn" in a],
        }
        properties = self.spark.sql(f"DESCRIBE DETAIL delta.`{at}`").first().properties
        if properties.get(FEED) == "true":
            changes = self.spark.read.format("delta").option("readChangeFeed", "true")
            changes = changes.option("startingVersion", last.version).load(at).drop("_commit_timestamp")
            state["changes"] = sorted(str(tuple(row)) for row in changes.collect())
        return state


def played(make: Make, *, by: str = "save", **write: Any) -> Callable[[Player], Any]:
    """A table, a write to it, and what the table is then."""

    def play(p: Player) -> Any:
        at = make(p)
        if by == "save":
            p.write(at, **write)
        else:
            getattr(p.writer(SOURCE, "overwrite", **write), by)(f"delta.`{at}`")
        return p.state(at)

    return play


def table(*on: str, **more: Any) -> Make:
    return lambda p: p.table(*on, **more)


def made(columns: str, rows: str, *on: str) -> Make:
    return lambda p: p.by_sql(columns, rows, *on)


def constrained(p: Player) -> str:
    at = p.table()
    p.spark.sql(f"ALTER TABLE delta.`{at}` ADD CONSTRAINT small CHECK (id IS NULL OR id < 50)")
    return at


def recorded(p: Player) -> str:
    at = p.table()
    p.write(at, ONE, replaceUsing="id", txnAppId="app", txnVersion="3")
    return at


def under(option: str, value: str, **write: str) -> Callable[[Player], Any]:
    """With a setting of the session."""

    def play(p: Player) -> Any:
        name = f"spark.databricks.delta.{option}"
        p.spark.conf.set(name, value)
        try:
            return played(Player.unchanged, **write)(p)
        finally:
            p.spark.conf.unset(name)

    return play


def of_its_own_rows(p: Player) -> Any:
    answers = []
    for options in ({"replaceUsing": "id"}, MATCH):
        at = p.table()
        rows = p.spark.read.format("delta").load(at).where("id = 2").selectExpr("id", "concat(v, '!') v")
        rows.alias("s").write.format("delta").mode("overwrite").options(**options).save(at)
        answers.append(p.rows(at))
    return answers


def computed_once(p: Player) -> Any:
    """A key that another look at the rows would not find again."""
    at = p.table(query="SELECT id, 'old' v FROM range(1000)")
    rows = p.spark.sql("SELECT CAST(floor(rand() * 1000) AS LONG) id, 'new' v FROM range(20)")
    rows.write.format("delta").mode("overwrite").option("replaceUsing", "id").save(at)
    found = p.spark.read.format("delta").load(at)
    keys = found.where("v = 'new'").select("id")
    left = found.where("v = 'old'")
    return [left.count() + keys.distinct().count(), left.join(keys, "id").count()]


def by_the_name_of_a_view(p: Player) -> Any:
    at = p.table()
    p.spark.sql(SOURCE).createOrReplaceTempView("replacing")
    options = {"replaceOn": "t.id = replacing.id", "targetAlias": "t"}
    p.spark.table("replacing").write.format("delta").mode("overwrite").options(**options).save(at)
    return p.rows(at)


def by_fields(p: Player) -> Any:
    query = "SELECT named_struct('a', id) r, 'x' v FROM range(3)"
    one = "SELECT named_struct('a', 1L) r, 'Z' v"
    answers = []
    for options in ({"replaceOn": "t.r.a = s.r.a", "targetAlias": "t"}, {"replaceUsing": "r"}):
        at = p.table(query=query)
        p.write(at, one, **options)
        answers.append(p.rows(at))
    return answers


def by_a_name(p: Player, how: str, *, there: bool = True, mode: str = "overwrite", **write: str) -> Any:
    name = "replaced_" + uuid.uuid4().hex
    query = write.pop("query", SOURCE)
    if there:
        p.spark.sql(LETTERS).coalesce(1).write.format("delta").saveAsTable(name)
    try:
        getattr(p.writer(query, mode, **write), how)(name)
        found = p.spark.sql(f"DESCRIBE HISTORY {name}").orderBy("version").collect()[-1]
        rows = sorted(str(tuple(row)) for row in p.spark.table(name).collect())
        shown = {k: v for k, v in found.operationParameters.items() if k.startswith(("mode", "replace"))}
        return [found.version, found.operation, shown, rows]
    finally:
        p.spark.sql(f"DROP TABLE IF EXISTS {name}")


def by_the_second_writer(p: Player, how: str, *arguments: str, there: bool = True) -> Any:
    name = "replaced_" + uuid.uuid4().hex
    if there:
        p.spark.sql(LETTERS).coalesce(1).write.format("delta").saveAsTable(name)
    try:
        writer = p.spark.sql(SOURCE).writeTo(name).using("delta").option("replaceUsing", "id")
        getattr(writer, how)(*(expr(argument) for argument in arguments))
        return sorted(str(tuple(row)) for row in p.spark.table(name).collect())
    finally:
        p.spark.sql(f"DROP TABLE IF EXISTS {name}")


PARTS = {"query": "SELECT id, id % 3 p FROM range(9)", "by": ("p",)}
FEW = "SELECT 100L id, 1L p UNION ALL SELECT 101L, 7L"
GENERATED = made("id LONG, v STRING, g LONG GENERATED ALWAYS AS (id * 10)", "(1, 'a'), (2, 'b')")
IDENTITY = "id LONG, v STRING, i LONG GENERATED ALWAYS AS IDENTITY"
ROWS = "(1, 'a'), (2, 'b')"
USING = {"replaceUsing": "id"}
WIDER = "SELECT 2L id, 'B' v, 5 n"

SITUATIONS: dict[str, Callable[[Player], Any]] = {
    # which rows leave
    "using": played(table(), **USING),
    "using_two_columns": played(table(), replaceUsing="id , V"),
    "using_twice_the_same": played(table(), replaceUsing="ID,id"),
    "using_columns_in_another_order": played(table(), query="SELECT 'B' v, 2L id", **USING),
    "using_with_the_target_alias": played(table(), targetAlias="t", **USING),
    "using_many_files": played(table(query="SELECT id, 'v' v FROM range(12)", files=4), query=ONE, **USING),
    "no_rows": played(table(), query=NONE, **USING),
    "no_rows_on_true": played(table(), query=NONE, replaceOn="true"),
    "no_match": played(table(), query="SELECT 77L id, 'B' v", **USING),
    "on": played(table(), **MATCH),
    "on_null_safe": played(table(), replaceOn="t.id <=> s.id", targetAlias="t"),
    "on_a_range": played(table(), replaceOn="t.id >= s.id AND s.v <> 'N'", targetAlias="t"),
    "on_true": played(table(), replaceOn="true"),
    "on_false": played(table(), replaceOn="false"),
    "on_the_table_only": played(table(), replaceOn="t.id > 1", targetAlias="t"),
    "on_a_subquery": played(table(), replaceOn="t.id IN (SELECT 2L)", targetAlias="t"),
    "on_with_an_odd_alias": played(table(), replaceOn="`a b`.id = s.id", targetAlias="a b"),
    "on_names_of_one_side": played(
        table(), query="SELECT 2L k, 'B' w", replaceOn="id = k", mergeSchema="true"
    ),
    "of_its_own_rows": of_its_own_rows,
    "computed_once": computed_once,
    "by_the_name_of_a_view": by_the_name_of_a_view,
    "by_fields": by_fields,
    # tables
    "change_feed": played(table(FEED), **USING),
    "change_feed_without_a_match": played(table(FEED), query="SELECT 77L id, 'B' v", **USING),
    "change_feed_of_all": played(table(FEED), replaceOn="true"),
    "deletion_vectors": played(table(VECTORS), **USING),
    "deletion_vectors_of_all": played(table(VECTORS), replaceOn="true"),
    "deletion_vectors_and_change_feed": played(table(VECTORS, FEED), **USING),
    "deletion_vectors_of_a_part": played(table(VECTORS, **PARTS), query=FEW, replaceUsing="p"),
    "parts": played(table(**PARTS), query=FEW, replaceUsing="p"),
    "parts_and_change_feed": played(table(FEED, **PARTS), query=FEW, replaceUsing="p"),
    "parts_by_data": played(table(**PARTS), query="SELECT 4L id, 8L p", **USING),
    "parts_by_both": played(
        table(**PARTS), query="SELECT 4L id, 1L p UNION ALL SELECT 5L, 1L", replaceUsing="p,id"
    ),
    "parts_on_the_table_only": played(table(**PARTS), query=FEW, replaceOn="t.p = 1", targetAlias="t"),
    "mapped_by_name": played(table(**{"delta.columnMapping.mode": "name"}), **USING),
    "mapped_by_id": played(table(**{"delta.columnMapping.mode": "id"}), **MATCH),
    "generated": played(GENERATED, query=ONE, **USING),
    "generated_and_given": played(GENERATED, query="SELECT 2L id, 'B' v, 20L g", replaceUsing="g"),
    "identity": played(made(IDENTITY, ROWS), query=ONE, **USING),
    "identity_and_change_feed": played(made(IDENTITY, ROWS, FEED), query=ONE, **USING),
    # columns
    "new_columns": played(table(), query=WIDER, mergeSchema="true", **USING),
    "new_columns_and_change_feed": played(table(FEED), query=WIDER, mergeSchema="true", **USING),
    "new_columns_without_rows": played(table(), query=f"{WIDER} WHERE 1 = 0", mergeSchema="true", **USING),
    "fewer_columns": played(table(), query="SELECT 2L id", **USING),
    # what is beside it
    "append": played(table(), mode="append", **USING),
    "append_on": played(table(), mode="append", **MATCH),
    "append_on_what_is_not_there": played(table(), mode="append", replaceOn="t.zz = s.q"),
    "append_using_what_is_not_there": played(table(), mode="append", replaceUsing="zz"),
    "ignore": played(table(), mode="ignore", **USING),
    "new_table_by_append": played(Player.place, mode="append", **USING),
    "new_table": played(Player.place, mode="error", **USING),
    "transaction": played(table(), txnAppId="app", txnVersion="3", **USING),
    "transaction_again": played(recorded, txnAppId="app", txnVersion="3", **USING),
    "transaction_without_rows": played(table(), query=NONE, txnAppId="app", txnVersion="3", **USING),
    "user_metadata": played(table(), userMetadata="said", **USING),
    "keeps_the_schema": played(table(), overwriteSchema="false", **USING),
    "target_alias_alone": played(table(), targetAlias="t"),
    "by_partition_columns": lambda p: [
        p.writer(FEW, "overwrite", replaceUsing="p").partitionBy("p").save(at := p.table(**PARTS)),
        p.state(at)["operation"],
    ],
    # by names
    "save_as_table": partial(by_a_name, how="saveAsTable", **USING),
    "save_as_table_on": partial(by_a_name, how="saveAsTable", **MATCH),
    "save_as_table_append": partial(by_a_name, how="saveAsTable", mode="append", **USING),
    "save_as_table_with_new_columns": partial(
        by_a_name, how="saveAsTable", query=WIDER, mergeSchema="true", **USING
    ),
    "save_as_table_by_path": played(table(), by="saveAsTable", **USING),
    "save_as_table_of_both": partial(by_a_name, how="saveAsTable", replaceOn="true", **USING),
    "save_as_new_table": partial(by_a_name, how="saveAsTable", there=False, **USING),
    "insert_into": partial(by_a_name, how="insertInto", **USING),
    "insert_into_on": partial(by_a_name, how="insertInto", **MATCH),
    "insert_into_on_other_names": partial(
        by_a_name, how="insertInto", query="SELECT 2L k, 'B' w", replaceOn="t.id = s.k", targetAlias="t"
    ),
    "insert_into_using_other_names": partial(
        by_a_name, how="insertInto", query="SELECT 2L k, 'B' w", **USING
    ),
    "insert_into_using_another_order": partial(
        by_a_name, how="insertInto", query="SELECT 2L v, 'B' id", **USING
    ),
    "insert_into_with_casts": partial(by_a_name, how="insertInto", query="SELECT 2 id, 'B' v", **USING),
    "insert_into_append": partial(by_a_name, how="insertInto", mode="append", **USING),
    "insert_into_by_path": played(table(), by="insertInto", **USING),
    "insert_into_with_replace_where": partial(by_a_name, how="insertInto", replaceWhere="id > 1", **USING),
    "write_to_append": partial(by_the_second_writer, how="append"),
    "write_to_overwrite": lambda p: by_the_second_writer(p, "overwrite", "true"),
    "write_to_overwrite_of_some": lambda p: by_the_second_writer(p, "overwrite", "id = 1"),
    "write_to_overwrite_partitions": partial(by_the_second_writer, how="overwritePartitions"),
    "write_to_create": partial(by_the_second_writer, how="create", there=False),
    "write_to_create_or_replace": partial(by_the_second_writer, how="createOrReplace"),
    "write_to_replace": partial(by_the_second_writer, how="replace"),
    # refused
    "on_a_name_of_both": played(Player.unchanged, replaceOn="id = 2"),
    "on_a_name_of_both_and_an_alias": played(Player.unchanged, replaceOn="s.id = id"),
    "on_one_alias_for_both": played(Player.unchanged, replaceOn="s.id = s.id", targetAlias="s"),
    "on_names_of_none": played(Player.unchanged, replaceOn="t.x = s.id AND t.y = s.z", targetAlias="t"),
    "on_an_alias_that_is_not_given": played(Player.unchanged, replaceOn="t.id = s.id"),
    "on_a_new_column": played(
        Player.unchanged, query=WIDER, replaceOn="t.n <=> s.n", targetAlias="t", mergeSchema="true"
    ),
    "on_no_sql": played(Player.unchanged, replaceOn="t.id === s.id !", targetAlias="t"),
    "on_nothing": played(Player.unchanged, replaceOn=""),
    "on_chance": played(Player.unchanged, replaceOn="t.id = s.id AND rand() > 2", targetAlias="t"),
    "using_what_is_not_there": played(Player.unchanged, replaceUsing="nope"),
    "using_what_is_not_in_the_rows": played(Player.unchanged, query="SELECT 'B' v", **USING),
    "using_a_new_column": played(Player.unchanged, query=WIDER, replaceUsing="n", mergeSchema="true"),
    "using_a_name_that_is_empty": played(Player.unchanged, replaceUsing="id,"),
    "using_nothing": played(Player.unchanged, replaceUsing=""),
    "both": played(Player.unchanged, replaceOn="true", **USING),
    "append_of_both": played(Player.unchanged, mode="append", replaceOn="true", **USING),
    "with_replace_where": played(Player.unchanged, replaceWhere="id > 1", **USING),
    "append_with_replace_where": played(Player.unchanged, mode="append", replaceWhere="id > 1", **USING),
    "with_dynamic_partitions": played(Player.unchanged, partitionOverwriteMode="dynamic", **USING),
    "with_static_partitions": played(Player.unchanged, partitionOverwriteMode="static", replaceOn="true"),
    "with_a_new_schema": played(Player.unchanged, overwriteSchema="true", **USING),
    "with_rows_that_do_not_change": played(Player.unchanged, dataChange="false", **USING),
    "of_other_columns": played(Player.unchanged, query=WIDER, **USING),
    "of_an_append_only_table": played(table("delta.appendOnly"), query="SELECT 77L id, 'x' v", **USING),
    "against_a_constraint": played(constrained, query="SELECT 99L id, 'x' v", **USING),
    "against_not_null": played(
        made("id LONG NOT NULL, v STRING", "(1, 'a')"), query="SELECT CAST(NULL AS LONG) id, 'x' v", **MATCH
    ),
    "append_against_a_constraint": played(constrained, query="SELECT 99L id, 'x' v", mode="append", **USING),
    "identity_that_is_given": played(made(IDENTITY, ROWS), query="SELECT 2L id, 'B' v, 9L i", **USING),
    "of_no_table": played(Player.place, **USING),
    "of_a_table_that_must_not_be": played(Player.unchanged, mode="error", replaceOn="true", **USING),
    "using_is_off": under("replaceUsing.dataframe.writer.enabled", "false", **USING),
    "using_is_off_for_appends": under(
        "replaceUsing.dataframe.writer.enabled", "false", mode="append", **USING
    ),
    "on_is_off": under("replaceOn.dataframe.writer.enabled", "false", replaceOn="true"),
}


# parameters that the engines word in their own way
IN_OWN_WORDS = {
    "constraintName",
    "expression",
    "invariantViolationMessage",
    "path",
    "sqlExprs",
    "table_name",
    "values",
}
DIFFERENT = {
    "save_as_new_table": "the table is made by a definition, which is refused as that of `writeTo`",
    "write_to_overwrite": "refused by name, where delta-spark fails by a requirement",
}


def _situation(play: Callable[[Player], Any]) -> Callable[[playing.Player], None]:
    def go(p: playing.Player) -> None:
        try:
            p.tell(play(Player(p.spark, p.at)))
        except Exception as error:  # noqa: BLE001 the error is the answer
            known = reported(error)
            said = {name: value for name, value in known["parameters"].items() if name not in IN_OWN_WORDS}
            p.tell({"condition": known["condition"], "sqlState": known["sqlState"], "parameters": said})

    return go


AREA = Area("replace_rows")
for _name, _play in SITUATIONS.items():
    AREA.add(_name, _situation(_play), DIFFERENT.get(_name))
