"""Mistakes in statements and writes, one after the other: what is refused, and how, and what is taken all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playing import Area
from pyspark.sql import functions as f

if TYPE_CHECKING:
    from playing import Player

AREA = Area("refused_statements")


def made(p: Player, more: str = "") -> None:
    columns = "id INT, p INT, s STRING, arr ARRAY<INT>, m MAP<STRING, INT>, st STRUCT<a: INT, b: STRING>"
    row = "array(1), map('k', 1), struct(1, 'x')"
    p.sql(
        f"CREATE TABLE {{name}} ({columns}) USING delta PARTITIONED BY (p) LOCATION '{{at}}/t' {more}",
        f"INSERT INTO {{name}} VALUES (1, 1, 'a', {row}), (2, 2, 'b', {row})",
    )


MAPPED = "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
STATEMENTS: dict[str, tuple[str, list[str]]] = {
    "OPTIMIZE": (
        "",
        [
            "OPTIMIZE {name} WHERE p IN (SELECT 1)",
            "OPTIMIZE {name} WHERE id = 1",
            "OPTIMIZE {name} ZORDER BY (p)",
            "OPTIMIZE {name} ZORDER BY (zz)",
        ],
    ),
    "constraints": (
        "",
        [
            "ALTER TABLE {name} ADD CONSTRAINT __CHAR_VARCHAR_STRING_LENGTH_CHECK__ CHECK (id > 0)",
            "ALTER TABLE {name} SET TBLPROPERTIES ('delta.constraints.c' = 'id > 0')",
            "ALTER TABLE {name} ADD CONSTRAINT c CHECK (id > 0)",
            "ALTER TABLE {name} ADD CONSTRAINT C CHECK (id > 1)",
            "ALTER TABLE {name} DROP FEATURE checkConstraints",
            "ALTER TABLE {name} DROP CONSTRAINT c",
            "ALTER TABLE {name} DROP CONSTRAINT c",
            "ALTER TABLE {name} DROP CONSTRAINT IF EXISTS c",
        ],
    ),
    "types and comments": (
        "",
        [
            "ALTER TABLE {name} ALTER COLUMN id TYPE BIGINT",
            "ALTER TABLE {name} ALTER COLUMN id TYPE STRING",
            "ALTER TABLE {name} ALTER COLUMN p TYPE BIGINT",
            "ALTER TABLE {name} ALTER COLUMN m.key COMMENT 'x'",
            "ALTER TABLE {name} ALTER COLUMN arr.element COMMENT 'x'",
            "ALTER TABLE {name} ALTER COLUMN st.a COMMENT 'x'",
            "ALTER TABLE {name} ALTER COLUMN zz COMMENT 'x'",
            "ALTER TABLE {name} ALTER COLUMN id AFTER zz",
            "ALTER TABLE {name} ALTER COLUMN id SET NOT NULL",
            "ALTER TABLE {name} ALTER COLUMN id DROP NOT NULL",
            "ALTER TABLE {name} ALTER COLUMN id SET DEFAULT 4",
            "ALTER TABLE {name} ALTER COLUMN id DROP DEFAULT",
            "ALTER TABLE {name} CHANGE COLUMN id id BIGINT",
            "ALTER TABLE {name} CHANGE COLUMN id id2 INT",
        ],
    ),
    "columns that go": (
        MAPPED,
        [
            "ALTER TABLE {name} DROP COLUMN m.value",
            "ALTER TABLE {name} DROP COLUMN arr.element",
            "ALTER TABLE {name} DROP COLUMN p",
            "ALTER TABLE {name} DROP COLUMN zz",
            "ALTER TABLE {name} DROP COLUMN IF EXISTS zz",
            "ALTER TABLE {name} DROP COLUMN id.x",
        ],
    ),
    "columns with other names": (
        MAPPED,
        [
            "ALTER TABLE {name} RENAME COLUMN zz TO b",
            "ALTER TABLE {name} RENAME COLUMN id TO p",
            "ALTER TABLE {name} RENAME COLUMN id TO ID",
            "ALTER TABLE {name} RENAME COLUMN p TO pp",
            "ALTER TABLE {name} RENAME COLUMN st.a TO b",
            "ALTER TABLE {name} RENAME COLUMN m.key TO b",
        ],
    ),
    "columns that come": (
        "",
        [
            "ALTER TABLE {name} ADD COLUMN id.x INT",
            "ALTER TABLE {name} ADD COLUMN zz.x INT",
            "ALTER TABLE {name} ADD COLUMN id INT",
            "ALTER TABLE {name} ADD COLUMN ID INT",
            "ALTER TABLE {name} ADD COLUMN st.A INT",
            "ALTER TABLE {name} ADD COLUMN arr.element.x INT",
            "ALTER TABLE {name} ADD COLUMN m.value.x INT",
            "ALTER TABLE {name} ADD COLUMN q INT NOT NULL",
            "ALTER TABLE {name} ADD COLUMN q INT DEFAULT 3",
            "ALTER TABLE {name} ADD COLUMN q TIMESTAMP_NTZ",
            "ALTER TABLE {name} ADD COLUMN q INTERVAL DAY",
            "ALTER TABLE {name} ADD COLUMN q INT AFTER zz",
            "ALTER TABLE {name} ADD COLUMN q INT AFTER st.a",
            "ALTER TABLE {name} ADD COLUMN st.z INT AFTER zz",
        ],
    ),
    "all columns": (
        "",
        [
            "ALTER TABLE {name} REPLACE COLUMNS (id STRING, p INT)",
            "ALTER TABLE {name} REPLACE COLUMNS (id INT)",
        ],
    ),
    "places": (
        "",
        [
            "ALTER TABLE {name} SET LOCATION '{at}/nowhere'",
            "ALTER TABLE {t} SET LOCATION '{at}/nowhere'",
            "ALTER TABLE {name} SET SERDEPROPERTIES ('a' = 'b')",
            "ALTER TABLE {name} ADD PARTITION (p = 1)",
            "ALTER TABLE {name} DROP PARTITION (p = 1)",
            "ALTER TABLE {name} RECOVER PARTITIONS",
            "MSCK REPAIR TABLE {name}",
            "TRUNCATE TABLE {name} PARTITION (p = 1)",
            "VACUUM {name} PARTITION (p = 1)",
            "LOAD DATA INPATH '{at}/x' INTO TABLE {name}",
            "SHOW PARTITIONS {name}",
            "DESCRIBE {name} zz",
            "INSERT INTO {name} PARTITION (zz = 1) SELECT 1",
            "INSERT INTO {name} PARTITION (id = 1) SELECT 1",
        ],
    ),
    "manifests": (
        MAPPED,
        ["GENERATE symlink_format_manifest FOR TABLE {name}", "GENERATE nothing FOR TABLE {name}"],
    ),
    "properties": (
        "",
        [
            "ALTER TABLE {name} UNSET TBLPROPERTIES ('nothing')",
            "ALTER TABLE {name} UNSET TBLPROPERTIES IF EXISTS ('nothing')",
            "ALTER TABLE {name} SET TBLPROPERTIES ('delta.nothing' = '1')",
            "SHOW TBLPROPERTIES {name} ('delta.nothing')",
        ],
    ),
}


@AREA.family(STATEMENTS)
def statements(p: Player, case: tuple[str, list[str]]) -> None:
    properties, refused = case
    made(p, properties)
    p.attempt(*refused)
    p.tell([[c.name, c.dataType.simpleString()] for c in p.sql("SELECT * FROM {name}").schema])
    p.rows("SELECT id, s FROM {name}")


REWRITES = {
    "data without a change, by other columns": {"replaceWhere": "id = 1", "dataChange": "false"},
    "data without a change, by partitions": {"replaceWhere": "p = 1", "dataChange": "false"},
    "a subquery of partitions": {"replaceWhere": "p IN (SELECT 1)"},
    "a subquery": {"replaceWhere": "id IN (SELECT 1)"},
    "another schema": {"replaceWhere": "p = 1", "overwriteSchema": "true"},
    "no column": {"replaceWhere": "zzz = 1"},
}


@AREA.family(REWRITES)
def overwrites_of_some_rows(p: Player, options: dict[str, str]) -> None:
    made(p)
    rows = p.sql("SELECT 1 AS id, 1 AS p, 'q' AS s")
    p.attempt(lambda: p.write(rows, "overwrite", **options))
    p.rows("SELECT id, p, s FROM {name}")


@AREA.situation()
def rows_without_a_partition_column(p: Player) -> None:
    made(p)
    p.attempt(lambda: p.write("SELECT 9 AS id"))
    p.rows("SELECT id, p, s FROM {name}")


@AREA.situation()
def writes_by_condition(p: Player) -> None:
    p.sql("CREATE TABLE {name} USING delta AS SELECT 1 AS id, 'a' AS s")
    more = p.sql("SELECT 1 AS id, 'a' AS s, 1 AS x")
    p.attempt(
        lambda: more.select("id").writeTo(p.name).append(),
        lambda: more.writeTo(p.name).append(),
        lambda: more.writeTo(p.name).option("mergeSchema", "true").append(),
        lambda: more.writeTo(p.name).overwrite(f.expr("id = 1")),
        lambda: more.writeTo(p.name).overwrite(f.expr("zz = 2")),
        lambda: more.writeTo(p.name).overwrite(f.expr("id IN (SELECT 1)")),
        lambda: more.withColumn("x", f.lit("7")).writeTo(p.name).append(),
        lambda: more.writeTo("nothing_of_that_name").append(),
        lambda: more.writeTo("nothing_of_that_name").using("delta").replace(),
        lambda: more.writeTo("nothing_of_that_name").overwritePartitions(),
    )
    p.rows("SELECT * FROM {name}")


@AREA.situation()
def how_a_version_is_asked_for(p: Player) -> None:
    p.sql(
        "CREATE TABLE {name} USING delta LOCATION '{at}/t' AS SELECT 1 AS id", "INSERT INTO {name} VALUES (2)"
    )
    p.answers(
        "SELECT * FROM {name} VERSION AS OF 0",
        "SELECT * FROM {name} VERSION AS OF '0'",
        "SELECT * FROM {name} VERSION AS OF 'x'",
        "SELECT * FROM {name} VERSION AS OF -1",
        "SELECT * FROM {name} VERSION AS OF 77",
        "SELECT * FROM delta.`{at}/t@v0`",
        "SELECT * FROM {name} TIMESTAMP AS OF 'x'",
        "SELECT * FROM {name} TIMESTAMP AS OF NULL",
        "SELECT * FROM {name} TIMESTAMP AS OF current_date() + INTERVAL 10 DAYS",
        "WITH c AS (SELECT * FROM {name}) SELECT * FROM c VERSION AS OF 0",
    )
    p.answers(
        lambda: p.read(versionAsOf="0", timestampAsOf="2020-01-01"),
        lambda: p.read(versionAsOf="x"),
        lambda: p.read(f"{p.path}@v0", versionAsOf="0"),
        lambda: p.spark.read.option("versionAsOf", "0").table(p.name),
    )
    p.attempt("INSERT INTO {name} VERSION AS OF 0 VALUES (1)", "DELETE FROM {name} VERSION AS OF 0")
    p.rows()


@AREA.situation(
    differs="delta-spark writes files that the log does not know; an overwrite deletes the log, and the table is gone"
)
def inserts_into_a_view_of_partitions(p: Player) -> None:
    p.sql("CREATE TABLE {t} USING delta PARTITIONED BY (p) AS SELECT 1 AS id, 1 AS p")
    p.read().createOrReplaceTempView(p.name)
    p.attempt("INSERT INTO {name} VALUES (2, 2)")
    p.rows()
    p.attempt("INSERT OVERWRITE {name} VALUES (3, 3)")
    p.answers(p.read)


@AREA.situation(differs="deltaic refuses it: of partitions it destroys the table there")
def inserts_into_a_view_of_a_frame(p: Player) -> None:
    p.sql("CREATE TABLE {t} USING delta AS SELECT 1 AS id")
    p.read().createOrReplaceTempView(p.name)
    p.attempt("INSERT INTO {name} VALUES (2)", "INSERT OVERWRITE {name} VALUES (3)")
    p.rows()


# what asks for a target that is not there, and what reads or writes rows of it
OF_NO_TABLE = [
    "ALTER TABLE delta.`{at}/none` ADD CONSTRAINT c CHECK (id > 0)",
    "ALTER TABLE delta.`{at}/none` DROP CONSTRAINT c",
    "ALTER TABLE delta.`{at}/none` SET TBLPROPERTIES ('a' = 'b')",
    "ALTER TABLE delta.`{at}/none` ADD COLUMN z INT",
    "ALTER TABLE delta.`{at}/none` CLUSTER BY (id)",
    "COMMENT ON TABLE delta.`{at}/none` IS 'x'",
    "DESCRIBE DETAIL delta.`{at}/none`",
    "DESCRIBE EXTENDED delta.`{at}/none`",
    "DESCRIBE HISTORY delta.`{at}/none`",
    "REFRESH TABLE delta.`{at}/none`",
    "SHOW COLUMNS IN delta.`{at}/none`",
    "SHOW CREATE TABLE delta.`{at}/none`",
    "SHOW PARTITIONS delta.`{at}/none`",
    "SHOW TBLPROPERTIES delta.`{at}/none`",
    "TRUNCATE TABLE delta.`{at}/none`",
    "OPTIMIZE delta.`{at}/none`",
    "VACUUM delta.`{at}/none`",
    "SELECT * FROM delta.`{at}/none`",
    "INSERT INTO delta.`{at}/none` VALUES (1)",
    "UPDATE delta.`{at}/none` SET id = 1",
    "DELETE FROM delta.`{at}/none`",
]


@AREA.situation()
def statements_of_no_table(p: Player) -> None:
    p.attempt(*OF_NO_TABLE)


@AREA.situation()
def changes_of_an_old_version(p: Player) -> None:
    p.sql("CREATE TABLE {t} USING delta AS SELECT 1 AS id", "INSERT INTO {t} VALUES (2)")
    p.attempt(
        "INSERT INTO delta.`{at}/t@v0` VALUES (3)",
        "UPDATE delta.`{at}/t@v0` SET id = 3",
        "DELETE FROM delta.`{at}/t@v0`",
        "MERGE INTO delta.`{at}/t@v0` a USING {t} b ON a.id = b.id WHEN MATCHED THEN DELETE",
    )
    p.rows()


@AREA.situation()
def one_column_dropped_twice(p: Player) -> None:
    p.sql(f"CREATE TABLE {{t}} (a INT, b INT, c INT) USING delta {MAPPED}")
    p.attempt("ALTER TABLE {t} DROP COLUMNS (b, b)", "ALTER TABLE {t} DROP COLUMNS (a, c)")
    p.rows()


@AREA.situation()
def columns_that_differ_by_case(p: Player) -> None:
    p.sql("CREATE TABLE {t} (a INT) USING delta")
    p.conf("spark.sql.caseSensitive", "true")
    p.attempt("ALTER TABLE {t} ADD COLUMNS (A INT)", "ALTER TABLE {t} ADD COLUMNS (b INT, B INT)")
    p.rows()


@AREA.situation()
def versions_of_an_application(p: Player) -> None:
    p.sql("CREATE TABLE {t} USING delta AS SELECT 1 AS id")

    def append(**options: str) -> None:
        p.write("SELECT 2 AS id", **options)

    p.attempt(
        lambda: append(txnAppId="a", txnVersion="x"),
        lambda: append(txnAppId="a", txnVersion="-1"),
        lambda: append(txnAppId="a"),
        lambda: append(txnVersion="1"),
        lambda: append(txnAppId="a", txnVersion="1"),
        lambda: append(txnAppId="a", txnVersion="1"),
    )
    p.conf("spark.databricks.delta.write.txnAppId", "b")
    p.attempt("INSERT INTO {t} VALUES (3)")
    p.rows()


@AREA.situation()
def rows_with_a_column_twice(p: Player) -> None:
    p.sql("CREATE TABLE {t} (a INT, b INT) USING delta")
    p.attempt(
        "INSERT INTO {t} SELECT 1 AS a, 2 AS b, 3 AS B",
        "INSERT OVERWRITE {t} SELECT 1 AS a, 2 AS b, 3 AS B",
        lambda: p.write("SELECT 1 AS a, 2 AS b, 3 AS B"),
        lambda: p.write("SELECT 1 AS a, 2 AS b, 3 AS B", mergeSchema="true"),
    )
    p.rows()
