"""Which tests run: tiers, each with all tests of the one before it. `DELTAIC_TESTS` names one.

quick
    For the editor. As `once`, without streams, recipes and all that starts processes. Of a file that needs Spark the
    first three tests, and of files of behaviours that begin with the same word the first file.
once
    What the other versions of PySpark must pass. Each test once, with the first of its cases; without peers, Spark
    Connect, tests of documents, and folders of tests that take processes of their own.
change
    What a change must pass, and what runs by default. All tests, peers and kinds of session included, but cases that
    take long: they have the mark `long`, or stand in `_LEFT_OUT` with what covers them.
full
    Everything. By night.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pytest

QUICK, ONCE, CHANGE, FULL = "quick", "once", "change", "full"

# in a folder, in a file or by a door, tests with one of these values of a parameter: what they show of one kind of
# table, route or door, others show of another
_LEFT_OUT: list[tuple[str, str, set[str]]] = [
    # beside delta-spark each operation takes seconds
    ("interop", "kind", {"rewrite", "ids", "names", "in-commit timestamps"}),
    (
        "interop",
        "feature",
        {"typeWidening", "columnMapping", "v2Checkpoint", "inCommitTimestamp", "rowTracking"},
    ),
    ("interop", "route", {"arrow", "driver"}),
    ("interop", "policy", {"classic"}),
    ("interop", "checkpoint", {"V1", "V1 with struct statistics"}),
    ("interop", "mode", {"name"}),
    (
        "interop",
        "case",
        {
            "append to partitions",
            "every type in few rows a file",
            "few rows a file",
            "merge nested",
            "other partitions",
            "other partitions to overwrite",
            "same rows",
        },
    ),
    # what a served session does is a classic session on the server
    ("spark", "door", {"attached"}),
    ("test_served", "way", {"attached"}),
    # the same plans come by another door
    ("test_connect_names", "kept", {"external"}),
    ("connect", "kind", {"rewrite", "rewrite with feed and row ids"}),
    ("test_connect_queries", "door", {"classic"}),
    ("test_delete", "door", {"connect"}),
    ("test_merge", "door", {"connect"}),
    ("test_merge_rules", "door", {"connect"}),
    ("test_recipes", "door", {"connect"}),
    ("test_update", "door", {"connect"}),
    ("test_write_overwrite", "door", {"connect"}),
    ("test_write_rules", "door", {"connect"}),
    # small frames take the route `driver` by themselves, and Connect has but the other
    ("test_write_apis", "route", {"arrow", "driver"}),
    ("test_values_that_must_not_be", "route", {"direct", "driver"}),
    ("test_write_overwrite", "route", {"arrow", "driver"}),
    # what a recipe merges is merged by the tests of merges
    ("test_recipes", "kind", {"rewrite", "rewrite with feed and row ids", "vectors"}),
    ("test_merge_rules", "kind", {"rewrite"}),
    ("test_connect_parity", "name", {"merge delete", "merge insert", "merge upsert", "update partitions"}),
    # pages and parts are object_store's: one server of each kind is enough, and that in `full`
    ("test_conformance_large", "store", {"moto", "azurite", "fake_gcs_server"}),
    # sessions of their own
    ("test_histories", "without", {"bound frames", "conditions", "matches"}),
    ("test_concurrent_jobs", "kind", {"partitions", "partitions by vectors"}),
    ("test_write_retries", "route", {"arrow", "driver"}),
]

# fixtures and doors of sessions of Spark Connect
_CONNECT = {"connect", "closed", "attached", "served", "stock", "admins", "way"}
# folders of what takes long for what it shows of one change
_NOT_ONCE = {"docs", "fork", "histories", "interop", "lost_processes", "soak", "stores"}
# and more folders and files of that kind
_NOT_QUICK = {
    *(
        "stream",
        "test_bridge_jar",
        "test_concurrent_jobs",
        "test_connect_server",
        "test_tour",
        "test_hive_catalog",
        "test_java",
        "test_lost_rows",
        "test_many_writers",
        "test_optimize_tasks",
        "test_recipes",
        "test_secrets",
        "test_tasks_on_cluster",
    ),
    *("test_types", "test_workers", "test_write_retries"),
}
_QUICK_TESTS_OF_A_SPARK_FILE = 3
# folders and files whose tests start servers, clusters and other Spark sessions
_LONGEST = {
    *("fork", "histories", "interop", "lost_processes", "soak", "spark_connect", "stores"),
    *("test_bridge_jar", "test_concurrent_jobs", "test_hive_catalog", "test_lost_rows", "test_write_retries"),
}


def chosen(items: Sequence[pytest.Item], tier: str) -> set[pytest.Item]:
    """The tests of a tier."""
    if tier not in (QUICK, ONCE, CHANGE, FULL):
        raise ValueError(f"DELTAIC_TESTS is {tier!r}: {QUICK}, {ONCE}, {CHANGE} or {FULL}")
    kept = [item for item in items if tier == FULL or not _is_left_out(item)]
    if tier in (QUICK, ONCE):
        return set(_first_cases(kept, quick=tier == QUICK))
    return set(kept)


def in_order(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """The files that take longest first, so that no process is left with one of them at the end.

    Files that start servers and processes come first, then those that need Spark, the most tests first, then the rest.
    """
    tests = Counter(item.path for item in items)
    with_spark = {item.path for item in items if item.get_closest_marker("spark")}

    def rank(item: pytest.Item) -> tuple[int, int, str]:
        parts = set(item.path.parts)
        kind = (
            0
            if _LONGEST & {*parts, item.path.stem}
            else 1
            if item.path in with_spark or "docs" in parts
            else 2
        )
        return kind, -tests[item.path], str(item.path)

    return sorted(items, key=rank)


def _is_left_out(item: pytest.Item) -> bool:
    given: dict[str, Any] = item.callspec.params if hasattr(item, "callspec") else {}
    here = {*item.path.parts, item.path.stem, str(given.get("door"))}
    return item.get_closest_marker("long") is not None or any(
        where in here and isinstance(given.get(name), str) and given[name] in values
        for where, name, values in _LEFT_OUT
    )


def _first_cases(items: Sequence[pytest.Item], *, quick: bool) -> list[pytest.Item]:
    """Of each test, the first case that these tiers can run."""
    found: dict[str, pytest.Item] = {}
    of_spark: Counter[Path] = Counter()
    of_behaviours: dict[str, Path] = {}
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        door = item.callspec.params.get("door") if hasattr(item, "callspec") else None
        name = item.nodeid.partition("[")[0]
        parts = {*item.path.parts, item.path.stem}
        if parts & _NOT_ONCE or (quick and parts & _NOT_QUICK):
            continue
        if _CONNECT & {*fixtures, door} or name in found:
            continue
        if quick and "behaviours" in parts:
            area = item.path.stem.split("_")[1]
            if of_behaviours.setdefault(area, item.path) != item.path:
                continue
        if quick and item.get_closest_marker("spark"):
            of_spark[item.path] += 1
            if of_spark[item.path] > _QUICK_TESTS_OF_A_SPARK_FILE:
                continue
        found[name] = item
    return list(found.values())
