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


NESTED = [
    "UPDATE {t} SET s = named_struct('b', 20, 'a', 10)",
    "UPDATE {t} SET m = map('k', named_struct('b', 2, 'A', 1), 'n', null)",
    "UPDATE {t} SET l = array(named_struct('b', 2L, 'a', 1L))",
    "UPDATE {t} SET m = null, l = array(null)",
    (
        "MERGE INTO {t} AS t USING (SELECT 1 AS id, map('k', named_struct('b', 7, 'a', 6)) AS m) AS s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET m = s.m"
    ),
    (
        "MERGE INTO {t} AS t USING (SELECT 2 AS id, named_struct('b', 4, 'a', 3) AS s, "
        "map('k', named_struct('b', '7', 'a', '6')) AS m, null AS l) AS s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *"
    ),
]


def test_structs_go_by_the_names_of_their_fields(
    spark: Any, delta_spark: Any, same: Any, tmp_path: Path
) -> None:
    ours, theirs = (f"delta.`{tmp_path / name}`" for name in ("ours", "theirs"))
    fields = "STRUCT<a: INT, b: INT>"
    for sql, table in ((spark.sql, ours), (delta_spark.sql, theirs)):
        sql(
            f"CREATE TABLE {table} "
            f"(id INT, s {fields}, m MAP<STRING, {fields}>, l ARRAY<{fields}>) USING delta"
        )
        sql(f"INSERT INTO {table} (id) VALUES (1)")
    for statement in NESTED:
        spark.sql(statement.format(t=ours))
        delta_spark.sql(statement.format(t=theirs))
        same(delta_spark.read(tmp_path / "ours"), delta_spark.read(tmp_path / "theirs"))
