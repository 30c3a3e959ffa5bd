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
    """A server that speaks S3, with one bucket."""

    endpoint: str
    key: str = "testkey"
    secret: str = field(default="testsecret", repr=False)
    region: str = "us-east-1"
    log: Path | None = None

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
def versitygw(folder: Path) -> Iterator[S3]:
    """versitygw over a folder."""
    program = packages.versitygw()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = S3(f"http://127.0.0.1:{port}", log=folder / "log")
    (folder / "data" / BUCKET).mkdir(parents=True)
    # metadata beside the files: not every file system has extended attributes
    sidecar = folder / "metadata"
    sidecar.mkdir()
    environment = {**os.environ, "ROOT_ACCESS_KEY": server.key, "ROOT_SECRET_KEY": server.secret}
    command = [
        program,
        "--port",
        f"127.0.0.1:{port}",
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
