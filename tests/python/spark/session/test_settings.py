"""Settings of a session that delta-spark reads when it writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from dml_tables import ids, last_commit, live, versions

import deltaic
from deltaic import exceptions
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

    Setting = Callable[[str, str], None]

pytestmark = pytest.mark.spark

DELTA = "spark.databricks.delta."
DEFAULTS = DELTA + "properties.defaults."


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "t")


class TestDefaults:
    def test_new_tables_get_them(self, spark: SparkSession, setting: Setting, path: str) -> None:
        setting(DEFAULTS + "checkpointInterval", "7")
        setting(DEFAULTS + "appendOnly", "true")
        setting(DEFAULTS + "feature.deletionVectors", "supported")
        spark.range(3).write.format("delta").option("delta.appendOnly", "false").save(path)
        written = deltaic.Table(path)
        assert written.properties == {"delta.checkpointInterval": "7", "delta.appendOnly": "false"}
        assert written.protocol.reader_features == ("deletionVectors",)
        # to a table that is there they say nothing
        setting(DEFAULTS + "checkpointInterval", "8")
        spark.range(3, 5).write.format("delta").mode("append").save(path)
        spark.range(5).write.format("delta").mode("overwrite").save(path)
        assert deltaic.Table(path).properties == written.properties
        DeltaTable.createOrReplace(spark).location(path).addColumn("id", "long").execute()
        assert deltaic.Table(path).properties["delta.checkpointInterval"] == "8"

    def test_the_protocol_can_be_left_alone(self, spark: SparkSession, setting: Setting, path: str) -> None:
        setting(DEFAULTS + "feature.deletionVectors", "supported")
        setting(DEFAULTS + "minReaderVersion", "3")
        setting(DEFAULTS + "minWriterVersion", "7")
        setting(DEFAULTS + "ignoreProtocolDefaults", "true")
        DeltaTable.create(spark).location(path).addColumn("id", "long").execute()
        protocol = deltaic.Table(path).protocol
        assert (protocol.min_reader_version, protocol.min_writer_version) == (1, 2)

    def test_what_is_no_property_is_named(self, spark: SparkSession, setting: Setting, path: str) -> None:
        setting(DEFAULTS + "apendOnly", "true")
        with pytest.raises(exceptions.InvalidArgumentError, match=r"delta\.apendOnly"):
            spark.range(3).write.format("delta").save(path)


class TestFiles:
    @pytest.mark.parametrize("route", ["direct", "arrow"])
    def test_optimized_writes_gather_partitions(
        self, spark: SparkSession, setting: Setting, route: str, path: str
    ) -> None:
        rows = spark.range(0, 4000, 1, 4).selectExpr("id", "id % 5 AS p")

        def files(mode: str, **options: str) -> int:
            writer = rows.write.format("delta").mode(mode).partitionBy("p")
            writer.option("deltaicRoute", route).options(**options).save(path)
            return len(live(path))

        assert files("append") == 20
        assert files("overwrite", optimizeWrite="true") == 5
        setting(DELTA + "optimizeWrite.enabled", "true")
        assert files("overwrite") == 5
        assert files("overwrite", optimizeWrite="false") == 20
        deltaic.Table(path).set_properties({"delta.autoOptimize.optimizeWrite": "true"})
        setting(DELTA + "optimizeWrite.enabled", "false")
        assert files("overwrite") == 20
        spark.conf.unset(DELTA + "optimizeWrite.enabled")
        assert files("overwrite") == 5
        assert ids(deltaic.read(spark, path)) == list(range(4000))

    def test_optimized_writes_without_partitions(self, spark: SparkSession, path: str) -> None:
        rows = spark.range(0, 400, 1, 8)
        rows.write.format("delta").option("optimizeWrite", "true").option("deltaicRoute", "direct").save(path)
        assert len(live(path)) == 1

    def test_small_files_are_joined_after_a_commit(
        self, spark: SparkSession, setting: Setting, path: str
    ) -> None:
        few = spark.range(100, 101)
        spark.range(0, 50, 1, 50).write.format("delta").option("deltaicRoute", "direct").save(path)
        assert len(live(path)) == 50
        setting(DELTA + "autoCompact.enabled", "true")
        few.write.format("delta").mode("append").save(path)
        assert last_commit(path)[0]["operation"] == "OPTIMIZE"
        assert len(live(path)) == 1
        deltaic.Table(path).set_properties({"delta.autoOptimize.autoCompact": "true"})
        spark.conf.set(DELTA + "autoCompact.enabled", "false")
        rows = spark.range(200, 260, 1, 60)
        rows.write.format("delta").mode("append").option("deltaicRoute", "direct").save(path)
        assert last_commit(path)[0]["operation"] == "WRITE"
        DeltaTable.forPath(spark, path).update("id = 100", {"id": "101"})
        assert last_commit(path)[0]["operation"] == "UPDATE"
        spark.conf.set(DELTA + "autoCompact.enabled", "true")
        DeltaTable.forPath(spark, path).update("id = 101", {"id": "102"})
        assert last_commit(path)[0]["operation"] == "OPTIMIZE"
        assert ids(deltaic.read(spark, path)) == [*range(50), 102, *range(200, 260)]


class TestRows:
    def test_merges_evolve_the_schema(self, spark: SparkSession, setting: Setting, path: str) -> None:
        spark.range(3).write.format("delta").save(path)
        source = spark.sql("SELECT 2L AS id, 'x' AS new UNION ALL SELECT 3L, 'y'").alias("s")
        setting(DELTA + "schema.autoMerge.enabled", "true")
        table = DeltaTable.forPath(spark, path).alias("t")
        table.merge(source, "t.id = s.id").whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()
        rows = {r.id: r.new for r in deltaic.read(spark, path).collect()}
        assert rows == {0: None, 1: None, 2: "x", 3: "y"}

    @pytest.mark.parametrize("route", ["direct", "arrow", "driver"])
    def test_rows_outside_of_what_is_replaced(
        self, spark: SparkSession, setting: Setting, route: str, path: str
    ) -> None:
        spark.range(10).write.format("delta").save(path)

        def replace(low: int, where: str) -> None:
            writer = spark.range(low, low + 2).write.format("delta").mode("overwrite")
            writer.option("replaceWhere", where).option("deltaicRoute", route).save(path)

        with pytest.raises(exceptions.ReplaceWhereMismatchError, match=r"id = 2[01]"):
            replace(20, "id > 7 AND id < 10")
        setting(DELTA + "replaceWhere.constraintCheck.enabled", "false")
        replace(20, "id > 7 AND id < 10")
        assert ids(deltaic.read(spark, path)) == [*range(8), 20, 21]

    def test_only_partitions_are_replaced(self, spark: SparkSession, setting: Setting, path: str) -> None:
        rows = spark.range(6).selectExpr("id", "id % 2 AS P")
        rows.write.format("delta").partitionBy("P").save(path)
        setting(DELTA + "replaceWhere.dataColumns.enabled", "false")
        writer = rows.where("P = 1").write.format("delta").mode("overwrite")
        with pytest.raises(exceptions.InvalidArgumentError, match="is not on partition columns"):
            writer.option("replaceWhere", "p = 1 AND id > 0").save(path)
        writer.option("replaceWhere", "p = 1").save(path)
        assert ids(deltaic.read(spark, path)) == list(range(6))


class TestCommits:
    def test_each_has_the_note(self, spark: SparkSession, setting: Setting, path: str) -> None:
        setting(DELTA + "commitInfo.userMetadata", "nightly")
        table = DeltaTable.createOrReplace(spark).location(path).addColumn("id", "long").execute()
        spark.range(4).write.format("delta").mode("append").save(path)
        table.update("id = 1", {"id": "5"})
        table.delete("id = 2")
        source = spark.range(9, 10).alias("s")
        table.alias("t").merge(source, "t.id = s.id").whenNotMatchedInsertAll().execute()
        DeltaTable.createOrReplace(spark).location(path).addColumn("id", "long").execute()
        notes = [r.userMetadata for r in table.history().collect()]
        assert notes == ["nightly"] * 6

    def test_changes_of_the_table_have_it_too(self, door: Any, tmp_path: Path) -> None:
        path, copy, folder = str(tmp_path / "t"), str(tmp_path / "copy"), str(tmp_path / "folder")
        door.range(4).write.parquet(folder)
        door.conf.set(DELTA + "commitInfo.userMetadata", "nightly")
        try:
            deltaic.save(door.range(4), path)
            table = DeltaTable.forPath(door, path)
            table.addFeatureSupport("deletionVectors")
            table.dropFeatureSupport("deletionVectors")
            table.upgradeTableProtocol(1, 4)
            for change in (
                "SET TBLPROPERTIES ('k' = 'v', 'delta.columnMapping.mode' = 'name')",
                "UNSET TBLPROPERTIES ('k')",
                "ADD COLUMNS (n INT)",
                "ALTER COLUMN n COMMENT 'a number'",
                "RENAME COLUMN n TO m",
                "REPLACE COLUMNS (m INT, id BIGINT)",
                "DROP COLUMN m",
                "ADD CONSTRAINT above CHECK (id >= 0)",
                "DROP CONSTRAINT above",
                "CLUSTER BY (id)",
                "SET TBLPROPERTIES ('delta.enableRowTracking' = 'true')",
            ):
                deltaic.sql(door, f"ALTER TABLE delta.`{path}` {change}")
            table.restoreToVersion(0)
            table.restoreToTimestamp(str(deltaic.Table(path).history(1)[0]["timestamp"]))
            table.vacuum()
            deltaic.sql(door, f"RESTORE TABLE delta.`{path}` TO VERSION AS OF 1")
            deltaic.sql(door, f"VACUUM delta.`{path}`")
            table.clone(copy, isShallow=True)
            DeltaTable.convertToDelta(door, f"parquet.`{folder}`")
        finally:
            door.conf.unset(DELTA + "commitInfo.userMetadata")
        for made, least in ((path, 20), (copy, 1), (folder, 1)):
            reported = [
                (entry["operation"], entry.get("userMetadata")) for entry in deltaic.Table(made).history()
            ]
            assert [operation for operation, said in reported if said != "nightly"] == []
            assert len(reported) >= least

    def test_what_an_application_has_done_is_not_done_again(
        self, spark: SparkSession, setting: Setting, path: str
    ) -> None:
        spark.range(4).write.format("delta").save(path)
        table = DeltaTable.forPath(spark, path)
        source = spark.range(9, 10).alias("s")
        merge = table.alias("t").merge(source, "t.id = s.id").whenNotMatchedInsertAll()
        setting(DELTA + "write.txnAppId", "job")
        for at, change in enumerate(
            (
                lambda: spark.range(4, 5).write.format("delta").mode("append").save(path),
                lambda: table.update("id = 1", {"id": "id + 10"}),
                lambda: table.delete("id = 2"),
                merge.execute,
            )
        ):
            setting(DELTA + "write.txnVersion", str(at))
            change()
            assert versions(path) == at + 2
            change()
            assert versions(path) == at + 2
        assert ids(deltaic.read(spark, path)) == [0, 3, 4, 9, 11]
        assert [r.num_inserted_rows for r in merge.execute().collect()] == [0]
        # the version may be for one commit only
        setting(DELTA + "write.txnVersion.autoReset.enabled", "true")
        setting(DELTA + "write.txnVersion", "7")
        table.delete("id = 3")
        assert spark.conf.get(DELTA + "write.txnVersion", None) is None
        with pytest.raises(exceptions.InvalidArgumentError, match="txnVersion"):
            table.delete("id = 4")
        for version in ("-1", "x", str(1 << 63)):
            setting(DELTA + "write.txnVersion", version)
            with pytest.raises(exceptions.InvalidArgumentError, match=f"`{version}` is "):
                table.delete("id = 4")

    def test_a_switch_is_true_or_false(self, spark: SparkSession, setting: Setting, path: str) -> None:
        setting(DELTA + "optimizeWrite.enabled", "maybe")
        with pytest.raises(exceptions.InvalidArgumentError, match=r"optimizeWrite\.enabled: `maybe`"):
            spark.range(4).write.format("delta").save(path)


@pytest.mark.parametrize(
    ("name", "value", "options"),
    [
        (
            "changeDataFeed.defaultSchemaModeForColumnMappingTable",
            "latest",
            {"readChangeFeed": "true", "startingVersion": "0"},
        ),
        ("streaming.unsafeReadOnNullabilityChange.enabled", "true", None),
    ],
)
def test_reads_refuse_what_they_would_pass_over(
    spark: SparkSession, tmp_path: Path, name: str, value: str, options: dict[str, str] | None
) -> None:
    path = str(tmp_path / "t")
    spark.range(3).write.format("delta").option("delta.enableChangeDataFeed", "true").save(path)

    def read() -> Any:
        if options is None:
            return spark.readStream.format("delta").load(path)
        return spark.read.format("delta").options(**options).load(path)

    spark.conf.set(f"spark.databricks.delta.{name}", value)
    try:
        with pytest.raises(exceptions.UnsupportedError, match=name):
            # what is lazy on Spark Connect
            _ = read().schema
    finally:
        spark.conf.unset(f"spark.databricks.delta.{name}")
    assert "id" in read().columns
