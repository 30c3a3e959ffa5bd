"""Merges whose matches the core finds in this process leave what those leave whose tasks find them, without a job."""

from __future__ import annotations

import logging
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from dml_tables import FEED, KINDS, ROW_TRACKING, VECTORS, actions, changes, live, metrics, row_ids, versions
from pyspark.sql import functions as F  # noqa: N812 (its usual name)
from spark_jobs import jobs_of

import deltaic
from deltaic import exceptions
from deltaic.spark.dml import pairs as pairs_module
from deltaic.spark.dml.operation import Operation
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.classic("works in the process of a classic session")]

Merge = Any
Case = tuple[str, Any, "Callable[[Merge], Merge]"]

ROWS = """
    SELECT id, CAST(id % 4 AS string) AS p, IF(id % 5 = 0, NULL, CAST(id % 7 AS int)) AS n,
        named_struct('a', CAST(id AS int), 'b', concat('t', id)) AS s, timestamp_micros(id * 3600000001) AS at,
        CAST(id / 8 AS decimal(9, 3)) AS d, IF(id % 3 = 0, NULL, array(id, NULL)) AS list, 'é' || id AS text,
        map('k', id) AS m, CAST('r' || id AS binary) AS raw, DATE '2024-01-01' + CAST(id AS int) AS day,
        to_timestamp_ntz('2024-03-10 02:30:00') AS ntz
    FROM range(0, 60, 1, 3)
"""
UPSERT = "SELECT id * 3 AS id, CAST(id % 5 AS string) AS p, CAST(-id AS int) AS n FROM range(30)"
ALL = {"p": "s.p", "n": "s.n"}


def upsert(merge: Merge) -> Merge:
    return merge.whenMatchedUpdate(set=ALL).whenNotMatchedInsert(values={"id": "s.id", **ALL})


# the source, the condition and the clauses
CASES: dict[str, Case] = {
    "upsert": (UPSERT, "t.id = s.id", upsert),
    "the other way round, and in backticks": (UPSERT, "s.id = `t`.`id`", upsert),
    "two keys": (UPSERT, "t.id = s.id AND t.p = s.p", upsert),
    "nulls are equal": (
        "SELECT * FROM VALUES (NULL, 1), (3, 2) AS v(n, x)",
        "t.n <=> s.n",
        lambda m: m.whenMatchedUpdate("t.id > 20", {"p": "concat(s.x, t.text)"}).whenMatchedDelete(),
    ),
    "nulls are not": (
        "SELECT * FROM VALUES (NULL, 1), (3, 2) AS v(n, x)",
        "t.n = s.n",
        lambda m: m.whenMatchedDelete().whenNotMatchedInsert(values={"id": "s.x + 1000"}),
    ),
    "more than keys": (UPSERT, "t.id = s.id AND t.p IN ('1', '2') AND t.n + s.n < 0", upsert),
    "more than columns": (UPSERT, "t.id = s.id AND upper(t.p) = s.p AND NOT (t.id = 9 AND s.n = -3)", upsert),
    "a side alone": (UPSERT, "t.id = s.id AND s.n < -5 AND t.d > 1", upsert),
    "never": (UPSERT, "t.id = s.id AND false", upsert),
    "columns": (
        UPSERT,
        lambda: (F.col("t.id") == F.col("s.id")) & (F.col("t.n") > F.col("s.n") + 9),
        upsert,
    ),
    "texts": (
        "SELECT 'é' || id AS text, id AS x FROM range(50, 70)",
        "t.text = s.text",
        lambda m: m.whenMatchedUpdate(set={"s.b": "s.text", "n": "t.s.a + s.x"}),
    ),
    "decimals": (
        "SELECT CAST(id / 4 AS decimal(9, 3)) AS d FROM range(9)",
        "t.d = s.d",
        lambda m: m.whenMatchedUpdate(
            "size(t.list) = 2", {"list": "array_append(t.list, t.id)", "m": "map('x', t.m['k'])"}
        ).whenMatchedUpdate(set={"day": "t.day + 1", "at": "t.at + INTERVAL 1 HOUR", "ntz": "t.ntz"}),
    ),
    "days": (
        "SELECT DATE '2024-01-01' + CAST(id AS int) AS day FROM range(55, 65)",
        "t.day = s.day",
        lambda m: m.whenMatchedUpdate(set={"raw": "unhex('00ff')"}).whenNotMatchedInsert(
            values={"id": "-1", "day": "s.day"}
        ),
    ),
    "a smaller number": (
        "SELECT CAST(id AS smallint) AS k FROM range(70)",
        "t.n = s.k",
        lambda m: m.whenMatchedDelete("t.id % 2 = 0"),
    ),
    "only inserts": (
        UPSERT,
        "t.id = s.id",
        lambda m: m.whenNotMatchedInsert(values={"id": "s.id", "n": "s.n"}),
    ),
    "nothing matches": (
        "SELECT id + 1000 AS id FROM range(20)",
        "t.id = s.id",
        lambda m: m.whenMatchedDelete().whenNotMatchedInsert(values={"id": "s.id"}),
    ),
    "no rows": ("SELECT id FROM range(9) WHERE id > 10", "t.id = s.id", lambda m: m.whenMatchedDelete()),
    "no clause applies": (UPSERT, "t.id = s.id", lambda m: m.whenMatchedDelete("s.n > 0")),
    "some match and stay": (
        UPSERT,
        "t.id = s.id",
        lambda m: m.whenMatchedDelete("s.n < -10").whenNotMatchedInsert("s.n > -25", {"id": "s.id"}),
    ),
    "often": (
        "SELECT id % 5 AS id FROM range(20)",
        "t.id = s.id",
        lambda m: m.whenMatchedDelete(),
    ),
    "a query in a value": (
        UPSERT,
        "t.id = s.id",
        lambda m: m.whenMatchedUpdate(set={"n": "(SELECT CAST(max(id) AS int) FROM range(7)) + t.n"}),
    ),
    "a function of Python": (
        UPSERT,
        "t.id = s.id",
        lambda m: m.whenMatchedUpdate(set={"p": F.udf(lambda text: f"<{text}>")("t.p")}),
    ),
    "a new column": (
        "SELECT id, 'more' AS more, named_struct('a', 1, 'c', 2L) AS s FROM range(50, 70)",
        "t.id = s.id",
        lambda m: m.withSchemaEvolution().whenMatchedUpdateAll().whenNotMatchedInsertAll(),
    ),
}


