"""A Spark cluster of real processes on this machine: a master, and workers of one core and one gigabyte each."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyspark
import small_session

import deltaic
from deltaic.spark.java import ensure_java

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_HOST = "127.0.0.1"
_PATIENCE = 240.0


def free_port() -> int:
    """A port that nothing listens to now."""
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        return int(probe.getsockname()[1])


def environment(**more: str) -> dict[str, str]:
    """Of a process that uses the cluster, or belongs to it."""
    ensure_java()
    package = str(Path(deltaic.__file__).parents[1])
    path = os.pathsep.join([package, str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    return {
        **os.environ,
        "PYTHONPATH": path.rstrip(os.pathsep),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": _HOST,
        **more,
    }


@contextmanager
def cluster(
    folder: Path, workers: int = 2, own: Mapping[int, Mapping[str, str]] | None = None, **more: str
) -> Iterator[str]:
    """The URL of the master of a cluster that ends with the context; its files and logs are below the folder.

    `more` are variables of the environment of its processes, and so of its executors; `own` those of one worker, by
    its number.
    """
    folder.mkdir(parents=True, exist_ok=True)
    port, shown, started = free_port(), free_port(), []
    url = f"spark://{_HOST}:{port}"

    def start(name: str, main: str, *arguments: str, **variables: str) -> None:
        home = Path(pyspark.__file__).parent
        settings = {"SPARK_HOME": str(home), "SPARK_DAEMON_MEMORY": "256m", **more, **variables}
        with (folder / f"{name}.log").open("wb") as log:
            command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{main}", *arguments]
            started.append(
                subprocess.Popen(  # a session of its own: its executors end with it
                    command, stdout=log, stderr=log, env=environment(**settings), start_new_session=True
                )
            )

    try:
        web = ["--host", _HOST, "--webui-port"]
        start("master", "master.Master", *web, str(shown), "--port", str(port))
        for number in range(workers):
            work = folder / f"worker-{number}"
            size = ["--cores", "1", "--memory", "1g", "--work-dir", str(work)]
            # hosts of their own: Spark never speculates on the host of the first attempt
            host = f"127.0.0.{number + 1}"
            variables = {"SPARK_LOCAL_IP": host, **(own or {}).get(number, {})}
            web = ["--host", host, "--webui-port"]
            start(f"worker-{number}", "worker.Worker", *web, str(free_port()), *size, url, **variables)
        _wait(f"http://{_HOST}:{shown}/json/", workers, started, folder)
        yield url
    finally:
        for process in reversed(started):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
        for process in started:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _wait(shown: str, workers: int, started: list[Any], folder: Path) -> None:
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        ended = [process.args for process in started if process.poll() is not None]
        if ended:
            raise RuntimeError(f"{ended} ended: see the logs in {folder}")
        with suppress(OSError, ValueError), urllib.request.urlopen(shown, timeout=5) as answer:
            if json.load(answer)["aliveworkers"] >= workers:
                return
        time.sleep(0.2)
    raise TimeoutError(f"no {workers} workers in {_PATIENCE} s: see the logs in {folder}")


def session(url: str, **settings: str) -> Any:
    """A session of this process on the cluster, with deltaic enabled."""
    sized = {"spark.executor.memory": "1g", "spark.executor.cores": "1"}
    return small_session.session(url, {"spark.app.name": "deltaic on a cluster", **sized, **settings})


def run(url: str, program: Path, *arguments: str, seconds: float = 1400, **more: str) -> str:
    """Runs a Python program, whose first argument is the URL of the cluster; what it prints in so many seconds."""
    done = subprocess.run(
        [sys.executable, str(program), url, *arguments],
        env=environment(**more),
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{program.name} failed\n{done.stdout}\n{done.stderr}")
    return done.stdout
