"""A table as a streaming sink of classic sessions: every batch once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from streams import PATIENCE, append, ids, run

import deltaic
from deltaic import exceptions
from deltaic.spark.write import transaction
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def stream(spark: SparkSession, path: Path, **options: Any) -> Any:
    return spark.readStream.format("delta").options(**options).load(str(path))


def uncommit(checkpoint: Path, batch: int) -> None:
    """As if the process had ended between the commit of a batch and the word in the checkpoint."""
    for name in (f"{batch}", f".{batch}.crc"):
        (checkpoint / "commits" / name).unlink(missing_ok=True)


def test_partitions_and_the_history(spark: SparkSession, tmp_path: Path) -> None:
    append(spark, tmp_path / "t", range(4))
    query = (
        stream(spark, tmp_path / "t")
        .writeStream.format("delta")
        .partitionBy("p")
        .option("checkpointLocation", str(tmp_path / "c"))
        .option("userMetadata", "from a stream")
        .trigger(availableNow=True)
        .start(str(tmp_path / "to"))
    )
    assert query.awaitTermination(PATIENCE)
    table = deltaic.Table(str(tmp_path / "to"))
    assert table.partition_columns == ["p"]
    assert table.history()[0]["userMetadata"] == "from a stream"
    assert ids(spark, tmp_path / "to") == [0, 1, 2, 3]


def test_a_batch_that_was_committed_is_skipped(spark: SparkSession, tmp_path: Path) -> None:
    source, to, checkpoint = tmp_path / "t", tmp_path / "to", tmp_path / "c"
    for i in range(3):
        append(spark, source, [i])
    run(stream(spark, source, maxFilesPerTrigger="1"), to, checkpoint)
    before = deltaic.Table(str(to)).version
    uncommit(checkpoint, 2)
    run(stream(spark, source, maxFilesPerTrigger="1"), to, checkpoint)
    assert ids(spark, to) == [0, 1, 2]
    assert deltaic.Table(str(to)).version == before


def test_a_query_that_was_set_back_writes_again(spark: SparkSession, tmp_path: Path) -> None:
    source, to, checkpoint = tmp_path / "t", tmp_path / "to", tmp_path / "c"
    append(spark, source, [1])
    query = run(stream(spark, source), to, checkpoint)
    table = deltaic.Table(str(to))
    assert table.reset_application(query.id) is not None
    assert table.reset_application(query.id) is None
    uncommit(checkpoint, 0)
    run(stream(spark, source), to, checkpoint)
    assert ids(spark, to) == [1, 1]


def test_the_complete_result_replaces_the_last_one(spark: SparkSession, tmp_path: Path) -> None:
    source, to = tmp_path / "t", tmp_path / "to"
    for count in (4, 7):
        append(spark, source, range(count))
        query = (
            stream(spark, source)
            .groupBy("p")
            .count()
            .writeStream.format("delta")
            .outputMode("complete")
            .option("checkpointLocation", str(tmp_path / "c"))
            .trigger(availableNow=True)
            .start(str(to))
        )
        assert query.awaitTermination(PATIENCE)
    rows = deltaic.read(spark, str(to)).orderBy("p").collect()
    assert [(r.p, r["count"]) for r in rows] == [(0, 6), (1, 5)]


def test_a_query_may_read_the_table_that_it_writes(spark: SparkSession, tmp_path: Path) -> None:
    both = tmp_path / "t"
    append(spark, both, range(4))
    rows = stream(spark, both).where("id < 100").selectExpr("id + 100 AS id", "p")
    for _ in range(2):
        run(rows, both, tmp_path / "c")
    assert ids(spark, both) == [0, 1, 2, 3, 100, 101, 102, 103]


def test_new_columns_need_merge_schema(spark: SparkSession, tmp_path: Path) -> None:
    source, to = tmp_path / "t", tmp_path / "to"
    append(spark, source, [1])
    append(spark, to, [0])
    wider = stream(spark, source).selectExpr("*", "id * 2 AS twice")
    with pytest.raises(exceptions.SchemaMismatchError):
        run(wider, to, tmp_path / "c")
    run(wider, to, tmp_path / "c", mergeSchema="true")
    assert [(r.id, r.twice) for r in deltaic.read(spark, str(to)).orderBy("id").collect()] == [
        (0, None),
        (1, 2),
    ]


def test_a_table_by_name(spark: SparkSession, tmp_path: Path) -> None:
    source, to = tmp_path / "t", tmp_path / "to"
    append(spark, source, [1])
    append(spark, to, [0])
    spark.sql(f"CREATE TABLE sunk USING delta LOCATION '{to}'")
    try:
        for name, checkpoint in (("sunk", "c"), (f"delta.`{to}`", "c2")):
            query = (
                stream(spark, source)
                .writeStream.format("delta")
                .option("checkpointLocation", str(tmp_path / checkpoint))
                .trigger(availableNow=True)
                .toTable(name)
            )
            assert query.awaitTermination(PATIENCE)
    finally:
        spark.sql("DROP TABLE sunk")
    assert ids(spark, to) == [0, 1, 1]


def test_batches_in_the_hands_of_the_user(spark: SparkSession, tmp_path: Path) -> None:
    source, log, state = tmp_path / "t", tmp_path / "log", tmp_path / "state"
    append(spark, source, range(4))
    append(spark, state, [0, 9])
    application = {"txnAppId": "copy"}

    def both(df: Any, batch: int) -> None:
        options = {**application, "txnVersion": str(batch)}
        df.write.format("delta").mode("append").options(**options).save(str(log))
        merge = DeltaTable.forPath(df.sparkSession, str(state)).alias("t").merge(df.alias("s"), "t.id = s.id")
        merge.whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()

    for _ in range(2):
        query = (
            stream(spark, source)
            .writeStream.foreachBatch(both)
            .option("checkpointLocation", str(tmp_path / "c"))
            .trigger(availableNow=True)
            .start()
        )
        assert query.awaitTermination(PATIENCE)
        uncommit(tmp_path / "c", 0)
    assert ids(spark, log) == [0, 1, 2, 3]
    assert ids(spark, state) == [0, 1, 2, 3, 9]


@pytest.mark.parametrize(
    ("options", "mode", "error"),
    [
        ({"replaceWhere": "p = 1"}, "append", exceptions.InvalidArgumentError),
        ({"txnAppId": "x", "txnVersion": "1"}, "append", exceptions.InvalidArgumentError),
        ({}, "update", exceptions.UnsupportedError),
    ],
)
def test_what_a_sink_refuses_before_it_starts(
    spark: SparkSession, tmp_path: Path, options: dict[str, str], mode: str, error: type[Exception]
) -> None:
    append(spark, tmp_path / "t", [1])
    writer = stream(spark, tmp_path / "t").writeStream.format("delta").options(**options).outputMode(mode)
    with pytest.raises(error):
        writer.option("checkpointLocation", str(tmp_path / "c")).start(str(tmp_path / "to"))
    assert not (tmp_path / "to").exists()


# the process ends in the middle of a batch of its own accord: there is no cleaner kill
CRASH = """
import os, sys
from pyspark.sql import SparkSession
import deltaic
from deltaic.spark.write import transaction