NO_FILE = {"nothing matches", "never", "no rows"}


def made(spark: SparkSession, path: Path, kind: str, *, by: list[str] | None) -> str:
    deltaic.save(spark.sql(ROWS), str(path), partition_by=by, **KINDS[kind])
    DeltaTable.forPath(spark, str(path)).delete("id IN (6, 30, 59)")
    return str(path)


def merged(spark: SparkSession, path: str, case: Case) -> None:
    source, condition, clauses = case
    rows = spark.sql(source).alias("s")
    condition = condition() if callable(condition) else condition
    clauses(DeltaTable.forPath(spark, path).alias("t").merge(rows, condition)).execute()


def kept_ids(path: str) -> dict[int, set[tuple[int, int]]]:
    """Those of new rows depend on the order in which they are written."""
    return {key: {(i, v) for i, v in found if i < 60} for key, found in row_ids(path).items()}


def told(spark: SparkSession, path: str, kind: str) -> dict[str, Any]:
    """All that a merge leaves, but for names of files."""
    last = [a for a in actions(path) if "add" in a or "remove" in a or "cdc" in a]
    return {
        "rows": sorted(map(str, spark.read.format("delta").load(path).collect())),
        "version": versions(path),
        # a new column has a name of its own in files
        "changes": sorted(re.sub("col-[-0-9a-f]{36}", "", str(row)) for row in changes(path)),
        "ids": kept_ids(path) if "delta.enableRowTracking" in KINDS[kind] else {},
        # the bytes of a file depend on the order of its rows
        "metrics": {n: v for n, v in metrics(path).items() if "Bytes" not in n and "FilesAdded" not in n},
        "removed": sorted(a["remove"]["path"] for a in last if "remove" in a),
        "vectors": sum("deletionVector" in add for add in live(path)),
    }


