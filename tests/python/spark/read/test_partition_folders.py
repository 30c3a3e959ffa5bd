"""The folder of a partition as the path of a read, on both kinds of sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import deltaic
from deltaic.exceptions import InvalidArgumentError, TableNotFoundError, UnsupportedError
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession


@pytest.fixture
def table(spark: SparkSession, tmp_path: Path) -> Path:
    path = tmp_path / "a=b" / "t"
    query = """SELECT CAST(id AS INT) AS id, id % 2 = 0 AS even, CAST(id % 3 AS DOUBLE) / 2 AS real,
               CAST(id AS DECIMAL(5, 1)) AS exact, TIMESTAMP '2024-01-01 12:00:00' AS at,
               CASE WHEN id > 0 THEN concat("it's ", id, '/%') END AS text FROM range(6)"""
    data = spark.sql(query)
    data.write.format("delta").partitionBy("even", "real", "exact", "at", "text").save(str(path))
    return path


FOLDERS = {
    "even=true": [0, 2, 4],
    "real=0.5": [1, 4],
    "even=false/real=1.0": [5],
    "exact=3.0": [3],
    "at=2024-01-01 12%3A00%3A00": [0, 1, 2, 3, 4, 5],
    "text=it's 2%2F%25": [2],
    "text=__HIVE_DEFAULT_PARTITION__": [0],
}


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_reads_the_rows_of_its_partitions(door: Any, table: Path, folder: str) -> None:
    df = door.read.format("delta").load(f"{table}/{folder}")
    assert sorted(row.id for row in df.collect()) == FOLDERS[folder]
    assert df.columns == ["id", "even", "real", "exact", "at", "text"]
    assert df.where("id > 2").count() == sum(id_ > 2 for id_ in FOLDERS[folder])
    assert deltaic.read(door, f"{table}/{folder}", where="id < 2").count() == sum(
        id_ < 2 for id_ in FOLDERS[folder]
    )


def test_an_old_version_of_a_folder(door: Any, table: Path) -> None:
    deltaic.Table(str(table)).delete("id = 4")
    folder = f"{table}/even=true"
    for df in (
        door.read.format("delta").option("versionAsOf", 0).load(folder),
        door.read.format("delta").load(f"{folder}@v0"),
    ):
        assert sorted(row.id for row in df.collect()) == [0, 2, 4]
    assert door.read.format("delta").load(folder).count() == 2


@pytest.mark.parametrize(
    ("folder", "error"),
    [
        ("exact=77.0", TableNotFoundError),
        ("id=1", InvalidArgumentError),
        ("even=true/other", InvalidArgumentError),
        ("even=maybe", InvalidArgumentError),
        ("at=noon", InvalidArgumentError),
        ("other", TableNotFoundError),
    ],
)
def test_a_folder_that_is_none_of_a_partition(
    door: Any, table: Path, folder: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        deltaic.read(door, f"{table}/{folder}")


@pytest.mark.parametrize(
    "change",
    [
        "INSERT INTO delta.`{t}` SELECT * FROM delta.`{t}`",
        "INSERT OVERWRITE delta.`{t}` SELECT * FROM delta.`{t}`",
        "DELETE FROM delta.`{t}`",
        "UPDATE delta.`{t}` SET id = 0",
        "MERGE INTO delta.`{t}` AS t USING (SELECT 1 AS id) AS s ON t.id = s.id WHEN MATCHED THEN DELETE",
    ],
)
def test_a_folder_takes_no_changes(spark: SparkSession, table: Path, change: str) -> None:
    with pytest.raises(UnsupportedError, match="folder of a partition"):
        spark.sql(change.format(t=f"{table}/even=true"))
    assert deltaic.Table(str(table)).version == 0
    assert not (table / "even=true" / "_delta_log").exists()


def test_a_table_by_the_folder_of_a_partition(door: Any, table: Path) -> None:
    folder = f"{table}/even=true"
    found = DeltaTable.forPath(door, folder)
    assert sorted(row.id for row in found.toDF().collect()) == [0, 2, 4]
    assert [row.operation for row in found.history().collect()] == ["WRITE"]
    assert found.detail().first().location.endswith("/a=b/t")
    for change in (found.delete, found.update, lambda: found.merge(door.range(1), "true")):
        with pytest.raises(UnsupportedError, match="folder of a partition") as raised:
            change()
        assert raised.value.condition == "DELTA_UNEXPECTED_PARTIAL_SCAN"
    with pytest.raises(TableNotFoundError):
        DeltaTable.forPath(door, f"{table}/exact=77.0")
    # what is of the whole table is done to the whole table
    found.optimize().executeCompaction()
    deltaic.Table(str(table)).set_properties({"k": "v"})
    assert found.detail().first().properties == {"k": "v"}


def test_statements_about_the_table_of_a_folder(door: Any, table: Path) -> None:
    folder = f"{table}/even=true"
    assert deltaic.sql(door, f"DESCRIBE HISTORY delta.`{folder}`").count() == 1
    assert deltaic.sql(door, f"DESCRIBE DETAIL delta.`{folder}`").first().location.endswith("/a=b/t")
    assert deltaic.sql(door, f"OPTIMIZE delta.`{folder}`").first().path.endswith("/a=b/t")
    deltaic.sql(door, f"RESTORE delta.`{folder}` TO VERSION AS OF 0")
    with pytest.raises(TableNotFoundError):
        deltaic.sql(door, f"VACUUM delta.`{folder}`")
