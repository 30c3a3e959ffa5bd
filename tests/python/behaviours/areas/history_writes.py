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
    told = {name: int(metrics[name]) == sums[action] for name, action in names.items() if name in metrics}
    return [dict(sorted(files.items())), dict(sorted(told.items()))]


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


@AREA.situation(
    differs="the condition: statements about tables that are none are DELTA_TABLE_ONLY_OPERATION in deltaic"
)
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
    told = ("format", "partitionColumns", "clusteringColumns", "numFiles")
    for step in (None, "ALTER TABLE {name} CLUSTER BY NONE"):
        if step:
            p.sql(step)
        for row in (
            p.sql("DESCRIBE DETAIL {name}").first(),
            p.sql("DESCRIBE DETAIL {t}").first(),
            p.tables.forName(p.spark, p.name).detail().first(),
            p.table().detail().first(),
        ):
            p.tell([row[name] for name in told])
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
