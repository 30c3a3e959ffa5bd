"""What `df.write.format("delta")` on Spark Connect refuses and how it says so, and the settings that it follows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import PySparkException

import deltaic
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark


def ids(connect: Any, path: str) -> list[int]:
    return sorted(r.id for r in deltaic.read(connect, path).collect())


def test_what_spark_does_not_offer_is_refused_before_a_file(connect: Any, tmp_path: Path) -> None:
    path = tmp_path / "t"
    rows = connect.sql("SELECT id, id % 2 AS p FROM range(10)")
    for write, message in (
        (lambda: rows.write.format("delta"), "ErrorIfExists"),
        (lambda: rows.write.format("delta").mode("ignore"), "Ignore"),
        (lambda: rows.write.format("delta").mode("append").partitionBy("p"), "do not match"),
        (lambda: rows.write.format("delta").mode("append").clusterBy("p"), "do not match"),
    ):
        with pytest.raises(PySparkException, match=message):
            write().save(str(path))
    assert not path.exists()
    rows.write.format("delta").mode("append").option("partitionBy", "p").save(str(path))
    assert list(deltaic.Table(str(path)).metadata.partition_columns) == ["p"]


def test_errors_say_in_one_line_what_is_wrong(connect: Any, tmp_path: Path) -> None:
    path = tmp_path / "t"
    deltaic.save(connect.sql("SELECT id, id % 2 AS p FROM range(10)"), str(path), partition_by="p")
    deltaic.Table(str(path)).add_constraint("positive", "id >= 0")
    before = sorted(path.rglob("*"))

    def write(query: str, mode: str = "append", **options: str) -> None:
        connect.sql(query).write.format("delta").mode(mode).options(**options).save(str(path))

    row = "SELECT 1L AS id, 1L AS p"
    for arguments, options, said in (
        ((f"{row}, 1 AS x",), {}, "SchemaMismatchError: .*`x` is not in the table"),
        ((row,), {"replaceOn": "true"}, "InvalidArgumentError: replaceOn: not for this write"),
        ((row, "overwrite"), {"partitionBy": "id"}, "InvalidArgumentError: .*partitioned by p"),
        ((row, "overwrite"), {"replaceWhere": "p = 0"}, "ReplaceWhereMismatchError: .*p = 1"),
        (("SELECT -1L AS id, 1L AS p",), {}, "InvariantViolationError: .*positive.*id = -1"),
    ):
        with pytest.raises(PySparkException, match=rf"(?m)^deltaic\.exceptions\.{said}") as error:
            write(*arguments, **options)
        assert str(error.value).partition("deltaic.exceptions.")[0].count("File ") <= 8
    with pytest.raises(PySparkException, match=r"(?m)^deltaic\.exceptions\.VersionNotFoundError: .*0 to 1"):
        connect.read.format("delta").option("versionAsOf", "9").load(str(path)).count()
    assert sorted(path.rglob("*")) == before


def test_the_format_follows_the_settings_when_it_is_enabled(connect: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    deltaic.save(connect.sql("SELECT id, id % 2 AS p FROM range(10)"), path, partition_by="p")
    settings = {
        "spark.sql.sources.partitionOverwriteMode": "dynamic",
        "spark.databricks.delta.schema.autoMerge.enabled": "true",
        "spark.databricks.delta.commitInfo.userMetadata": "noted",
    }
    more = connect.sql("SELECT 100L AS id, 1L AS p, 'x' AS more")
    try:
        for name, value in settings.items():
            connect.conf.set(name, value)
        deltaic.enable(connect)
        more.write.format("delta").mode("overwrite").save(path)
        assert ids(connect, path) == [0, 2, 4, 6, 8, 100]
        (last,) = DeltaTable.forPath(connect, path).history(1).collect()
        assert last.userMetadata == "noted"
    finally:
        for name in settings:
            connect.conf.unset(name)
        deltaic.enable(connect)
    more.write.format("delta").mode("overwrite").save(path)
    assert ids(connect, path) == [100]