@pytest.mark.parametrize(
    ("kind", "by"),
    [
        ("rewrite", None),
        ("vectors", ["p"]),
        ("everything", None),
        ("everything", ["p"]),
        ("rewrite with feed and row ids", ["p"]),
    ],
)
def test_both_ways_leave_the_same(
    spark: SparkSession,
    setting: Callable[[str, str], None],
    caplog: pytest.LogCaptureFixture,
    kind: str,
    by: list[str] | None,
    tmp_path: Path,
) -> None:
    # an hour of its year is there twice, and one is not
    setting("spark.sql.session.timeZone", "UTC" if kind == "rewrite" else "America/Los_Angeles")
    first = made(spark, tmp_path / "first", kind, by=by)
    for number, (name, case) in enumerate(CASES.items()):
        found = {}
        for way in ("here", "tasks"):
            path = shutil.copytree(first, tmp_path / f"{way} {number}")
            setting("spark.deltaic.dml.clusterBytes", "0" if way == "tasks" else "1g")
            with caplog.at_level(logging.INFO, "deltaic.route"):
                caplog.clear()
                merged(spark, str(path), case)
            where = {m.rpartition(" in ")[2] for m in caplog.messages if "rows that match" in m}
            # where no file may match there is nothing to do for tasks
            assert (
                where <= {"this process"} if way == "here" else where != {"this process"} or name in NO_FILE
            )
            found[way] = told(spark, str(path), kind)
        assert found["here"] == found["tasks"], name


def test_no_job_runs(spark: SparkSession, tmp_path: Path) -> None:
    path = made(spark, tmp_path / "t", "vectors", by=None)
    for case in ("upsert", "more than keys", "only inserts", "nothing matches", "never", "texts", "no rows"):
        assert jobs_of(spark, lambda case=case: merged(spark, path, CASES[case])) == 0, case


def test_more_rows_than_one_task_writes(spark: SparkSession, tmp_path: Path) -> None:
    """Thousands of rows of both sides, into partitions."""
    path = str(tmp_path / "t")
    rows = spark.range(50_000).selectExpr("id", "id % 3 AS p", "concat('v', id) AS v")
    deltaic.save(rows, path, partition_by=["p"], **VECTORS)
    source = spark.range(0, 90_000, 7).selectExpr("id", "id % 3 AS p", "concat('new', id) AS v").alias("s")
    merge = DeltaTable.forPath(spark, path).alias("t").merge(source, "t.id = s.id")
    merge = merge.whenMatchedUpdateAll("s.id % 2 = 0").whenNotMatchedInsertAll("s.id % 5 > 0")
    assert jobs_of(spark, merge.execute) == 0
    after = {r.id: r.v for r in spark.read.format("delta").load(path).collect()}
    expected = {n: f"v{n}" for n in range(50_000)} | {n: f"new{n}" for n in range(0, 50_000, 14)}
    expected |= {n: f"new{n}" for n in range(0, 90_000, 7) if n >= 50_000 and n % 5}
    assert after == expected


