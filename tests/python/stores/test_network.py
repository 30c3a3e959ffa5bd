"""Tables behind a network that loses, tears and delays: nothing is lost, nothing is there twice."""

from __future__ import annotations

import concurrent.futures
import json
import time
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pytest
import servers
from click.testing import CliRunner
from proxy import Network, proxy
from test_conformance import Place, append, rows

from deltaic.cli.main import main
from deltaic.exceptions import CommitStateUnknownError, StorageError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from servers import S3

# the first test fetches and builds the server, once a machine
pytestmark = pytest.mark.timeout(1200)
COMMIT = r"_delta_log/0{19}1\.json"
MIXED = {"busy": 0.04, "reset": 0.04, "cut": 0.04, "torn": 0.04, "lost": 0.06}


def by(s3: S3, endpoint: str, **more: str) -> dict[str, str]:
    """The options of a server by another endpoint."""
    return {**replace(s3, endpoint=endpoint).options, **more}


def uploads(s3: S3) -> int:
    """How many uploads in parts are neither complete nor aborted."""
    answer = s3.ask("GET", f"/{servers.BUCKET}", {"uploads": ""})
    assert answer.status == 200, answer
    return answer.body.count("<Upload>")


@pytest.mark.parametrize("seed", [3, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2, 4, 5))])
def test_operations_survive(s3: S3, seed: int) -> None:
    with proxy(s3.endpoint, Network(seed, MIXED, latency=0.01)) as network:
        at = Place(s3, by(s3, network.endpoint))
        at.write(rows(0, 10), configuration={"delta.enableDeletionVectors": "true"})
        for number in range(1, 6):
            at.write(rows(number * 10, 10))
        assert at.open().delete("id < 5").deleted_rows == 5
        assert at.open().update_rows({"id": "id + 100"}, "id >= 55").updated_rows == 5
        at.open().optimize()
        at.open().checkpoint()
        at.write(rows(300, 10))
        at.open().restore(version=at.open().version - 1)
        time.sleep(1.1)
        assert at.open().vacuum(retention_hours=0, allow_short_retention=True).failed == []
        assert network.injected > 5
    # the truth, by the straight way
    at.options = s3.options
    assert at.ids() == [*range(5, 55), *range(155, 160)]
    at.check()
    done = [entry["operation"] for entry in at.open().history()]
    assert [done.count(name) for name in ("WRITE", "DELETE", "UPDATE", "OPTIMIZE", "RESTORE")] == [
        7,
        1,
        1,
        1,
        1,
    ]
    assert uploads(s3) == 0


@pytest.mark.parametrize("fault", ["lost", "hung", "torn", "reset", "cut", "busy"])
def test_a_commit_that_gets_no_answer_is_made_once(s3: S3, fault: str) -> None:
    with proxy(s3.endpoint, Network(hangs=2.5)) as network:
        at = Place(s3, by(s3, network.endpoint, timeout="1s"))
        at.write(rows(0, 1))
        network.tell(fault, "PUT", COMMIT)
        at.write(rows(1, 1))
        assert network.faults[fault] == 1
        answers = network.asked("PUT", COMMIT)
    # the server has made it at the first, or at the second
    assert answers.count(200) == 1
    assert (answers[0] == 200) == (fault in ("lost", "hung", "torn"))
    at.options = s3.options
    assert (at.ids(), at.open().version) == ([0, 1], 1)
    at.check()


def test_a_commit_that_another_has_made_meanwhile_is_not_taken_for_ours(s3: S3) -> None:
    with proxy(s3.endpoint) as network:
        at = Place(s3, by(s3, network.endpoint))
        at.write(rows(0, 1))
        other = Place(s3)
        other.uri = at.uri
        # the first put does not arrive, and before the second another writer comes
        network.tell("busy", "PUT", COMMIT, times=3)
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            ours = pool.submit(at.write, rows(1, 1))
            while not network.faults["busy"]:
                time.sleep(0.001)
            other.write(rows(2, 1))
            ours.result()
    assert (other.ids(), other.open().version) == ([0, 1, 2], 2)


def test_a_commit_that_may_still_arrive_is_not_reported_as_failed(s3: S3) -> None:
    with proxy(s3.endpoint, Network(hangs=4.0)) as network:
        at = Place(s3, by(s3, network.endpoint))
        at.write(rows(0, 1))
        # credentials that end between two tries
        network.tell("late", "PUT", COMMIT)
        network.tell("refused", "PUT", COMMIT, times=100)
        with pytest.raises(CommitStateUnknownError):
            at.write(rows(1, 1))
        assert network.faults["late"] == 1
        while not network.asked("PUT", COMMIT).count(200):
            time.sleep(0.05)
    at.options = s3.options
    # nothing that it names was deleted
    assert (at.ids(), at.open().version) == ([0, 1], 1)
    at.check()


@pytest.fixture
def two_large_files(s3: S3) -> Place:
    """A table whose two files become one that is sent in three parts."""
    at = Place(s3)
    for seed in range(2):
        at.write(pa.table({"id": np.random.default_rng(seed).integers(0, 2**62, 1_300_000)}))
    return at


