"""The sessions of Spark Connect, and helpers of the tests."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import pytest
from plans import files_read

pytest.register_assert_rewrite("alike")

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture(params=["classic", "connect", "attached"])
def door(request: pytest.FixtureRequest) -> Any:
    """A classic session; one of Connect whose client does the work; one of Connect that its server serves."""
    return request.getfixturevalue("spark" if request.param == "classic" else request.param)


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
def scanned() -> Callable[[DataFrame], int]:
    """The number of files that the scans of a DataFrame read, by Spark's own metric, after running it."""

    return files_read