@pytest.mark.parametrize("limit", ["_MOST_PAIRS", "_MOST_STORED", "_MOST_HELD"])
def test_what_is_more_than_this_process_holds_tasks_find(
    spark: SparkSession,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    limit: str,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(pairs_module, limit, 3)
    here = made(spark, tmp_path / "here", "everything", by=None)
    tasks = str(shutil.copytree(here, tmp_path / "tasks"))
    with caplog.at_level(logging.INFO, "deltaic.route"):
        merged(spark, tasks, CASES["upsert"])
        assert "MERGE: the rows that match: in tasks" in caplog.messages
    monkeypatch.undo()
    merged(spark, here, CASES["upsert"])
    assert told(spark, here, "everything") == told(spark, tasks, "everything")


def test_only_columns_that_are_needed_are_read(spark: SparkSession, tmp_path: Path) -> None:
    """The bytes of the others are gone."""
    import pyarrow.parquet as pq

    path = str(tmp_path / "t")
    rows = spark.range(0, 100, 1, 1).selectExpr("id", "concat('a', id) AS a", "concat('b', id) AS b")
    deltaic.save(rows, path, **VECTORS)
    (add,) = live(path)
    file = Path(path, add["path"])
    chunk = pq.ParquetFile(file).metadata.row_group(0).column(1)
    with file.open("r+b") as data:
        data.seek(chunk.dictionary_page_offset or chunk.data_page_offset)
        data.write(bytes(chunk.total_compressed_size))
    table = DeltaTable.forPath(spark, path).alias("t")
    source = spark.sql("SELECT 7L AS id, 'new' AS a").alias("s")
    table.merge(source, "t.id = s.id").whenMatchedUpdate(set={"a": "s.a"}).execute()
    new = [add for add in live(path) if add["path"] != file.name]
    assert [pq.read_table(Path(path, add["path"])).to_pylist() for add in new] == [
        [{"id": 7, "a": "new", "b": "b7"}]
    ]
    source = spark.sql("SELECT 8L AS id, 'new' AS a").alias("s")
    for clause in ({"b": "concat(t.a, s.a)"}, {"b": "s.a"}):
        # a row that is written again keeps its other columns
        with pytest.raises(exceptions.DataFileError):
            table.merge(source, "t.id = s.id").whenMatchedUpdate(set=clause).execute()


def test_columns_that_must_not_be_null_need_not_be_read(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    must = "n BIGINT NOT NULL, s STRUCT<a: INT NOT NULL> NOT NULL, b STRING NOT NULL"
    spark.sql(f"CREATE TABLE delta.`{path}` (id BIGINT NOT NULL, {must}) USING delta")
    spark.sql(f"INSERT INTO delta.`{path}` SELECT id, id, named_struct('a', 1), 'b' FROM range(9)")
    source = spark.sql(
        "SELECT id, id * 10 AS n, named_struct('a', 7) AS s, 'new' AS b FROM range(7, 12)"
    ).alias("s")
    table = DeltaTable.forPath(spark, path).alias("t")
    assert jobs_of(spark, table.merge(source, "t.id = s.id").whenMatchedUpdateAll().execute) == 0
    merge = table.merge(source, "t.id = s.id").whenNotMatchedInsertAll()
    assert jobs_of(spark, merge.execute) == 0
    found = {r.id: (r.n, r.s.a, r.b) for r in spark.read.format("delta").load(path).collect()}
    assert found == {n: (n * 10, 7, "new") if n > 6 else (n, 1, "b") for n in range(12)}


@pytest.mark.parametrize("way", ["here", "tasks"])
@pytest.mark.parametrize(("where", "refused"), [("p = '1'", True), ("p = '2'", False)])
def test_other_writers_may_change_what_it_does_not_read(
    spark: SparkSession,
    setting: Callable[[str, str], None],
    monkeypatch: pytest.MonkeyPatch,
    way: str,
    where: str,
    refused: bool,  # noqa: FBT001 (of a parameter)
    tmp_path: Path,
) -> None:
    """A row that matched is lost to the other writer, and the merge runs again; one of another partition is not."""
    setting("spark.deltaic.dml.clusterBytes", "0" if way == "tasks" else "1g")
    path = str(tmp_path / "t")
    deltaic.save(spark.sql(ROWS), path, partition_by=["p"], **VECTORS, **FEED, **ROW_TRACKING)
    commit, attempts = Operation.commit, []

    def overtaken(op: Operation, *given: Any, **more: Any) -> Any:
        attempts.append(op)
        if len(attempts) == 1:
            deltaic.Table(path).delete(f"{where} AND id < 12")
        return commit(op, *given, **more)

    monkeypatch.setattr(Operation, "commit", overtaken)
    source = spark.sql("SELECT 1L AS id, '1' AS p UNION ALL SELECT 5L, '1' UNION ALL SELECT 101L, '1'").alias(
        "s"
    )
    merge = DeltaTable.forPath(spark, path).alias("t")
    merge = merge.merge(source, "t.id = s.id AND t.p = s.p AND t.p = '1'").whenMatchedUpdate(set={"n": "77"})
    merge.whenNotMatchedInsert(values={"id": "s.id", "p": "s.p", "n": "78"}).execute()
    assert len(attempts) == 1 + refused
    rows = {r.id: r.n for r in spark.read.format("delta").load(path).where("n > 70").collect()}
    assert rows == dict.fromkeys((1, 5), 78 if refused else 77) | {101: 78}
