"""Servers of Spark for the tests: of Spark Connect, and of Thrift."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark
import small_session
from cluster import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


@contextmanager
def connect_server(
    folder: Path,
    *paths: str,
    more: Mapping[str, str] | None = None,
    program: Path | None = None,
    master: str = "local[2]",
) -> Iterator[str]:
    """The URL of a Spark Connect server in a process of its own, whose Python imports from `paths` first.

    It runs its tasks where the master says, and has `more` settings than usual. Its folder has all that it says, in
    `log`. With a program of PySpark, that is the server, by a plugin.
    """
    port = free_port()
    settings = {"spark.connect.grpc.binding.port": str(port), **(more or {})}
    what = ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"]
    if program is not None:
        what = ["--conf", "spark.plugins=org.apache.spark.sql.connect.SparkConnectPlugin", str(program)]
    with _running(what, settings, port, folder, paths, master):
        yield f"sc://127.0.0.1:{port}"


@contextmanager
def thrift_server(folder: Path, *paths: str, more: Mapping[str, str]) -> Iterator[str]:
    """The URL by which JDBC reaches a Thrift server of Spark, as `connect_server`; its metastore is in its folder."""
    port = free_port()
    settings = {
        "spark.hadoop.hive.server2.thrift.port": str(port),
        "spark.hadoop.hive.server2.thrift.bind.host": "127.0.0.1",
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={folder}/metastore;create=true",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        **more,
    }
    what = ["--class", "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2", "spark-internal"]
    with _running(what, settings, port, folder, paths, "local[2]"):
        yield f"jdbc:hive2://127.0.0.1:{port}"


@contextmanager
def _running(
    what: Sequence[str],
    given: Mapping[str, str],
    port: int,
    folder: Path,
    paths: Sequence[str],
    master: str,
) -> Iterator[None]:
    from deltaic.spark.java import ensure_java

    ensure_java()
    home = Path(pyspark.__file__).parent
    python_path = os.pathsep.join([*paths, *filter(None, sys.path)])
    settings = {
        **small_session.small(),
        "spark.log.level": "OFF",
        # of a cluster
        "spark.executor.cores": 1,
        "spark.executor.memory": "1g",
        "spark.executorEnv.PYTHONPATH": python_path,
        **given,
    }
    command = [str(home / "bin" / "spark-submit"), "--master", master]
    for name, value in settings.items():
        command += ["--conf", f"{name}={value}"]
    command += what
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "PYTHONPATH": python_path,
        "PYSPARK_PYTHON": sys.executable,
    }
    # of a client
    environment.pop("SPARK_CONNECT_MODE_ENABLED", None)
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
        yield
    finally:
        server.terminate()
        server.wait(60)
        log.close()
