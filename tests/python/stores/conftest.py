"""Fixtures of the tests of stores."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import uuid
from typing import TYPE_CHECKING

import pytest
import servers

if TYPE_CHECKING:
    from collections.abc import Iterator

# a server that one test has started serves the next as well
STORES = ["versitygw", "moto", "azurite", "fake_gcs_server"]


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[servers.S3]:
    """A server that speaks S3."""
    with servers.versitygw(tmp_path_factory.mktemp("versitygw")) as server:
        yield server


@pytest.fixture(scope="session", params=STORES)
def store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[servers.Server]:
    """A server of each kind."""
    if request.param == "versitygw":
        yield request.getfixturevalue("s3")
        return
    with getattr(servers, request.param)(tmp_path_factory.mktemp(request.param)) as server:
        yield server


@pytest.fixture(scope="session")
def processes() -> Iterator[concurrent.futures.ProcessPoolExecutor]:
    """Four processes that write."""
    with concurrent.futures.ProcessPoolExecutor(4, multiprocessing.get_context("spawn")) as pool:
        yield pool


@pytest.fixture(scope="session")
def s3_of_users(tmp_path_factory: pytest.TempPathFactory) -> Iterator[servers.S3]:
    """A server that speaks S3 and has users."""
    with servers.versitygw(tmp_path_factory.mktemp("versitygw-users"), users=True) as server:
        yield server


@pytest.fixture
def uri() -> str:
    """The place of a table of its own."""
    return f"s3://{servers.BUCKET}/{uuid.uuid4().hex}"