source, to, checkpoint = sys.argv[1:]
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
deltaic.enable(spark)
commit = transaction.commit
batches = 0

def crash(*arguments):
    global batches
    batches += 1
    version = commit(*arguments)
    if batches == 2:
        os._exit(7)
    return version

transaction.commit = crash
rows = spark.readStream.format("delta").option("maxFilesPerTrigger", "1").load(source)
query = rows.writeStream.format("delta").option("checkpointLocation", checkpoint)
query.trigger(availableNow=True).start(to).awaitTermination()
"""


def test_every_row_once_when_the_process_ends_after_a_commit(spark: SparkSession, tmp_path: Path) -> None:
    source, to, checkpoint = tmp_path / "t", tmp_path / "to", tmp_path / "c"
    for i in range(4):
        append(spark, source, [i])
    package = str(Path(deltaic.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": package}
    # the program has a session of its own
    environment.pop("SPARK_CONNECT_MODE_ENABLED", None)
    arguments = [str(source), str(to), str(checkpoint)]
    ended = subprocess.run(
        [sys.executable, "-c", CRASH, *arguments], env=environment, check=False, timeout=PATIENCE * 3
    )
    assert ended.returncode == 7
    assert len(ids(spark, to)) == 2
    run(stream(spark, source, maxFilesPerTrigger="1"), to, checkpoint)
    assert ids(spark, to) == [0, 1, 2, 3]


def test_every_row_once_when_a_batch_fails_before_its_commit(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, to, checkpoint = tmp_path / "t", tmp_path / "to", tmp_path / "c"
    for i in range(2):
        append(spark, source, [i])

    def fail(*_: Any) -> None:
        raise RuntimeError("before the commit")

    with monkeypatch.context() as patched:
        patched.setattr(transaction, "commit", fail)
        with pytest.raises(RuntimeError, match="before the commit"):
            run(stream(spark, source), to, checkpoint)
    assert not (to / "_delta_log").exists()
    run(stream(spark, source), to, checkpoint)
    assert ids(spark, to) == [0, 1]
