"""Void columns as delta-spark has them: same rows, schemas, errors and logs; each reads what the other wrote."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from void_situations import SITUATIONS, play

import deltaic
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

Answers = dict[str, list[Any]]


@pytest.fixture(scope="module")
def answers(
    request: pytest.FixtureRequest,
    spark: SparkSession,
    peer: Callable[[str, Path], tuple[list[str], dict[str, str]]],
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Answers, Answers]:
    folder = tmp_path_factory.mktemp("void")
    names = {
        item.callspec.params["situation"]
        for item in request.session.items
        if item.path == request.path and isinstance(item, pytest.Function) and hasattr(item, "callspec")
        if "situation" in item.callspec.params
    }
    command, environment = peer("void_situations.py", folder / "warehouse")
    theirs = subprocess.Popen(
        [*command, str(folder / "theirs"), *names], env=environment, stdout=subprocess.PIPE, text=True
    )
    try:
        ours = play(spark, DeltaTable, str(folder / "ours"), names)
        answer, _ = theirs.communicate(timeout=1500)
    finally:
        theirs.kill()
    assert theirs.returncode == 0
    return ours, json.loads(answer)


# where deltaic answers something else, by situation and step: the condition of its error
DIFFERENT = {
    # Spark's analysis comes first
    ("a_table_by_sql", 7): "INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST",
    ("a_table_by_sql", 8): "INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST",
    ("a_table_by_sql", 9): "INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST",
    ("a_table_by_sql", 10): "INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST",
    ("types_that_are_changed", 9): "INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST",
    ("not_null", 2): "INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_FIND_DATA",
    # rows are looked at, and not their type
    ("not_null", 1): "DELTA_NOT_NULL_CONSTRAINT_VIOLATED",
    ("rules", 18): "DELTA_NOT_NULL_CONSTRAINT_VIOLATED",
    # what has no order is refused
    ("maintenance", 5): "InvalidArgumentError: zorder_by: v cannot be Z-ordered by: its type is void",
    ("maintenance", 6): "InvalidArgumentError: zorder_by: s.n cannot be Z-ordered by: its type is void",
    # one condition for SQL and DataFrames
    ("a_table_as_select", 13): "DELTA_INVALID_PARTITION_COLUMN_TYPE",
    ("partitions", 1): "DELTA_INVALID_PARTITION_COLUMN_TYPE",
}


@pytest.mark.parametrize("situation", [s.__name__ for s in SITUATIONS])
def test_both_engines_answer_alike(answers: tuple[Answers, Answers], situation: str) -> None:
    ours, theirs = answers[0][situation], answers[1][situation]
    assert len(ours) == len(theirs)
    for step, (our, their) in enumerate(zip(ours, theirs, strict=True)):
        if (situation, step) in DIFFERENT:
            assert our == {"condition": DIFFERENT[situation, step]} != their, step
        else:
            assert our == their, step


def test_delta_spark_reads_what_arrow_wrote_and_the_other_way_round(
    delta_spark: Any, tmp_path: Path, same: Any
) -> None:
    path = tmp_path / "t"
    inner = pa.struct({"a": pa.int64(), "n": pa.null()})
    rows = pa.table(
        {
            "id": pa.array([1, 2], pa.int64()),
            "v": pa.nulls(2),
            "s": pa.array([{"a": 1, "n": None}, None], inner),
        }
    )
    deltaic.write(path, rows)
    schema, found = delta_spark.answer(f"SELECT * FROM delta.`{path}` WHERE v IS NULL ORDER BY id")
    assert [f["type"] for f in schema["fields"]][:2] == ["long", "void"]
    assert [json.loads(row) for row in found] == rows.to_pylist()
    delta_spark.sql(f"INSERT INTO delta.`{path}` VALUES (3, NULL, named_struct('a', 5L, 'n', NULL))")
    read = pa.table(deltaic.Table(path).to_arrow())
    assert read.schema.types == rows.schema.types
    more = pa.table(
        {
            "id": pa.array([3], pa.int64()),
            "v": pa.nulls(1),
            "s": pa.array([{"a": 5, "n": None}], inner),
        }
    )
    same(read, pa.concat_tables([rows, more]))
