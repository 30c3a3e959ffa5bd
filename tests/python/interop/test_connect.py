"""The same operations through Spark Connect and by delta-spark: same rows and metrics; each reads the other's."""

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
NEW = """SELECT id, element_at(array('a', 'b', 'c'), CAST(id % 3 AS int) + 1) AS p, CAST(id AS int) AS n,
    named_struct('a', 1, 'b', 'new') AS s FROM range({}, {}, 1, 1)"""
WRITES: list[tuple[str, str, dict[str, str]]] = [
    (NEW.format(60, 64), "append", {}),
    (f"SELECT * FROM ({NEW.format(70, 80)}) WHERE p = 'a'", "overwrite", {"replaceWhere": "p = 'a'"}),
    (
        f"SELECT * FROM ({NEW.format(80, 90)}) WHERE p <> 'c'",
        "overwrite",
        {"partitionOverwriteMode": "dynamic"},
    ),
]
CHANGES: list[tuple[str, Any]] = [
    ("DELETE FROM {t} WHERE n = 3", lambda t, _: t.delete("n = 3")),
    ("DELETE FROM {t} WHERE p = 'b'", lambda t, _: t.delete("p = 'b'")),
    (
        "UPDATE {t} SET n = n + 10, s.a = 7 WHERE id % 10 = 4",
        lambda t, _: t.update("id % 10 = 4", {"n": "n + 10", "s.a": "7"}),
    ),
    (
        f"""MERGE INTO {{t}} AS t USING ({NEW.format(50, 70)}) AS s ON t.id = s.id
        WHEN MATCHED AND s.id % 2 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET n = s.n
        WHEN NOT MATCHED THEN INSERT *""",
        lambda t, connect: (
            t.alias("t")
            .merge(connect.sql(NEW.format(50, 70)).alias("s"), "t.id = s.id")
            .whenMatchedDelete("s.id % 2 = 0")
            .whenMatchedUpdate(set={"n": "s.n"})
            .whenNotMatchedInsertAll()
            .execute()
        ),
    ),
]


def _metrics(path: Path) -> dict[str, str]:
    """But for what depends on time, bytes, and how many files a writer makes of rows."""
    depends = ("Ms", "Bytes", "AddedFiles", "AddedChangeFiles", "BytesAdded", "BytesRemoved", "FilesAdded")
    found = last_commit(str(path))[0]["operationMetrics"]
    return {k: v for k, v in found.items() if not k.endswith(depends)}


@pytest.mark.long  # Connect does what a classic session does (test_connect_parity), and that what delta-spark does
@pytest.mark.parametrize("kind", KINDS)
def test_the_same_operations_do_the_same(
    connect: Any, delta_spark: Any, same: Any, kind: str, tmp_path: Path
) -> None:
    ours = tmp_path / "ours"
    write_parts(ours, KINDS[kind], by=["p"])
    steps: list[Any] = [*WRITES, *CHANGES, (NEW.format(90, 95), "overwrite", {})]
    for number, (text, *how) in enumerate(steps):
        # the same files: how rows are spread over them decides which are touched and copied
        theirs = shutil.copytree(ours, tmp_path / f"theirs-{number}")
        if len(how) == 2:
            mode, options = how
            delta_spark.write(theirs, text, mode, options, [])
            if number % 2:
                deltaic.save(connect.sql(text), str(ours), mode=mode, **options)
            else:
                connect.sql(text).write.format("delta").mode(mode).options(**options).save(str(ours))
        else:
            delta_spark.sql(text.format(t=f"delta.`{theirs}`"))
            how[0](DeltaTable.forPath(connect, str(ours)), connect)
        expected = delta_spark.read(theirs)
        same(delta_spark.read(ours), expected)
        same(deltaic.read(connect, str(theirs)).toArrow(), expected)
        same(pa.table(deltaic.Table(str(ours)).to_arrow()), expected)
        assert last_commit(str(ours))[0]["operation"] == last_commit(str(theirs))[0]["operation"]
        assert _metrics(ours) == _metrics(theirs), text
