"""What all tests share: a Java that Spark runs on, and one local Spark with deltaic on."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

# settings of every session that a test makes: small, quiet, and the same everywhere
SPARK_SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    # sessions are short: what the second compiler costs does not come back
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.log.level": "ERROR",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


# what CI, which has an hour, leaves to `DELTAIC_TESTS=all`, beside tests that are marked as `long`: in a folder,
# in a file or by a door, tests with one of these values of a parameter. What they show of one kind of table, route
# or door, others show of another.
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
    ("interop", "script", {"maintain", "as select"}),
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
    (
        "test_void",
        "situation",
        {
            "a_schema_that_is_overwritten",
            "a_table_as_select",
            "arrays_and_maps_by_sql",
            "by_the_builder",
            "checkpoints",
            "clustering",
            "column_mapping",
            "columns_that_are_replaced",
            "converted",
            "deletion_vectors_and_feed",
            "maintenance",
            "merges_that_evolve",
            "names_of_the_catalog",
            "not_null",
            "partitions",
            "row_tracking",
            "rules",
            "statistics_of_listed_columns",
            "the_feed_of_rewritten_files",
            "time_travel_over_a_change_of_type",
            "types_that_are_changed",
            "widened",
        },
    ),
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
    ("test_doors", "route", {"arrow", "driver"}),
    ("test_values_that_must_not_be", "route", {"direct", "driver"}),
    ("test_write_overwrite", "route", {"arrow", "driver"}),
    # what a recipe merges is merged by the tests of merges
    ("test_recipes", "kind", {"rewrite", "rewrite with feed and row ids", "vectors"}),
    ("test_merge_rules", "kind", {"rewrite"}),
    ("test_connect_parity", "name", {"merge delete", "merge insert", "merge upsert", "update partitions"}),
    # sessions of their own
    ("test_histories", "without", {"bound frames", "conditions", "matches"}),
    ("test_concurrent_jobs", "kind", {"partitions", "partitions by vectors"}),
    ("test_write_retries", "route", {"arrow", "driver"}),
]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker("spark")
    if os.environ.get("DELTAIC_TESTS") != "all":
        left_out = [item for item in items if _is_left_out(item)]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def _is_left_out(item: pytest.Item) -> bool:
    given: dict[str, Any] = item.callspec.params if hasattr(item, "callspec") else {}
    here = {*item.path.parts, item.path.stem, str(given.get("door"))}
    return item.get_closest_marker("long") is not None or any(
        where in here and isinstance(given.get(name), str) and given[name] in values
        for where, name, values in _LEFT_OUT
    )


@pytest.fixture(scope="session", autouse=True)
def _spark_environment() -> None:
    # the workers run this Python, and no name of this machine has to resolve
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A classic local session after `deltaic.enable`. Its warehouse is a temporary folder."""
    from pyspark.sql import SparkSession

    import deltaic
    from deltaic.spark.java import ensure_java

    ensure_java()
    builder = SparkSession.builder.master("local[2]").appName("deltaic tests")
    warehouse: Path = tmp_path_factory.mktemp("warehouse")
    for key, value in {**SPARK_SETTINGS, "spark.sql.warehouse.dir": warehouse.as_uri()}.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    deltaic.enable(session)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def connect(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session of a Spark Connect server that can import deltaic."""
    from connect_server import connect_server
    from pyspark.sql.connect.session import SparkSession

    import deltaic

    with connect_server(tmp_path_factory.mktemp("connect"), str(Path(deltaic.__file__).parents[1])) as url:
        session = SparkSession.builder.remote(url).create()
        deltaic.enable(session)
        yield session
        session.stop()


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C raises KeyboardInterrupt, also where a shell started the tests with it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
