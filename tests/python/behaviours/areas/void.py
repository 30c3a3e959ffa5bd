"""Tables with void columns: how they come, what the log and the files have of them, and what gives them a type."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
from playing import Area

from areas.void_tables import Player, frame

if TYPE_CHECKING:
    from collections.abc import Callable

    import playing

SITUATIONS: list[Callable[[Player], None]] = []


def situation(play: Callable[[Player], None]) -> Callable[[Player], None]:
    SITUATIONS.append(play)
    return play


@situation
def a_column_by_a_frame(p: Player) -> None:
    p.write("SELECT 1 id, NULL v UNION ALL SELECT 2, NULL")
    p.table()
    p.write("SELECT 3 id, NULL v")
    p.write("SELECT 4 id")
    p.table()
    p.write("SELECT 5 id, 'x' v")
    p.write("SELECT 5 id, CAST(NULL AS STRING) v")
    p.write("SELECT 5 id, 'x' v", mergeSchema="true")
    p.table()
    p.write("SELECT 6 id, NULL v")
    p.table()


@situation
def a_query_of_it(p: Player) -> None:
    p.write("SELECT 1 id, NULL v, named_struct('a', 1, 'n', NULL) s")
    p.write("SELECT 2 id, NULL v, CAST(NULL AS STRUCT<a: INT, n: VOID>) s")
    p.table()
    for where in (
        "v IS NULL",
        "v IS NOT NULL",
        "v = 1",
        "v <=> NULL",
        "s.n IS NULL",
        "s.n IS NOT NULL",
        "s IS NULL",
        "v IS NULL AND id = 1",
        "v > 1 OR id = 2",
        "v IN (1, NULL)",
        "NOT (v = 1)",
    ):
        p.rows(f"SELECT id FROM {{t}} WHERE {where}")
    p.rows("SELECT v FROM {t}")
    p.rows("SELECT s.n FROM {t}")
    p.rows("SELECT s.n, v, s.a, id FROM {t}")
    p.rows("SELECT count(v), count(*), count(s.n) FROM {t}")
    p.rows("SELECT v, count(*) FROM {t} GROUP BY v")
    p.rows("SELECT count(*) FROM {t}")
    p.rows("SELECT max(v), min(v) FROM {t}")


@situation
def only_void(p: Player) -> None:
    p.write("SELECT NULL v")
    p.write("SELECT NULL v WHERE false")
    path = p.other()
    p.sql("CREATE TABLE {0} (a VOID, b VOID) USING delta", path)
    p.table(path)
    p.write("SELECT NULL a, NULL b", path)
    p.write("SELECT NULL a, NULL b WHERE false", path)
    p.sql("INSERT INTO {0} VALUES (NULL, NULL)", path)
    p.sql("UPDATE {0} SET a = NULL", path)
    p.sql("DELETE FROM {0} WHERE a IS NULL", path)
    p.sql("ALTER TABLE {0} ADD COLUMN c INT", path)
    p.write("SELECT NULL a, NULL b, 1 c", path)
    p.table(path)


@situation
def structs_of_void(p: Player) -> None:
    p.write("SELECT 1 id, named_struct('n', NULL) s")
    p.write("SELECT 1 id, named_struct('n', NULL) s WHERE false")


@situation
def structs_of_void_by_sql(p: Player) -> None:
    p.sql("CREATE TABLE {t} (id INT, s STRUCT<n: VOID>) USING delta")
    p.table()
    p.sql("INSERT INTO {t} VALUES (1, named_struct('n', NULL))")
    p.sql("INSERT INTO {t} SELECT 1, NULL")
    p.sql("INSERT INTO {t} (id) VALUES (1)")
    p.sql("ALTER TABLE {t} ADD COLUMN s.m INT")
    p.sql("INSERT INTO {t} VALUES (1, named_struct('n', NULL, 'm', 2)), (2, NULL)")
    p.table()


@situation
def deep_structs_of_void(p: Player) -> None:
    p.write("SELECT 1 id, named_struct('a', 1, 'b', named_struct('n', NULL)) s")
    p.write("SELECT 1 id, named_struct('b', named_struct('n', NULL, 'x', 1), 'v', NULL) s")
    p.table()
    p.write("SELECT 2 id, named_struct('b', CAST(NULL AS STRUCT<n: VOID, x: INT>), 'v', NULL) s")
    p.table()


@situation
def arrays_and_maps(p: Player) -> None:
    for value in (
        "array(NULL)",
        "array()",
        "map('a', NULL)",
        "array(named_struct('n', NULL, 'x', 1))",
        "named_struct('l', array(NULL))",
        "map('a', named_struct('n', NULL, 'x', 1))",
        "map()",
        "array(array(NULL))",
        "map(named_struct('n', NULL, 'x', 1), 1)",
    ):
        path = p.other()
        p.write(f"SELECT 1 id, {value} c", path)
        p.write(f"SELECT 1 id, {value} c WHERE false", path)


@situation
def arrays_and_maps_by_sql(p: Player) -> None:
    for i, kind in enumerate(
        (
            "ARRAY<VOID>",
            "MAP<STRING, VOID>",
            "ARRAY<STRUCT<n: VOID, x: INT>>",
            "STRUCT<l: ARRAY<VOID>>",
            "MAP<VOID, STRING>",
        )
    ):
        path = p.other()
        p.sql(f"CREATE TABLE {{0}} (id INT, c {kind}) USING delta", path)
        p.table(path)
        p.sql("INSERT INTO {0} (id) VALUES (1)", path)
        p.sql("INSERT INTO {0} VALUES (1, NULL)", path)
        p.sql("UPDATE {0} SET id = 2", path)
        p.sql("DELETE FROM {0} WHERE id = 2", path)
        p.sql("ALTER TABLE {0} ADD COLUMN more INT", path)
        if i < 2:
            p.sql("OPTIMIZE {0}", path)


@situation
def a_table_by_sql(p: Player) -> None:
    p.sql("CREATE TABLE {t} (id INT, v VOID COMMENT 'none', s STRUCT<a: INT, n: VOID>) USING delta")
    p.table()
    p.sql("INSERT INTO {t} VALUES (1, NULL, NULL)")
    p.sql("INSERT INTO {t} SELECT 2, NULL, named_struct('a', 1, 'n', NULL)")
    p.sql("INSERT INTO {t} (id) VALUES (3)")
    p.sql("INSERT INTO {t} (v, id) VALUES (NULL, 4)")
    p.sql("INSERT INTO {t} VALUES (5, 1, NULL)")
    p.sql("INSERT INTO {t} VALUES (5, CAST(NULL AS INT), NULL)")
    p.sql("INSERT INTO {t} (v, id) VALUES ('x', 4)")
    p.sql("INSERT INTO {t} VALUES (6, NULL, named_struct('a', 1, 'n', 'x'))")
    p.table()
    p.sql("INSERT OVERWRITE {t} VALUES (7, NULL, NULL)")
    p.table()
    p.rows("DESCRIBE TABLE {t}")
    p.sql("UPDATE {t} SET v = NULL")
    p.sql("UPDATE {t} SET v = 1")
    p.sql("UPDATE {t} SET v = CAST(NULL AS INT)")
    p.sql("UPDATE {t} SET id = 8, s = named_struct('a', 2, 'n', NULL) WHERE v IS NULL")
    p.sql("UPDATE {t} SET s.n = NULL WHERE id = 8")
    p.sql("UPDATE {t} SET s.n = 1 WHERE id = 8")
    p.table()
    p.sql("DELETE FROM {t} WHERE v = 1")
    p.table()
    p.sql("INSERT INTO {t} VALUES (9, NULL, NULL), (10, NULL, NULL)")
    p.sql("DELETE FROM {t} WHERE id = 9")
    p.rows("SELECT * FROM {t}")
    p.sql("DELETE FROM {t} WHERE v IS NULL")
    p.table()


@situation
def a_table_as_select(p: Player) -> None:
    p.sql("CREATE TABLE {t} USING delta AS SELECT 1 id, null AS x, named_struct('a', 1, 'n', NULL) s")
    p.table()
    p.sql("CREATE OR REPLACE TABLE {t} USING delta AS SELECT null AS x, 2 id")
    p.table()
    p.sql("CREATE OR REPLACE TABLE {t} USING delta AS SELECT null AS x")
    p.table()
    p.sql("REPLACE TABLE {t} (a INT, b VOID) USING delta")
    p.table()
    p.sql("CREATE TABLE {0} USING delta AS SELECT array(NULL) a", p.other())
    p.sql("CREATE TABLE {0} USING delta PARTITIONED BY (x) AS SELECT 1 id, NULL x", p.other())
    p.sql("CREATE TABLE {0} USING delta CLUSTER BY (x) AS SELECT 1 id, NULL x", p.other())


@situation
def partitions(p: Player) -> None:
    p.write("SELECT 1 id, NULL v", by="v")
    p.sql("CREATE TABLE {t} (id INT, v VOID) USING delta PARTITIONED BY (v)")
    p.write("SELECT 1 id, NULL v", by="id")
    p.write("SELECT 1 id, NULL v, 2 w", by="id")
    p.table()
    p.sql("INSERT INTO {t} VALUES (2, NULL, 3), (3, NULL, 4)")
    p.table()
    p.write("SELECT 2 id, NULL v, 9 w", mode="overwrite", replaceWhere="id = 2")
    p.table()


@situation
def only_partition_and_void(p: Player) -> None:
    p.sql("CREATE TABLE {t} (id INT, v VOID) USING delta PARTITIONED BY (id)")
    p.sql("INSERT INTO {t} VALUES (1, NULL)")
    p.write("SELECT 1 id, NULL v")
    p.write("SELECT 1 id")


@situation
def columns_that_are_added(p: Player) -> None:
    p.write("SELECT 1 id, named_struct('a', 1) s")
    p.sql("ALTER TABLE {t} ADD COLUMN v VOID")
    p.sql("ALTER TABLE {t} ADD COLUMNS (s.n VOID, w VOID FIRST)")
    p.sql("ALTER TABLE {t} ADD COLUMN l ARRAY<VOID>")
    p.table()
    p.sql("INSERT INTO {t} (id) VALUES (2)")
    p.table()


@situation
def columns_by_merge_schema(p: Player) -> None:
    p.write("SELECT 1 id, named_struct('a', 1) s")
    p.write("SELECT 2 id, NULL v", mergeSchema="true")
    p.table()
    p.write("SELECT 3 id, named_struct('a', 1, 'n', NULL) s", mergeSchema="true")
    p.table()
    p.write("SELECT 4 id, named_struct('a', 1, 'n', 'x') s", mergeSchema="true")
    p.table()
    p.write("SELECT 5 id, named_struct('n', NULL) v", mergeSchema="true")
    p.table()
    p.write("SELECT 6 id, array(NULL) l", mergeSchema="true")
    p.table()
    p.write("SELECT 7 id, NULL l2 WHERE false", mergeSchema="true")
    p.table()
    p.write("SELECT 8 id, NULL s", mergeSchema="true")
    p.write("SELECT 9 id, NULL s")
    p.table()


@situation
def types_that_are_changed(p: Player) -> None:
    p.sql("CREATE TABLE {t} (id INT, a VOID, b VOID, c VOID, s STRUCT<n: VOID, m: INT>) USING delta")
    p.sql("INSERT INTO {t} (id) VALUES (1)")
    p.sql("ALTER TABLE {t} ALTER COLUMN a TYPE STRING")
    p.sql("ALTER TABLE {t} CHANGE COLUMN b b STRUCT<x: INT, y: VOID>")
    p.sql("ALTER TABLE {t} ALTER COLUMN s.n TYPE DATE")
    p.sql("ALTER TABLE {t} ALTER COLUMN c TYPE ARRAY<INT>")
    p.sql("ALTER TABLE {t} ALTER COLUMN id TYPE VOID")
    p.table()
    p.sql(
        "INSERT INTO {t} VALUES (2, 'x', named_struct('x', 1, 'y', NULL), array(1), "
        "named_struct('n', DATE'2024-01-01', 'm', 1))"
    )
    p.table()


@situation
def columns_that_are_replaced(p: Player) -> None:
    p.sql("CREATE TABLE {t} (id INT, a VOID) USING delta")
    p.sql("INSERT INTO {t} (id) VALUES (1)")
    p.sql("ALTER TABLE {t} REPLACE COLUMNS (id INT, a INT, b VOID)")
    p.table()
    p.sql("ALTER TABLE {t} ALTER COLUMN a COMMENT 'x'")
    p.sql("ALTER TABLE {t} ALTER COLUMN b FIRST")
    p.sql("ALTER TABLE {t} ALTER COLUMN b SET NOT NULL")
    p.sql("ALTER TABLE {t} ALTER COLUMN b DROP NOT NULL")
    p.table()


@situation
def a_schema_that_is_overwritten(p: Player) -> None:
    p.write("SELECT 1 id, 2 a")
    p.write("SELECT 1 id, NULL a", mode="overwrite")
    p.table()
    p.write("SELECT 1 id, NULL a, NULL b", mode="overwrite", overwriteSchema="true")
    p.table()
    p.write("SELECT 1 id, 2 a", mode="overwrite", overwriteSchema="true")
    p.table()
    p.write("SELECT NULL a", mode="overwrite", overwriteSchema="true")
    p.table()


@situation
def merges(p: Player) -> None:
    p.write("SELECT 1 id, NULL v, named_struct('a', 1, 'n', NULL) s")
    source = p.other()
    p.write("SELECT 1 id, NULL v, named_struct('a', 2, 'n', NULL) s UNION ALL SELECT 2, NULL, NULL", source)
    p.sql(
        "MERGE INTO {t} t USING {0} s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT "
        "MATCHED THEN INSERT *",
        source,
    )
    p.table()
    p.sql(
        "MERGE INTO {t} t USING {0} s ON t.id = s.id + 10 WHEN NOT MATCHED THEN INSERT (id, v) "
        "VALUES (3, NULL)",
        source,
    )
    p.sql("MERGE INTO {t} t USING {0} s ON t.v = s.v WHEN NOT MATCHED THEN INSERT (id) VALUES (4)", source)
    p.table()
    p.sql("MERGE INTO {t} t USING {0} s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = 1", source)
    p.sql(
        "MERGE INTO {t} t USING {0} s ON t.id = s.id WHEN MATCHED THEN DELETE WHEN NOT MATCHED BY "
        "SOURCE THEN UPDATE SET v = NULL",
        source,
    )
    p.table()
    typed = p.other()
    p.write("SELECT 3 id, 'x' v, named_struct('a', 2, 'n', 1) s", typed)
    p.sql("MERGE INTO {t} t USING {0} s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *", typed)
    p.sql(
        "MERGE WITH SCHEMA EVOLUTION INTO {t} t USING {0} s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *",
        typed,
    )
    p.table()


@situation
def merges_that_evolve(p: Player) -> None:
    p.write("SELECT 1 id, named_struct('a', 1) s")
    source = p.other()
    p.write("SELECT 1 id, NULL v, named_struct('a', 2, 'n', NULL) s UNION ALL SELECT 2, NULL, NULL", source)
    p.sql(
        "MERGE WITH SCHEMA EVOLUTION INTO {t} t USING {0} s ON t.id = s.id WHEN MATCHED THEN "
        "UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
        source,
    )
    p.table()
    p.sql(
        "MERGE INTO {t} t USING (SELECT 3 id, NULL v, NULL s) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *"
    )
    p.table()
    p.sql(
        "MERGE WITH SCHEMA EVOLUTION INTO {t} t USING (SELECT 4 id, array(NULL) l) s ON t.id = "
        "s.id WHEN NOT MATCHED THEN INSERT *"
    )
    p.table()


@situation
def deletion_vectors_and_feed(p: Player) -> None:
    p.write(
        "SELECT id, NULL v, named_struct('a', 1, 'n', NULL) s FROM range(10)",
        **{"delta.enableDeletionVectors": "true", "delta.enableChangeDataFeed": "true"},
    )
    p.sql("DELETE FROM {t} WHERE id = 3")
    p.sql("UPDATE {t} SET v = NULL, s.a = 2 WHERE id = 4")
    p.sql(
        "MERGE INTO {t} t USING (SELECT 5L id, NULL v, NULL s) s ON t.id = s.id WHEN MATCHED THEN "
        "UPDATE SET *"
    )
    p.do(lambda: frame(p.spark.read.format("delta").load(p.path)))
    feed = p.spark.read.format("delta").option("readChangeFeed", "true").option("startingVersion", "0")
    p.do(lambda: frame(feed.load(p.path).drop("_commit_timestamp")))
    p.sql("OPTIMIZE {t}")
    p.do(lambda: frame(p.spark.read.format("delta").load(p.path)))


@situation
def the_feed_of_rewritten_files(p: Player) -> None:
    p.write(
        "SELECT id, NULL v, named_struct('a', 1, 'n', NULL) s FROM range(4)",
        **{"delta.enableChangeDataFeed": "true"},
    )
    p.sql("UPDATE {t} SET v = NULL, s.a = 2 WHERE id = 1")
    p.sql("DELETE FROM {t} WHERE id = 3")
    feed = p.spark.read.format("delta").option("readChangeFeed", "true").option("startingVersion", "0")
    p.do(lambda: frame(feed.load(p.path).drop("_commit_timestamp")))
    p.rows("SELECT * FROM {t}")


@situation
def maintenance(p: Player) -> None:
    p.write("SELECT 1 id, NULL v, named_struct('a', 1, 'n', NULL) s")
    p.write("SELECT 2 id, NULL v, named_struct('a', 2, 'n', NULL) s")
    p.sql("OPTIMIZE {t}")
    p.table()
    p.sql("OPTIMIZE {t} ZORDER BY (v)")
    p.sql("OPTIMIZE {t} ZORDER BY (s.n)")
    p.sql("OPTIMIZE {t} ZORDER BY (id)")
    p.sql("RESTORE TABLE {t} TO VERSION AS OF 0")
    p.table()
    p.sql("VACUUM {t}")
    clone = p.other()
    p.sql(f"CREATE TABLE delta.`{clone}` SHALLOW CLONE {{t}}")
    p.do(lambda: frame(p.spark.read.format("delta").load(clone)))
    p.sql("INSERT INTO {0} VALUES (3, NULL, NULL)", clone)
    p.do(lambda: frame(p.spark.read.format("delta").load(clone)))
    p.sql("ALTER TABLE {t} CLUSTER BY (v)")
    p.sql("ALTER TABLE {t} CLUSTER BY (id)")


@situation
def clustering(p: Player) -> None:
    p.sql("CREATE TABLE {t} (id INT, v VOID) USING delta CLUSTER BY (v)")
    p.sql("CREATE TABLE {t} (id INT, v VOID) USING delta CLUSTER BY (id)")
    p.sql("INSERT INTO {t} VALUES (1, NULL)")
    p.sql("OPTIMIZE {t}")
    p.do(lambda: frame(p.spark.read.format("delta").load(p.path)))


@situation
def checkpoints(p: Player) -> None:
    p.write(
        "SELECT 1 id, NULL v, named_struct('a', 1, 'n', NULL) s",
        **{"delta.checkpointInterval": "2", "delta.checkpoint.writeStatsAsStruct": "true"},
    )
    for i in range(3):
        p.write(f"SELECT {i} id, NULL v, NULL s")
    p.do(
        lambda: str(
            pq.read_schema(max(Path(p.path, "_delta_log").glob("*.checkpoint*")))
            .field("add")
            .type.field("stats_parsed")
            .type
        )
    )
    p.table()
    p.rows("SELECT id FROM {t} WHERE v IS NULL AND id = 1")
    p.rows("SELECT id FROM {t} WHERE v IS NOT NULL")


@situation
def column_mapping(p: Player) -> None:
    for mode in ("name", "id"):
        path = p.other()
        p.write(
            "SELECT 1 id, NULL v, named_struct('a', 1, 'n', NULL) s",
            path,
            **{"delta.columnMapping.mode": mode},
        )
        p.write("SELECT 2 id, NULL v, NULL s", path)
        p.table(path)
        p.sql("ALTER TABLE {0} RENAME COLUMN v TO w", path)
        p.sql("ALTER TABLE {0} RENAME COLUMN s.n TO m", path)
        p.table(path)
        p.write("SELECT 3 id, 'x' w, named_struct('a', 1, 'm', 2) s", path, mergeSchema="true")
        p.table(path)
        p.sql("ALTER TABLE {0} ADD COLUMN u VOID", path)
        p.sql("ALTER TABLE {0} DROP COLUMN u", path)
        p.sql("UPDATE {0} SET id = 5 WHERE id = 1", path)
        p.table(path)
    p.write("SELECT 1 id, NULL v, named_struct('a', 1, 'n', NULL) s")
    p.sql("ALTER TABLE {t} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
    p.sql("ALTER TABLE {t} DROP COLUMN v")
    p.table()


@situation
def rules(p: Player) -> None:
    p.sql("CREATE TABLE {t} (id INT, v VOID) USING delta")
    p.sql("ALTER TABLE {t} ADD CONSTRAINT c CHECK (v IS NULL)")
    p.sql("INSERT INTO {t} VALUES (1, NULL)")
    p.sql("ALTER TABLE {t} ADD CONSTRAINT d CHECK (v > 1)")
    p.sql("INSERT INTO {t} VALUES (2, NULL)")
    p.table()
    p.sql("CREATE TABLE {0} (id INT, v VOID NOT NULL) USING delta", p.other())
    p.sql(
        "CREATE TABLE {0} (id INT, v VOID DEFAULT NULL) USING delta "
        "TBLPROPERTIES('delta.feature.allowColumnDefaults' = 'supported')",
        p.other(),
    )
    by = p.other()
    p.sql("CREATE TABLE {0} (id INT, v VOID, g INT GENERATED ALWAYS AS (CAST(v AS INT))) USING delta", by)
    p.sql("INSERT INTO {0} (id) VALUES (1)", by)
    p.table(by)
    is_one = p.other()
    p.sql("CREATE TABLE {0} (id INT, v VOID GENERATED ALWAYS AS (NULL)) USING delta", is_one)
    p.sql("INSERT INTO {0} (id) VALUES (1)", is_one)
    p.table(is_one)
    no_null = p.other()
    p.sql("CREATE TABLE {0} (id INT, v VOID NOT NULL) USING delta", no_null)
    p.sql("INSERT INTO {0} VALUES (1, NULL)", no_null)


@situation
def not_null(p: Player) -> None:
    p.sql("CREATE TABLE {t} (id INT, v VOID NOT NULL, s STRUCT<a: INT, n: VOID NOT NULL>) USING delta")
    p.sql("INSERT INTO {t} VALUES (1, NULL, NULL)")
    p.sql("INSERT INTO {t} (id) VALUES (1)")


@situation
def streams(p: Player) -> None:
    p.write("SELECT 1 id, NULL v, named_struct('a', 1, 'n', NULL) s")

    def drain(select: str, to: str, source: str | None = None, **options: str) -> None:
        rows = (
            p.spark.readStream.format("delta")
            .load(source or p.path)
            .selectExpr(select.split(";")[0], *select.split(";")[1:])
        )
        query = (
            rows.writeStream.format("delta")
            .options(**options)
            .option("checkpointLocation", f"{to}-checkpoint")
        )
        query.trigger(availableNow=True).start(to).awaitTermination()

    sink = p.other()
    p.do(lambda: drain("*", sink))
    p.do(lambda: frame(p.spark.read.format("delta").load(sink)))
    sink = p.other()
    p.do(lambda: drain("id", sink))
    p.do(lambda: frame(p.spark.read.format("delta").load(sink)))
    p.do(lambda: drain("id;s.a", p.other()))
    p.do(lambda: drain("id;s", p.other()))
    into = p.other()
    p.sql("CREATE TABLE {0} (id INT, v VOID) USING delta", into)
    p.do(lambda: drain("id", into))
    p.table(into)
    p.do(
        lambda: [
            [f.name, f.dataType.simpleString()]
            for f in p.spark.readStream.format("delta").load(p.path).schema.fields
        ]
    )
    rows = p.spark.readStream.format("delta").load(p.path)
    name = "void_" + uuid.uuid4().hex
    p.do(
        lambda: (
            rows.writeStream.format("memory")
            .queryName(name)
            .trigger(availableNow=True)
            .start()
            .awaitTermination()
        )
    )
    p.do(lambda: frame(p.spark.table(name)))


@situation
def names_of_the_catalog(p: Player) -> None:
    name = "void_" + uuid.uuid4().hex
    p.sql(f"CREATE TABLE {name} (id INT, v VOID) USING delta")
    p.sql(f"INSERT INTO {name} VALUES (1, NULL)")
    p.rows(f"SELECT * FROM {name} WHERE v IS NULL")
    p.do(lambda: p.spark.sql("SELECT 2 id, NULL v").write.format("delta").mode("append").saveAsTable(name))
    p.do(lambda: p.spark.sql("SELECT 3 id, NULL v").write.format("delta").mode("append").insertInto(name))
    p.rows(f"SELECT * FROM {name}")
    p.rows(f"DESCRIBE TABLE {name}")
    p.do(lambda: p.spark.sql("SELECT 2 id, NULL v").write.format("delta").saveAsTable(name + "_2"))
    p.rows(f"SELECT * FROM {name}_2")
    p.do(lambda: p.spark.sql("SELECT 2 id, NULL v").writeTo(name + "_3").using("delta").create())
    p.do(lambda: p.spark.sql("SELECT 2 id, NULL v").writeTo(name + "_3").append())
    p.rows(f"SELECT * FROM {name}_3")
    for table in ("", "_2", "_3"):
        p.sql(f"DROP TABLE IF EXISTS {name}{table}")


@situation
def converted(p: Player) -> None:
    p.spark.range(2).write.parquet(p.path)
    p.sql("CONVERT TO DELTA parquet.`" + p.path + "`")
    p.sql("ALTER TABLE {t} ADD COLUMN v VOID")
    p.table()


@situation
def by_the_builder(p: Player) -> None:
    p.do(
        lambda: (
            p.tables.create(p.spark).location(p.path).addColumn("id", "INT").addColumn("v", "VOID").execute()
            and None
        )
    )
    p.table()
    p.do(lambda: p.tables.forPath(p.spark, p.path).update(set={"v": "NULL"}))
    p.write("SELECT 1 id, NULL v")
    p.do(lambda: p.tables.forPath(p.spark, p.path).update("v IS NULL", {"id": "3"}))
    p.table()


@situation
def widened(p: Player) -> None:
    p.write("SELECT 1 id, NULL v", **{"delta.enableTypeWidening": "true"})
    p.sql("ALTER TABLE {t} ALTER COLUMN v TYPE INT")
    p.sql("ALTER TABLE {t} ALTER COLUMN v TYPE BIGINT")
    p.write("SELECT 2 id, 5L v")
    p.do(lambda: frame(p.spark.read.format("delta").load(p.path)))


@situation
def row_tracking(p: Player) -> None:
    p.write(
        "SELECT id, NULL v, named_struct('a', id, 'n', NULL) s FROM range(3)",
        **{"delta.enableRowTracking": "true"},
    )
    p.sql("UPDATE {t} SET s.a = 9 WHERE id = 1")
    p.rows("SELECT *, _metadata.row_id r FROM {t}")


@situation
def statistics_of_listed_columns(p: Player) -> None:
    p.write("SELECT 1 id, NULL v, 2 w", **{"delta.dataSkippingStatsColumns": "v,w"})
    p.table()
    p.write("SELECT 1 id, NULL v, 2 w", p.other(), **{"delta.dataSkippingNumIndexedCols": "2"})
    path = p.other()
    p.write("SELECT NULL v, NULL u, 2 w, 3 x", path, **{"delta.dataSkippingNumIndexedCols": "2"})
    p.table(path)


@situation
def time_travel_over_a_change_of_type(p: Player) -> None:
    p.write("SELECT 1 id, NULL v")
    p.write("SELECT 2 id, 'x' v", mergeSchema="true")
    p.rows("SELECT * FROM {t} VERSION AS OF 0")
    p.rows("SELECT * FROM {t} WHERE v = 'x'")
    p.rows("SELECT * FROM {t} WHERE v IS NULL")


def _situation(play: Callable[[Player], None]) -> Callable[[playing.Player], None]:
    def go(p: playing.Player) -> None:
        of = Player(p.spark, p.tables, p.at, play.__name__)
        play(of)
        for answer in of.answers:
            p.tell(answer)

    return go


DIFFERENT = {
    "not_null": "a column that is not null is held against the rows, and not against their type",
    "rules": "a column that is not null is held against the rows, and not against their type",
    "maintenance": "Z-order by a void column is refused: it has no order",
}
AREA = Area("void")
for _play in SITUATIONS:
    AREA.add(_play.__name__, _situation(_play), DIFFERENT.get(_play.__name__))
