"""Merges, deletes and updates by columns of the frames themselves: `table.toDF()["key"] == source["key"]`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from playing import Area
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

if TYPE_CHECKING:
    from collections.abc import Callable

    from playing import Player

AREA = Area("merge_frames")

ROWS = "SELECT id AS key, id * 10 AS value, named_struct('a', id) AS s FROM range(1, 5)"
TABLE = f"CREATE TABLE {{t}} USING delta AS {ROWS}"
OTHER = "SELECT id AS key, id * 100 AS value, named_struct('a', id) AS s FROM range(3, 7)"

Frames = tuple[Any, Any]
Merge = Any


def of_both(p: Player, source: Callable[[Any], Any]) -> tuple[Any, Any, Any]:
    table = p.table()
    target = table.toDF()
    return table, target, source(target)


CONDITIONS: dict[str, Callable[[Any, Any], Any]] = {
    "equal": lambda t, s: t["key"] == s["key"],
    "equal, the other way round": lambda t, s: s["key"] == t["key"],
    "by attribute": lambda t, s: t.key == s.key,
    "null-safe": lambda t, s: t["key"].eqNullSafe(s["key"]),
    "and": lambda t, s: (t["key"] == s["key"]) & (t["value"] > 30),
    "or": lambda t, s: (t["key"] == s["key"]) | (t["key"] == s["key"] - 5),
    "in functions": lambda t, s: F.coalesce(t["key"], F.lit(0)) == F.abs(s["key"]),
    "a field": lambda t, s: t["s"]["a"] == s["s"]["a"],
    "a field by its path": lambda t, s: t["s.a"] == s["s.a"],
    "in a lambda": lambda t, s: F.exists(F.array(s["key"]), lambda x: x == t["key"]),
    "beside text": lambda t, s: (t["key"] == s["key"]) & F.expr("1 = 1"),
}
SOURCES: dict[str, Callable[[Any], Any]] = {
    "rows of the table": lambda t: t.where("key = 4"),
    "rows of the table, a column anew": lambda t: t.where("key = 4").withColumn(
        "value", F.lit(7).cast("long")
    ),
    "rows of the table, one column": lambda t: t.where("key = 4").select("key"),
    "the table": lambda t: t,
    "the table, aggregated": lambda t: t.groupBy("key").agg(F.max("value").alias("value")),
    "the table, joined": lambda t: t.where("key = 4").join(t.sparkSession.range(1), how="cross"),
}
CLAUSES: dict[str, Callable[[Merge, Any, Any], Merge]] = {
    "delete": lambda m, t, s: m.whenMatchedDelete(),
    "delete with a condition": lambda m, t, s: m.whenMatchedDelete(t["key"] < 4),
    "update": lambda m, t, s: m.whenMatchedUpdate(set={"value": s["value"] + 1}),
    "update by a column of the table": lambda m, t, s: m.whenMatchedUpdate(set={"value": t["value"] + 1}),
    "update by both": lambda m, t, s: m.whenMatchedUpdate(
        t["key"] < s["value"], {"value": t["value"] + s["value"]}
    ),
    "update all with a condition": lambda m, t, s: m.whenMatchedUpdateAll(t["key"] == 4),
    "insert": lambda m, t, s: m.whenNotMatchedInsert(s["key"] > 5, {"key": s["key"], "value": s["value"]}),
    "insert all": lambda m, t, s: m.whenNotMatchedInsertAll(s["key"] > 5),
    "update by source": lambda m, t, s: m.whenNotMatchedBySourceUpdate(
        t["key"] < 3, {"value": t["value"] + t["key"]}
    ),
    "delete by source": lambda m, t, s: m.whenNotMatchedBySourceDelete(t["key"] < 2),
}
# of a merge of two frames the clause does not have the column
UNSEEN: dict[str, Callable[[Merge, Any, Any], Merge]] = {
    "insert by a column of the table": lambda m, t, s: m.whenNotMatchedInsert(values={"key": t["key"]}),
    "delete by a column of the source, by source": lambda m, t, s: m.whenNotMatchedBySourceDelete(
        s["key"] < 2
    ),
}


def done(p: Player, merge: Callable[[], Any]) -> None:
    """Tells what became of it: also of what is refused as it is built."""
    p.attempt(lambda: merge().execute())
    p.rows()


@AREA.grid(CONDITIONS, TABLE)
def conditions_of_two_frames(p: Player, condition: Any) -> None:
    table, t, s = of_both(p, lambda t: p.sql(OTHER))
    done(p, lambda: table.merge(s, condition(t, s)).whenMatchedDelete())


@AREA.grid(CLAUSES, TABLE)
def clauses_of_two_frames(p: Player, clause: Any) -> None:
    table, t, s = of_both(p, lambda t: p.sql(OTHER))
    done(p, lambda: clause(table.merge(s, t["key"] == s["key"]), t, s))


@AREA.grid(
    UNSEEN, TABLE, differs="an INSERT has a condition of its own, and a clause by source sees the table only"
)
def columns_that_a_clause_does_not_see(p: Player, clause: Any) -> None:
    table, t, s = of_both(p, lambda t: p.sql(OTHER))
    done(p, lambda: clause(table.merge(s, t["key"] == s["key"]), t, s))


@AREA.grid(CONDITIONS, TABLE)
def conditions_of_a_table_and_its_rows(p: Player, condition: Any) -> None:
    """A column that both sides have by its very id says neither which one it is: nothing is deleted."""
    table, t, s = of_both(p, lambda t: t.where("key = 4"))
    done(p, lambda: table.merge(s, condition(t, s)).whenMatchedDelete())


@AREA.grid(CLAUSES | UNSEEN, TABLE)
def clauses_of_a_table_and_its_rows(p: Player, clause: Any) -> None:
    """By aliases the condition is clear; the columns of clauses are those that the clause sees."""
    table, t, s = of_both(p, lambda t: t.where("key = 4").withColumn("value", F.lit(7).cast("long")))
    table = table.alias("t")
    done(p, lambda: clause(table.merge(s.alias("s"), "t.key = s.key"), t, s))


@AREA.grid(CLAUSES | UNSEEN, TABLE)
def clauses_of_a_table_and_its_rows_by_columns(p: Player, clause: Any) -> None:
    table, t, s = of_both(p, lambda t: t.where("key = 4"))
    done(p, lambda: clause(table.merge(s, t["key"] == s["key"]), t, s))


@AREA.grid(SOURCES, TABLE)
def sources_of_the_table(p: Player, source: Any) -> None:
    for matches in ("delete", "update"):
        one = p.beside()
        table, t, s = of_both(one, source)
        merge = lambda table=table, t=t, s=s: table.merge(s, t["key"] == s["key"])  # noqa: E731
        if matches == "delete":
            done(one, lambda merge=merge: merge().whenMatchedDelete())
        else:
            done(one, lambda merge=merge, t=t: merge().whenMatchedUpdate(set={"value": t["value"] + 1}))


ALIASES: dict[str, Callable[[Any, Any], tuple[Any, Any, Any]]] = {
    "of the frames": lambda table, t: (
        table.alias("t"), t.where("key = 4").alias("s"), lambda of, s: of.toDF()["key"] == s["key"]
    ),
    "of the source": lambda table, t: (
        table, t.where("key = 4").alias("s"), lambda of, s: t["key"] == s["key"]
    ),
    "of the table": lambda table, t: (
        table.alias("t"), t.where("key = 4"), lambda of, s: of.toDF()["key"] == s["key"]
    ),
    "of the table, by the frame without": lambda table, t: (
        table.alias("t"), t.where("key = 4"), lambda of, s: t["key"] == s["key"]
    ),
    "by names": lambda table, t: (
        table.alias("t"), t.where("key = 4").alias("s"), lambda of, s: F.col("t.key") == F.col("s.key")
    ),
    "one name for both": lambda table, t: (
        table.alias("t"), t.where("key = 4").alias("t"), lambda of, s: of.toDF()["key"] == s["key"]
    ),
    "of two frames": lambda table, t: (
        table.alias("t"), t.sparkSession.sql(OTHER).alias("s"), lambda of, s: of.toDF()["key"] == s["key"]
    ),
    "of two frames, by the frame without": lambda table, t: (
        table.alias("t"), t.sparkSession.sql(OTHER).alias("s"), lambda of, s: t["key"] == s["key"]
    ),
}  # fmt: skip


@AREA.grid(ALIASES, TABLE)
def aliases(p: Player, case: Any) -> None:
    table = p.table()
    of, s, condition = case(table, table.toDF())
    done(p, lambda: of.merge(s, condition(of, s)).whenMatchedDelete())


@AREA.situation(differs="a column of the table stands by its name under the alias: it is ambiguous")
def one_alias_for_two_frames(p: Player) -> None:
    p.sql(TABLE)
    table, s = p.table().alias("t"), p.sql(OTHER).alias("t")
    done(p, lambda: table.merge(s, table.toDF()["key"] == s["key"]).whenMatchedDelete())


@AREA.grid(
    {
        "of another DeltaTable of the table": lambda p, table: p.table().toDF(),
        "of a read of the table": lambda p, table: p.read(),
        "of another frame": lambda p, table: p.sql("SELECT 4L AS key"),
    },
    TABLE,
    differs="the condition is that of Spark for such a column",
)
def columns_of_neither_side(p: Player, frame: Any) -> None:
    table = p.table()
    by_each_clause(p, table, frame(p, table))


def by_each_clause(p: Player, table: Any, third: Any) -> None:
    s = p.sql(OTHER)
    for merge in (
        lambda: table.merge(s, third["key"] == s["key"]).whenMatchedDelete(),
        lambda: table.merge(s, table.toDF()["key"] == s["key"]).whenMatchedDelete(third["key"] == 4),
        lambda: table.merge(s, table.toDF()["key"] == s["key"]).whenMatchedUpdate(
            set={"value": third["key"]}
        ),
        lambda: table.merge(s, table.toDF()["key"] == s["key"]).whenNotMatchedInsertAll(third["key"] == 4),
        lambda: table.merge(s, table.toDF()["key"] == s["key"]).whenNotMatchedInsert(
            values={"key": third["key"]}
        ),
        lambda: table.merge(s, table.toDF()["key"] == s["key"]).whenNotMatchedBySourceDelete(
            third["key"] == 1
        ),
    ):
        done(p, merge)


@AREA.situation()
def columns_of_an_older_frame(p: Player) -> None:
    """One of the same `DeltaTable`, before another version was there."""
    p.sql(TABLE)
    table = p.table()
    found = table.toDF()
    p.write("SELECT 9L AS key, 90L AS value, named_struct('a', 9L) AS s")
    s = p.sql(OTHER)
    for merge in (
        lambda: table.merge(s, found["key"] == s["key"]).whenMatchedDelete(),
        lambda: table.merge(s, table.toDF()["key"] == s["key"]).whenNotMatchedBySourceDelete(
            found["key"] == 1
        ),
    ):
        done(p, merge)


@AREA.grid(
    {
        "delete": lambda table, t: table.delete(t["key"] == 4),
        "delete, with an alias": lambda table, t: table.alias("t").delete(t["key"] == 4),
        "delete, both with an alias": lambda table, t: table.alias("t").delete(
            table.alias("t").toDF()["key"] == 4
        ),
        "delete by a field": lambda table, t: table.delete(t["s"]["a"] > 2),
        "update": lambda table, t: table.update(t["key"] == 4, {"value": t["value"] + t["s.a"]}),
        "update of all": lambda table, t: table.update(set={"value": t["key"]}),
        "delete by another frame": lambda table, t: table.delete(
            t.sparkSession.sql("SELECT 4L AS key")["key"] == 4
        ),
    },
    TABLE,
)
def deletes_and_updates(p: Player, change: Any) -> None:
    table = p.table()
    p.attempt(lambda: change(table, table.toDF()))
    p.rows()


@AREA.situation()
def tables_by_name(p: Player) -> None:
    p.sql(TABLE.replace("{t}", "{name}"))
    table = p.tables.forName(p.spark, p.name)
    t = table.toDF()
    s = p.sql(OTHER)
    p.attempt(lambda: table.merge(s, t["key"] == s["key"]).whenMatchedDelete().execute())
    p.rows("SELECT * FROM {name}")
    s = t.where("key = 2")
    p.attempt(lambda: table.merge(s, t["key"] == s["key"]).whenMatchedDelete().execute())
    p.rows("SELECT * FROM {name}")
    p.attempt(lambda: table.delete(t["key"] == 1))
    p.rows("SELECT * FROM {name}")
