"""The sessions of Spark Connect, and helpers of the tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from connect_server import connect_server
from served_sessions import session

import deltaic

pytest.register_assert_rewrite("alike")

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame, SparkSession


_PACKAGE = str(Path(deltaic.__file__).parents[1])


@pytest.fixture(params=["classic", "connect", "attached"])
def door(request: pytest.FixtureRequest) -> Any:
    """A classic session; one of Connect whose client does the work; one of Connect that its server serves."""
    return request.getfixturevalue("spark" if request.param == "classic" else request.param)


@pytest.fixture(scope="session")
def admins(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a server that is started with what `connect-conf` prints."""
    folder = tmp_path_factory.mktemp("served")
    command = [sys.executable, "-W", "ignore", "-m", "deltaic", "connect-conf"]
    reported = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    more = dict(line.split(None, 1) for line in reported.splitlines())
    with connect_server(folder, _PACKAGE, more=more) as url:
        yield url


@pytest.fixture(scope="session")
def stock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a server with no settings, whose Python can import deltaic."""
    with connect_server(tmp_path_factory.mktemp("stock"), _PACKAGE) as url:
        yield url


@pytest.fixture(scope="session")
def served(admins: str) -> Iterator[Any]:
    made = session(admins)
    yield made
    made.stop()


@pytest.fixture(scope="session")
def attached(stock: str) -> Iterator[Any]:
    made = deltaic.enable(session(stock))
    yield made
    made.stop()


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
