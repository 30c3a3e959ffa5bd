"""Tokens of Azure and Google that a class of Hadoop gives. In a process of its own: JARs are those of a whole JVM."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import packages
import pytest
import servers
import tokens
from class_jars import jar_of

from deltaic.spark.java import ensure_java

# the first test fetches the servers and the file systems, once a machine
pytestmark = pytest.mark.timeout(1200)
HERE = Path(__file__).parent
PROGRAM = HERE / "cloud_credentials.py"


@pytest.mark.spark
def test_classes_of_hadoop_give_tokens(tmp_path: Path) -> None:
    ensure_java()
    jars = [*packages.abfs(), *packages.gcs_connector()]
    with (
        servers.azurite(tmp_path / "azurite") as azure,
        servers.fake_gcs_server(tmp_path / "gcs") as google,
        tokens.gate(
            azure.endpoint.rpartition("/")[0], 401, tokens.signature(azure, timedelta(hours=1))
        ) as of_azure,
        tokens.gate(google.endpoint, 401) as of_google,
    ):
        gates = {tmp_path / "azure.token": of_azure, tmp_path / "google.token": of_google}
        stores = {
            "azure": {
                "uri": azure.uri("classes"),
                "vault": str(tmp_path / "azure.token"),
                "options": {
                    "fs.azure.account.auth.type": "Custom",
                    "fs.azure.account.oauth.provider.type": "Tokens$OfAzure",
                    "fs.test.vault": str(tmp_path / "azure.token"),
                    "azure_storage_endpoint": f"{of_azure.endpoint}/{azure.account}",
                    "azure_allow_http": "true",
                },
            },
            "google": {
                "uri": google.uri("classes"),
                "vault": str(tmp_path / "google.token"),
                "options": {
                    "fs.gs.auth.type": "ACCESS_TOKEN_PROVIDER",
                    "fs.gs.auth.access.token.provider": "Tokens$OfGoogle",
                    "fs.gs.storage.root.url": of_google.endpoint,
                    "fs.test.vault": str(tmp_path / "google.token"),
                },
            },
        }
        path = os.pathsep.join(filter(None, [str(PROGRAM.parents[1]), os.environ.get("PYTHONPATH")]))
        environment = {
            **os.environ,
            "PYTHONPATH": path,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "STORES": json.dumps(stores),
        }
        for vault, kept in gates.items():
            vault.write_text(kept.token)
        with subprocess.Popen(
            [sys.executable, PROGRAM, ",".join([*jars, jar_of(HERE / "Tokens.java", jars, tmp_path)])],
            cwd=tmp_path,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=(tmp_path / "said").open("w"),
            text=True,
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            done, turns = [], 0
            for line in process.stdout:
                if line.strip() != "turn":
                    done.append(line.strip())
                    continue
                # the tokens of the last turn expire
                time.sleep(2.2)
                turns += 1
                for vault, kept in gates.items():
                    kept.token = f"token{turns}"
                    if vault.exists():
                        vault.write_text(kept.token)
                process.stdin.write("\n")
                process.stdin.flush()
        assert process.returncode == 0, (tmp_path / "said").read_text()[-6000:]
        assert done == ["azure", "google"]
        assert of_azure.passed > 0
        assert of_google.passed > 0


@pytest.mark.parametrize(
    ("uri", "options", "named"),
    [
        (
            "abfss://c@a.dfs.core.windows.net/t",
            {
                "fs.azure.account.auth.type": "Custom",
                "fs.azure.account.oauth.provider.type": "com.example.Vault",
            },
            "azure_storage_token",
        ),
        (
            "abfss://c@a.dfs.core.windows.net/t",
            {"fs.azure.account.auth.type": "SAS", "fs.azure.sas.token.provider.type": "com.example.Vault"},
            "fs.azure.sas.fixed.token",
        ),
        (
            "gs://b/t",
            {
                "fs.gs.auth.type": "ACCESS_TOKEN_PROVIDER",
                "fs.gs.auth.access.token.provider": "com.example.Vault",
            },
            "google_bearer_token",
        ),
    ],
)
def test_a_class_is_refused_where_there_is_no_jvm(uri: str, options: dict[str, str], named: str) -> None:
    # a process of its own: another test may have started a JVM in this one
    program = (
        "import deltaic\n"
        f"try: deltaic.Table({uri!r}, storage_options={options!r})\n"
        "except deltaic.exceptions.InvalidArgumentError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=60
    )
    assert "com.example.Vault" in done.stdout
    assert named in done.stdout
    assert "`credentials`" in done.stdout
