"""How far an operation is: what a function of the caller is told, and that what it raises stops the operation."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic
from deltaic.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FILES = 12


@pytest.fixture
def table(tmp_path: Path) -> deltaic.Table:
    for n in range(FILES):
        deltaic.write(tmp_path / "t", pa.table({"id": pa.array(range(n, n + 100), pa.int64())}))
    return deltaic.Table(tmp_path / "t")


class Told(list[Progress]):
    """What was told; it never goes back, and never beyond all."""

    def __call__(self, progress: Progress) -> None:
        for before in self[-1:]:
            assert (before.files, before.bytes) <= (progress.files, progress.bytes)
        assert progress.files <= progress.all_files
        assert not progress.all_bytes or progress.bytes <= progress.all_bytes
        self.append(progress)


def vacuumed(table: deltaic.Table, progress: Any) -> Any:
    table.optimize()
    return table.vacuum(0, allow_short_retention=True, progress=progress)


@pytest.mark.parametrize(
    ("operation", "knows_bytes"),
    [
        (lambda table, progress: table.optimize(progress=progress), True),
        (lambda table, progress: table.optimize(zorder_by=["id"], progress=progress), True),
        (vacuumed, True),
        (lambda table, progress: table.verify(deep=True, progress=progress), False),
        (lambda table, progress: deltaic.verify(table.uri, progress=progress), False),
    ],
)
def test_the_last_that_is_told_is_all(
    table: deltaic.Table, operation: Callable[[Any, Any], Any], *, knows_bytes: bool
) -> None:
    size, told = table.totals().bytes, Told()
    operation(table, told)
    assert (told[-1].files, told[-1].all_files) == (FILES, FILES)
    assert told[-1].all_bytes == (size if knows_bytes else 0)
    assert told[-1].bytes in (size, 0 if not knows_bytes else size)


SOURCE = pa.table({"id": pa.array(range(50, 60), pa.int64())})


@pytest.mark.parametrize(
    "operation",
    [
        lambda table, progress: table.delete("id >= 50", progress=progress),
        lambda table, progress: table.update_rows({"id": "id + 1"}, "id >= 50", progress=progress),
        lambda table, progress: (
            table.merge(SOURCE, "target.id = source.id + 0")
            .when_matched_delete("source.id >= 0")
            .execute(progress=progress)
        ),
    ],
)
@pytest.mark.parametrize("vectors", [False, True])
def test_what_changes_rows_counts_files_that_it_searches_and_those_that_it_rewrites(
    table: deltaic.Table, operation: Callable[[Any, Any], Any], *, vectors: bool
) -> None:
    if vectors:
        table.set_properties({"delta.enableDeletionVectors": "true"})
    size, told = table.totals().bytes, Told()
    done = operation(table, told)
    # an update writes new rows of each file, too; a delete with vectors reads nothing again
    rewritten = FILES if done.added_files else 0
    assert bool(done.vectors_added) == vectors
    assert told[-1] == Progress(
        FILES + rewritten, FILES + rewritten, *[size + (size if rewritten else 0)] * 2
    )


def test_an_upsert_counts_its_files(table: deltaic.Table) -> None:
    # each key is in many files
    keys = pa.table({"id": pa.array([0, 111], pa.int64())})
    told = Told()
    done = table.upsert(keys, "id", progress=told)
    assert (done.updated_rows, done.inserted_rows) == (1, 1)
    assert told[-1].files == told[-1].all_files == 2 * done.touched_files


def test_a_compaction_after_the_commit_is_not_counted(tmp_path: Path) -> None:
    for n in range(60):
        deltaic.write(tmp_path / "t", pa.table({"id": [n, n + 1]}))
    table = deltaic.Table(tmp_path / "t")
    table.set_properties({"delta.autoOptimize.autoCompact": "true"})
    told = Told()
    table.update_rows({"id": "id + 1"}, progress=told)
    assert table.update().totals().files < 60
    assert told[-1].files == 2 * 60


def test_a_restore_counts_files_that_come_back_and_those_that_leave(table: deltaic.Table) -> None:
    size, version = table.totals().bytes, table.version
    table.delete()
    deltaic.write(table.uri, SOURCE)
    told = Told()
    table.restore(version, progress=told)
    assert told[-1].files == told[-1].all_files == FILES + 1
    assert told[-1].bytes == told[-1].all_bytes > size


def test_a_clone_counts_the_files_that_it_refers_to(table: deltaic.Table, tmp_path: Path) -> None:
    told = Told()
    table.shallow_clone(tmp_path / "clone", progress=told)
    assert told[-1] == Progress(FILES, FILES, table.totals().bytes, table.totals().bytes)


def test_a_conversion_tells_of_its_footers(tmp_path: Path) -> None:
    for n in range(FILES):
        pq.write_table(pa.table({"n": [n]}), tmp_path / f"{n}.parquet")
    size, told = sum(file.stat().st_size for file in tmp_path.iterdir()), Told()
    deltaic.convert(tmp_path, progress=told)
    assert told[-1] == Progress(FILES, FILES, size, size)
    assert str(told[-1]).startswith(f"{FILES} files, ")


def test_it_is_told_in_another_thread_too(table: deltaic.Table) -> None:
    told = Told()
    thread = threading.Thread(target=lambda: table.optimize(progress=told))
    thread.start()
    thread.join()
    assert told[-1].files == FILES


def test_a_dry_run_and_nothing_to_do_tell_nothing(table: deltaic.Table) -> None:
    told = Told()
    table.vacuum(dry_run=True, progress=told)
    table.optimize(min_size=0, progress=told)
    assert told == []


def test_what_it_raises_is_raised_and_the_table_is_whole(table: deltaic.Table) -> None:
    def refuse(progress: Progress) -> None:
        raise LookupError(progress.all_files)

    version = table.version
    for operation in (table.verify, table.optimize):
        with pytest.raises(LookupError, match=str(FILES)):
            operation(progress=refuse)
    # what is told last may come after the commit: it stands then
    newest = deltaic.Table(table.uri)
    assert newest.version - version in (0, 1)
    assert newest.verify(deep=True).ok
    assert sum(batch.num_rows for batch in pa.RecordBatchReader.from_stream(newest.to_arrow())) == FILES * 100


def test_a_bar_is_for_terminals(table: deltaic.Table) -> None:
    program = "import deltaic, sys; deltaic.Table(sys.argv[1]).optimize(progress=True)"
    done = subprocess.run(
        [sys.executable, "-c", program, table.uri], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert table.update().version == FILES
