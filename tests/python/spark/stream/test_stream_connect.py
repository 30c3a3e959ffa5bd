"""Streams of the Python Data Source, on Spark Connect."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql.datasource import DataSourceStreamReader
from streams import append, ids, run

import deltaic
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark

# from PySpark 4.2 on a source learns where a batch begins and may limit it
TOLD = len(inspect.signature(DataSourceStreamReader.latestOffset).parameters) > 1


def stream(connect: Any, path: Path, **options: str) -> Any:
    return connect.readStream.format("delta").options(**options).load(str(path))


def test_a_query_copies_a_table_and_goes_on(spark: Any, connect: Any, tmp_path: Path) -> None:
    source, to, checkpoint = tmp_path / "t", tmp_path / "to", tmp_path / "c"
    for i in range(2):
        append(connect, source, [i])
    limited = {"maxFilesPerTrigger": "1"}
    run(stream(connect, source, **limited), to, checkpoint)
    assert ids(connect, to) == [0, 1]
    last = 1 if TOLD else 0
    assert deltaic.Table(str(to)).version == last
    # as if the server had ended between the commit of the batch and the word in the checkpoint
    for name in (f"{last}", f".{last}.crc"):
        (checkpoint / "commits" / name).unlink(missing_ok=True)
    append(connect, source, [3, 4], files=2)
    for _ in range(1 if TOLD else 2):
        # where a source does not learn it, Spark ends with the batch that was begun
        run(stream(connect, source), to, checkpoint)
    assert ids(connect, to) == [0, 1, 3, 4]
    append(connect, source, [5])
    run(stream(spark, source), to, checkpoint)
    assert ids(connect, to) == [0, 1, 3, 4, 5]


def test_changes_come_after_the_rows_that_are_there(connect: Any, tmp_path: Path) -> None:
    path, to, checkpoint = tmp_path / "t", tmp_path / "to", tmp_path / "c"
    rows = connect.range(2).selectExpr("id", "id AS p").coalesce(1)
    rows.write.format("delta").option("delta.enableChangeDataFeed", "true").mode("append").save(str(path))
    run(stream(connect, path, readChangeFeed="true"), to, checkpoint)
    DeltaTable.forPath(connect, str(path)).update("id = 1", {"id": "10"})
    run(stream(connect, path, readChangeFeed="true"), to, checkpoint)
    found = deltaic.read(connect, str(to)).collect()
    assert sorted((r._commit_version, r._change_type, r.id) for r in found) == [
        (0, "insert", 0),
        (0, "insert", 1),
        (1, "update_postimage", 10),
        (1, "update_preimage", 1),
    ]
    times = {c["version"]: c["timestamp"].timestamp() for c in deltaic.Table(str(path)).history()}
    assert all(times[r._commit_version] == r._commit_timestamp.timestamp() for r in found)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"versionAsOf": "0"}, "versionAsOf"),
        ({"maxFilesPerTrigger": "0"}, "maxFilesPerTrigger"),
        ({"schemaTrackingLocation": "s"}, "schemaTrackingLocation"),
        ({"schemaLocation": "s"}, "schemaLocation"),
    ],
)
def test_options_that_make_no_sense(
    connect: Any, tmp_path: Path, options: dict[str, str], error: str
) -> None:
    append(connect, tmp_path / "t", [0])
    with pytest.raises(Exception, match=error):
        run(stream(connect, tmp_path / "t", **options), tmp_path / "to", tmp_path / "c")


@pytest.mark.parametrize(
    "options", [{"replaceWhere": "id = 0"}, {"replaceUsing": "id"}, {"overwriteSchema": "true"}]
)
def test_what_no_batch_can_do_is_refused(connect: Any, tmp_path: Path, options: dict[str, str]) -> None:
    append(connect, tmp_path / "t", [0])
    writer = stream(connect, tmp_path / "t").writeStream.format("delta").options(**options)
    writer = writer.option("checkpointLocation", str(tmp_path / "c")).trigger(availableNow=True)
    with pytest.raises(Exception, match=f"{next(iter(options))}.*not for a stream"):
        writer.start(str(tmp_path / "to")).awaitTermination()
    assert not (tmp_path / "to" / "_delta_log").exists()


def test_changed_rows_stop_the_query(connect: Any, tmp_path: Path) -> None:
    source = tmp_path / "t"
    append(connect, source, [0, 1])
    DeltaTable.forPath(connect, str(source)).delete("id = 1")
    with pytest.raises(Exception, match="SourceRowsChangedError"):
        run(stream(connect, source, startingVersion="0"), tmp_path / "to", tmp_path / "c")
