"""Updates through Spark, the same on classic sessions and on Spark Connect."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from dml_tables import (
    FEED,
    ROW_TRACKING,
    VECTORS,
    changes,
    data_files,
    last_commit,
    make,
    metrics,
    row_ids,
    versions,
)

import deltaic
from deltaic import exceptions
from deltaic.spark.session.kind import functions
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark


def values(door: Any, path: str, *columns: str) -> dict[int, Any]:
    """By id."""
    rows = deltaic.read(door, path).selectExpr("id", *columns).collect()
    assert len({r[0] for r in rows}) == len(rows)
    return {r[0]: r[1] if len(columns) == 1 else tuple(r)[1:] for r in rows}


@pytest.mark.parametrize("kind", ["rewrite", "everything"])
def test_rows_for_which_the_condition_is_true_get_their_values(door: Any, kind: str, tmp_path: Path) -> None:
    F = functions(door)  # noqa: N806 (its usual name)
    path = make(door, tmp_path / "t", kind, by=["p"])
    ids = row_ids(path) if kind == "everything" else {}
    table = DeltaTable.forPath(door, path).alias("t")
    before = values(door, path, "p", "n", "s.a", "s.b")
    # a wider type than the column, a field, the partition column; values see the row as it was
    table.update("n > 2", {"n": "t.n * 10L", "S.a": F.col("n") + 1, "t.p": "concat('new', n)"})
    after = values(door, path, "p", "n", "s.a", "s.b")
    hit = [i for i, (_, n, _, _) in before.items() if n is not None and n > 2]
    for i, (p, n, a, b) in before.items():
        expected = (f"new{n}", n * 10, n + 1, b) if i in hit else (p, n, a, b)
        assert after[i] == expected, i
    assert metrics(path)["numUpdatedRows"] == len(hit)
    if kind == "everything":
        assert metrics(path)["numCopiedRows"] == 0
        now = row_ids(path)
        for i, places in now.items():
            assert {row_id for row_id, _ in places} == {row_id for row_id, _ in ids[i]}
            # rows that were changed, and only those, have the version of the commit, too
            assert {v for _, v in places} == ({0, 1} if i in hit else {0})

    table.update("t.id IN (SELECT id FROM range(10))", {"n": "NULL"})
    assert [i for i, n in values(door, path, "n").items() if n is not None and i < 10] == []
    table.update(set={"p": "'one'"})
    assert set(values(door, path, "p").values()) == {"one"}
    table.update("p = 'one'", {"s": "named_struct('b', 'x', 'a', 1)"})
    assert set(values(door, path, "s.a", "s.b").values()) == {(1, "x")}
    version = versions(path)
    table.update("p = 'two'", {"n": "1"})
    table.update("n = 12345", {"n": "1"})
    assert versions(path) == version


@pytest.mark.parametrize("by_vectors", [False, True], ids=["rewrite", "vectors"])
def test_changes_tell_each_row_before_and_after(door: Any, by_vectors: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    properties = {**FEED, **ROW_TRACKING, **(VECTORS if by_vectors else {})}
    deltaic.save(door.sql("SELECT id, id AS x FROM range(0, 40)"), path, **properties)
    before = row_ids(path)
    DeltaTable.forPath(door, path).update("id % 20 = 3", {"x": "-x"})
    seen = sorted((c["id"], c["_change_type"], c["x"]) for c in changes(path))
    assert seen == [
        (3, "update_postimage", -3),
        (3, "update_preimage", 3),
        (23, "update_postimage", -23),
        (23, "update_preimage", 23),
    ]
    after = row_ids(path)
    for i in range(40):
        assert {r for r, _ in after[i]} == {r for r, _ in before[i]}
        versions_ = {v for _, v in after[i]}
        assert versions_ == (({0, 1} if by_vectors else {1}) if i % 20 == 3 else {0})
    assert all("_change_data/" in a["cdc"]["path"] for a in last_commit(path)[1] if "cdc" in a)


def test_rules_of_the_table_hold(door: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    df = door.sql("SELECT id, CAST(id AS int) AS n FROM range(0, 20)")
    deltaic.save(df, path, **VECTORS)
    deltaic.Table(path).add_constraint("small", "n < 100")
    table = DeltaTable.forPath(door, path)
    files = data_files(path)
    with pytest.raises(exceptions.InvariantViolationError, match="small"):
        table.update("id = 3", {"n": "100"})
    assert data_files(path) == files
    assert values(door, path, "n")[3] == 3
    table.update("id = 3", {"n": "99"})
    assert values(door, path, "n")[3] == 99


def test_values_are_stored_as_an_insert_stores_them(door: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    deltaic.save(door.sql("SELECT id, CAST(id AS tinyint) AS b FROM range(0, 20)"), path)
    table = DeltaTable.forPath(door, path)
    table.update("id = 3", {"b": "id * 2"})
    assert values(door, path, "b")[3] == 6
    for ansi in ("true", "false"):
        before = door.conf.get("spark.sql.ansi.enabled")
        door.conf.set("spark.sql.ansi.enabled", ansi)
        try:
            with pytest.raises(Exception, match=r"(?i)overflow|does not fit"):
                table.update("id = 3", {"b": "id + 1000"})
        finally:
            door.conf.set("spark.sql.ansi.enabled", before)
    assert values(door, path, "b")[3] == 6


def test_what_cannot_be_set_is_refused(door: Any, tmp_path: Path) -> None:
    path = make(door, tmp_path / "t", "vectors")
    table = DeltaTable.forPath(door, path)
    for given in ({"nothing": "1"}, {"s.nothing": "1"}, {"n": "1", "N": "2"}, {"s": "NULL", "s.a": "1"}):
        with pytest.raises(exceptions.InvalidArgumentError, match="set"):
            table.update("id = 1", given)
    with pytest.raises(exceptions.InvalidPredicateError, match="deterministic"):
        table.update("id = 1", {"n": "CAST(rand() * 10 AS int)"})
    assert versions(path) == 1


@pytest.mark.parametrize("value", ["row_number() OVER (ORDER BY id)", "max(n)", "n + max(n)"])
def test_a_value_of_several_rows_is_refused(spark: Any, tmp_path: Path, value: str) -> None:
    path = make(spark, tmp_path / "t", "vectors")
    with pytest.raises(exceptions.InvalidPredicateError, match="one by one") as raised:
        DeltaTable.forPath(spark, path).update(set={"n": value})
    assert raised.value.condition == "UNSUPPORTED_EXPR_FOR_OPERATOR"
    assert versions(path) == 1


@pytest.mark.parametrize("kind", ["vectors", "rewrite"])
def test_an_update_that_sets_nothing_rewrites_its_rows(door: Any, kind: str, tmp_path: Path) -> None:
    # as delta-spark does
    path = make(door, tmp_path / "t", kind)
    table = DeltaTable.forPath(door, path)
    before = values(door, path, "n")
    table.update("id < 3", {})
    assert values(door, path, "n") == before
    last = table.history(1).first()
    assert (last.operation, last.operationMetrics["numUpdatedRows"]) == ("UPDATE", "3")
    table.update("id = 777", {})
    assert versions(path) == 2


def test_disjoint_updates_at_the_same_time_all_land(door: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    # one file: the updates are of different rows of it
    deltaic.save(door.sql("SELECT id, 0 AS n FROM range(0, 100, 1, 1)"), path, **VECTORS)
    table = DeltaTable.forPath(door, path)

    def one(number: int) -> None:
        low = number * 25
        table.update(f"id >= {low} AND id < {low + 10}", {"n": str(number + 1)})

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(one, range(4)))
    assert values(door, path, "n") == {i: i // 25 + 1 if i % 25 < 10 else 0 for i in range(100)}
