"""Spark with a file system of Hadoop: its settings are enough. In a process of its own, as JARS are a whole JVM's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import packages
import pytest
import servers

from deltaic.spark.java import ensure_java

if TYPE_CHECKING:
    from servers import S3

# the first test fetches and builds the server and the file system, once a machine
pytestmark = [pytest.mark.spark, pytest.mark.timeout(1200)]
PROGRAM = Path(__file__).parent / "hadoop.py"
STEPS = ["the_tour", "statements", "tables_of_the_warehouse", "streams", "every_route"]
OF_S3A = ["every_scheme", "other_names"]
# Google's connector, with what the server has not got left alone
GOOGLES = {
    "fs.gs.impl": "com.google.cloud.hadoop.fs.gcs.GoogleHadoopFileSystem",
    "fs.AbstractFileSystem.gs.impl": "com.google.cloud.hadoop.fs.gcs.GoogleHadoopFS",
    # from 3.5 on Hadoop has a default for a file system of its own, with a unit that this one does not read
    "fs.gs.block.size": "67108864",
    "fs.gs.client.type": "HTTP_API_CLIENT",
    "fs.gs.operation.move.enable": "false",
}


def abfs(server: servers.Azure) -> dict[str, str]:
    """The settings of ABFS for an emulator that has the endpoint of blobs, and not that of a file system."""
    return {
        f"fs.azure.account.key.{server.account}.dfs.core.windows.net": server.key,
        "fs.azure.abfs.endpoint": urlsplit(server.endpoint).netloc,
        "fs.azure.account.hns.enabled": "false",
        "fs.azure.always.use.https": "false",
        "fs.azure.fns.account.service.type": "BLOB",
        "fs.azure.networking.library": "JDK_HTTP_URL_CONNECTION",
    }


def run(folder: Path, jars: list[str], base: str, hadoop: dict[str, str], steps: list[str]) -> str:
    """What the process says, after it has done all steps."""
    ensure_java()
    path = os.pathsep.join(filter(None, [str(PROGRAM.parents[1]), os.environ.get("PYTHONPATH")]))
    environment = {
        **os.environ,
        "HADOOP": json.dumps(hadoop),
        "PYTHONPATH": path,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    done = subprocess.run(
        [sys.executable, PROGRAM, ",".join(jars), base, *steps],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-6000:]
    assert done.stdout.split() == steps
    return done.stdout + done.stderr


def test_settings_of_s3a_are_enough(s3: S3, tmp_path: Path) -> None:
    said = run(tmp_path, packages.s3a(), f"s3a://{servers.BUCKET}", s3.hadoop, STEPS + OF_S3A)
    assert s3.secret not in said


@pytest.mark.long
def test_so_are_they_on_another_server(tmp_path: Path) -> None:
    with servers.moto(tmp_path / "moto") as server:
        run(tmp_path, packages.s3a(), f"s3a://{servers.BUCKET}", server.hadoop, STEPS)


@pytest.mark.long
def test_settings_of_googles_connector_are_enough(tmp_path: Path) -> None:
    with servers.fake_gcs_server(tmp_path / "gcs") as server:
        jars = packages.gcs_connector()
        run(tmp_path, jars, f"gs://{servers.BUCKET}", {**server.hadoop, **GOOGLES}, STEPS)


@pytest.mark.long
def test_settings_of_abfs_are_enough(tmp_path: Path) -> None:
    if tuple(map(int, packages.hadoop_version().split(".")[:2])) < (3, 5):
        pytest.skip("before Hadoop 3.5 ABFS speaks to the endpoint DFS alone, which Azurite has not got")
    with servers.azurite(tmp_path / "azurite") as server:
        base = server.uri("").rstrip("/").replace("abfss://", "abfs://")
        said = run(tmp_path, packages.abfs(), base, abfs(server), STEPS)
    assert server.key not in said
