"""A query of delta-spark and one of deltaic have the same offsets and go on with each other's checkpoints."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

import deltaic
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import DeltaSpark
    from pyspark.sql import SparkSession

LIMITED = {"maxFilesPerTrigger": "1"}


def append(spark: SparkSession, path: Path, *ids: int) -> None:
    rows = spark.createDataFrame([(i,) for i in ids], "id long").repartition(len(ids))
    deltaic.save(rows, str(path), mode="append", deltaicRoute="arrow")


def ids(spark: SparkSession, path: Path) -> list[int]:
    return sorted(r.id for r in deltaic.read(spark, str(path)).collect())


def offsets(checkpoint: Path) -> list[str]:
    files = sorted(
        (f for f in (checkpoint / "offsets").iterdir() if f.name.isdigit()), key=lambda f: int(f.name)
    )
    return [f.read_text().splitlines()[-1] for f in files]


def cut(to: Path, checkpoint: Path, batches: int) -> Path:
    """Makes a finished query one that was stopped after so many batches, each of which was a commit.

    The table as it was then is a copy: in the place of the other one commits would be gone.
    """
    for folder in ("offsets", "commits"):
        for file in (checkpoint / folder).iterdir():
            name = file.name.removeprefix(".").removesuffix(".crc")
            if name.isdigit() and int(name) >= batches:
                file.unlink()
    copy = to.with_name("copy")
    shutil.copytree(to, copy)
    for file in (copy / "_delta_log").iterdir():
        number = file.name.removeprefix(".").split(".")[0]
        if number.isdigit() and int(number) >= batches:
            file.unlink()
    return copy


@pytest.fixture
def source(spark: SparkSession, tmp_path: Path) -> Path:
    """Two versions of two files and three."""
    append(spark, tmp_path / "from", 0, 1)
    append(spark, tmp_path / "from", 2, 3, 4)
    return tmp_path / "from"


@pytest.fixture
def ours(spark: SparkSession) -> Callable[..., None]:
    def stream(path: Path, to: Path, checkpoint: Path, **options: str) -> None:
        rows = spark.readStream.format("delta").options(**options).load(str(path))
        query = rows.writeStream.format("delta").option("checkpointLocation", str(checkpoint))
        running = query.trigger(availableNow=True).start(str(to))
        assert running.awaitTermination(300)

    return stream


@pytest.mark.parametrize(
    ("first", "options"),
    [("deltaic", {}), ("delta-spark", {"startingVersion": "0"})],
    ids=["deltaic", "delta-spark"],
)
def test_the_other_goes_on_with_the_checkpoint(
    spark: SparkSession,
    delta_spark: DeltaSpark,
    ours: Callable[..., None],
    source: Path,
    tmp_path: Path,
    first: str,
    options: dict[str, str],
) -> None:
    one, other = (ours, delta_spark.stream) if first == "deltaic" else (delta_spark.stream, ours)
    to, checkpoint = tmp_path / "to", tmp_path / "checkpoint"
    limited = {**LIMITED, **options}
    one(source, to, checkpoint, **limited)
    whole = offsets(checkpoint)
    assert ids(spark, to) == [0, 1, 2, 3, 4]
    to = cut(to, checkpoint, 2)
    assert 0 < len(ids(spark, to)) < 5
    other(source, to, checkpoint, **limited)
    assert ids(spark, to) == [0, 1, 2, 3, 4]
    assert offsets(checkpoint) == whole
    append(spark, source, 5, 6)
    one(source, to, checkpoint, **limited)
    append(spark, source, 7)
    other(source, to, checkpoint, **limited)
    assert ids(spark, to) == [0, 1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("first", ["deltaic", "delta-spark"])
def test_a_batch_that_the_other_committed_is_skipped(
    spark: SparkSession,
    delta_spark: DeltaSpark,
    ours: Callable[..., None],
    source: Path,
    tmp_path: Path,
    first: str,
) -> None:
    one, other = (ours, delta_spark.stream) if first == "deltaic" else (delta_spark.stream, ours)
    to, checkpoint = tmp_path / "to", tmp_path / "checkpoint"
    one(source, to, checkpoint, **LIMITED)
    # as if the process had ended between the commit and the word in the checkpoint
    last = len(offsets(checkpoint)) - 1
    for name in (f"{last}", f".{last}.crc"):
        (checkpoint / "commits" / name).unlink(missing_ok=True)
    other(source, to, checkpoint, **LIMITED)
    assert ids(spark, to) == [0, 1, 2, 3, 4]


def test_both_write_the_same_offsets(
    delta_spark: DeltaSpark, ours: Callable[..., None], source: Path, tmp_path: Path
) -> None:
    written: list[Any] = []
    for name, stream in (("ours", ours), ("theirs", delta_spark.stream)):
        stream(source, tmp_path / name, tmp_path / f"c-{name}", **LIMITED)
        written.append([json.loads(o) for o in offsets(tmp_path / f"c-{name}")])
    assert written[0] == written[1]


@pytest.mark.parametrize("first", ["deltaic", "delta-spark"])
def test_the_other_goes_on_with_changes(
    spark: SparkSession, delta_spark: DeltaSpark, ours: Callable[..., None], tmp_path: Path, first: str
) -> None:
    one, other = (ours, delta_spark.stream) if first == "deltaic" else (delta_spark.stream, ours)
    path, to, checkpoint = tmp_path / "from", tmp_path / "to", tmp_path / "checkpoint"
    feed = {"delta.enableChangeDataFeed": "true"}
    spark.range(4).repartition(2).write.format("delta").options(**feed).save(str(path))
    limited = {**LIMITED, "readChangeFeed": "true"}
    one(path, to, checkpoint, **limited)
    DeltaTable.forPath(spark, str(path)).update("id = 1", {"id": "10"})
    DeltaTable.forPath(spark, str(path)).delete("id = 2")
    other(path, to, checkpoint, **limited)
    append(spark, path, 5)
    one(path, to, checkpoint, **limited)
    reported = [tuple(r) for r in deltaic.table_changes(spark, str(path), 0).collect()]
    assert sorted(map(tuple, deltaic.read(spark, str(to)).collect())) == sorted(reported)
