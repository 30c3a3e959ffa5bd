"""Servers of object stores, each a process of its own."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import packages
import relay
import signed
from gcs_xml import xml_api

if TYPE_CHECKING:
    from collections.abc import Iterator

BUCKET = "bucket"
_PARTS = 9


@dataclass(frozen=True)
class S3:
    """A server that speaks S3, with one bucket. `program` is set where it has users."""

    endpoint: str
    key: str = "testkey"
    secret: str = field(default="testsecret", repr=False)
    region: str = "us-east-1"
    log: Path | None = None
    program: Path | None = None

    def user(self, key: str) -> dict[str, str]:
        """Makes a user who may do anything; his credentials."""
        secret = f"secret-of-{key}"
        self._admin("create-user", "--access", key, "--secret", secret, "--role", "admin")
        return {"aws_access_key_id": key, "aws_secret_access_key": secret}

    def revoke(self, key: str) -> None:
        """Takes a user away: his keys are refused from now on."""
        self._admin("delete-user", "--access", key)

    @property
    def place(self) -> dict[str, str]:
        """Its `storage_options` without credentials."""
        return {name: value for name, value in self.options.items() if "access_key" not in name}

    def _admin(self, *command: str) -> None:
        access = ["--access", self.key, "--secret", self.secret, "--endpoint-url", self.endpoint]
        subprocess.run(
            [str(self.program), "admin", *access, *command], check=True, capture_output=True, timeout=60
        )

    def requests(self, table: str) -> list[tuple[str, str]]:
        """The requests so far for a table of the bucket: the method, and the object below the table or none."""
        if self.log is None:
            raise AssertionError(self)
        found = []
        for line in self.log.read_text(errors="replace").splitlines():
            # time | vgw | 200 | 1ms | 127.0.0.1 | GET | /bucket/table/_delta_log/_last_checkpoint | - | query
            parts = [part.strip() for part in line.split("|")]
            if len(parts) < _PARTS:
                continue
            method, path, query = parts[5], parts[6], parts[8]
            if path.startswith(f"/{BUCKET}/{table}/"):
                found.append((method, path.removeprefix(f"/{BUCKET}/{table}/")))
            elif path == f"/{BUCKET}" and (table in query or method == "POST"):
                found.append((method, ""))
        return found

    def ask(
        self,
        method: str,
        path: str,
        query: dict[str, str] | None = None,
        headers: dict[str, str] | None = None,
        body: bytes = b"",
    ) -> signed.Answer:
        """A request of its own; the path begins with the bucket."""
        credentials = (self.key, self.secret, self.region)
        return signed.s3(self.endpoint, credentials, method, path, query, headers, body)

    def put_if_absent(self, name: str, body: bytes) -> int:
        """The status that a put of an object gets that must not be there yet."""
        return self.ask("PUT", f"/{BUCKET}/{name}", None, {"if-none-match": "*"}, body).status

    def uri(self, name: str) -> str:
        """The URI of a table."""
        return f"s3://{BUCKET}/{name}"

    @property
    def options(self) -> dict[str, str]:
        """Its `storage_options`."""
        return {
            "aws_access_key_id": self.key,
            "aws_secret_access_key": self.secret,
            "aws_endpoint": self.endpoint,
            "aws_region": self.region,
            "aws_allow_http": "true",
        }

    @property
    def hadoop(self) -> dict[str, str]:
        """The settings of Hadoop's S3A."""
        return {
            "fs.s3a.access.key": self.key,
            "fs.s3a.secret.key": self.secret,
            "fs.s3a.endpoint": self.endpoint,
            "fs.s3a.endpoint.region": self.region,
            "fs.s3a.path.style.access": "true",
        }


@dataclass(frozen=True)
class Azure:
    """A server that speaks as Azure Blob Storage does, with one container."""

    endpoint: str
    account: str = "devstoreaccount1"
    # the key that is public: Azurite's own
    key: str = field(
        default="Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",
        repr=False,
    )

    def ask(
        self,
        method: str,
        path: str,
        query: dict[str, str] | None = None,
        headers: dict[str, str] | None = None,
        body: bytes = b"",
    ) -> signed.Answer:
        """As of `S3`; the path begins with the container."""
        return signed.azure(self.endpoint, (self.account, self.key), method, path, query, headers, body)

    def put_if_absent(self, name: str, body: bytes) -> int:
        """As of `S3`."""
        headers = {"if-none-match": "*", "x-ms-blob-type": "BlockBlob"}
        return self.ask("PUT", f"/{BUCKET}/{name}", None, headers, body).status

    def uri(self, name: str) -> str:
        """The URI of a table."""
        return f"abfss://{BUCKET}@{self.account}.dfs.core.windows.net/{name}"

    @property
    def options(self) -> dict[str, str]:
        """Its `storage_options`."""
        return {"azure_storage_account_key": self.key, **self._place}

    @property
    def hadoop(self) -> dict[str, str]:
        """The settings of Hadoop's ABFS. None of them names another server than that of the URI."""
        return {f"fs.azure.account.key.{self.account}.dfs.core.windows.net": self.key, **self._place}

    @property
    def _place(self) -> dict[str, str]:
        return {"azure_storage_endpoint": self.endpoint, "azure_allow_http": "true"}


