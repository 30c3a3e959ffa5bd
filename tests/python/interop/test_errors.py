"""Errors go by delta-spark's names: class in Python, condition, SQLSTATE and message parameters."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyspark
import pytest
from areas.errors import AREA
from error_situations import SITUATIONS, attempt
from pyspark import errors
from recorded import recorded_of, theirs_of

from deltaic import _core, exceptions
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# what PySpark has no class for comes as this one; an error of ours is one of deltaic
BARE = "Py4JJavaError"


def _conditions_of(jars: list[str], name: str) -> dict[str, Any]:
    for jar in jars:
        with zipfile.ZipFile(jar) as files:
            if name in files.namelist():
                found: dict[str, Any] = json.loads(files.read(name))
                return found
    raise AssertionError(f"no JAR has {name}")


def test_no_condition_is_invented(delta_jars: list[str]) -> None:
    """Name, SQLSTATE and parameters are those of the JSON of delta-spark, or of Spark."""
    theirs = _conditions_of(delta_jars, "error/delta-error-classes.json")
    sparks = _conditions_of(
        [str(jar) for jar in Path(pyspark.__path__[0], "jars").glob("spark-common-utils*.jar")],
        "error/error-conditions.json",
    )
    table = _core.error_conditions()
    for name, sql_state, spark_class, parameters in map(dict.values, table):
        condition, _, within = name.partition(".")
        found = (theirs if condition in theirs else sparks)[condition]
        detail = found["subClass"][within] if within else {"message": []}
        assert sql_state == detail.get("sqlState", found.get("sqlState")), name
        text = "\n".join([*found["message"], *detail["message"]])
        for parameter, _ in parameters:
            assert f"<{parameter}>" in text, (name, parameter)
        assert hasattr(errors, spark_class), name
    assert len(table) > 100
    facts = dict(_core.error_kinds())
    by_name = {row["name"]: row["parameters"] for row in table}
    for kind, name in _core.conditions_of_kinds():
        for parameter, fact in by_name[name]:
            assert fact is None or fact in facts[kind], (kind, parameter)


def _plain(value: str, at: Path) -> str:
    """A value without what the engines write differently: the place, the scheme of a path, backquotes."""
    return value.replace("`", "").replace("file:", "").replace(str(at), "<at>")


SPARKS = "AnalysisException"
# where deltaic answers something else: the class and the condition of its error, if it gives one
DIFFERENT: dict[str, tuple[str | None, str | None]] = {
    # what is refused by its kind, where delta-spark fails in passing
    "read_without_a_path": ("UnsupportedError", None),
    "reader_version_that_is_unknown": ("UnsupportedFeatureError", "DELTA_INVALID_PROTOCOL_VERSION"),
    # its own error for this has no text there, and fails
    "merge_by_no_column": ("InvalidArgumentError", "DELTA_MERGE_UNRESOLVED_EXPRESSION"),
    "create_with_a_generated_column_by_an_aggregate": (SPARKS, "UNSUPPORTED_EXPR_FOR_OPERATOR"),
    "column_mapping_of_no_mode": ("InvalidArgumentError", None),
    "conversion_of_nothing": ("InvalidArgumentError", "DELTA_EMPTY_DIRECTORY"),
    # what delta-spark lets pass
    "new_schema_with_dynamic_partitions": (
        "InvalidArgumentError",
        "DELTA_OVERWRITE_SCHEMA_WITH_DYNAMIC_PARTITION_OVERWRITE",
    ),
    "vacuum_of_files_that_are_young": ("InvalidArgumentError", "DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT"),
    "vacuum_of_less_than_nothing": ("InvalidArgumentError", "DELTA_VACUUM_RETENTION_PERIOD_NEGATIVE"),
    "clone_of_nothing": ("TableNotFoundError", "DELTA_MISSING_DELTA_TABLE"),
    # delta-spark's error has no condition
    "create_with_another_property": ("SchemaMismatchError", "DELTA_CREATE_TABLE_WITH_DIFFERENT_PROPERTY"),
    # delta-spark's tasks fail, and PySpark has no class for that
    "number_that_is_too_large": ("ArithmeticException", "CAST_OVERFLOW_IN_TABLE_INSERT"),
    "division_by_zero": ("ArithmeticException", "DIVIDE_BY_ZERO"),
    # Spark's analysis comes first
    "read_with_a_schema": (SPARKS, "USER_SPECIFIED_AND_ACTUAL_SCHEMA_MISMATCH"),
    "delete_by_an_aggregate": (SPARKS, "INVALID_WHERE_CONDITION"),
    "create_clustered_by_no_column": (SPARKS, "_LEGACY_ERROR_TEMP_3060"),
}
REFUSED_BEFORE = {"stream_with_two_starts", "stream_with_no_files_a_trigger"}
# parameters whose values the engines word in their own way: times, rows, rules, advice, and names of tables
IN_OWN_WORDS = {
    "advice",
    "cols",
    "commitTs",
    "configs",
    "constraintName",
    "dataSource",
    "earliestTimestamp",
    "expression",
    "lastCommitTimestamp",
    "latestTimestamp",
    "maximumTimestamp",
    "message",
    "providedTimestamp",
    "reason",
    "requestedTimestamp",
    "tableId",
    "table_name",
    "timestampString",
    "userTimestamp",
    "values",
}
# the same, in one situation
IN_ITS_OWN_WORDS: dict[str, set[str]] = {
    # deltaic tells the table and the version that is missing
    "log_without_its_beginning": {"path", "version"},
    # Spark sees the whole CREATE TABLE
    "create_with_a_generated_column_of_no_column": {"proposal"},
    "update_by_another_type": {"sqlExpr"},
    "builder_that_replaces_nothing": {"relationName"},
    "constraint_that_rows_break": {"tableName"},
    # each has its own warehouse
    "managed_table_where_other_files_are": {"tableLocation"},
    "managed_table_as_where_other_files_are": {"tableLocation"},
    # the first file differs
    "conversion_without_the_partition_columns": {"path"},
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_an_error_is_raised_as_by_delta_spark(
    name: str, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    at, there = tmp_path / name, Path("<at>", name)
    ours = attempt(name, spark, DeltaTable, str(at))
    theirs = theirs_of(AREA, name, tmp_path_factory)[0]
    if name in DIFFERENT:
        assert (ours and _class(ours), ours and ours["condition"]) == DIFFERENT[name]
        assert theirs is None or (_class(theirs), theirs["condition"]) != DIFFERENT[name]
        return
    assert (ours is None) == (theirs is None), (ours, theirs)
    if ours is None or theirs is None:
        return
    if theirs["condition"] == "STREAM_FAILED":
        # that of the query's end has the error that ended it in its text; that of deltaic is both
        assert f"[{ours['condition']}]" in theirs["parameters"]["message"]
        assert "DeltaError" in ours["classes"]
        # options are refused before the query begins
        assert ("StreamingQueryException" in ours["classes"]) == (name not in REFUSED_BEFORE)
        return
    assert ours["condition"] == theirs["condition"], (ours, theirs)
    assert ours["sqlState"] == theirs["sqlState"]
    (kind, *_) = theirs["classes"]
    if kind == BARE:
        assert "DeltaError" in ours["classes"]
    else:
        names = {*ours["classes"], *(n for n in vars(exceptions) if _is(ours, n))}
        assert kind in names
    if theirs["condition"] is None:
        if kind in ("TypeError", "ValueError"):
            assert ours["error"] == theirs["error"]
        return
    if "DeltaError" in ours["classes"]:
        assert ours["error"].startswith(f"[{ours['condition']}] ")
        assert ours["error"].count(f"[{ours['condition']}]") == 1
        assert ours["parameters"].keys() <= theirs["parameters"].keys()
    in_own_words = IN_OWN_WORDS | IN_ITS_OWN_WORDS.get(name, set())
    for parameter in (ours["parameters"].keys() & theirs["parameters"].keys()) - in_own_words:
        values = ours["parameters"][parameter], theirs["parameters"][parameter]
        assert _plain(values[0], at) == _plain(values[1], there), parameter


test_delta_spark_answers_as_is_recorded = recorded_of(AREA)


def _class(reported: dict[str, Any]) -> str:
    return str(reported["classes"][0])


def _is(reported: dict[str, Any], name: str) -> bool:
    value = vars(exceptions)[name]
    return isinstance(value, type) and value.__name__ in reported["classes"]
