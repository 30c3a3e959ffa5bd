"""The same deletes and updates by deltaic and delta-spark: same rows, changes, metrics; each reads the other's."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from dml_tables import last_commit, write_parts

import deltaic
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from pathlib import Path

KINDS: dict[str, dict[str, str]] = {
    "vectors": {"delta.enableDeletionVectors": "true", "delta.enableRowTracking": "true"},
    "rewrite": {"delta.enableChangeDataFeed": "true"},
}
# the method, what delta-spark runs, what deltaic runs
STEPS: list[tuple[str, dict[str, Any]]] = [
    ("DELETE FROM {t} WHERE n = 3", {"condition": "n = 3"}),
    (
        "UPDATE {t} SET n = n + 10, s.a = 7 WHERE id % 10 = 4",
        {"condition": "id % 10 = 4", "set": {"n": "n + 10", "s.a": "7"}},
    ),
    ("DELETE FROM {t} WHERE id < 12 OR n IS NULL", {"condition": "id < 12 OR n IS NULL"}),
    ("UPDATE {t} SET n = 0 WHERE p = 'b'", {"condition": "p = 'b'", "set": {"n": "0"}}),
    ("DELETE FROM {t} WHERE p = 'a'", {"condition": "p = 'a'"}),
    ("UPDATE {t} SET n = -1", {"set": {"n": "-1"}}),
    ("DELETE FROM {t}", {}),
]


def _metrics(path: Path) -> dict[str, str]:
    """But for what depends on time, bytes, and how many files a writer makes of rows."""
    info, _ = last_commit(str(path))
    depends = ("Ms", "Bytes", "numAddedFiles", "numAddedChangeFiles")
    return {k: v for k, v in info["operationMetrics"].items() if not k.endswith(depends)}


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_statements_do_the_same(
    spark: Any, delta_spark: Any, same: Any, kind: str, tmp_path: Path
) -> None:
    theirs = tmp_path / "theirs"
    write_parts(theirs, KINDS[kind], by=["p"])
    for number, (statement, given) in enumerate(STEPS):
        # from the same files, which the two make of new rows as they like
        ours = tmp_path / f"ours-{number}"
        shutil.copytree(theirs, ours)
        table = DeltaTable.forPath(spark, str(ours))
        delta_spark.sql(statement.format(t=f"delta.`{theirs}`"))
        (table.update if "set" in given else table.delete)(**given)
        expected = delta_spark.read(theirs)
        same(delta_spark.read(ours), expected)
        same(pa.table(deltaic.Table(str(theirs)).to_arrow()), expected)
        same(pa.table(deltaic.Table(str(ours)).to_arrow()), expected)
        assert _metrics(ours) == _metrics(theirs), statement
        if "delta.enableChangeDataFeed" in KINDS[kind]:
            feed = {"readChangeFeed": "true", "startingVersion": str(deltaic.Table(str(ours)).version)}
            mine, other = (delta_spark.read(path, **feed) for path in (ours, theirs))
            assert mine.num_rows > 0, statement
            same(mine.drop_columns("_commit_timestamp"), other.drop_columns("_commit_timestamp"))
