"""The files that a command chose are held by it, for the plans of its frames, and by nobody when it has ended."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import pytest
from dml_tables import KINDS, make

from deltaic.exceptions import InternalError, MultipleMatchesError
from deltaic.spark.read import held
from deltaic.spark.read.held import Held
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Relations that were held, by their identities: so none is gone for want of a reference."""
    relations: dict[str, Any] = {}
    hold = Held.hold

    def noting(self: Held, relation: Any) -> dict[str, Any]:
        facts = hold(self, relation)
        assert held.find(facts["identity"], "t") is relation
        relations[facts["identity"]] = relation
        return facts

    monkeypatch.setattr(Held, "hold", noting)
    return relations


def delete(spark: SparkSession, path: str) -> None:
    DeltaTable.forPath(spark, path).delete("hash(id) % 10 = 0")


def update(spark: SparkSession, path: str) -> None:
    DeltaTable.forPath(spark, path).update("hash(id) % 10 = 0", {"n": "n + 1"})


def merge(spark: SparkSession, path: str) -> None:
    spark.sql(
        f"MERGE INTO delta.`{path}` t USING (SELECT id + 90 AS id FROM range(20)) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET n = 1 WHEN NOT MATCHED THEN INSERT (id, p) VALUES (s.id, '0')"
    )


def merge_that_fails(spark: SparkSession, path: str) -> None:
    with pytest.raises(MultipleMatchesError):
        spark.sql(
            f"MERGE INTO delta.`{path}` t USING (SELECT 1L AS id FROM range(2)) s ON t.id = s.id "
            "WHEN MATCHED THEN UPDATE SET n = 1"
        )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("command", [delete, update, merge, merge_that_fails])
def test_nothing_is_held_when_a_command_has_ended(
    spark: SparkSession,
    tmp_path: Path,
    given: dict[str, Any],
    command: Callable[[SparkSession, str], None],
    kind: str,
) -> None:
    path = make(spark, tmp_path / "t", kind)
    command(spark, path)
    assert given
    for identity in given:
        with pytest.raises(InternalError, match="has ended"):
            held.find(identity, "t")


def test_what_an_owner_holds_goes_with_it(given: dict[str, Any]) -> None:
    class Files:
        def describe(self, identity: str) -> str:
            return f'{{"identity": "{identity}"}}'

        def files(self, predicate: str | None) -> bytes:
            return b""

        def size(self) -> int:
            return 0

    owner, other = Held("t", {}), Held("u", {})
    facts, others = owner.hold(Files()), other.hold(Files())
    assert facts == {"identity": facts["identity"], "path": "t", "options": {}, "held": True}
    assert facts["identity"] in owner
    assert others["identity"] not in owner
    owner.release()
    assert facts["identity"] not in owner
    with pytest.raises(InternalError):
        held.find(facts["identity"], "t")
    # without its end, too
    assert held.find(others["identity"], "u") is given.pop(others["identity"])
    del other
    gc.collect()
    with pytest.raises(InternalError):
        held.find(others["identity"], "u")
