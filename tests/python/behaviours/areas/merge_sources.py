# ruff: noqa: E501 (a statement reads best in one line)
"""Merges by what their source is, by the builder, and of rare columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from playing import Area
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

if TYPE_CHECKING:
    from playing import Player

AREA = Area("merge_sources")

TABLE = "CREATE TABLE {t} USING delta AS SELECT * FROM VALUES (2, 2), (1, 4) AS v(key2, value)"
ROWS = "VALUES (1, 6, 'a'), (0, 3, 'b') AS v(key1, value, others)"
MOVE = "WHEN MATCHED THEN UPDATE SET trg.key2 = 20 + key1, value = 20 + src.value WHEN NOT MATCHED THEN INSERT (trg.key2, value) VALUES (key1 - 10, src.value + 10)"
ON = f"ON src.key1 = trg.key2 {MOVE}"


@AREA.grid(
    {
        "a query": f"MERGE INTO {{t}} AS trg USING (SELECT key1, value, others FROM {ROWS}) AS src {ON}",
        "one row": f"MERGE INTO {{t}} AS trg USING (SELECT 5 AS key1, 5 AS value) AS src {ON}",
        "ordered by the key, one row": f"MERGE INTO {{t}} AS trg USING (SELECT * FROM {ROWS} ORDER BY key1 LIMIT 1) AS src {ON}",
        "ordered by the value, one row": f"MERGE INTO {{t}} AS trg USING (SELECT * FROM {ROWS} ORDER BY value DESC LIMIT 1) AS src {ON}",
        "a union": f"MERGE INTO {{t}} AS trg USING (SELECT * FROM VALUES (1, 6, 'a') AS t1(key1, value, others) UNION SELECT * FROM VALUES (0, 3, 'b') AS t2(key1, value, others)) AS src {ON}",
        "before the statement": f"WITH cte1 AS (SELECT key1 + 2 AS key1, value FROM {ROWS}) MERGE INTO {{t}} AS trg USING cte1 AS src {ON}",
        "before the statement, one by the other": f"WITH a AS (SELECT * FROM {ROWS}), b AS (SELECT key1 + 1 AS key1, value FROM a) MERGE INTO {{t}} AS trg USING b AS src {ON}",
        "the table": "MERGE INTO {t} AS target USING {t} AS src ON src.key2 = target.key2 WHEN MATCHED THEN UPDATE SET key2 = 20 + src.key2, value = 20 + src.value WHEN NOT MATCHED THEN INSERT (key2, value) VALUES (src.key2 - 10, src.value + 10)",
        "a view": f"MERGE INTO {{t}} AS trg USING {{name}} AS src {ON}",
    },
    TABLE,
    long=True,
)
def sources(p: Player, statement: str) -> None:
    p.sql(f"CREATE TEMPORARY VIEW {{name}} AS SELECT * FROM {ROWS}")
    p.answers(statement)
    p.rows()


PAIRS = "CREATE TABLE {t} USING delta AS SELECT * FROM VALUES (1, 10), (2, 20) AS v(trgKey, trgValue)"
NEW = "SELECT * FROM VALUES (1, 100), (2, 200), (3, 300), (4, 400) AS v(srcKey, srcValue)"
TAKEN, ADDED = {"trgKey": "srcKey", "trgValue": "srcValue"}, {"trgKey": "srcKey", "trgValue": "srcValue"}
BUILT: dict[str, Any] = {
    "clauses in turns": lambda m: m.whenMatchedUpdate("trgKey = 1", TAKEN).whenNotMatchedInsert("srcKey = 3", ADDED).whenMatchedDelete().whenNotMatchedInsert(values=ADDED),
    "an empty map with condition, delete": lambda m: m.whenMatchedUpdate("trgKey = 1", {}).whenMatchedDelete().whenNotMatchedInsert(values=ADDED),
    "columns": lambda m: m.whenMatchedUpdate(F.expr("srcKey = 1"), {"trgValue": F.col("srcValue") + F.col("trgValue")}).whenNotMatchedInsert(F.col("srcKey") == 3, {"trgKey": F.col("srcKey"), "trgValue": F.lit(7)}),
    "clauses that come too late": lambda m: m.whenMatchedUpdate("trgKey = 1", {"trgValue": "5"}).whenMatchedUpdate("trgKey = 1", {"trgValue": "0"}).whenMatchedUpdate("trgKey = 2", {"trgValue": "6"}).whenMatchedDelete("trgKey = 2"),
    "inserts that come too late": lambda m: m.whenNotMatchedInsert("srcKey = 3", {"trgKey": "srcKey", "trgValue": "5"}).whenNotMatchedInsert("srcKey = 3", {"trgKey": "srcKey", "trgValue": "6"}).whenNotMatchedInsert(values={"trgKey": "srcKey"}),
    "deletes and updates in turns": lambda m: m.whenMatchedDelete("trgKey = 1").whenMatchedUpdate("trgKey = 1", {"trgValue": "5"}).whenMatchedDelete("trgKey = 3").whenMatchedUpdate(set={"trgValue": "6"}),
}  # fmt: skip


@AREA.grid(BUILT, PAIRS, long=True)
def clauses_by_the_builder(p: Player, clauses: Any) -> None:
    p.answers(lambda: clauses(p.table().merge(p.sql(NEW), "srcKey = trgKey")).execute())
    p.rows()


@AREA.grid(
    {
        "clauses that come too late": lambda m: (
            m.whenNotMatchedBySourceUpdate("trgKey = 1", {"trgValue": "5"})
            .whenNotMatchedBySourceUpdate("trgKey = 1", {"trgValue": "0"})
            .whenNotMatchedBySourceUpdate("trgKey = 2", {"trgValue": "6"})
            .whenNotMatchedBySourceDelete("trgKey = 2")
            .whenNotMatchedBySourceDelete()
        ),
        "deletes and updates in turns": lambda m: (
            m.whenNotMatchedBySourceDelete("trgKey = 1")
            .whenNotMatchedBySourceUpdate("trgKey = 1", {"trgValue": "5"})
            .whenNotMatchedBySourceDelete("trgKey = 3")
            .whenNotMatchedBySourceUpdate(set={"trgValue": "6"})
        ),
    },
    PAIRS,
)
def clauses_by_source_by_the_builder(p: Player, clauses: Any) -> None:
    p.answers(lambda: clauses(p.table().merge(p.sql(f"{NEW} WHERE srcKey > 2"), "srcKey = trgKey")).execute())
    p.rows()


@AREA.situation()
def an_empty_map(p: Player) -> None:
    p.sql(PAIRS)
    merge = p.table().merge(p.sql(NEW), "srcKey = trgKey").whenMatchedUpdate(set={})
    p.attempt(merge.whenNotMatchedInsert(values=ADDED).execute)
    p.rows()


@AREA.situation()
def many_columns(p: Player) -> None:
    p.write(p.spark.range(1).select("id", *[F.col("id").alias(f"c{i}") for i in range(100)]))
    source = p.spark.range(1).select("id", *[(F.col("id") + i).alias(f"c{i}") for i in range(100)])
    p.table().alias("t").merge(source.alias("s"), "s.id = t.id").whenMatchedUpdateAll().execute()
    p.rows()


# -- stars and names


@AREA.grid(
    {
        "more columns in the source": ("(key STRING, value INT, value2 INT)", "('a', 1, 1), ('b', 2, 2)", "SELECT * FROM VALUES ('a', 10, 100, 1000), ('c', 30, 300, 3000) AS v(key, value, value2, value3)"),
        "another order": ("(key STRING, value INT, value2 INT)", "('a', 1, 1), ('b', 2, 2)", "SELECT * FROM VALUES (100, 'a', 10), (300, 'c', 30) AS v(value2, KEY, value)"),
        "a dot": ("(key INT, `the.value` INT)", "(1, 10), (2, 20), (4, 40)", "SELECT * FROM VALUES (1, 100), (3, 30), (4, 41) AS v(key, `the.value`)"),
        "a dot in a field": ("(key INT, s STRUCT<`a.b`: INT, c: INT>)", "(1, named_struct('a.b', 1, 'c', 2))", "SELECT * FROM VALUES (1, named_struct('c', 20, 'a.b', 10)), (3, named_struct('c', 4, 'a.b', 3)) AS v(key, s)"),
        "a name in another case": ("(key INT, Value INT)", "(1, 10), (2, 20)", "SELECT * FROM VALUES (1, 100), (3, 30) AS v(KEY, vALUE)"),
    }
)  # fmt: skip
def stars(p: Player, case: tuple[str, str, str]) -> None:
    columns, rows, source = case
    p.sql(f"CREATE TABLE {{t}} {columns} USING delta", f"INSERT INTO {{t}} VALUES {rows}")
    p.answers(
        f"MERGE INTO {{t}} AS t USING ({source}) AS s ON s.key = t.key WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    p.rows()


@AREA.grid(
    {
        "a field by its quoted name": "MERGE INTO {t} AS t USING (SELECT 'X1' AS x) AS s ON s.x = t.key.x WHEN MATCHED THEN UPDATE SET `t`.key.`y.i` = 9000, t.`value.a` = 'UPDATED'",
        "a struct as the key": "MERGE INTO {t} AS t USING (SELECT named_struct('x', 'X1', 'y.i', 1.0D) AS key, 'A' AS `value.a` UNION ALL SELECT named_struct('x', 'X9', 'y.i', 9.0D), 'N') AS s ON s.key = t.key WHEN MATCHED AND s.key.`y.i` < 2 THEN UPDATE SET * WHEN NOT MATCHED AND s.key.x > 'X4' THEN INSERT *",
        "fields of several depths": "MERGE INTO {t} AS t USING (SELECT 'X1' AS x) AS s ON s.x = t.key.x WHEN MATCHED THEN UPDATE SET key.x = 'XXX', key.`y.i` = '9', deep.a.b = '7', deep.c = NULL",
        "fields to null": "MERGE INTO {t} AS t USING (SELECT 'X1' AS x) AS s ON s.x = t.key.x WHEN MATCHED THEN UPDATE SET deep = NULL, key.x = NULL, key.`y.i` = NULL",
        "a field twice": "MERGE INTO {t} AS t USING (SELECT 'X1' AS x) AS s ON s.x = t.key.x WHEN MATCHED THEN UPDATE SET deep.a.b = 2, deep.a.b = 3",
        "arrays at several depths": "MERGE INTO {t} AS t USING (SELECT 'X1' AS x) AS s ON s.x = t.key.x WHEN MATCHED THEN UPDATE SET list = array(-9000), deep.list = array(-1, -11)",
    },
    "CREATE TABLE {t} (key STRUCT<x: STRING, `y.i`: DOUBLE>, `value.a` STRING, deep STRUCT<a: STRUCT<b: INT>, c: INT, list: ARRAY<INT>>, list ARRAY<INT>) USING delta",
    "INSERT INTO {t} SELECT named_struct('x', concat('X', id), 'y.i', CAST(id AS DOUBLE)), concat('A', id), named_struct('a', named_struct('b', CAST(id AS INT)), 'c', 5, 'list', array(1, 2)), array(1, 10) FROM range(1, 3)",
)
def fields(p: Player, statement: str) -> None:
    p.attempt(statement)
    p.rows()


@AREA.situation()
def lists_of_structs(p: Player) -> None:
    """Structs of lists have their fields in another order, within lists within them, too."""
    p.sql(
        "CREATE TABLE {t} (id STRING, evt ARRAY<STRUCT<a: STRING, refs: ARRAY<STRUCT<d: STRING, n: STRING>>, z: STRING>>, at TIMESTAMP) USING delta"
    )
    p.sql(
        "INSERT INTO {t} VALUES ('1', array(named_struct('a', 'A', 'refs', array(named_struct('d', 'D', 'n', 'N')), 'z', 'Z')), timestamp'2020-01-01')"
    )
    source = "SELECT id, array(named_struct('z', concat('z', id), 'a', 'a', 'refs', array(named_struct('n', 'n', 'd', 'd')))) AS evt, timestamp'2021-01-01' AS at FROM VALUES ('1'), ('2') AS v(id)"
    p.answers(
        f"MERGE INTO {{t}} AS r USING ({source}) AS u ON u.id = r.id WHEN MATCHED AND u.at > r.at THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    p.rows()


@AREA.situation()
def variants(p: Player) -> None:
    p.sql("CREATE TABLE {t} USING delta AS SELECT parse_json(CAST(id AS STRING)) AS v, id AS i FROM range(2)")
    p.answers(
        "MERGE INTO {t} AS t USING (SELECT parse_json(CAST(id AS STRING)) AS v, id + 1 AS i FROM range(1, 3)) AS src ON to_json(src.v) = to_json(t.v) WHEN MATCHED THEN UPDATE SET i = 10 + src.i + t.i, v = t.v WHEN NOT MATCHED THEN INSERT (i, v) VALUES (i + 100, parse_json('\"inserted\"'))"
    )
    p.rows("SELECT i, to_json(v) FROM {t}")
    p.answers(
        "DELETE FROM {t} WHERE to_json(v) = '1'",
        "UPDATE {t} SET i = 5, v = parse_json('123') WHERE to_json(v) = '0'",
    )
    p.rows("SELECT i, to_json(v) FROM {t}")


@AREA.family({"": "", "partitioned": "PARTITIONED BY (part)"})
def a_column_of_the_user_named_as_the_feeds(p: Player, by: str) -> None:
    """With the feed off, `_change_type` is a column as others are, for each kind of change."""
    p.sql(
        f"CREATE TABLE {{t}} USING delta {by} TBLPROPERTIES (delta.enableChangeDataFeed = false) AS SELECT id, int(id / 10) AS part, 'foo' AS _change_type FROM range(100)"
    )
    p.answers(
        "MERGE INTO {t} AS t USING (SELECT id * 42 AS id, int(id / 10) AS part, 'bar' AS _change_type FROM range(33)) AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    p.answers(
        "UPDATE {t} SET _change_type = 'set' WHERE id IN (1, 43, 85)",
        "DELETE FROM {t} WHERE id IN (2, 44, 86)",
    )
    p.rows("SELECT _change_type, count(*), sum(id), sum(part) FROM {t} GROUP BY 1")


@AREA.situation()
def metadata_of_columns(p: Player) -> None:
    p.sql(
        "CREATE TABLE {t} (key INT NOT NULL COMMENT 'data column', value INT NOT NULL, cstruct STRUCT<foo: INT COMMENT 'foo field'>) USING delta TBLPROPERTIES ('delta.minReaderVersion' = '2', 'delta.minWriterVersion' = '5', 'delta.columnMapping.mode' = 'name')"
    )
    p.sql("INSERT INTO {t} VALUES (0, 0, NULL)")
    for clauses in (
        "WHEN MATCHED AND t.key = 1 THEN UPDATE SET t.value = 42 WHEN NOT MATCHED BY SOURCE AND t.key = 100 THEN UPDATE SET t.value = 22",
        "WHEN NOT MATCHED BY SOURCE AND t.key = 0 THEN UPDATE SET t.value = 22",
        "WHEN NOT MATCHED THEN INSERT (key, value) VALUES (s.key, s.value)",
    ):
        p.answers(
            f"MERGE INTO {{t}} AS t USING (SELECT 1 AS key, 1 AS value) AS s ON s.key = t.key {clauses}"
        )
    p.rows()
    p.logged_schema()
    p.schema()


@AREA.situation()
def a_star_and_a_function_with_evolution(p: Player) -> None:
    p.conf("spark.databricks.delta.schema.autoMerge.enabled", "true")
    p.sql(
        "CREATE TABLE {t} (id STRING, old STRING, date DATE) USING delta",
        "CREATE TABLE {u} (id STRING, new STRING, old STRING, date DATE) USING delta",
        "INSERT INTO {u} VALUES ('1', 'n', 'o', date'2020-01-01')",
    )
    p.answers(
        "MERGE INTO {t} AS t USING {u} AS s ON s.id = t.id AND t.date >= date_sub(current_date(), 3) WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    p.rows()
    p.answers(
        "MERGE INTO {t} AS target USING (SELECT id, old FROM {u}) AS source ON target.id = source.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    p.rows()


@AREA.situation()
def a_table_without_statistics(p: Player) -> None:
    p.conf("spark.databricks.delta.stats.collect", "false")
    p.sql(PAIRS)
    p.table().merge(p.sql(NEW), "srcKey = trgKey AND srcKey < 2").whenMatchedUpdate(
        set=TAKEN
    ).whenNotMatchedInsert("srcKey > 3", ADDED).execute()
    p.rows()


@AREA.situation()
def files_that_a_part_rules_out(p: Player) -> None:
    """Rows of the source are inserted by their values, whatever part of the table the condition is about."""
    p.write("SELECT id, id % 5 AS part, id + id AS value FROM range(10)", by=("part",))
    p.answers(
        "MERGE INTO {t} AS t USING (SELECT id, 1L AS part, id + id AS value FROM range(20)) AS s ON s.id = t.id AND t.part = 1 WHEN NOT MATCHED AND s.id % 5 = s.part THEN INSERT *"
    )
    p.rows()
    p.answers(
        "MERGE INTO {t} AS t USING (SELECT id, id % 5 AS part, 7L AS value FROM range(3)) AS s ON s.id = t.id AND t.part <= 1 WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    p.rows()


# -- sessions and failures


@AREA.situation()
def the_session_of_the_table(p: Player) -> None:
    """What the session of the `DeltaTable` has set counts, not that of the source."""
    p.write("SELECT id, id AS x FROM range(1)")
    other = p.spark.newSession()
    other.conf.set("spark.databricks.delta.schema.autoMerge.enabled", "true")
    source = p.sql("SELECT id, id AS x, id AS y FROM range(20)").alias("s")
    table = p.tables.forPath(other, p.path).alias("t")
    p.attempt(
        lambda: (
            table.merge(source, "t.id = s.id")
            .whenMatchedUpdate(set={"t.x": "t.x + 1"})
            .whenNotMatchedInsertAll()
            .execute()
        )
    )
    p.rows("SELECT count(*), sum(id), sum(x) FROM {t}")
    p.schema()


@AREA.situation()
def a_source_that_fails(p: Player) -> None:
    p.sql(PAIRS)
    p.attempt(
        "MERGE INTO {t} AS t USING (SELECT CAST(assert_true(id < 2) IS NULL AS INT) + CAST(id AS INT) AS k FROM range(3)) AS s ON s.k = t.trgKey WHEN MATCHED THEN DELETE"
    )
    p.attempt(
        "MERGE INTO {t} AS t USING (SELECT CAST(raise_error('mine') AS INT) AS k) AS s ON s.k = t.trgKey WHEN MATCHED THEN DELETE"
    )
    p.attempt(
        "MERGE INTO {t} AS t USING (SELECT CAST(CAST(id + 9 AS STRING) || 'x' AS INT) AS k FROM range(3)) AS s ON s.k = t.trgKey WHEN NOT MATCHED THEN INSERT (trgKey) VALUES (s.k)"
    )
    p.rows()


@AREA.situation()
def a_checkpointed_frame_stays(p: Player) -> None:
    p.sql(PAIRS)
    source = p.sql(NEW).localCheckpoint()
    p.table().merge(source, "srcKey = trgKey").whenMatchedUpdate(set=TAKEN).whenNotMatchedInsert(
        values=ADDED
    ).execute()
    p.rows(source)
    p.rows()


# -- columns of the frames themselves

KEYS = "CREATE TABLE {t} USING delta AS SELECT * FROM VALUES (1, 1), (2, 2) AS v(key, value)"
FRAME = "SELECT * FROM VALUES (1, 10), (2, 20), (3, 30), (4, 40) AS v(key, value)"


@AREA.situation(differs="the condition is that of Spark for such a column")
def columns_of_another_frame(p: Player) -> None:
    p.sql(KEYS)
    table, source, third = p.table(), p.sql(FRAME), p.sql("SELECT 0 AS key, 0 AS value")
    target = table.toDF()
    equal = target["key"] == source["key"]
    p.attempt(
        lambda: table.merge(source, target["key"] == third["key"]).whenMatchedDelete().execute(),
        lambda: table.merge(source, equal).whenMatchedUpdateAll(third["key"] == 1).execute(),
        lambda: table.merge(source, equal).whenMatchedUpdate(set={"key": third["key"]}).execute(),
        lambda: table.merge(source, equal).whenNotMatchedInsertAll(third["key"] == 1).execute(),
        lambda: table.merge(source, equal).whenNotMatchedInsert(values={"key": third["key"]}).execute(),
    )
    p.rows()


@AREA.situation()
def a_merge_of_a_table_with_its_frame(p: Player) -> None:
    p.write("SELECT id AS key, id AS value FROM range(5)")
    table = p.table()
    p.attempt(
        lambda: (
            table.alias("t")
            .merge(table.toDF().where("key = 4").alias("s"), "t.key = s.key")
            .whenMatchedDelete()
            .execute()
        )
    )
    p.rows()
