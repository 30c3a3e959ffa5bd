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

# from PySpark 4.2 on a source is told where a batch begins and may limit it
TOLD = len(inspect.signature(DataSourceStreamReader.latestOffset).parameters) > 1


def stream(connect: Any, path: Path, **options: str) -> Any:
    return connect.readStream.format("delta").options(**options).load(str(path))


def test_a_query_copies_a_table_and_goes_on(connect: Any, tmp_path: Path) -> None:
    source, to, checkpoint = tmp_path / "t", tmp_path / "to", tmp_path / "c"
    for i in range(3):
        append(connect, source, [i])
    limited = {"maxFilesPerTrigger": "1"}
    run(stream(connect, source, **limited), to, checkpoint)
    assert ids(connect, to) == [0, 1, 2]
    assert deltaic.Table(str(to)).version == (2 if TOLD else 0)
    run(stream(connect, source, **limited), to, checkpoint)
    append(connect, source, [3, 4], files=2)
    run(stream(connect, source, **limited), to, checkpoint)
    assert ids(connect, to) == [0, 1, 2, 3, 4]


def test_a_batch_that_was_committed_is_skipped(connect: Any, tmp_path: Path) -> None:
    source, to, checkpoint = tmp_path / "t", tmp_path / "to", tmp_path / "c"
    append(connect, source, [0])
    run(stream(connect, source), to, checkpoint)
    for name in ("0", ".0.crc"):
        (checkpoint / "commits" / name).unlink(missing_ok=True)
    run(stream(connect, source), to, checkpoint)
    assert ids(connect, to) == [0]


def test_a_classic_query_goes_on_with_the_checkpoint(spark: Any, connect: Any, tmp_path: Path) -> None:
    source, to, checkpoint = tmp_path / "t", tmp_path / "to", tmp_path / "c"
    append(connect, source, [0, 1])
    run(stream(connect, source), to, checkpoint)
    append(connect, source, [2])
    run(stream(spark, source), to, checkpoint)
    assert ids(connect, to) == [0, 1, 2]


@pytest.mark.parametrize(
    ("options", "error"),
    [({"versionAsOf": "0"}, "versionAsOf"), ({"maxFilesPerTrigger": "0"}, "maxFilesPerTrigger")],
)
def test_options_that_make_no_sense(
    connect: Any, tmp_path: Path, options: dict[str, str], error: str
) -> None:
    append(connect, tmp_path / "t", [0])
    with pytest.raises(Exception, match=error):
        run(stream(connect, tmp_path / "t", **options), tmp_path / "to", tmp_path / "c")


def test_changed_rows_stop_the_query(connect: Any, tmp_path: Path) -> None:
    source = tmp_path / "t"
    append(connect, source, [0, 1])
    DeltaTable.forPath(connect, str(source)).delete("id = 1")
    with pytest.raises(Exception, match="SourceRowsChangedError"):
        run(stream(connect, source, startingVersion="0"), tmp_path / "to", tmp_path / "c")
