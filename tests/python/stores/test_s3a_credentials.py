"""Credentials of Spark's tables that a class of Hadoop or a function gives. In a process of its own, as test_s3a.py."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import packages
import pytest
from class_jars import jar_of

from deltaic.spark.java import ensure_java

if TYPE_CHECKING:
    from servers import S3

# the first test fetches and builds the server and S3A, once a machine
pytestmark = pytest.mark.timeout(1200)
HERE = Path(__file__).parent
PROGRAM = HERE / "s3a_credentials.py"


@pytest.mark.spark
def test_a_class_of_hadoop_and_a_function_give_credentials(s3_of_users: S3, tmp_path: Path) -> None:
    ensure_java()
    jars = packages.s3a()
    users = [s3_of_users.user(name) for name in ("spark0", "spark1")]
    place = {name: value for name, value in s3_of_users.hadoop.items() if ".key" not in name}
    path = os.pathsep.join(filter(None, [str(PROGRAM.parents[1]), os.environ.get("PYTHONPATH")]))
    environment = {
        **os.environ,
        "PLACE": json.dumps(place),
        "PYTHONPATH": path,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "USERS": json.dumps(users),
    }
    done = subprocess.run(
        [sys.executable, PROGRAM, ",".join([*jars, jar_of(HERE / "Vault.java", jars, tmp_path)]), tmp_path],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-6000:]
    assert done.stdout.split() == ["by_a_class", "by_a_function"]
    assert "secret-of-" not in done.stdout + done.stderr


def test_a_class_is_refused_where_there_is_no_jvm() -> None:
    # a process of its own: another test may have started a JVM in this one
    program = (
        "import deltaic\n"
        "options = {'fs.s3a.aws.credentials.provider': 'com.example.Vault'}\n"
        "try: deltaic.Table('s3a://bucket/t', storage_options=options)\n"
        "except deltaic.exceptions.InvalidArgumentError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=60
    )
    assert "com.example.Vault" in done.stdout
    assert "`credentials`" in done.stdout
