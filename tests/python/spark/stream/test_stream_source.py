"""A table as a streaming source of classic sessions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from streams import PATIENCE, append, ids, offsets, run, start

import deltaic
from deltaic import exceptions
from deltaic.spark.read.held import Held, find
from deltaic.spark.stream.change_data_feed import Changes, ChangeStream
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture
def table(spark: SparkSession, tmp_path: Path) -> Path:
    """Three files: ids 0 to 2 in one version each."""
    for i in range(3):
        append(spark, tmp_path / "t", [i])
    return tmp_path / "t"


def stream(spark: SparkSession, path: Path, **options: Any) -> Any:
    return spark.readStream.format("delta").options(**options).load(str(path))


def test_what_is_there_then_what_comes(spark: SparkSession, table: Path, tmp_path: Path) -> None:
    to, checkpoint = tmp_path / "to", tmp_path / "c"
    limited = {"maxFilesPerTrigger": "1"}
    run(stream(spark, table, **limited), to, checkpoint)
    assert ids(spark, to) == [0, 1, 2]
    written = offsets(checkpoint)
    assert [(o["reservoirVersion"], o["index"], o["isStartingVersion"]) for o in written] == [
        (2, 0, True),
        (2, 1, True),
        (3, -1, False),
    ]
    assert list(written[0]) == [
        "sourceVersion",
        "reservoirId",
        "reservoirVersion",
        "index",
        "isStartingVersion",
    ]
    # a restart gives what is new, and nothing again
    run(stream(spark, table, **limited), to, checkpoint)
    append(spark, table, [3, 4], files=2)
    run(stream(spark, table, **limited), to, checkpoint)
    assert ids(spark, to) == [0, 1, 2, 3, 4]


def test_options_that_choose_commits_and_files(spark: SparkSession, table: Path, tmp_path: Path) -> None:
    DeltaTable.forPath(spark, str(table)).delete("id = 1")
    ignoring = {"startingVersion": "0", "ignoreDeletes": "true"}
    run(stream(spark, table, maxBytesPerTrigger="1b", **ignoring), tmp_path / "to", tmp_path / "c")
    assert ids(spark, tmp_path / "to") == [0, 1, 2]
    # one file at least
    assert len(offsets(tmp_path / "c")) >= 3
    first = (table / "_delta_log" / f"{0:020}.json").read_text()
    (name,) = [json.loads(line)["add"]["path"] for line in first.splitlines() if "add" in json.loads(line)]
    run(stream(spark, table, excludeRegex=f"{name}$", **ignoring), tmp_path / "to2", tmp_path / "c2")
    assert ids(spark, tmp_path / "to2") == [1, 2]


def test_one_batch_with_the_trigger_once(spark: SparkSession, table: Path, tmp_path: Path) -> None:
    query = (
        stream(spark, table, maxFilesPerTrigger="1")
        .writeStream.format("delta")
        .option("checkpointLocation", str(tmp_path / "c"))
        .trigger(once=True)
        .start(str(tmp_path / "to"))
    )
    assert query.awaitTermination(PATIENCE)
    assert ids(spark, tmp_path / "to") == [0, 1, 2]
    assert len(offsets(tmp_path / "c")) == 1


def test_several_queries_that_go_on(spark: SparkSession, table: Path, tmp_path: Path) -> None:
    queries = [
        stream(spark, table)
        .where("p = 0")
        .writeStream.format("delta")
        .option("checkpointLocation", str(tmp_path / f"c{i}"))
        .trigger(processingTime="0 seconds")
        .start(str(tmp_path / f"to{i}"))
        for i in range(2)
    ]
    try:
        for query in queries:
            query.processAllAvailable()
        append(spark, table, [6])
        for query in queries:
            query.processAllAvailable()
    finally:
        for query in queries:
            query.stop()
    for i in range(2):
        assert ids(spark, tmp_path / f"to{i}") == [0, 2, 6]


@pytest.mark.classic("its function of foreachBatch gives plans to this process")
def test_rows_come_from_a_native_scan_without_deleted_rows(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "t"
    rows = spark.range(10).selectExpr("id", "id % 2 AS p")
    properties = {"delta.enableDeletionVectors": "true"}
    deltaic.save(rows.coalesce(1), str(path), partition_by="p", **properties)
    DeltaTable.forPath(spark, str(path)).delete("id < 4")
    plans: list[str] = []

    def look(df: Any, _: int) -> None:
        plans.append(df._jdf.queryExecution().toString())
        df.write.format("delta").mode("append").save(str(tmp_path / "to"))

    query = (
        stream(spark, path)
        .where("p = 1")
        .writeStream.foreachBatch(look)
        .option("checkpointLocation", str(tmp_path / "c"))
        .trigger(availableNow=True)
        .start()
    )
    assert query.awaitTermination(PATIENCE)
    assert ids(spark, tmp_path / "to") == [5, 7, 9]
    assert query.lastProgress is not None
    # changed files come again where the stream may pass them on, each with its own deleted rows
    DeltaTable.forPath(spark, str(path)).delete("id = 5")
    again = stream(spark, path, startingVersion="0", ignoreChanges="true").where("p = 1")
    run(again, tmp_path / "to2", tmp_path / "c2")
    assert ids(spark, tmp_path / "to2") == [1, 3, 5, 5, 7, 7, 7, 9, 9, 9]


def test_the_files_of_the_last_batches_are_held_until_the_query_ends(
    spark: SparkSession, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # with the relations: so none is gone for want of a reference
    held: list[tuple[str, Any]] = []
    now: list[int] = []
    hold = Held.hold

    def noting(self: Held, relation: Any) -> dict[str, Any]:
        facts = hold(self, relation)
        held.append((facts["identity"], relation))
        now.append(sum(is_held(identity) for identity, _ in held))
        return facts

    monkeypatch.setattr(Held, "hold", noting)
    append(spark, table, range(3, 5))
    append(spark, table, range(5, 7))
    run(stream(spark, table, maxFilesPerTrigger="1", startingVersion="0"), tmp_path / "to", tmp_path / "c")
    assert ids(spark, tmp_path / "to") == list(range(7))
    # a batch is held before the oldest one is released
    assert now == [1, 2, 3, 4, 4]
    assert not any(is_held(identity) for identity, _ in held)


def is_held(identity: str) -> bool:
    try:
        find(identity, "t")
    except exceptions.InternalError:
        return False
    return True


def test_where_a_stream_begins(spark: SparkSession, table: Path, tmp_path: Path) -> None:
    times = [c["timestamp"].isoformat(" ") for c in reversed(deltaic.Table(str(table)).history())]
    for name, options in {
        "version": {"startingVersion": "1"},
        "time": {"startingTimestamp": times[1]},
    }.items():
        run(stream(spark, table, **options), tmp_path / name, tmp_path / f"c-{name}")
        assert ids(spark, tmp_path / name) == [1, 2]
    run(stream(spark, table, startingTimestamp=times[2]), tmp_path / "last", tmp_path / "c-last")
    assert ids(spark, tmp_path / "last") == [2]
    latest = {"startingVersion": "latest"}
    run(stream(spark, table, **latest), tmp_path / "to", tmp_path / "c")
    append(spark, table, [7])
    run(stream(spark, table, **latest), tmp_path / "to", tmp_path / "c")
    assert ids(spark, tmp_path / "to") == [7]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"endingVersion": "1"}, exceptions.UnsupportedError),
        ({"versionAsOf": "1"}, exceptions.InvalidArgumentError),
        ({"maxFilesPerTrigger": "0"}, exceptions.InvalidArgumentError),
        ({"startingTimestamp": "soon"}, exceptions.InvalidArgumentError),
        ({"startingVersion": "1", "startingTimestamp": "2026-01-01"}, exceptions.InvalidArgumentError),
    ],
)
def test_options_that_make_no_sense(
    spark: SparkSession, table: Path, options: dict[str, str], error: type[Exception]
) -> None:
    with pytest.raises(error) as raised:
        _ = stream(spark, table, **options).schema
    assert next(iter(options)) in str(raised.value)


def failure(spark: SparkSession, table: Path, tmp_path: Path, **options: Any) -> BaseException:
    query = start(stream(spark, table, **options), tmp_path / "to", tmp_path / "c")
    with pytest.raises(exceptions.DeltaError) as raised:
        query.awaitTermination(PATIENCE)
    query.stop()
    return raised.value


def test_changed_rows_stop_the_query(spark: SparkSession, table: Path, tmp_path: Path) -> None:
    run(stream(spark, table), tmp_path / "to", tmp_path / "c")
    DeltaTable.forPath(spark, str(table)).delete("id = 1")
    error = failure(spark, table, tmp_path)
    assert isinstance(error, exceptions.SourceRowsChangedError)
    assert error.version == 3
    append(spark, table, [9])
    run(stream(spark, table, skipChangeCommits="true"), tmp_path / "to", tmp_path / "c")
    assert ids(spark, tmp_path / "to") == [0, 1, 2, 9]


def test_a_new_column_stops_the_query_and_a_restart_goes_on(
    spark: SparkSession, table: Path, tmp_path: Path
) -> None:
    query = (
        stream(spark, table)
        .writeStream.format("delta")
        .option("checkpointLocation", str(tmp_path / "c"))
        .option("mergeSchema", "true")
        .start(str(tmp_path / "to"))
    )
    try:
        query.processAllAvailable()
        wider = spark.range(5, 6).selectExpr("id", "id % 2 AS p", "'new' AS x")
        deltaic.save(wider, str(table), mode="append", mergeSchema="true")
        with pytest.raises(exceptions.SourceSchemaChangedError, match="column `x` was added"):
            query.awaitTermination(PATIENCE)
    finally:
        query.stop()
    run(stream(spark, table), tmp_path / "to", tmp_path / "c", mergeSchema="true")
    assert ids(spark, tmp_path / "to") == [0, 1, 2, 5]
    assert deltaic.read(spark, str(tmp_path / "to")).where("x = 'new'").count() == 1


def test_what_is_gone_is_an_error(spark: SparkSession, table: Path, tmp_path: Path) -> None:
    run(stream(spark, table), tmp_path / "to", tmp_path / "c")
    for i in (3, 4):
        append(spark, table, [i])
    deltaic.Table(str(table)).checkpoint()
    (table / "_delta_log" / f"{3:020}.json").unlink()
    error = failure(spark, table, tmp_path)
    assert isinstance(error, exceptions.SourceDataLostError)
    assert error.version == 3
    run(stream(spark, table, failOnDataLoss="false"), tmp_path / "to", tmp_path / "c")
    assert ids(spark, tmp_path / "to") == [0, 1, 2, 4]


def test_a_data_file_that_is_gone_is_an_error(spark: SparkSession, table: Path, tmp_path: Path) -> None:
    run(stream(spark, table), tmp_path / "to", tmp_path / "c")
    append(spark, table, [3])
    newest = max(table.glob("**/*.parquet"), key=lambda f: f.stat().st_mtime_ns)
    newest.unlink()
    query = start(stream(spark, table), tmp_path / "to", tmp_path / "c")
    with pytest.raises(Exception, match=r"does not exist|FILE_NOT_EXIST"):
        query.awaitTermination(PATIENCE)


def test_another_table_in_the_place_is_an_error(spark: SparkSession, table: Path, tmp_path: Path) -> None:
    run(stream(spark, table), tmp_path / "to", tmp_path / "c")
    table.rename(tmp_path / "old")
    append(spark, table, [3])
    assert isinstance(failure(spark, table, tmp_path), exceptions.SourceReplacedError)


def test_a_stream_of_a_table_by_name(spark: SparkSession, table: Path, tmp_path: Path) -> None:
    spark.sql(f"CREATE TABLE streamed USING delta LOCATION '{table}'")
    spark.sql("ALTER TABLE streamed SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')")
    append(spark, table, [9])
    feed = {"readChangeFeed": "true", "startingVersion": "4"}
    try:
        run(spark.readStream.options(**feed).table("streamed"), tmp_path / "fed", tmp_path / "c3")
        run(spark.readStream.table("streamed"), tmp_path / "to", tmp_path / "c")
        run(spark.readStream.table(f"delta.`{table}`"), tmp_path / "to", tmp_path / "c2")
    finally:
        spark.sql("DROP TABLE streamed")
    assert ids(spark, tmp_path / "to") == [0, 0, 1, 1, 2, 2, 9, 9]
    assert changed(deltaic.read(spark, str(tmp_path / "fed"))) == [(4, "insert", 9)]


def changed(rows: Any) -> list[tuple[Any, ...]]:
    return sorted((r._commit_version, r._change_type, r.id) for r in rows.collect())


@pytest.mark.parametrize(
    "properties", [{}, {"delta.enableDeletionVectors": "true"}], ids=["files", "vectors"]
)
def test_changes_come_after_the_rows_that_are_there(
    spark: SparkSession, tmp_path: Path, properties: dict[str, str]
) -> None:
    path, to = tmp_path / "t", tmp_path / "to"
    rows = spark.range(4).selectExpr("id", "id % 2 AS p").repartition(2)
    options = {"delta.enableChangeDataFeed": "true", **properties}
    rows.write.format("delta").partitionBy("p").options(**options).save(str(path))
    feed = {"readChangeFeed": "true", "maxFilesPerTrigger": "1"}
    run(stream(spark, path, **feed), to, tmp_path / "c")
    table = DeltaTable.forPath(spark, str(path))
    table.delete("id = 0")
    table.update("id = 1", {"id": "10"})
    append(spark, path, [7])
    run(stream(spark, path, **feed), to, tmp_path / "c")
    found = deltaic.read(spark, str(to))
    assert changed(found) == [
        *((0, "insert", i) for i in range(4)),
        (1, "delete", 0),
        (2, "update_postimage", 10),
        (2, "update_preimage", 1),
        (3, "insert", 7),
    ]
    assert found.columns == ["id", "p", "_change_type", "_commit_version", "_commit_timestamp"]
    times = {c["version"]: c["timestamp"].timestamp() for c in deltaic.Table(str(path)).history()}
    assert all(times[r._commit_version] == r._commit_timestamp.timestamp() for r in found.collect())
    # one batch for each file that was there, and one for each version
    assert [(o["reservoirVersion"], o["index"]) for o in offsets(tmp_path / "c")][-4:] == [
        (1, -1),
        (2, -1),
        (3, -1),
        (4, -1),
    ]
    run(stream(spark, path, readChangeFeed="true", startingVersion="1"), tmp_path / "to2", tmp_path / "c2")
    batch = spark.read.format("delta").options(readChangeFeed="true", startingVersion="1").load(str(path))
    assert changed(deltaic.read(spark, str(tmp_path / "to2"))) == changed(batch)


def test_changes_that_are_not_recorded(spark: SparkSession, table: Path) -> None:
    with pytest.raises(exceptions.ChangesNotRecordedError):
        _ = stream(spark, table, readChangeFeed="true").schema
    with pytest.raises(exceptions.InvalidArgumentError, match="excludeRegex"):
        _ = stream(spark, table, readChangeFeed="true", excludeRegex="part-").schema
    with pytest.raises(exceptions.InvalidArgumentError, match="skipChangeCommits") as error:
        _ = stream(spark, table, readChangeFeed="true", skipChangeCommits="x").schema
    assert error.value.condition == "DELTA_ILLEGAL_OPTION"


@pytest.mark.parametrize(
    "properties", [{}, {"delta.enableDeletionVectors": "true"}], ids=["rewrite", "vectors"]
)
def test_a_batch_of_changes_that_delta_spark_planned(tmp_path: Path, properties: dict[str, str]) -> None:
    """Its offsets name the last file of a version of changes, where ours stand behind the version."""
    path = str(tmp_path / "t")
    rows = pa.table({"id": range(6)})
    deltaic.write(path, rows, configuration={"delta.enableChangeDataFeed": "true", **properties})
    table = deltaic.Table(path)
    table.update_rows({"id": "id + 100"}, where="id = 1")
    table.delete("id = 2")
    deltaic.write(path, rows)
    stream = ChangeStream(path, {"readchangefeed": "true", "startingversion": "0"}, None, {})
    identity = json.loads(stream.head())["reservoirId"]

    def at(version: int, index: int) -> str:
        offset = {"sourceVersion": 1, "reservoirId": identity, "reservoirVersion": version, "index": index}
        return json.dumps({**offset, "isStartingVersion": False})

    def versions(start: str, end: str) -> list[Any]:
        parts = stream.batch(start, end)
        return [p._plan.versions if isinstance(p, Changes) else p.inserted for p in parts]

    nothing = [(0, 0)]
    assert versions(at(1, -1), at(1, 0)) == [(1, 1)]
    assert versions(at(1, 0), at(2, 0)) == [(2, 2)]
    assert versions(at(0, 0), at(2, 0))[-1] == (1, 2)
    assert versions(at(1, 0), at(2, -1)) == nothing
    assert versions(at(2, 0), at(3, -1)) == nothing
    # a version that only adds rows may be cut
    assert [v for v, _ in versions(at(2, 0), at(3, 0))] == [3]