@dataclass(frozen=True)
class Gcs:
    """A server that speaks as Google Cloud Storage does, with one bucket, for everybody."""

    endpoint: str
    """Of the XML API."""
    json: str
    """Of the JSON API."""
    uploads: dict[str, Any] = field(default_factory=dict)
    """Uploads in parts that are neither complete nor aborted."""

    def put_if_absent(self, name: str, body: bytes) -> int:
        """As of `S3`, by the XML API, as object_store puts."""
        headers = {"x-goog-if-generation-match": "0"}
        return signed.send(self.endpoint, "PUT", f"/{BUCKET}/{quote(name, safe='')}", headers, body).status

    def uri(self, name: str) -> str:
        """The URI of a table."""
        return f"gs://{BUCKET}/{name}"

    @property
    def options(self) -> dict[str, str]:
        """Its `storage_options`."""
        return {
            "google_base_url": self.endpoint,
            "google_skip_signature": "true",
            "google_allow_http": "true",
        }

    @property
    def hadoop(self) -> dict[str, str]:
        """The settings of Hadoop's connector for Google Cloud Storage."""
        return {"fs.gs.auth.type": "UNAUTHENTICATED", "fs.gs.storage.root.url": self.endpoint}


Server = S3 | Azure | Gcs


@contextmanager
def versitygw(folder: Path, *, users: bool = False) -> Iterator[S3]:
    """versitygw over a folder; with `users` they can be made and taken away."""
    port = free_port()
    program = packages.versitygw()
    server = S3(f"http://127.0.0.1:{port}", log=folder / "log", program=program if users else None)
    (folder / "data" / BUCKET).mkdir(parents=True)
    # metadata beside the files: not every file system has extended attributes
    sidecar = folder / "metadata"
    sidecar.mkdir()
    given = {"ROOT_ACCESS_KEY": server.key, "ROOT_SECRET_KEY": server.secret}
    stored = ["posix", "--sidecar", sidecar, folder / "data"]
    accounts: list[str] = []
    if users:
        (folder / "accounts").mkdir()
        accounts = ["--iam-dir", str(folder / "accounts"), "--iam-cache-disable"]
    with _running([program, "--port", f"127.0.0.1:{port}", *accounts, *stored], port, folder, given):
        yield server


@contextmanager
def patient(s3: S3) -> Iterator[S3]:
    """versitygw for many processes at once.

    It removes a folder with its last object, and refuses an object that is put into it at that moment.
    """
    upstream = relay.Upstream(s3.endpoint)

    def answer(asked: relay.Asked) -> relay.Answered:
        for _ in range(20):
            answer = upstream.ask(asked)
            if asked.method != "PUT" or b"ExistingObjectIsDirectory" not in answer.body:
                break
        return answer

    with relay.serving(answer) as endpoint:
        yield replace(s3, endpoint=endpoint)


@contextmanager
def moto(folder: Path) -> Iterator[S3]:
    """moto, which keeps its buckets in memory and takes every signature."""
    port = free_port()
    server = S3(f"http://127.0.0.1:{port}")
    with _running([sys.executable, Path(__file__).with_name("moto_server.py"), str(port)], port, folder):
        made = server.ask("PUT", f"/{BUCKET}")
        assert made.status == 200, made
        yield server


@contextmanager
def azurite(folder: Path) -> Iterator[Azure]:
    """Azurite over a folder."""
    port = free_port()
    server = Azure(f"http://127.0.0.1:{port}/{Azure.account}")
    place = ["--blobHost", "127.0.0.1", "--blobPort", str(port), "--location", folder / "data"]
    # it need not know the newest version of the protocol, and reports nothing
    quiet = ["--silent", "--skipApiVersionCheck", "--disableTelemetry"]
    with _running([*packages.azurite(), *place, *quiet], port, folder):
        made = server.ask("PUT", f"/{BUCKET}", {"restype": "container"})
        assert made.status == 201, made
        yield server


@contextmanager
def fake_gcs_server(folder: Path) -> Iterator[Gcs]:
    """fake-gcs-server, which keeps its buckets in memory."""
    port = free_port()
    json_api = f"http://127.0.0.1:{port}"
    place = ["-scheme", "http", "-host", "127.0.0.1", "-port", str(port), "-backend", "memory"]
    names = ["-public-host", f"127.0.0.1:{port}", "-external-url", json_api, "-log-level", "error"]
    with _running([packages.fake_gcs_server(), *place, *names], port, folder):
        body = json.dumps({"name": BUCKET}).encode()
        made = signed.send(json_api, "POST", "/storage/v1/b", {"content-type": "application/json"}, body)
        assert made.status == 200, made
        with xml_api(json_api) as (endpoint, uploads):
            yield Gcs(endpoint, json_api, uploads)


def free_port() -> int:
    """A port that nobody has."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@contextmanager
def _running(
    command: list[str | Path], port: int, folder: Path, given: dict[str, str] | None = None
) -> Iterator[None]:
    """A server while it runs; what it says is in the file `log` of the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "log").open("wb") as log:
        environment = {**os.environ, **(given or {})}
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
    try:
        _wait(process, port, folder / "log")
        yield
    finally:
        process.terminate()
        process.wait(timeout=30)


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if process.poll() is not None:
            break
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError(log.read_text(errors="replace"))
