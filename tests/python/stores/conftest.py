"""Fixtures of the tests of stores."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import pytest
import servers

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[servers.S3]:
    """A server that speaks S3."""
    with servers.versitygw(tmp_path_factory.mktemp("versitygw")) as server:
        yield server


@pytest.fixture(scope="session")
def s3_of_users(tmp_path_factory: pytest.TempPathFactory) -> Iterator[servers.S3]:
    """A server that speaks S3 and has users."""
    with servers.versitygw(tmp_path_factory.mktemp("versitygw-users"), users=True) as server:
        yield server


@pytest.fixture
def uri() -> str:
    """The place of a table of its own."""
    return f"s3://{servers.BUCKET}/{uuid.uuid4().hex}"
