"""Merges through Spark, the same on classic sessions and on Spark Connect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from dml_tables import (
    FEED,
    KINDS,
    ROW_TRACKING,
    VECTORS,
    changes,
    data_files,
    last_commit,
    live,
    make,
    metrics,
    row_ids,
    versions,
)

import deltaic
from deltaic.spark.session.kind import functions
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark


@pytest.fixture(params=["classic", "in_tasks", "connect", "attached"])
def door(request: pytest.FixtureRequest) -> Any:
    """As everywhere; in a classic session the core finds the rows, or tasks do."""
    return request.getfixturevalue("spark" if request.param == "classic" else request.param)


NOTHING = {
    "numTargetRowsInserted": 0,
    "numTargetRowsUpdated": 0,
    "numTargetRowsDeleted": 0,
}


def values(door: Any, path: str, *columns: str) -> dict[int, Any]:
    """By id."""
    rows = deltaic.read(door, path).selectExpr("id", *columns).collect()
    assert len({r[0] for r in rows}) == len(rows)
    return {r[0]: r[1] if len(columns) == 1 else tuple(r)[1:] for r in rows}


def balanced(path: str, before: int, after: int) -> dict[str, int]:
    """The metrics of the newest commit, whose rows add up."""
    m = metrics(path)
    assert m["numTargetRowsUpdated"] == (
        m["numTargetRowsMatchedUpdated"] + m["numTargetRowsNotMatchedBySourceUpdated"]
    )
    assert m["numTargetRowsDeleted"] == (
        m["numTargetRowsMatchedDeleted"] + m["numTargetRowsNotMatchedBySourceDeleted"]
    )
    assert after - before == m["numTargetRowsInserted"] - m["numTargetRowsDeleted"]
    written = m["numTargetRowsInserted"] + m["numTargetRowsUpdated"] + m["numTargetRowsCopied"]
    assert m["numOutputRows"] == written
    return m


@pytest.mark.parametrize("kind", KINDS)
def test_each_row_follows_the_first_clause_that_is_true(door: Any, kind: str, tmp_path: Path) -> None:
    F = functions(door)  # noqa: N806 (its usual name)
    path = make(door, tmp_path / "t", kind, by=["p"])
    ids = row_ids(path) if "delta.enableRowTracking" in KINDS[kind] else {}
    before = values(door, path, "p", "n", "s.a", "s.b")
    # every third row of the first 90, and as many new ones
    source = door.sql("SELECT id * 3 AS id, CAST(id AS int) AS m FROM range(0, 60)").alias("src")
    done = (
        DeltaTable.forPath(door, path)
        .alias("t")
        .merge(source, F.col("t.id") == F.col("src.id"))
        .whenMatchedDelete("t.id % 2 = 0 AND m > 10")
        .whenMatchedUpdate("src.m < 5", {"n": "src.m + 1000", "s.a": F.col("t.n") + 1})
        .whenMatchedUpdate(set={"p": "'moved'"})
        .whenNotMatchedInsert("m % 2 = 1", {"id": "src.id", "n": "m", "p": "'odd'"})
        .whenNotMatchedInsert("m % 4 = 0", {"id": "id", "s": "named_struct('b', 'x', 'a', 1)"})
        .whenNotMatchedBySourceDelete("n = 1")
        .whenNotMatchedBySourceUpdate("t.id > 90", {"s.b": "concat(t.s.b, '!')"})
        .execute()
        .collect()
    )
    after = values(door, path, "p", "n", "s.a", "s.b")
    expected: dict[int, Any] = {}
    counts = dict.fromkeys(("mu", "md", "bu", "bd", "i"), 0)
    for i, (p, n, a, b) in before.items():
        if i % 3 == 0:
            m = i // 3
            if i % 2 == 0 and m > 10:
                counts["md"] += 1
                continue
            counts["mu"] += 1
            expected[i] = (p, m + 1000, None if n is None else n + 1, b) if m < 5 else ("moved", n, a, b)
        elif n == 1:
            counts["bd"] += 1
        else:
            counts["bu"] += i > 90
            expected[i] = (p, n, a, b + "!" if i > 90 else b)
    for m in range(34, 60):
        if m % 2 == 1 or m % 4 == 0:
            counts["i"] += 1
            expected[m * 3] = ("odd", m, None, None) if m % 2 else (None, None, 1, "x")
    assert after == expected
    found = balanced(path, len(before), len(after))
    assert counts == {
        "mu": found["numTargetRowsMatchedUpdated"],
        "md": found["numTargetRowsMatchedDeleted"],
        "bu": found["numTargetRowsNotMatchedBySourceUpdated"],
        "bd": found["numTargetRowsNotMatchedBySourceDeleted"],
        "i": found["numTargetRowsInserted"],
    }
    assert found["numSourceRows"] == 60
    updated, deleted = counts["mu"] + counts["bu"], counts["md"] + counts["bd"]
    assert [tuple(r) for r in done] == [(updated + deleted + counts["i"], updated, deleted, counts["i"])]
    if ids:
        now = row_ids(path)
        for i in set(before) & set(after):
            assert {r for r, _ in now[i]} == {r for r, _ in ids[i]}, i
            changed = before[i] != after[i] or i % 3 == 0
            assert (1 in {v for _, v in now[i]}) == changed, i
        fresh = {r for i in set(after) - set(before) for r, _ in now[i]}
        assert len(fresh) == counts["i"]
        assert fresh.isdisjoint({r for i in ids for r, _ in ids[i]})
    if "delta.enableChangeDataFeed" in KINDS[kind]:
        reported = [(c["_change_type"]) for c in changes(path)]
        assert {k: reported.count(k) for k in set(reported)} == {
            "update_preimage": updated,
            "update_postimage": updated,
            "delete": deleted,
            "insert": counts["i"],
        }
    assert deltaic.Table(path).verify(deep=True).findings == []


def test_the_commit_says_what_was_asked(door: Any, tmp_path: Path) -> None:
    path = make(door, tmp_path / "t", "rewrite")
    (
        DeltaTable.forPath(door, path)
        .alias("t")
        .merge(door.sql("SELECT 3L AS id").alias("s"), "t.id = s.id")
        .whenMatchedUpdate("t.n > 0", {"n": "0"})
        .whenMatchedDelete()
        .whenNotMatchedInsert(values={"id": "s.id"})
        .whenNotMatchedBySourceDelete("t.n = 12345")
        .execute()
    )
    info, _ = last_commit(path)
    assert info["operation"] == "MERGE"
    assert info["operationParameters"] == {
        "predicate": '["t.id = s.id"]',
        "matchedPredicates": '[{"predicate":"t.n > 0","actionType":"update"},{"actionType":"delete"}]',
        "notMatchedPredicates": '[{"actionType":"insert"}]',
        "notMatchedBySourcePredicates": '[{"predicate":"t.n = 12345","actionType":"delete"}]',
    }
    m = metrics(path)
    # one file of three is rewritten
    assert (m["numTargetFilesRemoved"], m["numTargetFilesAdded"]) == (1, 1)
    assert m["numTargetRowsCopied"] == m["numOutputRows"] - 1


@pytest.mark.parametrize("kind", ["rewrite", "everything"])
def test_all_columns_are_set_by_name(door: Any, kind: str, tmp_path: Path) -> None:
    path = make(door, tmp_path / "t", kind)
    # in another order and case, with a wider type, and struct fields the other way round
    source = door.sql(
        "SELECT named_struct('b', 'new', 'a', 5) AS s, 7L AS n, 'q' AS P, id FROM range(95, 105)"
    )
    table = DeltaTable.forPath(door, path)
    table.alias("t").merge(
        source.alias("x"), "t.id = x.id"
    ).whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()
    after = values(door, path, "p", "n", "s.a", "s.b")
    assert len(after) == 105
    assert {i for i, row in after.items() if row == ("q", 7, 5, "new")} == set(range(95, 105))


def test_only_inserts_add_files_and_touch_none(door: Any, tmp_path: Path) -> None:
    path = make(door, tmp_path / "t", "everything")
    files = {a["path"] for a in live(path)}
    table = DeltaTable.forPath(door, path).alias("t")
    source = door.sql("SELECT id, 'new' AS p FROM range(90, 110) UNION ALL SELECT 95L, 'again'").alias("s")
    merge = table.merge(source, "t.id = s.id").whenNotMatchedInsert("s.id <> 109", {"id": "s.id", "p": "s.p"})
    assert merge.execute().collect()[0].asDict() == {
        "num_affected_rows": 9,
        "num_updated_rows": 0,
        "num_deleted_rows": 0,
        "num_inserted_rows": 9,
    }
    assert files < {a["path"] for a in live(path)}
    assert not any("remove" in a or "cdc" in a for a in last_commit(path)[1])
    assert {i: p for i, p in values(door, path, "p").items() if p == "new"} == dict.fromkeys(
        range(100, 109), "new"
    )
    version, before = versions(path), data_files(path)
    merge.execute()
    assert (versions(path), data_files(path)) == (version, before), "nothing changes, so nothing is committed"


@pytest.mark.parametrize("by_vectors", [False, True], ids=["rewrite", "vectors"])
def test_only_deletes_write_no_row_that_is_not_kept(door: Any, by_vectors: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    for low, high in ((0, 33), (33, 66), (66, 100)):
        rows = door.sql(f"SELECT id, 1 AS n FROM range({low}, {high}, 1, 1)")
        deltaic.save(rows, path, mode="append", **(VECTORS if by_vectors and not low else {}))
    table = DeltaTable.forPath(door, path).alias("t")
    # 5 matches twice, which is the same to a delete; the last file loses every row
    source = door.sql(
        "SELECT id FROM range(0, 6) UNION ALL SELECT 5L UNION ALL SELECT id FROM range(66, 100)"
    )
    table.merge(source.alias("s"), "t.id = s.id").whenMatchedDelete().execute()
    assert sorted(values(door, path, "n")) == list(range(6, 66))
    m = balanced(path, 100, 60)
    assert m["numTargetRowsMatchedDeleted"] == 40
    if by_vectors:
        assert (m["numTargetFilesAdded"], m["numTargetFilesRemoved"]) == (0, 1)
        assert (m["numTargetDeletionVectorsAdded"], m["numTargetRowsCopied"]) == (1, 0)
    else:
        assert (m["numTargetFilesAdded"], m["numTargetFilesRemoved"], m["numTargetRowsCopied"]) == (1, 2, 27)


@pytest.mark.parametrize("kind", ["rewrite with feed and row ids", "everything"])
def test_changes_tell_every_row(door: Any, kind: str, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    deltaic.save(
        door.sql("SELECT id, id AS x FROM range(0, 40)"),
        path,
        **{**KINDS[kind], "delta.columnMapping.mode": "none"},
    )
    source = door.sql("SELECT id, -id AS x FROM VALUES 1L, 2L, 50L, 51L AS v(id)").alias("s")
    (
        DeltaTable.forPath(door, path)
        .alias("t")
        .merge(source, "t.id = s.id")
        .whenMatchedDelete("s.id = 2")
        .whenMatchedUpdateAll()
        .whenNotMatchedInsertAll()
        .execute()
    )
    seen = sorted((c["id"], c["_change_type"], c["x"]) for c in changes(path))
    assert seen == [
        (1, "update_postimage", -1),
        (1, "update_preimage", 1),
        (2, "delete", 2),
        (50, "insert", -50),
        (51, "insert", -51),
    ]


def test_a_value_that_differs_each_time_is_the_same_everywhere(door: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    deltaic.save(door.sql("SELECT id, '' AS u FROM range(0, 20)"), path, **FEED, **VECTORS, **ROW_TRACKING)
    F = functions(door)  # noqa: N806 (its usual name)

    def at_random(batches: Any) -> Any:
        import random

        for batch in batches:
            batch["k"] = [random.randrange(10**9) for _ in range(len(batch))]
            yield batch

    source = door.range(10, 30).withColumn("k", F.lit(0)).mapInPandas(at_random, "id long, k long").alias("s")
    (
        DeltaTable.forPath(door, path)
        .alias("t")
        .merge(source, "t.id = s.id")
        .whenMatchedUpdate(set={"u": "concat(s.k, ' ', uuid())"})
        .whenNotMatchedInsert(values={"id": "s.id", "u": "concat(s.k, ' ', uuid())"})
        .execute()
    )
    rows = values(door, path, "u")
    assert len(set(rows.values())) == 21
    reported = {c["id"]: c["u"] for c in changes(path) if c["_change_type"] != "update_preimage"}
    assert reported == {i: u for i, u in rows.items() if i >= 10}


def test_null_safe_keys_match_nulls(door: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    deltaic.save(door.sql("SELECT * FROM VALUES (1, 'a'), (NULL, 'b'), (3, 'c') AS v(k, x)"), path)
    table = DeltaTable.forPath(door, path).alias("t")
    source = door.sql("SELECT * FROM VALUES (1, 'A'), (NULL, 'B') AS v(k, x)").alias("s")
    table.merge(source, "t.k = s.k").whenMatchedUpdateAll().execute()
    rows = deltaic.read(door, path).collect()
    assert sorted((r.k or 0, r.x) for r in rows) == [(0, "b"), (1, "A"), (3, "c")]
    table.merge(source, "t.k <=> s.k").whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()
    rows = deltaic.read(door, path).collect()
    assert sorted((r.k or 0, r.x) for r in rows) == [(0, "B"), (1, "A"), (3, "c")]


def test_a_condition_that_is_no_equality(door: Any, tmp_path: Path) -> None:
    path = make(door, tmp_path / "t", "vectors")
    table = DeltaTable.forPath(door, path).alias("t")
    source = door.sql("SELECT 10L AS low, 20L AS high UNION ALL SELECT 95L, 200L").alias("s")
    table.merge(source, "t.id >= s.low AND t.id < s.high").whenMatchedDelete().execute()
    assert sorted(values(door, path, "n")) == [*range(10), *range(20, 95)]


def test_an_empty_source_changes_only_rows_without_a_match(door: Any, tmp_path: Path) -> None:
    path = make(door, tmp_path / "t", "rewrite")
    table = DeltaTable.forPath(door, path).alias("t")
    none = door.sql("SELECT 1L AS id WHERE false").alias("s")
    version = versions(path)
    result = table.merge(none, "t.id = s.id").whenMatchedDelete().whenNotMatchedInsertAll()
    with pytest.raises(deltaic.exceptions.InvalidArgumentError, match="no column `p`"):
        result.execute()
    done = table.merge(none, "t.id = s.id").whenMatchedDelete().execute()
    assert [tuple(r) for r in done.collect()] == [(0, 0, 0, 0)]
    assert versions(path) == version
    table.merge(none, "t.id = s.id").whenNotMatchedBySourceDelete("t.id >= 10").execute()
    assert sorted(values(door, path, "n")) == list(range(10))
