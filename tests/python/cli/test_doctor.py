"""`doctor` finds what is missing or wrong, and shows no secret."""

import json
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner

import deltaic
from deltaic.cli.main import main


def checks(*arguments, code=0):
    """The checks by name."""
    result = CliRunner().invoke(main, ["doctor", *map(str, arguments), "--json"], catch_exceptions=False)
    assert result.exit_code == code, result.output
    said = json.loads(result.stdout)
    assert said["ok"] is (code == 0)
    return {check["name"]: check for check in said["checks"]}


def test_this_machine_runs_spark():
    found = checks()
    assert {found[name]["status"] for name in ("deltaic", "PySpark", "pandas", "pyarrow", "Java")} == {"ok"}
    assert found["file systems of Spark"]["found"].startswith("hdfs (hadoop-client-api-")
    assert "table" not in found


def test_a_table_is_probed_and_stays_as_it_was(tmp_path):
    deltaic.write(tmp_path / "t", pa.table({"a": [1]}))
    before = sorted(tmp_path.rglob("*"))
    found = checks(tmp_path / "t")
    assert found["table"]["found"].startswith("version 0 of ")
    assert {found[name]["status"] for name in ("table", "store", "put-if-absent", "clock")} == {"ok"}
    assert sorted(tmp_path.rglob("*")) == before


def test_a_folder_without_a_table_is_not_written_to(tmp_path):
    found = checks(tmp_path, code=1)
    assert found["table"]["status"] == "problem"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("python", "says"),
    [("/nowhere/python", "is not there"), ("false", "does not run"), ("old", "Python 3.1")],
)
def test_a_python_of_workers_that_spark_cannot_use(tmp_path, monkeypatch, python, says):
    if python == "old":
        path = tmp_path / "python"
        path.write_text("#!/bin/sh\necho 3 1 True True\n")
        path.chmod(0o755)
        python = str(path)
    monkeypatch.setenv("PYSPARK_PYTHON", python)
    worker = checks(code=1)["Python of workers"]
    assert worker["status"] == "problem"
    assert says in worker["found"]
    assert "PYSPARK_PYTHON" in worker["advice"]


def test_credentials_are_named_and_not_shown(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "PLANTED")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "PLANTED")
    monkeypatch.setenv("AWS_PROFILE", "PLANTED")
    result = CliRunner().invoke(main, ["doctor"], catch_exceptions=False)
    assert "credentials of S3: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY" in result.output
    assert "AWS profiles" in result.output
    assert "PLANTED" not in result.output


def test_what_spark_lacks_for_a_scheme(monkeypatch):
    monkeypatch.setenv("HOME", str(Path("/nowhere")))
    options = [
        "--storage-option",
        "aws_endpoint=http://127.0.0.1:1",
        "--storage-option",
        "aws_allow_http=true",
    ]
    keys = ["--storage-option", "aws_access_key_id=a", "--storage-option", "aws_secret_access_key=PLANTED"]
    found = checks("s3://bucket/t", *options, *keys, "--storage-option", "timeout=1s", code=1)
    assert "hadoop-aws" in found["file system of Spark"]["advice"]
    assert found["table"]["status"] == "problem"
    assert "PLANTED" not in str(found)
