"""Tables by name: CREATE, REPLACE, ALTER, DROP and the statements about one, in SQL and by DataFrames."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql.functions import col

import deltaic
from deltaic.exceptions import (
    InvalidArgumentError,
    InvalidColumnChangeError,
    SchemaMismatchError,
    TableAlreadyExistsError,
    TableNotFoundError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession


@pytest.fixture
def place(spark: SparkSession) -> Iterator[Path]:
    """Where the table `made` of the current schema goes."""
    (row,) = spark.sql("DESCRIBE SCHEMA default").where("info_name = 'Location'").collect()
    yield Path(row[1].removeprefix("file:")) / "made"
    spark.sql("DROP TABLE IF EXISTS made")


def test_a_managed_table_from_its_columns_to_its_end(spark: SparkSession, place: Path) -> None:
    spark.sql(
        "CREATE TABLE made (id BIGINT NOT NULL, p STRING COMMENT 'of it', c CHAR(3),"
        " next BIGINT GENERATED ALWAYS AS (id + 1)) USING delta PARTITIONED BY (p) COMMENT 'about'"
        " TBLPROPERTIES ('delta.appendOnly' = 'false', 'k' = 'v')"
    )
    table = deltaic.Table(place)
    assert table.version == 0
    assert table.properties == {"delta.appendOnly": "false", "k": "v"}
    assert (table.metadata.description, table.partition_columns) == ("about", ["p"])
    assert [f.nullable for f in table.schema] == [False, True, True, True]
    spark.sql("INSERT INTO made (id, p, c) VALUES (1, 'a', 'x'), (2, 'b', 'yyy')")
    assert [tuple(r) for r in spark.table("made").orderBy("id").collect()] == [
        (1, "a", "x  ", 2),
        (2, "b", "yyy", 3),
    ]
    with pytest.raises(AnalysisException, match="already exists"):
        spark.sql("CREATE TABLE made (id INT) USING delta")
    spark.sql("CREATE TABLE IF NOT EXISTS made (id INT) USING delta")
    shown = spark.sql("SHOW CREATE TABLE made").collect()[0][0]
    assert "PARTITIONED BY (p)" in shown
    assert ["k", "v"] in [list(r) for r in spark.sql("SHOW TBLPROPERTIES made").collect()]
    assert [r[0] for r in spark.sql("SHOW COLUMNS IN made").collect()] == ["id", "p", "c", "next"]
    spark.sql("ALTER TABLE made RENAME TO renamed")
    assert spark.table("renamed").count() == 2
    spark.sql("DROP TABLE renamed")
    assert not place.exists()
    assert not place.with_name("renamed").exists()


def test_an_external_table_outlives_its_name(spark: SparkSession, tmp_path: Path, place: Path) -> None:
    path = tmp_path / "t"
    with pytest.raises(TableNotFoundError, match="no columns are given"):
        spark.sql(f"CREATE TABLE made USING delta LOCATION '{path}'")
    spark.sql(f"CREATE TABLE made (a INT) USING delta LOCATION '{path}'")
    spark.sql("INSERT INTO made VALUES (7)")
    spark.sql("DROP TABLE made")
    spark.sql(f"CREATE TABLE made USING delta LOCATION '{path}'")
    assert [r.a for r in spark.table("made").collect()] == [7]
    assert not place.exists()


def test_by_path(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "t"
    spark.sql(f"CREATE TABLE delta.`{path}` (a INT) USING delta")
    spark.sql(f"INSERT INTO delta.`{path}` VALUES (1)")
    spark.sql(f"REPLACE TABLE delta.`{path}` (b STRING) USING delta")
    assert spark.table(f"delta.`{path}`").columns == ["b"]
    assert spark.sql(f"SELECT a FROM delta.`{path}` VERSION AS OF 1").collect()[0].a == 1
    spark.sql(f"CREATE TABLE delta.`{path}2` USING delta AS SELECT 5 AS a")
    assert spark.table(f"delta.`{path}2`").collect()[0].a == 5


def test_create_as_select_is_one_commit_or_nothing(spark: SparkSession, place: Path) -> None:
    with pytest.raises(Exception, match="no luck"):
        spark.sql(
            "CREATE TABLE made USING delta AS SELECT id, CAST(raise_error('no luck') AS INT) AS x FROM range(3)"
        )
    assert not spark.catalog.tableExists("made")
    assert not list(place.rglob("*.json"))
    spark.sql(
        "CREATE TABLE made USING delta PARTITIONED BY (p) TBLPROPERTIES ('k' = 'v')"
        " AS SELECT id, id % 2 AS p FROM range(5)"
    )
    table = deltaic.Table(place)
    assert (table.version, table.partition_columns, table.properties) == (0, ["p"], {"k": "v"})
    assert spark.table("made").count() == 5


def test_replace_keeps_the_history(spark: SparkSession, place: Path) -> None:
    spark.sql("CREATE OR REPLACE TABLE made (a INT) USING delta TBLPROPERTIES ('k' = 'v')")
    spark.sql("INSERT INTO made VALUES (1)")
    spark.sql("CREATE OR REPLACE TABLE made (b STRING) USING delta CLUSTER BY (b)")
    table = deltaic.Table(place)
    assert (table.version, table.schema.names, table.properties.get("k")) == (2, ["b"], None)
    assert spark.table("made").count() == 0
    assert spark.sql("SELECT a FROM made VERSION AS OF 1").collect()[0].a == 1
    with pytest.raises(AnalysisException, match="cannot be found"):
        spark.sql("REPLACE TABLE nothing (a INT) USING delta")


def operation(place: Path) -> tuple[str, dict[str, str]]:
    newest = deltaic.Table(place).history(1)[0]
    return newest["operation"], newest["operationParameters"]


def test_create_as_select_says_all_of_the_table(spark: SparkSession, place: Path) -> None:
    spark.sql(
        "CREATE TABLE made USING delta CLUSTER BY (id) COMMENT 'about' AS SELECT id, id % 2 AS p FROM range(5)"
    )
    table = deltaic.Table(place)
    assert (table.version, table.metadata.description) == (0, "about")
    assert table.detail()["clusteringColumns"] == ["id"]
    name, parameters = operation(place)
    assert name == "CREATE TABLE AS SELECT"
    assert (parameters["clusterBy"], parameters["isManaged"]) == ('["id"]', "true")
    assert parameters["description"] == "about"


def test_replace_as_select_is_one_commit_or_nothing(spark: SparkSession, place: Path) -> None:
    with pytest.raises(AnalysisException, match="cannot be found"):
        spark.sql("REPLACE TABLE made USING delta AS SELECT 1 AS a")
    spark.sql(
        "CREATE OR REPLACE TABLE made USING delta PARTITIONED BY (p) AS SELECT id, id % 2 AS p FROM range(5)"
    )
    assert operation(place)[0] == "CREATE OR REPLACE TABLE AS SELECT"
    files = sorted(place.rglob("*"))
    with pytest.raises(Exception, match="no luck"):
        spark.sql(
            "REPLACE TABLE made USING delta AS SELECT id, CAST(raise_error('no luck') AS INT) AS x FROM range(3)"
        )
    assert sorted(f for f in place.rglob("*") if f.is_file()) == [f for f in files if f.is_file()]
    # the rows of the table itself; what is not said is gone
    spark.sql(
        "REPLACE TABLE made USING delta CLUSTER BY (id) COMMENT 'new' AS SELECT id, p, id AS more FROM made"
    )
    table = deltaic.Table(place)
    assert (table.version, table.partition_columns, table.metadata.description) == (1, [], "new")
    assert operation(place)[0] == "REPLACE TABLE AS SELECT"
    assert sorted(r.more for r in spark.table("made").collect()) == [0, 1, 2, 3, 4]
    spark.range(2).writeTo("made").using("delta").tableProperty("k", "v").createOrReplace()
    spark.range(3).writeTo("made").using("delta").replace()
    table = deltaic.Table(place)
    assert (table.version, table.schema.names, table.properties) == (3, ["id"], {})
    assert spark.sql("SELECT count(*) AS n FROM made VERSION AS OF 2").collect()[0].n == 2
    assert spark.table("made").count() == 3


def test_by_path_as_select(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "t"
    for rows in (3, 4):
        spark.sql(f"CREATE OR REPLACE TABLE delta.`{path}` USING delta AS SELECT id FROM range({rows})")
        assert spark.table(f"delta.`{path}`").count() == rows
    assert operation(path)[1]["isManaged"] == "false"


def test_other_clustering_columns(spark: SparkSession, place: Path) -> None:
    spark.sql("CREATE TABLE made (a INT, b STRUCT<c: INT>) USING delta")
    for clause, columns in (("(b.c, a)", ["b.c", "a"]), ("(a)", ["a"]), ("NONE", [])):
        spark.sql(f"ALTER TABLE made CLUSTER BY {clause}")
        assert deltaic.Table(place).detail()["clusteringColumns"] == columns
    assert operation(place) == ("CLUSTER BY", {"oldClusteringColumns": "a", "newClusteringColumns": ""})
    assert deltaic.Table(place).version == 3
    spark.sql("ALTER TABLE made CLUSTER BY NONE")
    assert deltaic.Table(place).version == 3
    assert deltaic.Table(place).cluster_by(["a", ["b", "c"]]) == 4
    with pytest.raises(InvalidColumnChangeError):
        spark.sql("ALTER TABLE made CLUSTER BY (nope)")


def test_save_as_table_in_every_mode(spark: SparkSession, place: Path) -> None:
    rows = spark.range(3).selectExpr("id", "id % 2 AS p")
    rows.write.format("delta").partitionBy("p").option("delta.appendOnly", "false").saveAsTable("made")
    rows.write.format("delta").mode("append").saveAsTable("made")
    rows.write.format("delta").mode("ignore").saveAsTable("made")
    assert spark.table("made").count() == 6
    rows.limit(1).write.format("delta").mode("overwrite").saveAsTable("made")
    assert spark.table("made").count() == 1
    with pytest.raises(AnalysisException, match="already exists"):
        rows.write.format("delta").saveAsTable("made")
    table = deltaic.Table(place)
    assert (table.version, table.partition_columns) == (2, ["p"])
    assert table.properties == {"delta.appendOnly": "false"}


def test_write_to_in_every_mode(spark: SparkSession, place: Path) -> None:
    rows = spark.range(4).selectExpr("id", "id % 2 AS p")
    rows.writeTo("made").using("delta").partitionedBy("p").tableProperty("k", "v").create()
    rows.writeTo("made").append()
    assert spark.table("made").count() == 8
    rows.where("p = 1").writeTo("made").overwritePartitions()
    assert spark.table("made").count() == 6
    # Spark Connect knows no column of a frame there
    rows.limit(1).writeTo("made").overwrite(col("p") == 0)
    assert spark.table("made").count() == 3
    assert deltaic.Table(place).properties == {"k": "v"}


def test_a_place_with_files_is_no_place_for_a_managed_table(spark: SparkSession, place: Path) -> None:
    place.mkdir(parents=True)
    (place / "precious.txt").write_text("x")
    with pytest.raises(InvalidArgumentError, match="is not empty"):
        spark.sql("CREATE TABLE made (a INT) USING delta")
    (place / "precious.txt").unlink()
    spark.sql(f"CREATE TABLE delta.`{place}` (a INT) USING delta")
    with pytest.raises(TableAlreadyExistsError):
        spark.sql("CREATE TABLE made (a INT) USING delta")
    import shutil

    shutil.rmtree(place)


def test_alter(spark: SparkSession, place: Path) -> None:
    spark.sql("CREATE TABLE made (id INT NOT NULL, s STRUCT<a: INT>) USING delta")
    for clause in (
        "SET TBLPROPERTIES ('q' = '1', 'r' = '2')",
        "UNSET TBLPROPERTIES ('q')",
        "ADD COLUMNS (n1 INT COMMENT 'x', n2 STRING)",
        "ADD COLUMN n0 INT FIRST",
        "ADD COLUMN s.b STRING",
        "ALTER COLUMN n1 COMMENT 'y'",
        "ALTER COLUMN n2 AFTER id",
        "ALTER COLUMN id DROP NOT NULL",
        "SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.enableTypeWidening' = 'true')",
        "RENAME COLUMN n1 TO renamed",
        "DROP COLUMN n0",
        "ALTER COLUMN id TYPE BIGINT",
        "ALTER COLUMN id COMMENT 'key', s.a COMMENT 'in it', renamed FIRST, n2 AFTER renamed",
    ):
        before = deltaic.Table(place).version
        spark.sql(f"ALTER TABLE made {clause}")
        assert deltaic.Table(place).version == before + 1, clause
    fields = {f.name: f for f in deltaic.Table(place).schema}
    assert list(fields) == ["renamed", "n2", "id", "s"]
    assert fields["id"].metadata["comment"] == "key"
    assert (fields["id"].type, fields["id"].nullable) == ("long", True)
    assert fields["renamed"].metadata["comment"] == "y"
    assert deltaic.Table(place).properties["r"] == "2"
    assert spark.table("made").schema["s"].dataType.simpleString() == "struct<a:int,b:string>"
    by_path = f"ALTER TABLE delta.`{place}` ADD COLUMN more INT"
    spark.sql(by_path)
    assert spark.table("made").columns[-1] == "more"


def test_rows_are_fresh_after_a_commit_by_anyone(spark: SparkSession, another: Any, place: Path) -> None:
    spark.sql("CREATE TABLE made (id BIGINT) USING delta")
    assert spark.table("made").count() == 0
    import pyarrow as pa

    deltaic.write(place, pa.table({"id": [1, 2]}), mode="append")
    assert spark.table("made").count() == 2
    deltaic.Table(place).add_columns("more INT")
    assert another().table("made").columns == ["id", "more"]


def test_statements_that_spark_does_not_know(
    spark: SparkSession, another: Any, place: Path, tmp_path: Path
) -> None:
    spark.sql("CREATE TABLE made USING delta AS SELECT id, id % 2 AS p FROM range(4)")
    spark.sql("INSERT INTO made VALUES (9, 1)")
    (done,) = spark.sql("OPTIMIZE made").collect()
    assert done.metrics.numFilesAdded == 1
    version = deltaic.Table(place).version
    history = spark.sql("/* of */ DESCRIBE HISTORY made LIMIT 1")
    assert [r.version for r in history.collect()] == [version]
    assert history.count() == 1
    assert spark.sql(f"DESCRIBE DETAIL '{place}'").collect()[0].numFiles == 1
    assert spark.sql("DESCRIBE DETAIL made").collect()[0].name == "spark_catalog.default.made"
    assert spark.sql("VACUUM made DRY RUN").collect() == []
    assert spark.sql("VACUUM made").collect()[0].path == f"file:{place}"
    with pytest.raises(InvalidArgumentError, match="retention"):
        spark.sql("VACUUM made RETAIN 0 HOURS")
    with pytest.raises(InvalidArgumentError, match=r"found `DAYS` \(line 1, column 22\)"):
        spark.sql("VACUUM made RETAIN 5 DAYS")
    with pytest.raises(TableNotFoundError):
        spark.sql("OPTIMIZE nothing")
    spark.sql("ALTER TABLE made ADD CONSTRAINT positive CHECK (id >= 0)")
    spark.sql("ALTER TABLE made DROP CONSTRAINT positive")
    spark.sql(f"CREATE TABLE delta.`{tmp_path}/c` SHALLOW CLONE made")
    assert spark.table(f"delta.`{tmp_path}/c`").count() == 5
    assert spark.sql("RESTORE TABLE made TO VERSION AS OF 0").collect()[0].num_restored_files >= 1
    assert another().sql("DESCRIBE HISTORY made").count() == deltaic.Table(place).version + 1
    assert spark.sql("EXECUTE IMMEDIATE 'SELECT count(*) FROM made'").collect()[0][0] == 4
    spark.range(3).selectExpr("id", "id AS k").write.partitionBy("k").parquet(f"{tmp_path}/pq")
    spark.sql(f"CONVERT TO DELTA parquet.`{tmp_path}/pq` PARTITIONED BY (k BIGINT)")
    assert spark.table(f"delta.`{tmp_path}/pq`").count() == 3
    assert deltaic.sql(spark, "SELECT count(*) AS n FROM made").collect()[0].n == 4


def test_a_table_that_is_refreshed_by_name(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql(f"CREATE TABLE refreshed (id LONG) USING delta LOCATION '{tmp_path}'")
    try:
        for name in ("refreshed", "spark_catalog.default.refreshed", f"delta.`{tmp_path}`"):
            spark.catalog.refreshTable(name)
            spark.sql(f"REFRESH TABLE {name}")
        spark.table("refreshed").cache()
        spark.sql("INSERT INTO refreshed VALUES (1)")
        spark.catalog.refreshTable("refreshed")
        assert spark.table("refreshed").count() == 1
    finally:
        spark.sql("UNCACHE TABLE IF EXISTS refreshed")
        spark.sql("DROP TABLE refreshed")


def test_columns_that_a_write_leaves_out_get_what_the_table_makes(spark: SparkSession, place: Path) -> None:
    spark.sql(
        "CREATE TABLE made (id BIGINT GENERATED ALWAYS AS IDENTITY, a INT, g INT GENERATED ALWAYS AS (a + 1),"
        " d INT DEFAULT 5 + 2, n STRING) USING delta"
        " TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')"
    )
    spark.sql("INSERT INTO made (A) VALUES (1)")
    spark.sql(f"INSERT INTO delta.`{place}` (n, a) SELECT 'x', 2L")
    spark.sql("INSERT INTO made BY NAME SELECT 'y' AS n, 3 AS a")
    spark.sql("SELECT 4 AS a, 9 AS d").writeTo("made").append()
    spark.sql("INSERT INTO made (a, d) VALUES (5, DEFAULT)")
    assert [tuple(r)[1:] for r in spark.table("made").orderBy("a").collect()] == [
        (1, 2, 7, None),
        (2, 3, 7, "x"),
        (3, 4, 7, "y"),
        (4, 5, 9, None),
        (5, 6, 7, None),
    ]
    spark.sql("INSERT OVERWRITE made (a) VALUES (6)")
    assert [tuple(r)[1:] for r in spark.table("made").collect()] == [(6, 7, 7, None)]
    version = deltaic.Table(place).version
    with pytest.raises(AnalysisException):
        spark.sql("INSERT INTO made (a, nowhere) VALUES (1, 2)")
    with pytest.raises(AnalysisException):
        spark.sql("INSERT INTO made (a) VALUES (1, 2)")
    with pytest.raises(AnalysisException):
        spark.sql("INSERT INTO made BY NAME SELECT 1 AS a, 2 AS nowhere")
    assert deltaic.Table(place).version == version


def test_default_values_are_described(spark: SparkSession, place: Path) -> None:
    features = {"delta.feature.allowColumnDefaults": "supported"}
    deltaic.create(place, "id BIGINT, n INT DEFAULT 42", configuration=features)
    spark.sql(f"CREATE TABLE made USING delta LOCATION '{place}'")
    for rows in (spark.table("made"), spark.read.format("delta").load(str(place))):
        assert rows.schema["n"].metadata == {"CURRENT_DEFAULT": "42"}
    reported = [tuple(r) for r in spark.sql("DESCRIBE EXTENDED made").collect()]
    assert reported[-2:] == [("# Column Default Values", "", ""), ("n", "int", "42")]


def test_a_name_gets_another_table_with_the_same_columns(spark: SparkSession, tmp_path: Path) -> None:
    for place, columns in {
        "now": "id BIGINT, p STRING",
        "same": "id BIGINT, p STRING",
        "other": "id BIGINT, p STRING COMMENT 'about'",
    }.items():
        spark.sql(f"CREATE TABLE delta.`{tmp_path / place}` ({columns}) USING delta PARTITIONED BY (p)")
    spark.sql(f"CREATE TABLE delta.`{tmp_path / 'plain'}` (id BIGINT, p STRING) USING delta")
    spark.sql(f"CREATE TABLE moving USING delta LOCATION '{tmp_path / 'now'}'")
    try:
        for place in ("other", "plain", "none"):
            with pytest.raises((SchemaMismatchError, TableNotFoundError)):
                spark.sql(f"ALTER TABLE moving SET LOCATION '{tmp_path / place}'")
            assert spark.sql("DESCRIBE DETAIL moving").first().location.endswith("/now")
        spark.sql(f"ALTER TABLE moving SET LOCATION '{tmp_path / 'same'}'")
        spark.sql("INSERT INTO moving VALUES (1, 'a')")
        assert spark.read.format("delta").load(str(tmp_path / "same")).count() == 1
    finally:
        spark.sql("DROP TABLE moving")
    assert deltaic.Table(str(tmp_path / "same")).version == 1
