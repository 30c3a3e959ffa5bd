"""Functions that give the credentials of Azure and of Google Cloud Storage, while tables are open."""

from __future__ import annotations

import time
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
import servers
import tokens

import deltaic
from deltaic.exceptions import CredentialsError, StorageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# the first test fetches the server, once a machine
pytestmark = pytest.mark.timeout(1200)
ROWS = pa.table({"id": pa.array(range(10), pa.int64())})


@pytest.fixture(scope="module")
def azure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[servers.Azure]:
    """Azurite."""
    with servers.azurite(tmp_path_factory.mktemp("azurite")) as server:
        yield server


@pytest.fixture(scope="module")
def gcs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[servers.Gcs]:
    """fake-gcs-server."""
    with servers.fake_gcs_server(tmp_path_factory.mktemp("gcs")) as server:
        yield server


def _place(server: servers.Azure) -> dict[str, str]:
    return {name: value for name, value in server.options.items() if "key" not in name}


def _works_on(table: deltaic.Table, write: Callable[[], Any], renew: Callable[[], None]) -> None:
    """A listing, gets of commits and of data, writes of files, and a put-if-absent, each after the keys are others."""
    for step in range(1, 3):
        renew()
        table.update()
        renew()
        assert pa.table(table.to_arrow()).num_rows == 10 * step
        renew()
        write()
    renew()
    table.update()
    table.delete("id = 3")
    renew()
    table.optimize()


class Signatures:
    """Gives signatures of a short life."""

    def __init__(self, server: servers.Azure, lives: float, *, said: bool) -> None:
        self.server, self.lives, self.said = server, timedelta(seconds=lives), said
        self.calls = 0

    def __call__(self) -> dict[str, Any]:
        self.calls += 1
        given = {"azure_storage_sas_key": tokens.signature(self.server, self.lives)}
        expires = datetime.now(timezone.utc) + self.lives
        return {**given, "expires_at": expires} if self.said else given


@pytest.mark.parametrize("said", [True, False], ids=["expiry is said", "expiry is found out"])
def test_signatures_of_azure_are_renewed(azure: servers.Azure, said: Any) -> None:
    give, uri = Signatures(azure, 3, said=said), azure.uri(f"signed-{said}")
    until, versions = time.monotonic() + 8, []
    while time.monotonic() < until or give.calls < 3:
        written = deltaic.write(uri, ROWS, storage_options=_place(azure), credentials=give)
        versions.append(written.version)
    assert versions == list(range(len(versions)))
    table = deltaic.Table(uri, storage_options=_place(azure), credentials=give)
    assert pa.table(table.to_arrow()).num_rows == 10 * len(versions)


def test_an_open_table_goes_on_with_other_signatures_of_azure(azure: servers.Azure) -> None:
    give, uri = Signatures(azure, 2, said=False), azure.uri("open")
    place: dict[str, Any] = {"storage_options": _place(azure), "credentials": give}
    deltaic.write(uri, ROWS, **place)
    table = deltaic.Table(uri, **place)
    # whatever is in use is refused then
    _works_on(table, lambda: deltaic.write(uri, ROWS, **place), lambda: time.sleep(2))
    assert give.calls > 6
    assert deltaic.verify(uri, deep=True, **place).findings == []


def test_keys_of_an_account_by_a_function(azure: servers.Azure) -> None:
    uri = azure.uri("keyed")
    place: dict[str, Any] = {"storage_options": _place(azure)}

    def right() -> dict[str, str]:
        return {"azure_storage_account_key": azure.key}

    deltaic.write(uri, ROWS, **place, credentials=right)
    assert deltaic.Table(uri, **place, credentials=right).totals().files == 1
    for given, reason in (
        ({}, "azure_storage_token"),
        ({"azure_storage_account_key": "PLANTED!"}, "not base64"),
        ({"aws_access_key_id": "PLANTED"}, "azure_storage_token"),
    ):
        with pytest.raises(CredentialsError, match=reason) as raised:
            deltaic.Table(uri, **place, credentials=lambda given=given: given)
        assert "PLANTED" not in str(raised.value)
        assert raised.value.store == f"abfss://{servers.BUCKET}@{azure.account}.dfs.core.windows.net"


def _gated(kept: tokens.Gate, name: str) -> Callable[[], dict[str, str]]:
    def give() -> dict[str, str]:
        return {name: kept.token}

    return give


def test_tokens_of_azure(azure: servers.Azure) -> None:
    passing = tokens.signature(azure, timedelta(hours=1))
    endpoint, _, account = azure.endpoint.rpartition("/")
    with tokens.gate(endpoint, 401, passing) as kept:
        give, uri = _gated(kept, "azure_storage_token"), azure.uri("tokens")
        options = {**_place(azure), "azure_storage_endpoint": f"{kept.endpoint}/{account}"}
        _with_tokens(kept, uri, options, give)


def test_tokens_of_google(gcs: servers.Gcs) -> None:
    with tokens.gate(gcs.endpoint, 401) as kept:
        give, uri = _gated(kept, "google_bearer_token"), gcs.uri("tokens")
        options = {"google_base_url": kept.endpoint, "google_allow_http": "true"}
        _with_tokens(kept, uri, options, give)


def _with_tokens(kept: tokens.Gate, uri: str, options: dict[str, str], give: Any) -> None:
    numbers = iter(range(1000))

    def renew() -> None:
        kept.token = f"token{next(numbers)}"

    place: dict[str, Any] = {"storage_options": options, "credentials": give}
    deltaic.write(uri, ROWS, **place)
    table = deltaic.Table(uri, **place)
    _works_on(table, lambda: deltaic.write(uri, ROWS, **place), renew)
    assert deltaic.verify(uri, deep=True, **place).findings == []
    assert kept.passed > 0
    assert kept.refused > 0

    def stale() -> dict[str, str]:
        return dict.fromkeys(give(), "PLANTED")

    with pytest.raises(StorageError) as raised:
        deltaic.Table(uri, storage_options=options, credentials=stale)
    assert "PLANTED" not in str(raised.value)

    def failing() -> dict[str, str]:
        raise ConnectionError("the vault is sealed")

    with pytest.raises(CredentialsError, match="the vault is sealed"):
        deltaic.Table(uri, storage_options=options, credentials=failing)


def test_tokens_of_google_that_are_none(gcs: servers.Gcs) -> None:
    options = {"google_base_url": gcs.endpoint, "google_allow_http": "true"}
    with pytest.raises(CredentialsError, match="google_bearer_token") as raised:
        deltaic.Table(gcs.uri("none"), storage_options=options, credentials=dict)
    assert raised.value.store == f"gs://{servers.BUCKET}"
