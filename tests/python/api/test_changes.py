"""`Table.changes`: the rows that versions changed, made by deltaic's own writers."""

import datetime as dt
import os
from pathlib import Path

import pyarrow as pa
import pytest

import deltaic
from deltaic import exceptions

FEED = {"delta.enableChangeDataFeed": "true"}
KINDS = {
    "rewrite": FEED,
    "vectors": {**FEED, "delta.enableDeletionVectors": "true"},
    "names": {**FEED, "delta.enableDeletionVectors": "true", "delta.columnMapping.mode": "name"},
    "ids": {**FEED, "delta.columnMapping.mode": "id"},
}
FIRST = dt.datetime(2026, 1, 1, tzinfo=dt.timezone.utc)


def rows(stream):
    found = pa.table(stream)
    return sorted(
        zip(*(found.column(c).to_pylist() for c in ("_commit_version", "_change_type", "id")), strict=True)
    )


def set_times(path):
    """Commits are a day apart."""
    for commit in Path(path, "_delta_log").glob("*.json"):
        at = (FIRST + dt.timedelta(days=int(commit.stem))).timestamp()
        os.utime(commit, (at, at))


@pytest.fixture(params=KINDS)
def table(request, tmp_path):
    path = str(tmp_path / "t")
    data = pa.table({"id": pa.array(range(6), pa.int64()), "p": ["a", "b"] * 3})
    deltaic.write(path, data, partition_by="p", configuration=KINDS[request.param])
    table = deltaic.Table(path)
    table.delete("id = 2")
    table.update_rows({"id": "id + 10"}, "id = 5")
    deltaic.write(path, pa.table({"id": pa.array([7], pa.int64()), "p": ["c"]}), mode="overwrite")
    table.optimize()
    return table.update()


def test_every_change_is_reported(table):
    inserted = [(0, "insert", i) for i in range(6)]
    deleted = [(1, "delete", 2)]
    updated = [(2, "update_postimage", 15), (2, "update_preimage", 5)]
    overwritten = [(3, "delete", i) for i in (0, 1, 3, 4, 15)] + [(3, "insert", 7)]
    assert rows(table.changes(0)) == inserted + deleted + updated + overwritten
    assert rows(table.changes(1, 2)) == deleted + updated
    assert rows(table.changes(2, where="_change_type = 'update_postimage' OR id = 7")) == [
        updated[0],
        overwritten[-1],
    ]
    assert rows(table.changes(0, where="p = 'a' AND _commit_version > 0")) == [
        (1, "delete", 2),
        (3, "delete", 0),
        (3, "delete", 4),
    ]
    assert pa.table(table.changes(0, columns=["_change_type", "p"])).column_names == ["_change_type", "p"]
    assert pa.table(table.changes(0)).column_names == [
        "id",
        "p",
        "_change_type",
        "_commit_version",
        "_commit_timestamp",
    ]
    files = table.changed_files(0)
    assert [commit["version"] for commit in files] == list(range(table.version + 1))
    assert [commit["cdc"] > 0 for commit in files[:3]][0::2] == [False, True]
    assert files[3]["inserts"] == 1
    assert files[3]["bytes"] > 0


def test_a_stream_can_be_read_again(table):
    stream = table.changes(1)
    assert rows(stream) == rows(stream)


def test_times_choose_versions(table):
    set_times(table.uri)
    table.update()
    day = lambda days: (FIRST + dt.timedelta(days=days)).isoformat(sep=" ")[:19]  # noqa: E731
    found = pa.table(table.changes(start_timestamp=day(1), end_timestamp=day(2)))
    assert set(found.column("_commit_timestamp").to_pylist()) == {
        FIRST + dt.timedelta(days=d) for d in (1, 2)
    }
    assert rows(table.changes(start_timestamp=day(0.5), end_timestamp=day(1.5))) == [(1, "delete", 2)]
    assert rows(table.changes(start_timestamp=day(1.2), end_timestamp=day(1.5))) == []
    assert rows(table.changes(1, end_timestamp=day(1))) == [(1, "delete", 2)]
    with pytest.raises(exceptions.InvalidTimeTravelError):
        table.changes(start_timestamp=day(2), end_timestamp=day(1))
    with pytest.raises(exceptions.TimestampOutOfRangeError):
        table.changes(start_timestamp=day(99))
    assert rows(table.changes(start_timestamp=day(99), allow_out_of_range=True)) == []


def test_ranges_that_are_not_there_are_refused(table):
    newest = table.version
    with pytest.raises(exceptions.VersionNotFoundError) as error:
        table.changes(newest + 1)
    assert (error.value.version, error.value.latest) == (newest + 1, newest)
    assert rows(table.changes(newest + 1, allow_out_of_range=True)) == []
    with pytest.raises(exceptions.InvalidTimeTravelError, match="end before that"):
        table.changes(2, 1)
    with pytest.raises(exceptions.InvalidTimeTravelError, match="below 0"):
        table.changes(-1)
    with pytest.raises(exceptions.InvalidArgumentError, match="start: missing"):
        table.changes()
    with pytest.raises(exceptions.InvalidArgumentError, match="give one"):
        table.changes(1, start_timestamp="2026-01-01")
    with pytest.raises(exceptions.InvalidArgumentError, match="no column `x`"):
        table.changes(1, columns=["x"])
    assert rows(table.changes(3, 99)) == rows(table.changes(3))


def test_a_table_is_a_picture_of_one_version(table):
    old = deltaic.Table(table.uri, version=1)
    assert rows(old.changes(1)) == rows(table.changes(1, 1))
    with pytest.raises(exceptions.VersionNotFoundError):
        old.changes(2)


def test_versions_without_the_feed_are_refused(tmp_path):
    path = tmp_path / "t"
    deltaic.write(path, pa.table({"id": [1]}))
    table = deltaic.Table(path)
    table.set_properties(FEED)
    deltaic.write(path, pa.table({"id": [2]}))
    table.update()
    with pytest.raises(exceptions.ChangesNotRecordedError) as error:
        table.changes(0)
    assert (error.value.start, error.value.end, error.value.version) == (0, 2, 0)
    assert rows(table.changes(1)) == [(2, "insert", 2)]
    table.unset_properties("delta.enableChangeDataFeed")
    with pytest.raises(exceptions.ChangesNotRecordedError) as error:
        table.update().changes(1)
    assert error.value.version == 3


def test_schema_changes_within_a_range(tmp_path):
    path = tmp_path / "t"
    deltaic.write(path, pa.table({"id": [1]}), configuration=KINDS["names"])
    table = deltaic.Table(path)
    table.add_columns({"n": "string"})
    deltaic.write(path, pa.table({"id": [2], "n": ["x"]}))
    table.update()
    assert pa.table(table.changes(0, columns=["id", "n"])).to_pylist() == [
        {"id": 1, "n": None},
        {"id": 2, "n": "x"},
    ]
    # with column mapping, the schema is that of the last version of the range
    assert pa.table(table.changes(0, 0)).column_names[:2] == ["id", "_change_type"]
    table.rename_column("n", "m")
    table.update()
    with pytest.raises(exceptions.ChangesSchemaMismatchError, match="column `n` was renamed to `m`") as error:
        table.changes(1)
    assert (error.value.version, error.value.read_version) == (1, 3)
    assert rows(table.changes(1, 2)) == [(2, "insert", 2)]
    assert rows(table.changes(3)) == []
