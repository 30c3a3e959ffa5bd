"""Functions that give the credentials of a store whose keys are replaced while tables are open."""

from __future__ import annotations

import ctypes
import itertools
import json
import os
import pickle
import re
import threading
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import deltaic
from deltaic.exceptions import CredentialsError, StorageError

if TYPE_CHECKING:
    from servers import S3

# the first test fetches and builds the server, once a machine
pytestmark = pytest.mark.timeout(1200)
ROOT = Path(__file__).parents[3]
ROWS = pa.table({"id": pa.array(range(10), pa.int64())})
_numbers = itertools.count()


class Vault:
    """Gives the keys of a new user, and takes the last one away."""

    def __init__(self, s3: S3, lives: timedelta | None = None) -> None:
        self.s3, self.lives = s3, lives
        self.key: str | None = None
        self.calls = 0
        self.takes = 0.0

    def __call__(self) -> dict[str, Any]:
        self.calls += 1
        time.sleep(self.takes)
        if self.key is None or self.lives is not None:
            self.replace()
        assert self.key is not None
        expires = None if self.lives is None else datetime.now(timezone.utc) + self.lives
        return {**self.keys, "expires_at": expires}

    def replace(self) -> None:
        """Other keys, without a word."""
        old, self.key = self.key, f"user{next(_numbers)}"
        self.keys = self.s3.user(self.key)
        if old is not None:
            self.s3.revoke(old)


def test_an_open_table_goes_on_with_other_keys(s3_of_users: S3, uri: str) -> None:
    vault = Vault(s3_of_users)
    deltaic.write(uri, ROWS, storage_options=s3_of_users.place, credentials=vault)
    table = deltaic.Table(uri, storage_options=s3_of_users.place, credentials=vault)
    assert vault.calls == 1
    for step in range(3):
        vault.replace()
        # a listing, gets of commits and of data, a put-if-absent
        table.update()
        vault.replace()
        assert pa.table(table.to_arrow()).num_rows == 10 * (step + 1)
        vault.replace()
        deltaic.write(uri, ROWS, storage_options=s3_of_users.place, credentials=vault)
    vault.replace()
    assert table.update().version == 3
    table.delete("id = 3")
    vault.replace()
    table.optimize()
    assert deltaic.verify(uri, deep=True, storage_options=s3_of_users.place, credentials=vault).findings == []


def test_keys_are_renewed_before_they_expire(s3_of_users: S3, uri: str) -> None:
    vault = Vault(s3_of_users, lives=timedelta(seconds=2))
    until = time.monotonic() + 5
    versions = []
    while time.monotonic() < until or vault.calls < 3:
        versions.append(
            deltaic.write(uri, ROWS, storage_options=s3_of_users.place, credentials=vault).version
        )
    assert versions == list(range(len(versions)))


def test_many_threads_ask_once(s3_of_users: S3, uri: str) -> None:
    vault = Vault(s3_of_users)
    deltaic.write(uri, ROWS, storage_options=s3_of_users.place, credentials=vault)
    table = deltaic.Table(uri, storage_options=s3_of_users.place, credentials=vault)
    vault.replace()
    before, found = vault.calls, []

    def read() -> None:
        found.append(pa.table(table.to_arrow()).num_rows)

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [10] * 8
    assert vault.calls == before + 1


