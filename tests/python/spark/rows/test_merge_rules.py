"""What a merge refuses, what the table's rules do to its rows, and which files it reads."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from dml_tables import FEED, KINDS, VECTORS, changes, data_files, last_commit, make, metrics, versions
from pyspark.errors import UnsupportedOperationException

import deltaic
from deltaic import exceptions
from deltaic.spark.dml.clauses import Clauses
from deltaic.spark.dml.keys import keys_of
from deltaic.spark.dml.matches import Matches
from deltaic.spark.dml.operation import Operation
from deltaic.spark.dml.source import Source
from deltaic.spark.session.kind import functions
from deltaic.spark.session.table_ref import TableRef
from deltaic.statements.merge_clauses import Clause
from deltaic.tables import DeltaMergeBuilder, DeltaTable, IdentityGenerator

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark


@pytest.fixture(params=["classic", "in_tasks", "connect", "attached"])
def door(request: pytest.FixtureRequest) -> Any:
    """As everywhere; in a classic session the core finds the rows, or tasks do."""
    return request.getfixturevalue("spark" if request.param == "classic" else request.param)


def values(door: Any, path: str, *columns: str) -> dict[Any, Any]:
    """By id."""
    rows = deltaic.read(door, path).selectExpr("id", *columns).collect()
    assert len({r[0] for r in rows}) == len(rows)
    return {r[0]: r[1] if len(columns) == 1 else tuple(r)[1:] for r in rows}


def test_t36_several_matches_are_an_error_that_shows_keys(door: Any, tmp_path: Path) -> None:
    path = make(door, tmp_path / "t", "vectors")
    table = DeltaTable.forPath(door, path).alias("t")
    source = door.sql("SELECT 7L AS id, 1 AS m UNION ALL SELECT 7L, 2 UNION ALL SELECT 8L, 3").alias("s")
    version, before = versions(path), data_files(path)
    merge = table.merge(source, "t.id = s.id").whenMatchedUpdate("s.m > 2", {"n": "s.m"})
    with pytest.raises(exceptions.MultipleMatchesError, match=r"id = 7 \(2 times\)") as raised:
        merge.whenMatchedDelete().execute()
    assert raised.value.rows == ["id = 7"]
    # what PySpark makes of delta-spark's error
    assert isinstance(raised.value, UnsupportedOperationException)
    assert pickle.loads(pickle.dumps(raised.value)).rows == ["id = 7"]
    with pytest.raises(exceptions.MultipleMatchesError):
        table.merge(source, "t.id = s.id").whenMatchedDelete("s.m = 1").execute()
    assert (versions(path), data_files(path)) == (version, before)
    # whichever of them it is, the row goes
    table.merge(source, "t.id = s.id").whenMatchedDelete().whenNotMatchedInsert(
        values={"id": "s.id"}
    ).execute()
    assert metrics(path)["numTargetRowsDeleted"] == 2
    assert not {7, 8} & values(door, path, "n").keys()


def test_t36_a_merge_that_runs_again_changes_nothing(door: Any, tmp_path: Path) -> None:
    path = make(door, tmp_path / "t", "vectors")
    source = door.sql("SELECT 7L AS id, 70 AS n UNION ALL SELECT 1000L, 71").alias("s")

    def merge() -> dict[str, int]:
        merge = DeltaTable.forPath(door, path).alias("t").merge(source, "t.id = s.id")
        merge = merge.whenMatchedUpdate("NOT t.n <=> s.n", {"n": "s.n"})
        merge.whenNotMatchedInsert(values={"id": "s.id", "n": "s.n"}).execute()
        return metrics(path)

    first = merge()
    assert (first["numTargetRowsUpdated"], first["numTargetRowsInserted"]) == (1, 1)
    rows, version, files = values(door, path, "n"), versions(path), data_files(path)
    merge()
    assert (versions(path), data_files(path)) == (version, files)
    assert values(door, path, "n") == rows
    assert (rows[7], rows[1000]) == (70, 71)


def test_clauses_have_an_order(spark: Any, tmp_path: Path) -> None:
    path = make(spark, tmp_path / "t", "rewrite")
    merge = DeltaTable.forPath(spark, path).alias("t").merge(spark.range(5).alias("s"), "t.id = s.id")
    cases: list[DeltaMergeBuilder] = [
        merge,
        merge.whenMatchedDelete().whenMatchedUpdate("s.id = 1", {"n": "1"}),
        merge.whenNotMatchedInsert(values={"id": "s.id"}).whenNotMatchedInsertAll(),
        merge.whenNotMatchedBySourceDelete().whenNotMatchedBySourceDelete("t.n = 1"),
        merge.whenMatchedUpdate(set={"nothing": "1"}),
        merge.whenMatchedUpdate(set={"n": "1", "N": "2"}),
        merge.whenNotMatchedInsert(values={"s.a": "1"}),
    ]
    for case in cases:
        with pytest.raises(exceptions.InvalidArgumentError):
            case.execute()
    with pytest.raises(exceptions.InvalidArgumentError, match="'set' in whenMatchedUpdate cannot be None"):
        merge.whenMatchedUpdate(set=None)
    with pytest.raises(
        exceptions.InvalidArgumentError, match="whenMatchedUpdateAll: the source has no column `p`"
    ):
        merge.whenMatchedUpdateAll().execute()
    assert versions(path) == 1


@pytest.mark.parametrize("kind", ["rewrite", "everything"])
def test_schema_evolution_adds_the_columns_that_are_set(door: Any, kind: str, tmp_path: Path) -> None:
    path = make(door, tmp_path / "t", kind)
    source = door.sql(
        "SELECT id, 1 AS more, named_struct('c', 9L, 'a', 5) AS s, 'no' AS other FROM range(99, 101)"
    ).alias("x")
    merge = DeltaTable.forPath(door, path).alias("t").merge(source, "t.id = x.id")
    with pytest.raises(exceptions.InvalidArgumentError, match="no column `more`"):
        merge.whenMatchedUpdate(set={"more": "x.more"}).execute()
    before = values(door, path, "p", "n", "s.b")
    merge = merge.withSchemaEvolution()
    merge.whenMatchedUpdate(set={"more": "x.more"}).whenNotMatchedInsert(values={"id": "x.id"}).execute()
    assert deltaic.read(door, path).columns == ["id", "p", "n", "s", "more"]
    assert {i: m for i, m in values(door, path, "more").items() if m is not None} == {99: 1}
    merge.whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()
    assert deltaic.read(door, path).columns == ["id", "p", "n", "s", "more", "other"]
    after = values(door, path, "p", "n", "s.a", "s.b", "s.c", "more", "other")
    p, n, b = before[99]
    # what the source lacks stays, in structs too
    assert after[99] == (p, n, 5, b, 9, 1, "no")
    assert after[100] == (None, None, 5, None, 9, 1, "no")
    assert after[98][-3:] == (None, None, None)
    assert last_commit(path)[0]["operation"] == "MERGE"
    assert deltaic.Table(path).verify(deep=True).findings == []


@pytest.mark.parametrize("by_vectors", [False, True], ids=["rewrite", "vectors"])
def test_the_rules_of_the_table_hold(door: Any, by_vectors: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    columns = [
        {
            "name": "key",
            "type": "long",
            "metadata": {
                "delta.identity.start": 1,
                "delta.identity.step": 1,
                "delta.identity.allowExplicitInsert": False,
            },
        },
        {"name": "id", "type": "long", "nullable": False},
        {"name": "n", "type": "integer", "metadata": {"CURRENT_DEFAULT": "42"}},
        {"name": "twice", "type": "long", "metadata": {"delta.generationExpression": "id * 2"}},
    ]
    fields = [{"nullable": True, "metadata": {}, **c} for c in columns]
    properties = {**FEED, **(VECTORS if by_vectors else {}), "delta.feature.allowColumnDefaults": "supported"}
    deltaic.create(path, {"type": "struct", "fields": fields}, configuration=properties)
    deltaic.Table(path).add_constraint("small", "n < 100")
    table = DeltaTable.forPath(door, path).alias("t")

    def merge(low: int, high: int, n: str) -> DeltaMergeBuilder:
        rows = door.sql(f"SELECT id, {n} AS n FROM range({low}, {high})").alias("s")
        return table.merge(rows, "t.id = s.id")

    merge(0, 10, "1").whenNotMatchedInsert("s.id < 5", {"id": "s.id"}).whenNotMatchedInsert(
        values={"id": "s.id", "n": "s.n"}
    ).execute()
    assert values(door, path, "n", "twice") == {i: (42 if i < 5 else 1, 2 * i) for i in range(10)}
    merge(8, 12, "5").whenMatchedUpdate(set={"id": "t.id + 100", "n": "s.n"}).whenNotMatchedInsert(
        values={"id": "s.id", "n": "DEFAULT"}
    ).execute()
    after = values(door, path, "n", "twice")
    assert {i: after[i] for i in (108, 109, 10, 11)} == {
        108: (5, 216),
        109: (5, 218),
        10: (42, 20),
        11: (42, 22),
    }
    keys = values(door, path, "key")
    assert len(set(keys.values())) == 12, "each row has a key of its own"
    reported = {c["id"]: c["key"] for c in changes(path) if c["_change_type"] == "insert"}
    assert reported == {i: keys[i] for i in (10, 11)}
    version, before = versions(path), data_files(path)
    for refused, kind in (
        (merge(0, 2, "100").whenMatchedUpdate(set={"n": "s.n"}), exceptions.InvariantViolationError),
        (merge(90, 92, "100").whenNotMatchedInsertAll(), exceptions.InvariantViolationError),
        (merge(0, 2, "1").whenMatchedUpdate(set={"id": "NULL"}), exceptions.SchemaMismatchError),
        (merge(90, 92, "1").whenNotMatchedInsert(values={"n": "s.n"}), exceptions.SchemaMismatchError),
        (merge(0, 2, "1").whenMatchedUpdate(set={"key": "7"}), exceptions.SchemaMismatchError),
    ):
        with pytest.raises(kind):
            refused.execute()
    assert (versions(path), data_files(path)) == (version, before)


def test_only_files_with_keys_of_the_source_are_read(door: Any, scanned: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    for low in range(0, 100, 10):
        rows = door.sql(f"SELECT id, 'x' AS v, CAST(id / 50 AS int) AS p FROM range({low}, {low + 10})")
        deltaic.save(
            rows, path, mode="append", partition_by=["p"] if not low else None, **VECTORS if not low else {}
        )
    F = functions(door)  # noqa: N806 (its usual name)
    source = door.sql("SELECT id, 1 AS p FROM VALUES (63L), (88L) AS v(id)").alias("s")
    for condition in (
        "t.id = s.id AND t.p <=> s.p",
        (F.col("t.id") == F.col("s.id")) & (F.col("t.p") == F.col("s.p")),
    ):
        with Operation(TableRef(door, path, "t"), "MERGE", {}) as op:
            found = Source(op, source, condition, by_name=False)
            assert found.key_columns == ["id", "p"]
            matches = Matches(op, found, condition, Clauses([Clause("whenMatched", "delete")]))
            if not matches.found_here:
                read = matches.rows
                assert (len(read.inputFiles()) if op.connect else scanned(read)) == 2
            matches.take()
            assert matches.counts == {0: 2}
            # what other writers must not change
            files = pa.table(pa.RecordBatchReader.from_stream(op.dml.scan("all", False).files()))
            assert len(files) == 2


def test_what_is_no_key_prunes_nothing(spark: Any, tmp_path: Path) -> None:
    path = make(spark, tmp_path / "t", "rewrite")
    F = functions(spark)  # noqa: N806 (its usual name)
    source = spark.sql("SELECT 1L AS id, 'a' AS p, 1.5D AS x, '1' AS n, 2L AS a").alias("s")
    with Operation(TableRef(spark, path, "t"), "MERGE", {}) as op:
        for condition, expected in (
            ("t.id = s.id", ["id"]),
            ("s.id <=> t.id AND (t.p = s.p AND t.n > 3)", ["id", "p"]),
            ("t.id = s.id OR t.p = s.p", []),
            ("NOT (t.id = s.id)", []),
            ("t.id = t.n", []),
            ("t.id + 0 = s.id", []),
            ("t.n = s.n", []),
            ("id = s.id", []),
            ("t.id = x", []),
            ("t.s.a = s.id", []),
            ("t.id = s.a", []),
            (F.col("t.id") == F.lit("s.id"), []),
            (F.col("t.id") == F.col("s.id") + 1, []),
            (F.expr("t.id = s.id") & (F.col("t.p") == F.col("s.p")), ["id", "p"]),
            (F.col("t.id").eqNullSafe(F.col("s.id")), ["id"]),
            ((F.col("t.id") == F.col("s.id")) | F.lit(True), []),
        ):
            assert [k.target for k in keys_of(op, condition, source.schema)] == expected, condition


def test_disjoint_merges_at_the_same_time_all_land(door: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    for part in range(4):
        rows = door.sql(f"SELECT id, 0 AS n FROM range({part * 25}, {part * 25 + 10})")
        deltaic.save(rows, path, mode="append", **VECTORS if not part else {})
    table = DeltaTable.forPath(door, path).alias("t")

    def one(part: int) -> None:
        rows = door.sql(f"SELECT id, {part + 1} AS n FROM range({part * 25 + 5}, {part * 25 + 15})").alias(
            "s"
        )
        table.merge(rows, "t.id = s.id").whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(one, range(4)))
    assert values(door, path, "n") == {
        p * 25 + i: p + 1 if i >= 5 else 0 for p in range(4) for i in range(15)
    }


@pytest.mark.parametrize("kind", ["rewrite", "everything"])
def test_clauses_may_leave_columns_to_the_table(spark: Any, kind: str, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    builder = DeltaTable.create(spark).location(path).addColumn("id", "long").addColumn("n", "int")
    builder = builder.addColumn("twice", "int", generatedAlwaysAs="n * 2")
    builder = builder.addColumn("key", "long", generatedByDefaultAs=IdentityGenerator(start=10, step=10))
    builder = builder.addColumn("other", "long", generatedByDefaultAs=IdentityGenerator())
    for name, value in KINDS[kind].items():
        builder = builder.property(name, value)
    table = builder.execute().alias("t")
    source = spark.range(0, 6, 1, 1).alias("s")

    def insert(offset: int) -> None:
        merge = table.merge(source, f"t.id = s.id + {offset}")
        merge = merge.whenNotMatchedInsert("s.id < 2", {"id": f"s.id + {offset}", "n": "s.id"})
        merge = merge.whenNotMatchedInsert(
            "s.id < 4", {"id": f"s.id + {offset}", "key": "-s.id", "n": "1", "twice": "2"}
        )
        merge.whenNotMatchedInsert(values={"id": f"s.id + {offset}", "twice": "null"}).execute()

    insert(0)
    insert(100)
    rows = values(spark, path, "n", "twice", "key", "other")
    assert {i: row[:2] for i, row in rows.items() if i < 100} == {
        0: (0, 0),
        1: (1, 2),
        2: (1, 2),
        3: (1, 2),
        4: (None, None),
        5: (None, None),
    }
    assert {rows[i][2] for i in (2, 3, 102, 103)} == {-2, -3}
    keys = [row[2] for i, row in rows.items() if i % 100 not in (2, 3)]
    assert len(set(keys)) == 8
    assert all(key >= 10 and key % 10 == 0 for key in keys)
    assert len({row[3] for row in rows.values()}) == 12
    with pytest.raises(exceptions.InvariantViolationError, match="generated column twice"):
        table.merge(source, "t.id = s.id + 200").whenNotMatchedInsert(
            "s.id < 2", {"id": "s.id", "n": "1", "twice": "3"}
        ).whenNotMatchedInsert(values={"id": "s.id"}).execute()
    assert versions(path) == 3


def test_a_clause_knows_whether_it_is_a_star() -> None:
    assert Clause("whenMatched", "update").is_star
    assert not Clause("whenMatched", "delete").is_star
    assert not Clause("whenMatched", "update", None, {"a": "1"}).is_star
