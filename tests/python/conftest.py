"""What all tests share: a Java that Spark runs on, and one session of each kind with deltaic on."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import class_data
import doors
import pytest
import small_session
import tiers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    if config.getvalue("dist") != "loadfile":
        return None
    from processes import ByServer

    return ByServer(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker("spark")
    kept = tiers.chosen(items, os.environ.get("DELTAIC_TESTS", tiers.CHANGE))
    run = doors.through([item for item in items if item in kept], doors.chosen())
    config.hook.pytest_deselected(items=[item for item in items if item not in set(run)])
    items[:] = tiers.in_order(run)


@pytest.fixture(scope="session", autouse=True)
def _spark_environment(request: pytest.FixtureRequest) -> None:
    # the workers run this Python, and no name of this machine has to resolve
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    if doors.chosen() != doors.CLASSIC:
        # as in a client of Spark Connect alone: `pyspark.sql.functions` makes its columns
        os.environ["SPARK_CONNECT_MODE_ENABLED"] = "1"
    if any(item.get_closest_marker("spark") for item in request.session.items):
        class_data.share_own()
        _remember_classes()
        _log_no_errors()


def _remember_classes() -> None:
    """PySpark asks the JVM for the same names again and again; for a package or a class it looks in every JAR."""
    from py4j.java_gateway import JavaClass, JavaMember, JavaPackage, JVMView

    def remember(of: type, *kind: type) -> None:
        ask = of.__getattr__  # type: ignore[attr-defined]

        def remembered(holder: Any, name: str) -> Any:
            answer = ask(holder, name)
            if isinstance(answer, kind):
                holder.__dict__[name] = answer
            return answer

        of.__getattr__ = remembered  # type: ignore[attr-defined]

    remember(JVMView, JavaPackage, JavaClass)
    remember(JavaPackage, JavaPackage, JavaClass)
    remember(JavaClass, JavaMember)


def _log_no_errors() -> None:
    """PySpark logs every error of a query, with a stack that it asks the JVM for."""
    from pyspark.logger import PySparkLogger

    for kind in ("DataFrame", "SQL"):
        PySparkLogger.getLogger(f"{kind}QueryContextLogger").setLevel(logging.CRITICAL)


@pytest.fixture(scope="session")
def spark(request: pytest.FixtureRequest) -> Any:
    """A local session with deltaic enabled: classic, or by another door (doors.py)."""
    import deltaic

    return deltaic.enable(request.getfixturevalue(doors.FIXTURES[doors.chosen()]))


@pytest.fixture(scope="session")
def classic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A classic local session after `deltaic.enable`. Its warehouse is a temporary folder."""
    from deltaic.spark.java import ensure_java

    ensure_java()
    warehouse = tmp_path_factory.mktemp("warehouse").as_uri()
    own = {
        "spark.app.name": "deltaic tests",
        "spark.sql.warehouse.dir": warehouse,
        **small_session.LONG_LIVED,
    }
    session = small_session.session("local[2]", own)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a server that can import deltaic, and whose admin lets no client attach to it."""
    from connect_server import connect_server

    more = {"spark.deltaic.connect.clientDoor": "false", **small_session.LONG_LIVED}
    with connect_server(tmp_path_factory.mktemp("connect"), _package(), more=more) as url:
        yield url


@pytest.fixture(scope="session")
def connect(closed: str) -> Iterator[Any]:
    """A session of `closed`."""
    from served_sessions import unserved

    yield from _until_the_end(unserved(closed))


@pytest.fixture(scope="session")
def master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the servers of the doors run their tasks: in their own processes, or on a cluster (doors.py)."""
    import cluster

    if not (workers := doors.workers()):
        yield "local[2]"
        return
    with cluster.cluster(tmp_path_factory.mktemp("cluster"), workers) as url:
        yield url


@pytest.fixture(scope="session")
def admins(tmp_path_factory: pytest.TempPathFactory, master: str) -> Iterator[str]:
    """The URL of a server that is started with what `connect-conf` prints."""
    from connect_server import connect_server

    folder = tmp_path_factory.mktemp("served")
    command = [sys.executable, "-W", "ignore", "-m", "deltaic", "connect-conf"]
    reported = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    more = dict(line.split(None, 1) for line in reported.splitlines()) | small_session.LONG_LIVED
    with connect_server(folder, _package(), more=more, master=master) as url:
        yield url


@pytest.fixture(scope="session")
def stock(tmp_path_factory: pytest.TempPathFactory, master: str) -> Iterator[str]:
    """The URL of a server with no settings of deltaic, whose Python can import it."""
    from connect_server import connect_server

    folder = tmp_path_factory.mktemp("stock")
    with connect_server(folder, _package(), more=small_session.LONG_LIVED, master=master) as url:
        yield url


@pytest.fixture(scope="session")
def served(admins: str) -> Iterator[Any]:
    """A session of `admins`, which does not know deltaic."""
    from served_sessions import session

    yield from _until_the_end(session(admins))


@pytest.fixture(scope="session")
def attached(stock: str) -> Iterator[Any]:
    """A session of `stock`, which has attached to it."""
    from served_sessions import session

    import deltaic

    yield from _until_the_end(deltaic.enable(session(stock)))


def _until_the_end(session: Any) -> Iterator[Any]:
    yield session
    session.stop()


def _package() -> str:
    import deltaic

    return str(Path(deltaic.__file__).parents[1])


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C raises KeyboardInterrupt, also where a shell started the tests with it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