class _CArray(ctypes.Structure):
    """`ArrowArray` of the Arrow C data interface."""

    _fields_ = (
        ("numbers", ctypes.c_int64 * 5),
        ("parts", ctypes.c_void_p * 3),
        ("release", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
        ("private_data", ctypes.c_void_p),
    )


class _CStream(ctypes.Structure):
    """`ArrowArrayStream` of the Arrow C data interface."""

    _fields_ = (
        ("get_schema", ctypes.c_void_p),
        # a function that keeps the GIL
        ("get_next", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)),
        ("get_last_error", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
        ("private_data", ctypes.c_void_p),
    )


def test_a_peer_that_keeps_the_gil_does_not_wait_for_ever(s3_of_users: S3, uri: str) -> None:
    vault = Vault(s3_of_users)
    deltaic.write(uri, ROWS, storage_options=s3_of_users.place, credentials=vault)
    table = deltaic.Table(uri, storage_options=s3_of_users.place, credentials=vault)
    table.totals()
    vault.replace()
    # it is not back before the peer asks, and needs the GIL to go on
    vault.takes, before, batches = 0.5, vault.calls, 0
    capsule = table.to_arrow().__arrow_c_stream__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.argtypes, pointer.restype = (ctypes.py_object, ctypes.c_char_p), ctypes.c_void_p
    address = pointer(capsule, b"arrow_array_stream")
    while True:
        batch = _CArray()
        assert _CStream.from_address(address).get_next(address, ctypes.addressof(batch)) == 0
        if not batch.release:
            break
        batches += 1
        batch.release(ctypes.addressof(batch))
    assert batches > 0
    assert vault.calls == before + 1


def test_a_function_that_fails_is_an_error_of_credentials(s3: S3, uri: str) -> None:
    def sealed() -> dict[str, str]:
        raise ConnectionError("the vault is sealed")

    with pytest.raises(
        CredentialsError, match=r"sealed.* raised ConnectionError: the vault is sealed"
    ) as raised:
        deltaic.Table(uri, storage_options=s3.place, credentials=sealed)
    assert raised.value.store == "s3://bucket"
    for given, reason in (
        ({}, "aws_access_key_id"),
        ({"aws_access_key_id": 5}, "must be a text"),
        ({"aws_access_key_id": "a", "aws_secret_access_key": "PLANTED", "expires_at": "soon"}, "expires_at"),
        ({"aws_access_key_id": "a", "aws_secret_access_key": "PLANTED", "expires_at": 5}, "expired"),
    ):
        with pytest.raises(CredentialsError, match=reason) as raised:
            deltaic.Table(uri, storage_options=s3.place, credentials=lambda given=given: given)
        assert "PLANTED" not in str(raised.value)


def test_keys_that_stay_refused_are_an_error_of_the_store(s3_of_users: S3, uri: str) -> None:
    calls = []

    def wrong() -> dict[str, str]:
        calls.append(1)
        return {"aws_access_key_id": "nobody", "aws_secret_access_key": "PLANTED"}

    with pytest.raises(StorageError, match="InvalidAccessKeyId") as raised:
        deltaic.Table(uri, storage_options=s3_of_users.place, credentials=wrong)
    assert "PLANTED" not in str(raised.value)
    # not once for each request
    assert len(calls) == 2


def test_a_pickled_table_has_the_keys_of_the_moment(s3_of_users: S3, uri: str) -> None:
    vault = Vault(s3_of_users)
    deltaic.write(uri, ROWS, storage_options=s3_of_users.place, credentials=vault)
    table = deltaic.Table(uri, storage_options=s3_of_users.place, credentials=vault)
    sent = pickle.loads(pickle.dumps(table))
    assert sent.version == 0
    vault.replace()
    with pytest.raises(StorageError):
        pickle.loads(pickle.dumps(sent))
    assert "user" not in repr(table)


@pytest.fixture
def aws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with AWS's files."""
    for name in os.environ:
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    # nobody answers there
    monkeypatch.setenv("AWS_METADATA_ENDPOINT", "http://127.0.0.1:9")
    return tmp_path


def _section(name: str, keys: dict[str, str]) -> str:
    return f"[{name}]\n" + "".join(f"{name} = {value}\n" for name, value in keys.items())


def test_profiles_of_aws(s3_of_users: S3, uri: str, aws: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine, team = (s3_of_users.user(f"profile{next(_numbers)}") for _ in range(2))
    (aws / "credentials").write_text(_section("default", mine) + _section("team", team))
    (aws / "config").write_text("[profile signed-in]\nsso_session = corporate\n")
    deltaic.write(uri, ROWS, storage_options=s3_of_users.place)
    s3_of_users.revoke(mine["aws_access_key_id"])
    with pytest.raises(StorageError, match="InvalidAccessKeyId"):
        deltaic.Table(uri, storage_options=s3_of_users.place)
    monkeypatch.setenv("AWS_PROFILE", "team")
    assert deltaic.Table(uri, storage_options=s3_of_users.place).version == 0
    # an option before the environment
    for profile, reason in (("signed-in", "SSO.*`credentials`"), ("nobody", "no profile `nobody`")):
        with pytest.raises(CredentialsError, match=reason):
            deltaic.Table(uri, storage_options={**s3_of_users.place, "aws_profile": profile})
    # keys before a profile
    assert deltaic.Table(uri, storage_options={**s3_of_users.place, **team}).version == 0


def test_a_program_of_a_profile_gives_credentials(
    s3_of_users: S3, uri: str, aws: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = Vault(s3_of_users)

    def put() -> None:
        vault.replace()
        printed = {
            "Version": 1,
            "AccessKeyId": vault.keys["aws_access_key_id"],
            "SecretAccessKey": vault.keys["aws_secret_access_key"],
        }
        (aws / "printed").write_text(json.dumps(printed))

    put()
    (aws / "config").write_text(f"[profile tool]\ncredential_process = cat '{aws / 'printed'}'\n")
    monkeypatch.setenv("AWS_PROFILE", "tool")
    deltaic.write(uri, ROWS, storage_options=s3_of_users.place)
    table = deltaic.Table(uri, storage_options=s3_of_users.place)
    put()
    assert pa.table(table.to_arrow()).num_rows == 10
    (aws / "printed").write_text("PLANTED")
    s3_of_users.revoke(vault.key or "")
    with pytest.raises(StorageError) as raised:
        table.update()
    assert "PLANTED" not in str(raised.value)


def test_the_example_with_botocore(
    s3_of_users: S3, uri: str, aws: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (ROOT / "docs" / "storage.md").read_text(encoding="utf-8")
    (example,) = (
        block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "botocore" in block
    )
    (aws / "credentials").write_text(_section("analytics", s3_of_users.user(f"botocore{next(_numbers)}")))
    monkeypatch.setattr(deltaic, "Table", lambda place, credentials: (place, credentials))
    names: dict[str, Any] = {}
    exec(example, names)
    monkeypatch.undo()
    _, function = names["table"]
    deltaic.write(uri, ROWS, storage_options=s3_of_users.place, credentials=function)
    assert deltaic.Table(uri, storage_options=s3_of_users.place, credentials=function).version == 0


def test_what_is_no_function_is_refused(s3: S3, uri: str) -> None:
    with pytest.raises(deltaic.exceptions.InvalidArgumentError, match="no function"):
        deltaic.Table(uri, storage_options=s3.place, credentials=s3.options)  # type: ignore[arg-type]
