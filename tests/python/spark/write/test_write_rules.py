"""Rules of a table that Spark holds in the plan of the write, through both doors and on every route."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import pytest
from bridge_tables import field, ruled

import deltaic
from deltaic import exceptions

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark

ROUTES = ["auto", "driver", "arrow"]


def rows(door: Any, path: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in deltaic.read(door, path).collect())


@pytest.mark.parametrize("route", ROUTES)
def test_columns_are_filled_and_rows_are_checked(door: Any, route: str, tmp_path: Path) -> None:
    # the core does not know `levenshtein` and `soundex`: Spark does
    fields = [
        field("name", "string"),
        field("sound", "string", **{"delta.generationExpression": "soundex(name)"}),
        field("kind", "string", CURRENT_DEFAULT="concat('n', 'ew')"),
        field("Size", "integer"),
    ]
    path = ruled(tmp_path / "t", fields, near="levenshtein(name, 'abc') < 3", size="size > 0")

    def append(text: str) -> None:
        deltaic.save(door.sql(f"SELECT {text}"), path, mode="append", deltaicRoute=route)

    append("'abd' AS NAME, cast(1 AS smallint) AS size")
    append("'abc' AS name, 2 AS size, 'old' AS kind, 'A120' AS sound")
    expected = [("abc", "A120", "old", 2), ("abd", "A130", "new", 1)]
    assert rows(door, path) == expected
    for data, rule, row in (
        ("'xyz' AS name, 2 AS size", "CHECK constraint near", "name = xyz"),
        ("'abc' AS name, -1 AS size", "CHECK constraint size", "Size = -1"),
        ("'abc' AS name, cast(null AS int) AS size", "CHECK constraint size", "Size = NULL"),
        ("'abc' AS name, 1 AS size, 'B' AS sound", "generated column sound", "name = abc, sound = B"),
    ):
        with pytest.raises(exceptions.InvariantViolationError) as error:
            append(data)
        assert (error.value.rule, error.value.row) == (rule, row)
        assert f"a row breaks the {rule} of `{path}`: " in str(error.value)
    assert rows(door, path) == expected


@pytest.mark.parametrize("route", ROUTES)
def test_generated_columns_follow_the_time_zone_of_the_session(door: Any, route: str, tmp_path: Path) -> None:
    day = field("day", "date", **{"delta.generationExpression": "cast(at AS date)"})
    path = ruled(tmp_path / "t", [field("at", "timestamp"), day])
    before = door.conf.get("spark.sql.session.timeZone")
    door.conf.set("spark.sql.session.timeZone", "Pacific/Auckland")
    try:
        data = door.sql("SELECT timestamp'2024-03-01 20:00:00Z' AS at")
        deltaic.save(data, path, mode="append", deltaicRoute=route)
    finally:
        door.conf.set("spark.sql.session.timeZone", before)
    assert [row.day for row in deltaic.read(door, path).collect()] == [dt.date(2024, 3, 2)]


@pytest.mark.parametrize("step", [1, -10])
def test_identities_continue_and_never_repeat(door: Any, step: int, tmp_path: Path) -> None:
    identity = {
        "delta.identity.start": 0,
        "delta.identity.step": step,
        "delta.identity.allowExplicitInsert": True,
    }
    path = ruled(tmp_path / "t", [field("id", "long"), field("key", "long", **identity)])
    for route in ROUTES:
        deltaic.save(door.range(0, 40, 1, 4), path, mode="append", deltaicRoute=route)
    keys = [key for _, key in rows(door, path)]
    assert len(set(keys)) == 120
    assert all(key % step == 0 and key * step >= 0 for key in keys)
    # values may be given where the column allows it
    deltaic.save(door.sql("SELECT 1L AS id, 7L AS key"), path, mode="append")
    assert (1, 7) in rows(door, path)


def test_a_rule_that_spark_cannot_resolve_is_named(door: Any, tmp_path: Path) -> None:
    path = ruled(tmp_path / "t", [field("id", "long")], odd="no_such_function(id) > 1")
    with pytest.raises(exceptions.InvalidExpressionError, match="no_such_function") as error:
        deltaic.save(door.range(3), path, mode="append")
    assert error.value.expression == "no_such_function(id) > 1"
    assert deltaic.Table(path).version == 0
