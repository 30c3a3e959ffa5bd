"""Many sessions of one server: each has its own settings, and nothing is left of those that end or are killed."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from connect_server import connect_server
from served_sessions import agents_below, server_of, session, until

import deltaic

pytestmark = pytest.mark.spark
PACKAGE = str(Path(deltaic.__file__).parents[1])
MARK = "DELTAIC_TEST_SERVER"
MANAGER = "spark.connect.session.manager."

# several sessions, each with a setting and a table of its own; says when all have written. A session that
# attaches on a busy machine asks for something meanwhile, as its user would
CLIENT = """
import sys, threading, deltaic
from concurrent.futures import ThreadPoolExecutor
from pyspark.sql.connect.session import SparkSession
url, folder, first, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
ended = threading.Event()
def stay(spark):
    while not ended.wait(1):
        spark.conf.get("spark.sql.session.timeZone")
def work(number):
    spark = SparkSession.builder.remote(url).create()
    threading.Thread(target=stay, args=[spark], daemon=True).start()
    deltaic.enable(spark)
    spark.conf.set("spark.databricks.delta.commitInfo.userMetadata", f"note of {number}")
    path = f"{folder}/{number}"
    for _ in range(2):
        spark.range(number, number + 1).write.format("delta").mode("append").save(path)
    assert [r.id for r in spark.read.format("delta").load(path).collect()] == [number] * 2
    history = spark.sql(f"DESCRIBE HISTORY delta.`{path}`").collect()
    assert {r.userMetadata for r in history} == {f"note of {number}"}, history
    return spark
with ThreadPoolExecutor(count) as threads:
    sessions = list(threads.map(work, range(first, first + count)))
print("ready", flush=True)
sys.stdin.read()
ended.set()
for spark in sessions:
    spark.stop()
"""


class Server:
    """What a server has at the moment."""

    def __init__(self, process: int, folder: Path) -> None:
        self._process = process
        self._folder = folder

    def agents(self) -> list[int]:
        """The processes that serve sessions, also those that the server has lost."""
        command = ["pgrep", "-f", "bridge.agent"]
        found = subprocess.run(command, capture_output=True, text=True).stdout.split()
        return [pid for pid in map(int, found) if self._is_marked(pid)]

    def threads(self) -> list[str]:
        """The threads that wait for processes that serve sessions, and those of our classes, by their first line."""
        log = self._folder / "log"
        before = log.stat().st_size
        os.kill(self._process, signal.SIGQUIT)
        # the end of what the JVM says of all its threads
        until(lambda: b"JNI global refs" in log.read_bytes()[before:])
        dump = log.read_bytes()[before:].decode(errors="replace")
        found = [block for block in dump.split("\n\n") if block.lstrip().startswith('"')]
        return [block.lstrip().splitlines()[0] for block in found if "py4j." in block or "deltaic" in block]

    def files(self) -> set[Path]:
        """The temporary files of the server and its processes, but for blocks and what executors have of artifacts.

        Spark keeps these for half an hour after the last task of a session.
        """
        found = {path for path in (self._folder / "temporary").rglob("*") if path.is_file()}
        return {
            path for path in found if not any(p.startswith(("blockmgr-", "userFiles-")) for p in path.parts)
        }

    def _is_marked(self, pid: int) -> bool:
        try:
            return f"{MARK}={self._folder}".encode() in Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:  # it has ended
            return False


@pytest.mark.long
@pytest.mark.timeout(900)
def test_nothing_is_left_of_twenty_sessions_half_of_which_are_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    more = {
        f"{MANAGER}defaultSessionTimeout": "30s",
        f"{MANAGER}maintenanceInterval": "1s",
        "spark.local.dir": str(temporary),
        "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={temporary}",
    }
    with monkeypatch.context() as environment:
        environment.setenv("TMPDIR", str(temporary))
        environment.setenv(MARK, str(tmp_path))
        started = connect_server(tmp_path, PACKAGE, more=more)
        url = started.__enter__()
    try:
        first = deltaic.enable(session(url))  # what a server keeps of its first session it keeps for all
        server = Server(server_of(first), tmp_path)
        first.range(3).write.format("delta").save(str(tmp_path / "first"))
        assert len(first.read.format("delta").load(str(tmp_path / "first")).collect()) == 3
        assert len(server.agents()) == 1
        first.stop()
        until(lambda: not server.agents())
        assert server.threads() == []
        files = server.files()
        (tmp_path / "tables").mkdir()
        command = [sys.executable, "-W", "ignore", "-c", CLIENT, url, str(tmp_path / "tables")]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        clients = [subprocess.Popen([*command, str(at), "5"], **pipes) for at in range(0, 20, 5)]
        for client in clients:
            assert client.stdout is not None
            assert client.stdout.readline() == b"ready\n"
        assert len(server.agents()) == 20
        for client in clients[:2]:
            os.kill(client.pid, signal.SIGKILL)
        for client in clients:
            client.communicate(timeout=120)
        assert [client.returncode for client in clients] == [-signal.SIGKILL] * 2 + [0] * 2
        until(lambda: not server.agents())
        until(lambda: server.threads() == [])
        until(lambda: server.files() <= files)
    finally:
        started.__exit__(None, None, None)


@pytest.mark.long
def test_a_session_that_ends_while_it_attaches_leaves_nothing(tmp_path: Path) -> None:
    slow = tmp_path / "python"
    slow.write_text(f'#!/bin/sh\ntouch "{tmp_path}/started"\nsleep 15\nexec "{sys.executable}" "$@"\n')
    slow.chmod(slow.stat().st_mode | stat.S_IXUSR)
    more = {
        f"{MANAGER}defaultSessionTimeout": "3s",
        f"{MANAGER}maintenanceInterval": "1s",
        "spark.pyspark.driver.python": str(slow),
    }
    with connect_server(tmp_path, PACKAGE, more=more) as url:
        spark = session(url)
        server = server_of(spark)
        with (
            pytest.warns(UserWarning, match=r"the session ended before its Python was ready"),
            pytest.raises(Exception, match=r"SESSION_CLOSED"),
        ):
            deltaic.enable(spark)
        spark.stop()
        assert (tmp_path / "started").exists()
        until(lambda: not agents_below(server))
        assert Server(server, tmp_path).threads() == []


@pytest.mark.parametrize("door", ["stock", "admins"])
def test_a_session_does_not_see_the_settings_of_another(
    door: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    url, path = request.getfixturevalue(door), str(tmp_path / "t")
    one, other = (deltaic.enable(session(url)) for _ in range(2))
    one.conf.set("spark.databricks.delta.commitInfo.userMetadata", "a note")
    one.conf.set("fs.s3a.secret.key", "a secret")
    one.conf.set("fs.s3a.endpoint", "a place")
    one.conf.set("spark.databricks.delta.properties.defaults.appendOnly", "true")
    for number, spark in enumerate((other, one, other)):
        spark.range(1).write.format("delta").mode("append").save(path)
        said = spark.sql(f"DESCRIBE HISTORY delta.`{path}`").first()
        assert said.version == number
        assert said.userMetadata == ("a note" if spark is one else None)
    assert other.conf.get("fs.s3a.endpoint", None) is None
    shown = str(other.sql("SET -v").collect()) + str(other.sql("SET").collect())
    assert "a secret" not in shown
    assert "a place" not in shown
    assert deltaic.Table(path).properties == {}
    one.stop()
    assert other.read.format("delta").load(path).count() == 3
    other.stop()
