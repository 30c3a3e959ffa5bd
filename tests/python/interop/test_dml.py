"""Deletes and updates of deltaic beside those of delta-spark: same rows, same changes, same row ids, same numbers."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

import deltaic

if TYPE_CHECKING:
    from pathlib import Path

KINDS: dict[str, dict[str, str]] = {
    "plain": {},
    "vectors": {"delta.enableDeletionVectors": "true"},
    "changes": {"delta.enableChangeDataFeed": "true"},
    "vectors-changes": {"delta.enableDeletionVectors": "true", "delta.enableChangeDataFeed": "true"},
    "names": {"delta.columnMapping.mode": "name", "delta.enableChangeDataFeed": "true"},
    "row-ids": {"delta.enableRowTracking": "true"},
    "ids-row-ids-vectors": {
        "delta.columnMapping.mode": "id",
        "delta.enableRowTracking": "true",
        "delta.enableDeletionVectors": "true",
    },
}
# each does something to files that the ones before touched
STATEMENTS: list[tuple[str, dict[str, str] | None, str | None]] = [
    ("DELETE", None, "k % 10 = 3 OR s.a = 2"),
    ("UPDATE", {"s.b": "concat(s.b, '!')", "k": "k + 1000"}, "k BETWEEN 20 AND 39"),
    ("UPDATE", {"p": "'moved'"}, "p = 'x' AND k > 50"),
    ("DELETE", None, "p = 'y'"),
    ("UPDATE", {"p": "NULL", "s": "NULL"}, "p = 'moved'"),
    ("DELETE", None, "k >= 70 AND k < 80"),
]
# what both count alike, whatever their files are
COUNTS = ("numDeletedRows", "numUpdatedRows", "numDeletionVectorsAdded", "numDeletionVectorsRemoved")


@pytest.fixture(params=KINDS, ids=str)
def tables(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Path]:
    """The same table twice."""
    rows = range(100)
    data = pa.table(
        {
            "k": pa.array(rows, pa.int64()),
            "p": pa.array([None if k % 7 == 6 else "xyz"[k % 3] for k in rows]),
            "s": pa.array(
                [None if k % 5 == 4 else {"a": k % 4, "b": f"b{k}"} for k in rows],
                pa.struct([("a", pa.int64()), ("b", pa.string())]),
            ),
        }
    )
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for part in (data.slice(0, 50), data.slice(50)):
        deltaic.write(ours, part, partition_by=["p"], configuration=KINDS[request.param])
    shutil.copytree(ours, theirs)
    return ours, theirs


def _by_deltaic(path: Path) -> None:
    table = deltaic.Table(path)
    for _, assignments, where in STATEMENTS:
        if assignments is None:
            table.delete(where)
        else:
            table.update_rows(assignments, where)


def _by_delta_spark(delta_spark: Any, path: Path) -> None:
    for _, assignments, where in STATEMENTS:
        if assignments is None:
            delta_spark.sql(f"DELETE FROM delta.`{path}` WHERE {where}")
        else:
            values = ", ".join(f"{column} = {value}" for column, value in assignments.items())
            delta_spark.sql(f"UPDATE delta.`{path}` SET {values} WHERE {where}")


def _sorted(rows: pa.Table) -> list[dict[str, Any]]:
    return sorted(rows.to_pylist(), key=lambda row: (row["k"], str(row)))


def _row_ids(delta_spark: Any, path: Path, into: Path) -> list[dict[str, Any]]:
    delta_spark.sql(
        f"CREATE TABLE {into.parent.name}_{into.name} USING parquet LOCATION '{into}' AS "
        f"SELECT k, _metadata.row_id AS id, _metadata.row_commit_version AS version FROM delta.`{path}`"
    )
    return _sorted(pq.ParquetDataset(into).read())


def test_rows_changes_ids_and_numbers_are_those_of_delta_spark(
    delta_spark: Any, tables: tuple[Path, Path], tmp_path: Path
) -> None:
    ours, theirs = tables
    properties = deltaic.Table(ours).properties
    _by_deltaic(ours)
    _by_delta_spark(delta_spark, theirs)
    rows = _sorted(delta_spark.read(theirs))
    assert _sorted(delta_spark.read(ours)) == rows
    assert _sorted(pa.table(deltaic.Table(ours).to_arrow())) == rows
    assert _sorted(pa.table(deltaic.Table(theirs).to_arrow())) == rows
    if "delta.columnMapping.mode" not in properties and "delta.enableDeletionVectors" not in properties:
        assert _sorted(DeltaTable(str(ours)).to_pyarrow_table()) == rows

    if properties.get("delta.enableChangeDataFeed") == "true":

        def changes(path: Path) -> list[dict[str, Any]]:
            feed = delta_spark.read(path, readChangeFeed="true", startingVersion="2")
            return _sorted(feed.drop_columns(["_commit_timestamp"]))

        assert changes(ours) == changes(theirs)
    if properties.get("delta.enableRowTracking") == "true":
        # both tables gave the same ids to begin with
        assert _row_ids(delta_spark, ours, tmp_path / "a") == _row_ids(delta_spark, theirs, tmp_path / "b")

    for our, their in zip(deltaic.Table(ours).history(6), deltaic.Table(theirs).history(6), strict=True):
        assert our["operation"] == their["operation"]
        assert our["operationParameters"].keys() == their["operationParameters"].keys()
        assert our["operationMetrics"].keys() == their["operationMetrics"].keys(), our["operation"]
        for name in COUNTS:
            assert our["operationMetrics"].get(name) == their["operationMetrics"].get(name), (
                name,
                our,
                their,
            )

    # each goes on with what the other left
    delta_spark.sql(
        f"UPDATE delta.`{ours}` SET k = -k WHERE k < 10", f"DELETE FROM delta.`{ours}` WHERE k = -1"
    )
    table = deltaic.Table(theirs)
    table.update_rows({"k": "-k"}, "k < 10")
    table.delete("k = -1")
    assert _sorted(pa.table(deltaic.Table(ours).to_arrow())) == _sorted(delta_spark.read(theirs))
