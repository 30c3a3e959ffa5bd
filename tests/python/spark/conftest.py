"""The sessions of Spark Connect, and helpers of the tests."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyspark
import pytest

import deltaic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame, SparkSession


@contextmanager
def connect_server(folder: Path, *paths: str) -> Iterator[str]:
    """The URL of a Spark Connect server in a process of its own, whose Python imports from `paths` first."""
    from deltaic.spark.java import ensure_java

    ensure_java()
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = int(s.getsockname()[1])
    home = Path(pyspark.__file__).parent
    settings = {
        "spark.connect.grpc.binding.port": port,
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.log.level": "OFF",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
    }
    command = [str(home / "bin" / "spark-submit"), "--master", "local[2]", "--driver-memory", "1g"]
    for name, value in settings.items():
        command += ["--conf", f"{name}={value}"]
    command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"]
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "PYTHONPATH": os.pathsep.join([*paths, *filter(None, sys.path)]),
        "PYSPARK_PYTHON": sys.executable,
    }
    log = (folder / "log").open("wb")
    server = subprocess.Popen(command, env=environment, cwd=folder, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + 120
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                assert server.poll() is None, (folder / "log").read_text()
                assert time.monotonic() < deadline, (folder / "log").read_text()
                time.sleep(0.2)
        yield f"sc://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(60)
        log.close()


@pytest.fixture(scope="session")
def connect(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session of a Spark Connect server that can import deltaic."""
    from pyspark.sql.connect.session import SparkSession

    with connect_server(tmp_path_factory.mktemp("connect"), str(Path(deltaic.__file__).parents[1])) as url:
        session = SparkSession.builder.remote(url).create()
        deltaic.enable(session)
        yield session
        session.stop()


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