@pytest.mark.parametrize("target", ["partNumber=2", "partNumber=3"])
@pytest.mark.parametrize("fault", ["refused", "lost"])
def test_an_upload_in_parts_is_aborted_or_complete(
    s3: S3, two_large_files: Place, fault: str, target: str
) -> None:
    at = two_large_files
    with proxy(s3.endpoint) as network:
        at.options = by(s3, network.endpoint)
        network.tell(fault, "PUT", target)
        if fault == "refused":
            with pytest.raises(StorageError, match="AccessDenied"):
                at.open().optimize()
        else:
            at.open().optimize()
        assert network.faults[fault] == 1
    assert uploads(s3) == 0
    at.options = s3.options
    assert at.open().totals().files == (2 if fault == "refused" else 1)


def test_an_upload_that_cannot_be_completed_is_aborted(s3: S3, two_large_files: Place) -> None:
    at = two_large_files
    with proxy(s3.endpoint) as network:
        at.options = by(s3, network.endpoint)
        network.tell("refused", "POST", "uploadId=")
        with pytest.raises(StorageError, match="AccessDenied"):
            at.open().optimize()
    assert uploads(s3) == 0
    at.options = s3.options
    assert at.open().totals().files == 2


@pytest.mark.parametrize("busy", ["LIST", "GET", "PUT"])
def test_a_server_that_is_busy_is_asked_again_when_it_says(s3: S3, busy: str) -> None:
    with proxy(s3.endpoint, Network(retry_after="1")) as network:
        at = Place(s3, by(s3, network.endpoint))
        at.write(rows(0, 1))
        target = {"LIST": "list-type=2", "GET": "_last_checkpoint", "PUT": COMMIT}[busy]
        network.tell("busy", "PUT" if busy == "PUT" else "GET", target)
        at.write(rows(1, 1))
        assert network.faults["busy"] == 1
        assert network.impatient == []


def test_listings_that_lag_lose_nothing(s3: S3, processes: concurrent.futures.ProcessPoolExecutor) -> None:
    with proxy(s3.endpoint, Network(5, lag=6)) as network:
        at = Place(s3)
        # what was put here lags not: that there is a table is seen
        at.write(rows(0, 1))
        at.options = by(s3, network.endpoint)
        each = 6
        writers = [processes.submit(append, at.uri, at.options, 1 + n * each, each) for n in range(3)]
        for writer in writers:
            writer.result()
        assert network.faults["lag"] > 0
    at.options = s3.options
    assert at.ids() == list(range(1 + 3 * each))
    assert at.open().version == 3 * each
    at.check()


@pytest.mark.parametrize("hours", [-3, 3])
def test_a_clock_that_is_wrong_does_no_harm(s3: S3, hours: int) -> None:
    with proxy(s3.endpoint, Network(skew=timedelta(hours=hours))) as network:
        at = Place(s3, by(s3, network.endpoint))
        at.write(rows(0, 5), configuration={"delta.enableInCommitTimestamps": "true"})
        at.write(rows(5, 5), mode="overwrite")
        at.write(rows(10, 5))
        # none is older than the week that files are kept
        assert at.open().vacuum().files == []
        assert at.ids(0) == list(range(5))
        at.check()
        arguments = [f"--storage-option={name}={value}" for name, value in at.options.items()]
        reported = CliRunner().invoke(main, ["doctor", at.uri, *arguments, "--json"], catch_exceptions=False)
        checks: dict[str, Any] = {check["name"]: check for check in json.loads(reported.stdout)["checks"]}
        assert checks["clock"]["status"] != "ok"


def test_a_clock_that_the_server_refuses_is_named(s3: S3) -> None:
    with proxy(s3.endpoint) as network:
        at = Place(s3, by(s3, network.endpoint))
        at.write(rows(0, 5))
        # a listing that comes beside the hint may fail, and is asked for again
        network.tell("skewed", "GET", "list-type=2", times=2)
        with pytest.raises(StorageError, match="RequestTimeTooSkewed"):
            at.open()


@pytest.fixture(scope="module", params=["moto", "fake_gcs_server"])
def unsigned(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A server that checks no signature: one that does refuses a request that lacks a header."""
    folder: Path = tmp_path_factory.mktemp(request.param)
    with getattr(servers, request.param)(folder) as server:
        yield server


def test_a_store_that_ignores_conditions_is_refused_before_a_file_is_written(
    unsigned: servers.Server,
) -> None:
    good = Place(unsigned)
    # the same bucket by another endpoint is another store
    good.write(rows(0, 1))
    headers = ("if-none-match", "x-goog-if-generation-match")
    with proxy(unsigned.endpoint, Network(stripped=headers)) as network:
        bad = Place(unsigned, replace(unsigned, endpoint=network.endpoint).options)
        for _ in range(2):
            with pytest.raises(UnsupportedError, match="ignores the condition of put-if-absent"):
                bad.write(rows(0, 1))
        bad.uri = good.uri
        with pytest.raises(UnsupportedError, match="ignores the condition of put-if-absent"):
            bad.open().delete()
        assert bad.ids() == [0]
        put = [unquote(target) for _, method, target, _ in network.requests if method == "PUT"]
        assert len(put) > 0
        assert [target for target in put if "_probe_" not in target] == []
        arguments = [f"--storage-option={name}={value}" for name, value in bad.options.items()]
        reported = CliRunner().invoke(main, ["doctor", bad.uri, *arguments, "--json"], catch_exceptions=False)
        checks = {check["name"]: check for check in json.loads(reported.stdout)["checks"]}
        assert checks["put-if-absent"]["status"] == "problem"
    good.write(rows(1, 1))
    assert good.ids() == [0, 1]
