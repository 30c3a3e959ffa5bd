"""Tables on S3, without Spark."""

from __future__ import annotations

import concurrent.futures
import json
import multiprocessing
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

import deltaic
from deltaic.cli.main import main
from deltaic.exceptions import InvalidArgumentError

if TYPE_CHECKING:
    from servers import S3

# the first test fetches and builds the server, once a machine
pytestmark = pytest.mark.timeout(1200)


def rows(first: int, count: int) -> pa.Table:
    return pa.table({"id": pa.array(range(first, first + count), pa.int64())})


def ids(uri: str, options: dict[str, str]) -> list[int]:
    table = deltaic.Table(uri, storage_options=options)
    return sorted(pa.table(table.to_arrow()).column("id").to_pylist())


@pytest.mark.parametrize("names", ["options", "hadoop"])
@pytest.mark.parametrize("scheme", ["s3", "s3a", "s3n"])
def test_a_table_lives_there(s3: S3, uri: str, names: str, scheme: str) -> None:
    options: dict[str, str] = getattr(s3, names)
    place = uri.replace("s3://", f"{scheme}://")
    deltaic.write(place, rows(0, 10), storage_options=options)
    deltaic.write(place, rows(10, 10), storage_options=options, mode="append")
    table = deltaic.Table(place, storage_options=options)
    table.delete("id < 5")
    table.optimize()
    table.vacuum()
    assert table.verify(deep=True).findings == []
    assert ids(uri, s3.options) == list(range(5, 20))


def test_settings_of_the_bucket_go_first(s3: S3, uri: str) -> None:
    wrong = {**s3.hadoop, "fs.s3a.secret.key": "wrong", "fs.s3a.endpoint": "http://127.0.0.1:1"}
    own = {
        "fs.s3a.bucket.bucket.secret.key": s3.secret,
        "fs.s3a.bucket.bucket.endpoint": s3.endpoint,
    }
    deltaic.write(uri, rows(0, 3), storage_options={**wrong, **own})
    assert ids(uri, s3.options) == [0, 1, 2]


def test_keys_are_not_mixed_with_those_of_the_environment(
    s3: S3, uri: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "another")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "another")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1")
    deltaic.write(uri, rows(0, 3), storage_options=s3.hadoop)
    assert ids(uri, s3.options) == [0, 1, 2]
    provider = "software.amazon.awssdk.auth.credentials.EnvironmentVariableCredentialsProvider"
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", s3.key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", s3.secret)
    monkeypatch.delenv("AWS_SESSION_TOKEN")
    wrong = {**s3.hadoop, "fs.s3a.access.key": "another", "fs.s3a.aws.credentials.provider": provider}
    assert ids(uri, wrong) == [0, 1, 2]


def test_a_provider_that_only_java_has_is_named_before_a_request(uri: str) -> None:
    provider = "com.example.Vault"
    # a process of its own: where Spark has a JVM, that is asked
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        opened = pool.submit(
            deltaic.Table, uri, storage_options={"fs.s3a.aws.credentials.provider": provider}
        )
        with pytest.raises(InvalidArgumentError, match=provider) as raised:
            opened.result()
    assert raised.value.argument == "fs.s3a.aws.credentials.provider"


def append(uri: str, options: dict[str, str], first: int, count: int) -> None:
    for number in range(first, first + count):
        deltaic.write(uri, rows(number, 1), storage_options=options, mode="append")


def test_writers_at_once_lose_nothing(s3: S3, uri: str) -> None:
    deltaic.write(uri, rows(0, 1), storage_options=s3.options)
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(8, context) as pool:
        writers: list[Any] = [
            pool.submit(append, uri, s3.hadoop if number % 2 else s3.options, 1 + number * 10, 10)
            for number in range(8)
        ]
        for writer in writers:
            writer.result()
    assert ids(uri, s3.options) == list(range(81))
    table = deltaic.Table(uri, storage_options=s3.options)
    assert table.version == 80
    assert table.verify(deep=True).findings == []


def test_doctor_tries_the_store(s3: S3, uri: str) -> None:
    deltaic.write(uri, rows(0, 1), storage_options=s3.options)
    options = [f"--storage-option={name}={value}" for name, value in s3.options.items()]
    result = CliRunner().invoke(main, ["doctor", uri, *options, "--json"], catch_exceptions=False)
    found = {check["name"]: check for check in json.loads(result.stdout)["checks"]}
    assert {found[name]["status"] for name in ("table", "store", "put-if-absent", "clock")} == {"ok"}
    assert s3.secret not in result.output
    assert deltaic.Table(uri, storage_options=s3.options).verify(deep=True).findings == []
