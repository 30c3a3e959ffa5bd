"""User-defined types of a table from a stranger: no class that they name is made, and none is unpickled."""

from __future__ import annotations

import base64
import json
import os
import pickle
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import deltaic
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

STORED = {"type": "array", "elementType": "double", "containsNull": True}


class _Payload:
    """Makes a folder when it is unpickled."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __reduce__(self) -> object:
        return os.mkdir, (str(self._folder),)


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """The folder that a pickled class would make."""
    return tmp_path / "was-run"


@pytest.fixture
def table(marker: Path, tmp_path: Path) -> str:
    """A table of lists of numbers, whose log says that they are of a type of somebody's own."""
    path = tmp_path / "t"
    columns = [{"name": "id", "type": "long", "nullable": True, "metadata": {}}]
    columns += [{"name": "p", "type": STORED, "nullable": True, "metadata": {}}]
    rows = pa.table({"id": [1, 2], "p": [[1.0, 2.0], [3.0]]})
    deltaic.write(path, rows, configuration={"delta.enableChangeDataFeed": "true"})
    commit = path / "_delta_log/00000000000000000000.json"
    for checksum in path.glob("_delta_log/*.crc"):
        checksum.unlink()
    actions = [json.loads(line) for line in commit.read_text().splitlines()]
    columns[1]["type"] = {
        "type": "udt",
        "class": "java.lang.Thread",
        "pyClass": "__main__.Nothing",
        "serializedClass": base64.b64encode(pickle.dumps(_Payload(marker))).decode(),
        "sqlType": STORED,
    }
    for action in actions:
        if "metaData" in action:
            action["metaData"]["schemaString"] = json.dumps({"type": "struct", "fields": columns})
    commit.write_text("".join(json.dumps(action) + "\n" for action in actions))
    return str(path)


def test_the_payload_would_run(marker: Path) -> None:
    pickle.loads(pickle.dumps(_Payload(marker)))
    assert marker.is_dir()


def test_it_is_what_it_is_stored_as(spark: SparkSession, table: str, marker: Path) -> None:
    df = spark.read.format("delta").load(table)
    assert df.schema["p"].dataType.simpleString() == "array<double>"
    assert sorted(df.collect()) == [(1, [1.0, 2.0]), (2, [3.0])]
    assert "Nothing" not in deltaic.Table(table).schema.json()
    assert spark.readStream.format("delta").load(table).schema == df.schema
    changes = spark.read.format("delta").option("readChangeFeed", "true").option("startingVersion", 0)
    assert changes.load(table).count() == 2
    DeltaTable.forPath(spark, table).detail().collect()
    assert not marker.exists()


def test_rows_are_changed_and_added_and_the_log_keeps_the_definition(
    spark: SparkSession, table: str, marker: Path
) -> None:
    df = spark.read.format("delta").load(table)
    df.where("id = 2").selectExpr("id + 1 AS id", "p").write.format("delta").mode("append").save(table)
    target = DeltaTable.forPath(spark, table)
    target.update("id = 1", {"p": "array(7D)"})
    source = spark.createDataFrame([(2, [8.0]), (4, [9.0])], "id bigint, p array<double>")
    merge = target.alias("t").merge(source.alias("s"), "t.id = s.id")
    merge.whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()
    target.delete("id = 3")
    target.optimize().executeCompaction()
    rows = sorted(spark.read.format("delta").load(table).collect())
    assert rows == [(1, [7.0]), (2, [8.0]), (4, [9.0])]
    more = spark.range(1).selectExpr("10 + id AS id", "array(1D) AS p", "'x' AS more")
    more.write.format("delta").mode("append").option("mergeSchema", "true").save(table)
    commits = sorted(Path(table).glob("_delta_log/*.json"))
    actions = [json.loads(line) for commit in commits for line in commit.read_text().splitlines()]
    written = [action["metaData"]["schemaString"] for action in actions if "metaData" in action]
    assert len(written) == 2
    assert all('"serializedClass"' in schema for schema in written)
    assert not marker.exists()
