"""Servers of object stores, each a process of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import packages

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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


@contextmanager
def versitygw(folder: Path, *, users: bool = False) -> Iterator[S3]:
    """versitygw over a folder; with `users` they can be made and taken away."""
    program = packages.versitygw()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = S3(f"http://127.0.0.1:{port}", log=folder / "log", program=program if users else None)
    (folder / "data" / BUCKET).mkdir(parents=True)
    # metadata beside the files: not every file system has extended attributes
    sidecar = folder / "metadata"
    sidecar.mkdir()
    environment = {**os.environ, "ROOT_ACCESS_KEY": server.key, "ROOT_SECRET_KEY": server.secret}
    accounts: list[str] = []
    if users:
        (folder / "accounts").mkdir()
        accounts = ["--iam-dir", str(folder / "accounts"), "--iam-cache-disable"]
    command = [
        program,
        "--port",
        f"127.0.0.1:{port}",
        *accounts,
        "posix",
        "--sidecar",
        sidecar,
        folder / "data",
    ]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
    try:
        _wait(process, port, folder / "log")
        yield server
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
