"""The sessions of Spark Connect, and helpers of the tests."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import doors
import pyspark
import pytest
from plans import files_read
from served_sessions import session

import deltaic
from deltaic.spark.dml.operation import Operation

pytest.register_assert_rewrite("alike")

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture(params=["classic", "connect", "attached"])
def door(request: pytest.FixtureRequest) -> Any:
    """A classic session; one of Connect whose client does the work; one of Connect that its server serves."""
    return request.getfixturevalue("spark" if request.param == "classic" else request.param)


@pytest.fixture
def in_tasks(spark: SparkSession, setting: Callable[[str, str], None]) -> SparkSession:
    """A classic session whose tasks find the rows that a merge is about, however few they are."""
    setting("spark.deltaic.dml.clusterBytes", "0")
    return spark


@pytest.fixture
def another(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[Callable[[], Any]]:
    """Makes sessions like `spark`: by it, or of its server where sessions of Spark Connect make no others."""
    server = doors.SERVERS.get(doors.chosen())
    if server is None or tuple(map(int, pyspark.__version__.split(".")[:2])) >= (4, 3):
        yield spark.newSession
        return
    url, made = request.getfixturevalue(server), []

    def make() -> Any:
        made.append(deltaic.enable(session(url)))
        return made[-1]

    yield make
    for one in made:
        one.stop()


@pytest.fixture
def setting(spark: SparkSession) -> Iterator[Callable[[str, str], None]]:
    """Sets a session setting for the test."""
    before: dict[str, Any] = {}

    def set_(name: str, value: str) -> None:
        before.setdefault(name, spark.conf.get(name, None))
        spark.conf.set(name, value)

    with warnings.catch_warnings():
        # Spark Connect says so in the client, a classic session in its log
        warnings.filterwarnings("ignore", "The SQL config .* has been deprecated")
        yield set_
        for name, value in before.items():
            if value is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, value)


@pytest.fixture
def overtaken(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Any]], None]:
    """Lets something else be committed between the look at the table and the next commit."""
    commit = Operation.commit

    def by(other: Callable[[], Any]) -> None:
        def later(self: Operation, *args: Any, **kwargs: Any) -> Any:
            monkeypatch.setattr(Operation, "commit", commit)
            other()
            return commit(self, *args, **kwargs)

        monkeypatch.setattr(Operation, "commit", later)

    return by


@pytest.fixture
def scanned() -> Callable[[DataFrame], int]:
    """The number of files that the scans of a DataFrame read, by Spark's own metric, after running it."""

    return files_read
