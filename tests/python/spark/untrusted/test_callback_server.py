"""The port by which the JVM calls Python: other users of the machine reach it, and get nothing there."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import deltaic
from deltaic.spark.bridge import callbacks

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.classic("speaks to the callback server of this process")]

# what a stranger does: sends each text in a connection of its own and shows all that comes back
STRANGER = """
import errno, json, os, socket, sys
port, texts = int(sys.argv[1]), json.load(sys.stdin)
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
answers = []
for text in texts:
    with socket.socket() as s:
        s.settimeout(10)
        s.connect(("127.0.0.1", port))
        try:
            s.sendall(text.encode())
            s.shutdown(socket.SHUT_WR)
            got = b""
            while piece := s.recv(65536):
                got += piece
            answers.append(got.decode())
        except OSError as error:
            # the server closed it, maybe before this end could say that it has sent all
            if not isinstance(error, ConnectionError) and error.errno != errno.ENOTCONN:
                raise
            answers.append("")
json.dump(answers, sys.stdout)
"""


@pytest.fixture
def ask(spark: SparkSession) -> Callable[[list[str]], list[str]]:
    """Another process, of another user where this one may become another."""

    def ask_(texts: list[str]) -> list[str]:
        port = spark.sparkContext._gateway._callback_server.get_listening_port()
        asked = subprocess.run(
            [sys.executable, "-I", "-c", STRANGER, str(port)],
            input=json.dumps(texts),
            capture_output=True,
            text=True,
            check=True,
        )
        answers: list[str] = json.loads(asked.stdout)
        return answers

    return ask_


@pytest.fixture
def private(spark: SparkSession, tmp_path: Path) -> Path:
    path = tmp_path / "private" / "t"
    spark.range(3).write.format("delta").option("delta.targetFileSize", "123456").save(str(path))
    path.parent.chmod(0o700)
    return path


def proxies(spark: SparkSession) -> list[str]:
    return list(spark.sparkContext._gateway.gateway_property.pool.dict)


def call(proxy: str, method: str, *arguments: str) -> str:
    return "\n".join(["c", proxy, method, *("s" + a for a in arguments), "n", "e", ""])


def test_a_stranger_reads_and_changes_nothing(
    spark: SparkSession, private: Path, ask: Callable[[list[str]], list[str]]
) -> None:
    opened = json.dumps({"op": "open", "path": str(private), "options": {}})
    altered = json.dumps({"op": "alter", "path": str(private), "action": "set", "properties": {"a": "b"}})
    texts = [call(p, "apply", sent) for p in proxies(spark) for sent in (opened, altered, "0" * 64 + opened)]
    assert texts
    assert set(ask(texts)) == {""}
    table = deltaic.Table(str(private))
    assert table.version == 0
    assert spark.read.format("delta").load(str(private)).count() == 3


def test_a_stranger_takes_nothing_away_from_the_session(
    spark: SparkSession, private: Path, ask: Callable[[list[str]], list[str]]
) -> None:
    kept = proxies(spark)
    texts = [f"g\n{p}\ne\n" for p in kept]
    texts += [call(p, "__setattr__", "apply", "mine") for p in kept]
    texts += [call(p, "__getattribute__", "__doc__") for p in kept]
    # a token that is none
    texts += ["A\nwrong\ne\n" + text for text in texts]
    answers = ask(texts)
    assert set(answers[: len(answers) // 2]) == {""}
    assert not any("y" in answer for answer in answers)
    assert set(kept) <= set(proxies(spark))
    assert spark.sql(f"SELECT count(*) FROM delta.`{private}`").head() == (3,)


def test_a_request_without_the_secret_is_neither_read_nor_answered() -> None:
    asked = json.dumps({"op": "exists", "path": "/nowhere"})
    door = callbacks.callback("a secret")
    for request in ["", asked, "0" * 64 + asked, "\N{SNOWMAN}" * 64 + asked, "\ud800" + asked, "{" * 99_999]:
        assert door.apply(request, None) == callbacks.REFUSED


def test_what_a_callback_is_does_not_show_or_lose_its_secret() -> None:
    door = callbacks.callback("a secret")
    assert not [name for name in dir(door) if "a secret" in repr(getattr(door, name))]
    with pytest.raises(AttributeError):
        door.apply = "another"


def test_a_session_that_is_enabled_again_keeps_the_token(spark: SparkSession, private: Path) -> None:
    server = spark.sparkContext._gateway.callback_server_parameters
    token = server.auth_token
    deltaic.enable(spark)
    assert server.auth_token == token
    assert spark.read.format("delta").load(str(private)).count() == 3
