"""No secret of a store shows in what a session leaves behind, wherever it was given."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from connect_server import connect_server

import deltaic
from deltaic._core import SECRETS
from deltaic.spark.session.table_ref import TableRef
from deltaic.spark.write.options import WriteOptions
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

# an option of each kind of credential, by the names of the core and by those of Hadoop's file systems
NAMES = [
    "aws_access_key_id",
    "aws_secret_access_key",
    "aws_session_token",
    "aws_sse_customer_key_base64",
    "aws_bearer_token",
    "azure_storage_account_key",
    "azure_storage_sas_key",
    "azure_storage_client_secret",
    "azure_storage_token",
    "azure_storage_bearer_token",
    "google_service_account",
    "google_service_account_key",
    "google_application_credentials",
    "google_bearer_token",
    "token",
    "proxy_url",
    "proxy_password",
    "http.header.Authorization",
    "fs.s3a.access.key",
    "fs.s3a.secret.key",
    "fs.s3a.session.token",
    "fs.s3a.bucket.b.secret.key",
    "fs.s3a.server-side-encryption.key",
    "fs.s3a.encryption.key",
    "fs.s3a.proxy.password",
    "fs.azure.account.key.a.dfs.core.windows.net",
    "fs.azure.sas.c.a.blob.core.windows.net",
    "fs.azure.account.oauth2.client.secret",
    "fs.azure.account.oauth2.client.secret.a.dfs.core.windows.net",
    "fs.gs.auth.service.account.private.key",
    "fs.gs.auth.access.token",
    "fs.gs.proxy.password",
    "the-users-own",
]
PLANTED = re.compile(rb"PLANTED-(\d+)-(\w+)")


def planted() -> dict[str, str]:
    values = {name: f"PLANTED-{i}-DOOR" for i, name in enumerate(NAMES)}
    values["proxy_url"] = f"http://user:{values['proxy_url']}@127.0.0.1:1"
    return values


def found(folder: Path) -> dict[str, Counter[str]]:
    """What shows by the folder below `folder`: in which places, and how often."""
    out: dict[str, Counter[str]] = {}
    for file in folder.rglob("*"):
        if file.is_file():
            doors = (m[2].decode() for m in PLANTED.finditer(file.read_bytes()))
            out.setdefault(file.relative_to(folder).parts[0], Counter()).update(doors)
    return {place: doors for place, doors in out.items() if doors}


def processes() -> bytes:
    return subprocess.run(["ps", "-eww", "-o", "args"], capture_output=True, check=True).stdout


def play(folder: Path, given: dict[str, Any]) -> None:
    """Plays the session of `secret_session.py`; all that it prints, and the processes meanwhile, are in `folder`."""
    asked = folder.parent / "asked.json"
    asked.write_text(json.dumps({"folder": str(folder), "secrets": planted(), **given}))
    package = str(Path(deltaic.__file__).parents[1])
    script = Path(__file__).with_name("secret_session.py")
    with (folder / "printed").open("wb") as printed, (folder / "processes").open("wb") as shown:
        session = subprocess.Popen(
            [sys.executable, str(script), str(asked)],
            cwd=folder / "temporary",
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join([package, *filter(None, sys.path)]),
                "TMPDIR": str(folder / "temporary"),
            },
            stdout=printed,
            stderr=subprocess.STDOUT,
        )
        try:
            while session.poll() is None:
                shown.write(processes())
                time.sleep(0.5)
        finally:
            session.kill()
    assert session.returncode == 0, (folder / "printed").read_text()[-3000:]
    assert b"secret_session.py" in (folder / "processes").read_bytes()


def folders(tmp_path: Path) -> Path:
    folder = tmp_path / "session"
    for name in ("events", "temporary", "warehouse"):
        (folder / name).mkdir(parents=True)
    return folder


def settings(folder: Path) -> dict[str, str]:
    return {
        "spark.broadcast.compress": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={folder}/temporary",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": (folder / "events").as_uri(),
        "spark.eventLog.enabled": "true",
        "spark.local.dir": str(folder / "temporary"),
        "spark.log.level": "INFO",
        "spark.redaction.regex": "the-users-own",
        "spark.shuffle.compress": "false",
        "spark.sql.redaction.options.regex": "the-users-own",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": (folder / "warehouse").as_uri(),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }


# a whole session, with every kind of command
@pytest.mark.timeout(900)
def test_no_secret_shows_in_what_a_session_leaves(tmp_path: Path) -> None:
    from deltaic.spark.java import ensure_java

    ensure_java()
    folder = folders(tmp_path)
    play(folder, {"settings": settings(folder)})
    shown = found(folder)
    # Spark's own event of a write of Parquet before `deltaic.enable`
    assert set(shown.pop("events")) == {"without"}
    # some versions of Spark hide no option of a stream in its first plan
    assert set(shown.pop("printed", ())) in (set(), {"plainStream", "readStream"})
    assert shown == {}


@pytest.mark.long
def test_no_secret_shows_in_what_a_server_of_connect_leaves(tmp_path: Path) -> None:
    folder = folders(tmp_path)
    events = {n: v for n, v in settings(folder).items() if "redaction" not in n and "driver" not in n}
    with connect_server(folder / "temporary", str(Path(deltaic.__file__).parents[1]), more=events) as url:
        values = {name: value for name, value in planted().items() if name != "the-users-own"}
        play(folder, {"url": url, "secrets": values})
    assert (folder / "temporary" / "log").stat().st_size > 0
    shown = found(folder)
    # a server writes each request as it came into its event log, whatever the format is
    assert set(shown.pop("events")) == {"asked"}
    assert shown == {}


@pytest.mark.classic("replaces settings and rules in the JVM")
def test_a_session_hides_what_it_hid_before(spark: SparkSession) -> None:
    name = "spark.sql.redaction.options.regex"
    session = spark.newSession()
    session.conf.set(name, "mine|yours")
    for _ in range(2):
        deltaic.enable(session)
    assert session.conf.get(name) == f"(?:mine|yours)|(?:{SECRETS})"
    # Spark's own
    assert spark.conf.get(name) == f"(?:(?i)url)|(?:{SECRETS})"
    of_settings = spark.sparkContext._jsc.sc().conf().get("spark.redaction.regex")
    assert re.fullmatch(r"\(\?:\(\?i\)secret\|password\|.*\)\|\(\?:(.*)\)", of_settings)[1] == SECRETS


@pytest.mark.classic("replaces settings and rules in the JVM")
def test_a_command_restores_what_the_user_replaced(spark: SparkSession, tmp_path: Path) -> None:
    name = "spark.sql.redaction.options.regex"
    session = spark.newSession()
    session.range(3).write.format("delta").save(str(tmp_path / "t"))
    rows = DeltaTable.forPath(session, str(tmp_path / "t"))
    rows.delete("id = 0")
    session.conf.set(name, "mine")
    rules = session._jsparkSession.experimental()
    known = rules.extraOptimizations().size()
    getattr(rules, "extraOptimizations_$eq")(rules.extraOptimizations().take(0))
    rows.delete("id = 1")
    assert session.conf.get(name) == f"(?:mine)|(?:{SECRETS})"
    assert rules.extraOptimizations().size() == known > 0


def test_facts_of_a_table_and_of_a_write_do_not_show_options() -> None:
    given = {"fs.s3a.secret.key": "PLANTED", "aws_secret_access_key": "PLANTED"}
    shown = [
        TableRef(None, "/t", storage_options=given),
        WriteOptions.parse("/t", given),
        DeltaTable(TableRef(None, "/t", storage_options=given)),
    ]
    assert "PLANTED" not in repr(shown) + str([vars(fact) for fact in shown[-1:]])
