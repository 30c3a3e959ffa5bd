"""What DESCRIBE HISTORY and DESCRIBE DETAIL tell: of rows that match, views, clustering, features and names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from playing import FEED, Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("history_writes")


def _files(p: Player) -> list[Any]:
    """What metrics say of files, and whether those of bytes are the sums of the actions."""
    metrics = p.sql("DESCRIBE HISTORY {t} LIMIT 1").first().operationMetrics or {}
    files = {name: value for name, value in metrics.items() if name.endswith("Files")}
    sums = {
        "add": sum(a["add"]["size"] for a in p.actions() if "add" in a),
        "remove": sum(a["remove"]["size"] for a in p.actions() if "remove" in a),
    }
    names = {"numOutputBytes": "add", "numAddedBytes": "add", "numRemovedBytes": "remove"}
    reported = {name: int(metrics[name]) == sums[action] for name, action in names.items() if name in metrics}
    return [dict(sorted(files.items())), dict(sorted(reported.items()))]


# -- metrics of rows that are replaced


@AREA.situation()
def metrics_of_rows_that_match(p: Player) -> None:
    for feed in p.each(("true", "false")):
        p.sql(
            f"CREATE TABLE {{t}} (id1 BIGINT, id2 BIGINT) USING delta TBLPROPERTIES ('{FEED}' = '{feed}')",
            "INSERT INTO {t} SELECT id, id FROM range(0, 10, 1, 1)",
        )
        rows = p.spark.range(5, 15, 1, 1).selectExpr("id AS id1", "id AS id2")
        p.write(rows, mode="overwrite", replaceUsing="id1, id2")
        p.commit()
        p.tell(_files(p))
        p.write(
            rows.alias("s"), mode="overwrite", replaceOn="t.id1 = s.id1 AND t.id2 = s.id2", targetAlias="t"
        )
        p.commit()
        p.tell(_files(p))


# -- the frame of the history


@AREA.situation()
def the_history_is_sorted_and_filtered(p: Player) -> None:
    p.sql("CREATE TABLE {t} (id BIGINT) USING delta")
    for n in range(3):
        p.sql(f"INSERT INTO {{t}} VALUES ({n})")
    for generated in ("true", "false"):
        p.conf("spark.sql.codegen.wholeStage", generated)
        p.conf("spark.sql.codegen.factoryMode", "CODEGEN_ONLY" if generated == "true" else "NO_CODEGEN")
        frame = p.sql("DESCRIBE HISTORY {t}")
        p.tell([r.version for r in frame.collect()])
        p.tell([r.version for r in frame.orderBy("version").filter("version >= 0").collect()])
        p.tell([r.version for r in frame.filter("operation = 'WRITE' AND version < 3").collect()])


# -- views, files, names


@AREA.situation()
def descriptions_of_views(p: Player) -> None:
    p.sql("CREATE TABLE {t} (id BIGINT) USING delta", "CREATE VIEW {name} AS SELECT 1 AS a")
    p.attempt("DESCRIBE HISTORY {name}", "DESCRIBE DETAIL {name}")
    p.sql("DROP VIEW {name}", "CREATE OR REPLACE TEMPORARY VIEW {name} AS SELECT * FROM {t}")
    p.attempt("DESCRIBE HISTORY {name}", "DESCRIBE DETAIL {name}")
    p.sql("DROP VIEW {name}")
    p.read().createOrReplaceTempView(p.name)
    p.attempt("DESCRIBE HISTORY {name}", "DESCRIBE DETAIL {name}")


@AREA.situation()
def two_names_of_one_folder(p: Player) -> None:
    p.write("SELECT 1 AS a, 1 AS b", by=("a",))
    p.sql(
        "CREATE TABLE {name} USING delta LOCATION '{at}/t'",
        "CREATE TABLE {name}_2 USING delta LOCATION '{at}/t'",
    )
    for of in ("{name}", "{name}_2", "{t}", "'{at}/t'"):
        p.tell(p.sql(f"DESCRIBE DETAIL {of}").first()["name"])
    p.tell(p.tables.forName(p.spark, p.name).detail().first()["name"])
    p.tell(p.table().detail().first()["name"])
    p.sql("DROP TABLE {name}_2")


@AREA.situation()
def details_of_clustering(p: Player) -> None:
    p.sql(
        "CREATE TABLE {name} (a STRUCT<b: INT, c: STRING>, d INT) USING delta CLUSTER BY (a.b, d) LOCATION '{at}/t'"
    )
    reported = ("format", "partitionColumns", "clusteringColumns", "numFiles")
    for step in (None, "ALTER TABLE {name} CLUSTER BY NONE"):
        if step:
            p.sql(step)
        for row in (
            p.sql("DESCRIBE DETAIL {name}").first(),
            p.sql("DESCRIBE DETAIL {t}").first(),
            p.tables.forName(p.spark, p.name).detail().first(),
            p.table().detail().first(),
        ):
            p.tell([row[name] for name in reported])
    p.sql("CREATE TABLE {u} (col1 STRING, col2 INT) USING delta CLUSTER BY (col1, col2)")
    p.sql(
        "ALTER TABLE {u} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
        "ALTER TABLE {u} RENAME COLUMN col2 TO new_col_name",
    )
    p.tell(p.sql("DESCRIBE DETAIL {u}").first()["clusteringColumns"])
    p.tell(p.table(f"{p.at}/u").detail().first()["clusteringColumns"])


@AREA.situation()
def details_of_features(p: Player) -> None:
    p.sql(
        "CREATE TABLE {t} (id BIGINT) USING delta"
        " TBLPROPERTIES ('delta.minReaderVersion' = '1', 'delta.minWriterVersion' = '2')"
    )
    p.detail()
    p.sql("ALTER TABLE {t} SET TBLPROPERTIES ('delta.minWriterVersion' = '4')")
    p.detail()
    p.sql("ALTER TABLE {t} SET TBLPROPERTIES ('delta.feature.deletionVectors' = 'supported')")
    p.detail()
    p.table().addFeatureSupport("typeWidening")
    p.detail()
    p.commit()


@AREA.situation()
def details_after_another_writer(p: Player) -> None:
    """Properties that another writer changed, by a name that the session has described."""
    from areas.logs import log_of, put

    p.sql("CREATE TABLE {name} (id BIGINT) USING delta LOCATION '{at}/t'")
    p.detail("{name}")
    action = next(a for a in p.actions(0) if "metaData" in a)
    action["metaData"]["configuration"]["foo"] = "bar"
    info = {"commitInfo": {"timestamp": 1, "operation": "Manual Update", "operationParameters": {}}}
    put(p.path, 1, info, action)
    p.tell(len(list(log_of(p).glob("*.json"))))
    p.detail("{name}")
    p.rows("SHOW TBLPROPERTIES {name} ('foo')")


# -- blind appends

MERGING: dict[str, Any] = {"mergeSchema": "true"}
WIDER = "SELECT 2L AS id, 'x' AS {column}"
OTHER = "CREATE TABLE {u} (id BIGINT) USING delta"


def _by_name(p: Player, rows: str, mode: str = "append", **options: Any) -> None:
    p.sql(rows).write.format("delta").mode(mode).options(**options).saveAsTable(p.name)


def _merges(p: Player) -> None:
    merges = "spark.databricks.delta.schema.autoMerge.enabled"
    p.conf(merges, "true")
    p.sql("INSERT INTO {name} BY NAME SELECT 3L AS id, 'x' AS by_setting")
    p.conf(merges, "false")


def _streams(p: Player, mode: str = "append", **options: Any) -> None:
    p.sql("INSERT INTO {u} VALUES (8)")
    rows = p.spark.readStream.format("delta").load(f"{p.at}/u")
    if mode == "complete":
        rows = rows.groupBy("id").count()
    p.stream(p.path, rows.selectExpr("id", "'s' AS by_stream") if options else rows, mode, **options)


# of a table that is there, by name and by path
WRITTEN: dict[str, Any] = {
    "an append": lambda p: p.write("SELECT 2L AS id"),
    "an append that may add columns": lambda p: p.write("SELECT 2L AS id", **MERGING),
    "one that adds a column": lambda p: p.write(WIDER.format(column="by_save"), **MERGING),
    "one by name": lambda p: _by_name(p, WIDER.format(column="by_name"), **MERGING),
    "one by writeTo": lambda p: (
        p.sql(WIDER.format(column="by_write_to")).writeTo(p.name).option("mergeSchema", "true").append()
    ),
    "one by INSERT": _merges,
    "of nothing": lambda p: p.write("SELECT 2L AS id WHERE false"),
    "of nothing, with a column": lambda p: p.write("SELECT 2L AS id, 1 AS empty WHERE false", **MERGING),
    "INSERT INTO": "INSERT INTO {t} (id) VALUES (3)",
    "from another table": "INSERT INTO {t} (id) SELECT id FROM {u}",
    "from itself": "INSERT INTO {t} (id) SELECT id + 10 FROM {t}",
    "from itself, with a column": lambda p: p.write(
        p.read().selectExpr("id + 20 AS id", "1 AS of_itself"), **MERGING
    ),
    "an append of a stream": _streams,
    "one that adds a column to a stream": lambda p: _streams(p, **MERGING),
    "a partition": lambda p: p.write("SELECT 2L AS id", mode="overwrite", replaceWhere="id = 2"),
    "an overwrite": lambda p: p.write("SELECT 2L AS id", mode="overwrite"),
    "INSERT OVERWRITE": "INSERT OVERWRITE {t} (id) VALUES (3)",
    "DELETE of nothing": "DELETE FROM {t} WHERE id = 99",
    "DELETE": "DELETE FROM {t}",
    "an overwrite of nothing": lambda p: p.write("SELECT 2L AS id", mode="overwrite"),
    "UPDATE": "UPDATE {t} SET id = 7",
    "MERGE that inserts": "MERGE INTO {t} t USING {u} u ON t.id = u.id WHEN NOT MATCHED THEN INSERT (id) VALUES (u.id)",
}
CHANGED = {
    "properties": "ALTER TABLE {t} SET TBLPROPERTIES ('mine' = 'x')",
    "less properties": "ALTER TABLE {t} UNSET TBLPROPERTIES ('mine')",
    "a feature": "ALTER TABLE {t} SET TBLPROPERTIES ('delta.feature.deletionVectors' = 'supported')",
    "a column": "ALTER TABLE {t} ADD COLUMN by_alter INT",
    "a comment": "ALTER TABLE {t} ALTER COLUMN id COMMENT 'the id'",
    "a constraint": "ALTER TABLE {t} ADD CONSTRAINT positive CHECK (id > 0)",
    "no constraint": "ALTER TABLE {t} DROP CONSTRAINT positive",
    "nulls": "ALTER TABLE {t} ALTER COLUMN id DROP NOT NULL",
    "mapping": "ALTER TABLE {t} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
    "another name": "ALTER TABLE {t} RENAME COLUMN by_alter TO by_rename",
    "no column": "ALTER TABLE {t} DROP COLUMN by_rename",
    "clustering": "ALTER TABLE {t} CLUSTER BY (id)",
    "OPTIMIZE": "OPTIMIZE {t} FULL",
    "RESTORE": "RESTORE TABLE {t} TO VERSION AS OF 1",
    "VACUUM": "VACUUM {t}",
}
CREATED: dict[str, Any] = {
    "CREATE TABLE": "CREATE TABLE {t} (id BIGINT) USING delta",
    "AS SELECT": "CREATE TABLE {t} USING delta AS SELECT 1L AS id",
    "AS SELECT of another table": "CREATE TABLE {t} USING delta AS SELECT id FROM {u}",
    "CREATE OR REPLACE": "CREATE OR REPLACE TABLE {t} (id BIGINT) USING delta",
    "CREATE OR REPLACE AS SELECT": "CREATE OR REPLACE TABLE {t} USING delta AS SELECT 1L AS id",
    "an append": lambda p: p.write("SELECT 1L AS id"),
    "an append that may add columns": lambda p: p.write("SELECT 1L AS id", **MERGING),
    "an overwrite": lambda p: p.write("SELECT 1L AS id", mode="overwrite"),
    "an overwrite by name": lambda p: _by_name(p, "SELECT 1L AS id", mode="overwrite", path=p.path),
    "an append of a stream": _streams,
    "a complete stream": lambda p: _streams(p, "complete"),
    "SHALLOW CLONE": "CREATE TABLE {t} SHALLOW CLONE {u}",
}


def _blind(p: Player, since: int) -> int:
    """Tells of each commit since a version whether it is a blind append; and which version comes next."""
    rows = p.sql("DESCRIBE HISTORY {t}").orderBy("version").collect()
    p.tell([[row.operation, row.isBlindAppend] for row in rows if row.version >= since])
    return int(rows[-1].version) + 1


@AREA.situation()
def which_writes_are_blind(p: Player) -> None:
    p.sql(
        "CREATE TABLE {name} (id BIGINT) USING delta LOCATION '{at}/t'",
        "INSERT INTO {name} VALUES (1)",
        OTHER,
        "INSERT INTO {u} VALUES (4)",
    )
    next_one = _blind(p, 0)
    for name, step in WRITTEN.items():
        p.tell(name)
        p.attempt(step if isinstance(step, str) else lambda step=step: step(p) and None)
        next_one = _blind(p, next_one)


@AREA.situation()
def which_changes_are_blind(p: Player) -> None:
    p.sql(
        "CREATE TABLE {t} (id BIGINT NOT NULL) USING delta",
        "INSERT INTO {t} VALUES (1)",
        "INSERT INTO {t} VALUES (2)",
    )
    next_one = _blind(p, 0)
    for name, step in CHANGED.items():
        p.tell(name)
        p.attempt(step)
        next_one = _blind(p, next_one)


@AREA.situation(differs="the commit of the property claims the files, all of which must have ids then")
def whether_row_tracking_is_enabled_blindly(p: Player) -> None:
    p.sql("CREATE TABLE {t} (id BIGINT) USING delta", "INSERT INTO {t} VALUES (1)")
    p.attempt("ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableRowTracking' = 'true')")
    _blind(p, 2)


@AREA.situation()
def which_creations_are_blind(p: Player) -> None:
    for name, step in CREATED.items():
        p.tell(name)
        one = p.beside()
        one.sql(OTHER, "INSERT INTO {u} VALUES (1)")
        one.attempt(step if isinstance(step, str) else lambda step=step, one=one: step(one) and None)
        _blind(one, 0)
        one.end()
