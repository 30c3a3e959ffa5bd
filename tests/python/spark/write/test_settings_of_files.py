"""What settings, options and properties say of the files that are written, by every route and operation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from dml_tables import live

import deltaic
from deltaic import exceptions
from deltaic.spark.session import known_settings
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

    Setting = Callable[[str, str], None]

pytestmark = pytest.mark.spark

DELTA = "spark.databricks.delta."
CODEC = "spark.sql.parquet.compression.codec"
ROUTES = ["direct", "arrow", "driver"]


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "t")


def footers(path: str) -> list[pq.FileMetaData]:
    return [pq.read_metadata(Path(path, f["path"])) for f in live(path)]


def codecs(path: str) -> set[str]:
    return {m.row_group(0).column(0).compression for m in footers(path)}


class TestParquet:
    @pytest.mark.parametrize("route", ROUTES)
    def test_options_reach_the_writer(self, spark: SparkSession, route: str, path: str) -> None:
        rows = spark.sql("SELECT id, id % 10 AS few, CAST(id AS string) AS t FROM range(0, 40000, 1, 1)")
        writer = rows.write.format("delta").option("deltaicRoute", route)
        writer = writer.option("parquet.block.size", "65536").option("PARQUET.Enable.Dictionary#few", "true")
        writer = writer.option("parquet.enable.dictionary", "false").option("parquet.compression", "gzip")
        writer.option("parquet.bloom.filter.enabled#t", "true").save(path)
        (footer,) = footers(path)
        assert footer.num_row_groups > 1
        group = footer.row_group(0)
        assert [group.column(c).has_dictionary_page for c in range(3)] == [False, True, False]
        assert {group.column(c).compression for c in range(3)} == {"GZIP"}
        stored = Path(path, live(path)[0]["path"])
        # a file with the filter has its bytes beside those of the columns
        groups = [footer.row_group(g) for g in range(footer.num_row_groups)]
        plain = sum(g.column(c).total_compressed_size for g in groups for c in range(3))
        assert stored.stat().st_size - plain > 30_000
        assert spark.read.format("delta").load(path).where("t = '77'").count() == 1

    def test_what_the_core_cannot_follow_takes_sparks_writer(self, spark: SparkSession, path: str) -> None:
        spark.range(3).write.format("delta").option("parquet.page.write-checksum.enabled", "false").save(path)
        assert {m.created_by.split()[0] for m in footers(path)} == {"parquet-mr"}
        spark.range(3).write.format("delta").mode("append").save(path)
        assert {m.created_by.split()[0] for m in footers(path)} == {"parquet-mr", "deltaic"}

    @pytest.mark.parametrize("route", ROUTES)
    def test_statistics_stay(self, spark: SparkSession, route: str, path: str) -> None:
        writer = spark.range(0, 5, 1, 1).write.format("delta").option("deltaicRoute", route)
        writer.option("parquet.column.statistics.enabled", "false").save(path)
        (add,) = live(path)
        assert '"maxValues":{"id":' in add["stats"]

    @pytest.mark.parametrize("route", ROUTES)
    def test_a_value_that_makes_no_sense(self, spark: SparkSession, route: str, path: str) -> None:
        writer = spark.range(3).write.format("delta").option("deltaicRoute", route)
        with pytest.raises(exceptions.InvalidArgumentError, match=r"parquet\.block\.size"):
            writer.option("parquet.block.size", "much").save(path)
        with pytest.raises(exceptions.UnsupportedError, match=r"encrypted.*parquet\.encryption\.footer\.key"):
            writer.option("parquet.encryption.footer.key", "k").save(path)
        assert not Path(path, "_delta_log").exists()

    def test_a_number_that_is_too_large(self, spark: SparkSession, setting: Setting, path: str) -> None:
        writer = spark.range(3).write.format("delta")
        with pytest.raises(exceptions.InvalidArgumentError, match="maxRecordsPerFile"):
            writer.option("maxRecordsPerFile", str(1 << 63)).save(path)
        setting(f"{DELTA}autoCompact.minNumFiles", str(1 << 63))
        with pytest.raises(exceptions.InvalidArgumentError, match="minNumFiles"):
            writer.save(path)
        assert not Path(path, "_delta_log").exists()


class TestEveryOperation:
    @pytest.mark.parametrize("vectors", ["false", "true"])
    def test_it_writes_with_the_codec_of_the_session(
        self, spark: SparkSession, setting: Setting, vectors: str, path: str
    ) -> None:
        deltaic.write(
            path,
            pa.table({"id": pa.array(range(10), pa.int64())}),
            configuration={"delta.enableDeletionVectors": vectors},
        )
        setting(CODEC, "gzip")
        table = DeltaTable.forPath(spark, path)
        merge = table.alias("t").merge(spark.range(8, 12).alias("s"), "t.id = s.id")
        for change in (
            lambda: table.update("id = 1", {"id": "100"}),
            lambda: table.delete("id % 2 = 0"),
            merge.whenMatchedDelete().whenNotMatchedInsertAll().execute,
            lambda: table.optimize().executeCompaction(),
            lambda: table.optimize().executeZOrderBy("id"),
        ):
            before = {f["path"] for f in live(path)}
            change()
            made = [f["path"] for f in live(path) if f["path"] not in before]
            for file in made:
                footer = pq.read_metadata(Path(path, file))
                assert footer.row_group(0).column(0).compression == "GZIP"
        assert codecs(path) == {"GZIP"}

    def test_rows_of_a_file(self, spark: SparkSession, setting: Setting, path: str) -> None:
        deltaic.write(path, pa.table({"id": pa.array(range(10), pa.int64())}))
        setting("spark.sql.files.maxRecordsPerFile", "4")
        DeltaTable.forPath(spark, path).update("true", {"id": "id + 1"})
        assert sorted(m.num_rows for m in footers(path)) == [2, 4, 4]

    def test_deletion_vectors_can_be_left_alone(
        self, spark: SparkSession, setting: Setting, path: str
    ) -> None:
        vectors = {"delta.enableDeletionVectors": "true"}
        deltaic.write(path, pa.table({"id": pa.array(range(10), pa.int64())}), configuration=vectors)
        table = DeltaTable.forPath(spark, path)
        for name, change in (
            ("delete", lambda: table.delete("id = 1")),
            ("update", lambda: table.update("id = 2", {"id": "20"})),
            (
                "merge",
                lambda: (
                    table.alias("t")
                    .merge(spark.range(3, 4).alias("s"), "t.id = s.id")
                    .whenMatchedDelete()
                    .execute()
                ),
            ),
        ):
            setting(f"{DELTA}{name}.deletionVectors.persistent", "false")
            change()
            assert not any(f.get("deletionVector") for f in live(path)), name
        spark.conf.set(DELTA + "delete.deletionVectors.persistent", "true")
        table.delete("id = 4")
        assert any(f.get("deletionVector") for f in live(path))


class TestSizes:
    def parts(self, path: str) -> list[int]:
        for start in range(0, 6000, 1000):
            deltaic.write(path, pa.table({"id": pa.array(range(start, start + 1000), pa.int64())}))
        return [f["size"] for f in live(path)]

    def test_of_an_optimize(self, spark: SparkSession, setting: Setting, path: str) -> None:
        each = max(self.parts(path))
        setting(DELTA + "optimize.minFileSize", "10")
        assert spark.sql(f"OPTIMIZE delta.`{path}`").first().metrics.numFilesRemoved == 0
        spark.conf.unset(DELTA + "optimize.minFileSize")
        setting(DELTA + "optimize.maxFileSize", str(each * 2 + 1))
        DeltaTable.forPath(spark, path).optimize().executeCompaction()
        assert len(live(path)) == 3
        spark.conf.unset(DELTA + "optimize.maxFileSize")
        DeltaTable.forPath(spark, path).optimize().executeCompaction()
        assert len(live(path)) == 1

    def test_of_what_is_deleted(self, spark: SparkSession, setting: Setting, path: str) -> None:
        self.parts(path)
        deltaic.Table(path).set_properties({"delta.enableDeletionVectors": "true"})
        DeltaTable.forPath(spark, path).delete("id % 10 = 0")
        setting(DELTA + "optimize.minFileSize", "10")
        setting(DELTA + "optimize.maxDeletedRowsRatio", "0.5")
        assert spark.sql(f"OPTIMIZE delta.`{path}`").first().metrics.numFilesRemoved == 0
        spark.conf.set(DELTA + "optimize.maxDeletedRowsRatio", "0.01")
        assert spark.sql(f"OPTIMIZE delta.`{path}`").first().metrics.numFilesRemoved == 6

    def test_after_a_commit(self, spark: SparkSession, setting: Setting, path: str) -> None:
        each = max(self.parts(path))
        setting(DELTA + "autoCompact.enabled", "true")
        setting(DELTA + "autoCompact.minNumFiles", "8")
        setting(CODEC, "zstd")
        few = spark.range(1).write.format("delta").mode("append")
        few.save(path)
        assert len(live(path)) == 7
        setting(DELTA + "autoCompact.maxFileSize", str(each * 3 + 10))
        setting(DELTA + "autoCompact.minFileSize", str(each))
        few.save(path)
        assert len(live(path)) == 3
        # one file had no room beside others
        assert codecs(path) == {"SNAPPY", "ZSTD"}


class TestRefused:
    def test_by_the_name_of_the_setting(self, spark: SparkSession, setting: Setting, path: str) -> None:
        spark.range(3).write.format("delta").save(path)
        table = DeltaTable.forPath(spark, path)
        for name, value, change in (
            (
                "write.dataFilesToSubdir",
                "true",
                lambda: spark.range(3).write.format("delta").mode("append").save(path),
            ),
            ("identityColumn.enabled", "false", lambda: table.delete("id = 1")),
            ("resolveMergeUpdateStructsByName.enabled", "false", lambda: table.update("id = 1", {"id": "2"})),
            (
                "alterTable.dropColumn.enabled",
                "false",
                lambda: spark.sql(f"ALTER TABLE delta.`{path}` DROP COLUMN id"),
            ),
            ("clone.replaceEnabled", "false", lambda: table.clone(path + "2", isShallow=True)),
            ("restore.protocolDowngradeAllowed", "true", lambda: table.restoreToVersion(0)),
            (
                "createEmptySchemaTable.enabled",
                "false",
                lambda: DeltaTable.create(spark).location(path + "3").addColumn("id", "long").execute(),
            ),
        ):
            before = spark.conf.get(DELTA + name, None)
            assert before is None
            spark.conf.set(DELTA + name, value)
            try:
                with pytest.raises(exceptions.UnsupportedError, match=name):
                    change()
            finally:
                spark.conf.unset(DELTA + name)
        setting("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MILLIS")
        with pytest.raises(exceptions.UnsupportedError, match="outputTimestampType"):
            spark.range(3).write.format("delta").mode("append").save(path)
        assert deltaic.Table(path).version == 0

    def test_by_the_name_of_the_option(self, spark: SparkSession, path: str) -> None:
        name = "useNullIntolerantEqualityWithDPO"
        writer = spark.range(3).write.format("delta").mode("overwrite").option(name, "id")
        with pytest.raises(exceptions.UnsupportedError, match=f"(?i)write option `{name}`"):
            writer.save(path)

    def test_dynamic_overwrites_can_be_forbidden(
        self, spark: SparkSession, setting: Setting, path: str
    ) -> None:
        rows = spark.range(4).selectExpr("id", "id % 2 AS p")
        rows.write.format("delta").partitionBy("p").save(path)
        setting(DELTA + "dynamicPartitionOverwrite.enabled", "false")
        dynamic = rows.write.format("delta").mode("overwrite").option("partitionOverwriteMode", "dynamic")
        with pytest.raises(exceptions.InvalidArgumentError, match="dynamicPartitionOverwrite"):
            dynamic.save(path)


class TestProperties:
    def test_those_that_nobody_knows(self, spark: SparkSession, setting: Setting, path: str) -> None:
        create = f"CREATE TABLE delta.`{path}` (id BIGINT) USING delta TBLPROPERTIES ('delta.ours' = '1')"
        with pytest.raises(exceptions.InvalidArgumentError, match=r"delta\.ours"):
            spark.sql(create)
        setting(DELTA + "allowArbitraryProperties.enabled", "true")
        spark.sql(create)
        spark.sql(f"ALTER TABLE delta.`{path}` SET TBLPROPERTIES ('delta.more' = '2')")
        spark.range(3).write.format("delta").option("delta.third", "3").save(path + "2")
        assert deltaic.Table(path).properties == {"delta.ours": "1", "delta.more": "2"}
        assert deltaic.Table(path + "2").properties == {"delta.third": "3"}
        spark.conf.set(DELTA + "allowArbitraryProperties.enabled", "false")
        with pytest.raises(exceptions.InvalidArgumentError, match=r"delta\.fourth"):
            spark.sql(f"ALTER TABLE delta.`{path}` SET TBLPROPERTIES ('delta.fourth' = '2')")

    def test_constraints_that_are_not_there(self, spark: SparkSession, setting: Setting, path: str) -> None:
        spark.range(3).write.format("delta").save(path)
        drop = f"ALTER TABLE delta.`{path}` DROP CONSTRAINT nobody"
        with pytest.raises(exceptions.DeltaError, match="nobody"):
            spark.sql(drop)
        setting(DELTA + "constraints.assumesDropIfExists.enabled", "true")
        spark.sql(drop)

    @pytest.mark.classic("warnings of a write by Spark are in the log of the server")
    def test_metadata_of_other_formats(self, spark: SparkSession, setting: Setting, path: str) -> None:
        deltaic.write(path, pa.table({"id": pa.array(range(10), pa.int64())}))
        allow = {"allow_stale_universal_format": "true"}
        formats = {"delta.universalFormat.enabledFormats": "iceberg"}
        with pytest.warns(exceptions.DeltaWarning):
            deltaic.Table(path, storage_options=allow).set_properties(formats, allow_arbitrary=True)
        table = DeltaTable.forPath(spark, path)
        merge = table.alias("t").merge(spark.range(9, 12).alias("s"), "t.id = s.id")
        changes: tuple[Callable[[], Any], ...] = (
            lambda: spark.range(3).write.format("delta").mode("append").save(path),
            lambda: table.delete("id = 1"),
            lambda: spark.sql(f"UPDATE delta.`{path}` SET id = 20 WHERE id = 2"),
            merge.whenNotMatchedInsertAll().execute,
            lambda: table.optimize().executeCompaction(),
            lambda: spark.sql(f"ALTER TABLE delta.`{path}` SET TBLPROPERTIES ('whose' = 'mine')"),
        )
        for change in changes:
            with pytest.raises(
                exceptions.UnsupportedError, match=r"spark\.deltaic\.universalFormat\.allowStale"
            ):
                change()
        assert deltaic.Table(path).version == 1
        setting("spark.deltaic.universalFormat.allowStale", "true")
        for version, change in enumerate(changes, 2):
            with pytest.warns(exceptions.DeltaWarning, match="`iceberg`"):
                change()
            assert deltaic.Table(path).version == version


class TestReads:
    @pytest.mark.classic("asks the JVM for the settings of Spark")
    def test_each_setting_of_this_spark_has_a_place(self, spark: SparkSession) -> None:
        module = "org.apache.spark.sql.internal.SQLConf$"
        java = spark._jvm.java.lang
        conf = java.Class.forName(module, True, java.Thread.currentThread().getContextClassLoader())
        entries = conf.getField("MODULE$").get(None).getConfigEntries().toArray()
        names = [entry.key() for entry in entries]
        ours = [name for name in names if name.startswith(("spark.sql.parquet.", "spark.sql.files."))]
        assert len(ours) > 30
        assert [name for name in ours if known_settings.fate(name) is None] == []

    def test_options_that_nobody_knows_say_nothing(self, door: Any, path: str) -> None:
        deltaic.save(door.range(3), path)
        reader = door.read.format("delta").option("header", "true").option("fs.s3a.access.key", "k")
        assert sorted(r.id for r in reader.option("mergeSchema", "true").load(path).collect()) == [0, 1, 2]
