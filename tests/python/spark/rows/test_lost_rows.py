"""Merges whose computed rows are lost, as with an executor that ends: they run again, and give up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from dml_tables import ids

import deltaic
from deltaic.spark.dml import operation
from deltaic.spark.dml.matches import Matches
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

LAST = 200_000


@pytest.fixture
def losing(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], list[int]]:
    """Lets merges lose the rows of their source, when these are computed, so many times; counts how often they ran."""

    def lose(times: int) -> list[int]:
        ran: list[int] = []
        take = Matches.take

        def taken(matches: Matches) -> None:
            ran.append(len(ran))
            if len(ran) <= times:
                context = spark.sparkContext._jsc
                for rows in context.getPersistentRDDs().values():
                    rows.unpersist(True)
            take(matches)

        monkeypatch.setattr(Matches, "take", taken)
        # where rows can be lost they are computed before they are read
        monkeypatch.setattr(operation, "has_one_process", lambda _: False)
        return ran

    return lose


def _merge(spark: SparkSession, path: str) -> None:
    # more rows than the driver takes
    source: Any = spark.range(5, LAST, 1, 2).repartition(2).alias("s")
    into = DeltaTable.forPath(spark, path).alias("t")
    into.merge(source, "t.id = s.id").whenMatchedDelete().whenNotMatchedInsertAll().execute()


def test_a_merge_that_loses_its_source_runs_again(
    spark: SparkSession, losing: Callable[[int], list[int]], tmp_path: Path
) -> None:
    path = str(tmp_path / "t")
    deltaic.save(spark.range(0, 10, 1, 2), path)
    ran = losing(2)
    _merge(spark, path)
    assert ran == [0, 1, 2]
    assert ids(spark.read.format("delta").load(path)) == [*range(5), *range(10, LAST)]
    assert deltaic.Table(path).version == 1


def test_a_merge_that_loses_its_source_each_time_gives_up(
    spark: SparkSession, losing: Callable[[int], list[int]], tmp_path: Path
) -> None:
    path = tmp_path / "t"
    deltaic.save(spark.range(0, 10, 1, 2), str(path))
    before = sorted(path.rglob("*"))
    ran = losing(100)
    with pytest.raises(Exception, match="CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND"):
        _merge(spark, str(path))
    assert ran == [0, 1, 2, 3]
    assert sorted(path.rglob("*")) == before
