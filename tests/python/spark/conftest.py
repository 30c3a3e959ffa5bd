"""The sessions of Spark Connect, and helpers of the tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytest.register_assert_rewrite("alike")

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture(params=["classic", "connect"])
def door(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue("spark" if request.param == "classic" else "connect")


@pytest.fixture
def setting(spark: SparkSession) -> Iterator[Callable[[str, str], None]]:
    """Sets a session setting for the test."""
    before: dict[str, Any] = {}

    def set_(name: str, value: str) -> None:
        before.setdefault(name, spark.conf.get(name, None))
        spark.conf.set(name, value)

    yield set_
    for name, value in before.items():
        if value is None:
            spark.conf.unset(name)
        else:
            spark.conf.set(name, value)


@pytest.fixture
def scanned() -> Callable[[DataFrame], int]:
    """The number of files that the scans of a DataFrame read, by Spark's own metric, after running it."""

    def files(df: DataFrame) -> int:
        df.collect()
        plan = df._jdf.queryExecution().executedPlan()
        return sum(scan.metrics().apply("numFiles").value() for scan in _scans(plan))

    return files


def _scans(plan: Any) -> list[Any]:
    if plan.getClass().getSimpleName() == "AdaptiveSparkPlanExec":
        return _scans(plan.executedPlan())
    found = [plan] if plan.getClass().getSimpleName() == "FileSourceScanExec" else []
    if hasattr(plan, "plan") and plan.getClass().getSimpleName().endswith("QueryStageExec"):
        found += _scans(plan.plan())
    children = plan.children()
    for i in range(children.size()):
        found += _scans(children.apply(i))
    return found
