"""Overwriting all rows, some partitions or the rows of a condition, through both doors and on every route."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import deltaic
from deltaic import exceptions
from deltaic.spark.write import transaction
from deltaic.spark.write.options import WriteOptions

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

ROUTES = ["auto", "driver", "arrow"]


def ids(door: Any, path: str, version: int | None = None) -> list[int]:
    return sorted(r.id for r in deltaic.read(door, path, version=version).select("id").collect())


def numbers(door: Any, start: int, end: int) -> Any:
    return door.range(start, end, 1, 2).selectExpr("id", "id % 4 AS p")


def last(path: str) -> dict[str, Any]:
    return dict(deltaic.Table(path).history(limit=1)[0])


@pytest.fixture
def path(door: Any, tmp_path: Path) -> str:
    """The rows 0 to 19, partitioned by `p = id % 4`."""
    at = str(tmp_path / "t")
    deltaic.save(numbers(door, 0, 20), at, partition_by="p")
    return at


@pytest.mark.parametrize("route", ROUTES)
def test_all_rows(door: Any, route: str, path: str) -> None:
    assert deltaic.save(numbers(door, 100, 103), path, mode="overwrite", deltaicRoute=route) == 1
    assert ids(door, path) == [100, 101, 102]
    assert ids(door, path, 0) == list(range(20))
    done = last(path)
    assert done["operationParameters"]["mode"] == "Overwrite"
    assert int(done["operationMetrics"]["numRemovedFiles"]) > 0
    # what is read is replaced
    deltaic.save(deltaic.read(door, path).where("id > 100"), path, mode="overwrite", deltaicRoute=route)
    assert ids(door, path) == [101, 102]
    deltaic.save(deltaic.read(door, path).where("id > 1000"), path, mode="overwrite", deltaicRoute=route)
    assert ids(door, path) == []


@pytest.mark.parametrize("route", ROUTES)
def test_dynamic_partitions(door: Any, route: str, path: str) -> None:
    data = numbers(door, 100, 120).where("p IN (1, 2)")
    deltaic.save(data, path, mode="overwrite", partitionOverwriteMode="dynamic", deltaicRoute=route)
    kept = [i for i in range(20) if i % 4 in (0, 3)]
    assert ids(door, path) == kept + [i for i in range(100, 120) if i % 4 in (1, 2)]
    assert last(path)["operationParameters"]["isDynamicPartitionOverwrite"] is True


def test_dynamic_partitions_by_setting(door: Any, path: str) -> None:
    door.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    try:
        deltaic.save(numbers(door, 100, 101), path, mode="overwrite")
        assert ids(door, path) == [i for i in range(20) if i % 4] + [100]
        # what the write itself says wins
        deltaic.save(numbers(door, 5, 6), path, mode="overwrite", replaceWhere="p = 1")
        assert ids(door, path) == [2, 3, 5, 6, 7, 10, 11, 14, 15, 18, 19, 100]
        deltaic.save(numbers(door, 7, 8), path, mode="overwrite", partitionOverwriteMode="static")
        assert ids(door, path) == [7]
    finally:
        door.conf.unset("spark.sql.sources.partitionOverwriteMode")


@pytest.mark.parametrize("route", ROUTES)
def test_replace_where(door: Any, route: str, path: str) -> None:
    def replace(data: Any, where: str) -> None:
        deltaic.save(data, path, mode="overwrite", replaceWhere=where, deltaicRoute=route)

    replace(numbers(door, 101, 102), "p = 1")
    assert ids(door, path) == [i for i in range(20) if i % 4 != 1] + [101]
    assert last(path)["operationParameters"]["predicate"] == "p = 1"
    # rows of a file that do not match stay
    replace(numbers(door, 5, 7), "id BETWEEN 4 AND 8")
    assert ids(door, path) == [0, 2, 3, 5, 6, *[i for i in range(9, 20) if i % 4 != 1], 101]
    replace(numbers(door, 104, 110), "pmod(id, 25) BETWEEN 4 AND 9")
    assert ids(door, path) == [0, 2, 3, *[i for i in range(10, 20) if i % 4 != 1], 101, *range(104, 110)]
    before = ids(door, path)
    for data, where, row in (
        (numbers(door, 40, 1040), "id < 1039", "id = 1039"),
        (numbers(door, 43, 44), "p = 2", "p = 3"),
        (numbers(door, 43, 45), "id % 2 = 1", "id = 44"),
    ):
        with pytest.raises(exceptions.ReplaceWhereMismatchError) as error:
            replace(data, where)
        assert (error.value.predicate.replace("`", ""), error.value.row) == (where, row)
    assert ids(door, path) == before


def test_what_contradicts_itself(door: Any, path: str) -> None:
    data = numbers(door, 0, 1)
    for options, message in (
        (
            {"mode": "overwrite", "replaceWhere": "p = 0", "partitionOverwriteMode": "dynamic"},
            "contradict each other",
        ),
        (
            {"mode": "overwrite", "overwriteSchema": "true", "partitionOverwriteMode": "dynamic"},
            "whole table",
        ),
        ({"mode": "overwrite", "partition_by": "id"}, "partitioned by p"),
        ({"mode": "append", "mergeSchema": "yes"}, "neither true nor false"),
        ({"mode": "overwrite", "partitionOverwriteMode": "some"}, "neither static nor dynamic"),
    ):
        with pytest.raises(exceptions.InvalidArgumentError, match=message):
            deltaic.save(data, path, **options)
    assert deltaic.Table(path).version == 0


def test_rows_that_are_only_rearranged(door: Any, path: str) -> None:
    rows = deltaic.read(door, path).coalesce(1)
    deltaic.save(rows, path, mode="overwrite", dataChange="false", userMetadata="compacted")
    assert ids(door, path) == list(range(20))
    done = last(path)
    assert done["userMetadata"] == "compacted"
    assert '"dataChange":true' not in Path(path, "_delta_log", f"{1:020}.json").read_text()
    more = door.range(1).selectExpr("id", "id AS p", "1 AS new")
    for at, options in ((path, {"mergeSchema": "true"}), (f"{path}2", {})):
        with pytest.raises(exceptions.InvalidArgumentError, match="no rows change"):
            deltaic.save(more, at, mode="append", dataChange="false", **options)


def test_the_format_overwrites_on_both_kinds_of_session(door: Any, path: str) -> None:
    writer = numbers(door, 100, 103).write.format("delta").mode("overwrite")
    writer.save(path)
    assert ids(door, path) == [100, 101, 102]
    one = numbers(door, 201, 202).write.format("delta").mode("overwrite")
    one.option("replaceWhere", "p = 1").save(path)
    assert ids(door, path) == [100, 102, 201]
    one.option("replaceWhere", "p = 2")
    with pytest.raises(Exception, match="does not match"):
        one.save(path)


def test_an_overwrite_that_lost_says_to_whom(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    deltaic.save(numbers(spark, 0, 20), path, partition_by="p")

    def overtaken(where: str | None, other: int) -> int | None:
        """Commits an overwrite that was planned before another one, of the partition `other`."""
        given = WriteOptions.parse(path, {} if where is None else {"replaceWhere": where})
        data = numbers(spark, 101, 102)
        plan = transaction.make_plan(
            path, "overwrite", data.schema.json(), None, given, "4", None, rules_held=True
        )
        adds = plan.write(data.toArrow(), "part")
        new = numbers(spark, 4 + other, 5 + other)
        deltaic.save(new, path, mode="overwrite", replaceWhere=f"p = {other}")
        return transaction.commit(plan, adds, "part")[0]

    for where in (None, "p = 1"):
        with pytest.raises(exceptions.CommitConflictError) as error:
            overtaken(where, 1)
        lost = error.value
        assert (lost.version, lost.winner) == (deltaic.Table(path).version, "WRITE")
        assert lost.files
        assert lost.rule
        assert not Path(path, "part").exists()
    # what it replaces is not what the other wrote
    assert overtaken("p = 1", 2) == 4
    assert ids(spark, path) == [*(i for i in range(20) if i % 4 in (0, 3) or i == 6), 101]


WRITES: dict[str, tuple[Callable[[Any, str], object], list[int]]] = {
    "insert overwrite": (lambda s, t: s.sql(f"INSERT OVERWRITE {t} VALUES (100, 0)"), [100]),
    "insertInto": (lambda s, t: numbers(s, 100, 101).write.insertInto(t, overwrite=True), [100]),
    "a partition": (
        lambda s, t: s.sql(f"INSERT OVERWRITE {t} PARTITION (p = 1) VALUES (101)"),
        [*(i for i in range(20) if i % 4 != 1), 101],
    ),
    "replace where": (
        lambda s, t: s.sql(f"INSERT INTO {t} REPLACE WHERE id < 19 AND p = 3 VALUES (7, 3)"),
        [*(i for i in range(20) if i % 4 != 3), 7, 19],
    ),
    "writeTo overwrite": (
        lambda s, t: numbers(s, 102, 103).writeTo(t).overwrite(s_col("p") == 2),
        [*(i for i in range(20) if i % 4 != 2), 102],
    ),
    "overwritePartitions": (
        lambda s, t: numbers(s, 100, 102).writeTo(t).overwritePartitions(),
        [*(i for i in range(20) if i % 4 > 1), 100, 101],
    ),
}


def s_col(name: str) -> Any:
    from pyspark.sql import functions

    return functions.col(name)


@pytest.mark.parametrize("write", WRITES)
def test_statements_overwrite(spark: SparkSession, write: str, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    deltaic.save(numbers(spark, 0, 20), path, partition_by="p")
    run, expected = WRITES[write]
    run(spark, f"delta.`{path}`")
    assert ids(spark, path) == sorted(expected)
    assert deltaic.Table(path).version == 1
