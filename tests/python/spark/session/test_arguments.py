"""Odd arguments are refused by the classes of delta-spark, before anything is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from dml_tables import ids, versions
from pyspark.errors import AnalysisException, IllegalArgumentException, ParseException
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

import deltaic
from deltaic import exceptions
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture
def path(spark: SparkSession, tmp_path: Path) -> str:
    path = str(tmp_path / "t")
    spark.range(6).selectExpr("id", "id % 2 AS p").write.format("delta").partitionBy("p").save(path)
    return path


def merge(table: DeltaTable) -> Any:
    return table.alias("t").merge(table.toDF().alias("s"), "t.id = s.id")


CASES: dict[str, tuple[Callable[[DeltaTable], Any], type[Exception], str]] = {
    "delete by a number": (lambda t: t.delete(1), TypeError, "'condition' must be"),
    "update without columns": (lambda t: t.update("id = 1"), ValueError, "set"),
    "update by a list": (lambda t: t.update(set=[("id", "1")]), TypeError, "'set' must be a dict"),
    "update to a number": (lambda t: t.update(set={"id": 1}), TypeError, "Values of dict in 'set'"),
    "update of a column by its place": (lambda t: t.update(set={1: "1"}), TypeError, "Keys of dict in 'set'"),
    "update of a column that is not there": (lambda t: t.update(set={"x": "1"}), AnalysisException, "`x`"),
    "delete by a column that is not there": (lambda t: t.delete("x = 1"), AnalysisException, "x"),
    "delete by no SQL": (lambda t: t.delete("id = = 1"), ParseException, "id"),
    "merge of nothing": (lambda t: t.merge(None, "true"), ValueError, "source"),
    "merge of a list": (lambda t: t.merge([1], "true"), TypeError, "'source' in merge must be DataFrame"),
    "merge without a condition": (lambda t: t.merge(t.toDF(), None), ValueError, "condition"),
    "merge by a number": (lambda t: t.merge(t.toDF(), 1), TypeError, "'condition' must be"),
    "merge without a clause": (lambda t: merge(t).execute(), AnalysisException, "needs a clause"),
    "merge with clauses out of order": (
        lambda t: merge(t).whenMatchedDelete().whenMatchedUpdateAll().execute(),
        AnalysisException,
        "only the last",
    ),
    "merge that sets nothing": (lambda t: merge(t).whenMatchedUpdate("t.id = 1"), ValueError, "set"),
    "merge that inserts nothing": (lambda t: merge(t).whenNotMatchedInsert("true"), ValueError, "values"),
    "merge with a number as a condition": (lambda t: merge(t).whenMatchedDelete(1), TypeError, "'condition'"),
    "vacuum of what is young": (lambda t: t.vacuum(1), IllegalArgumentException, "retention"),
    "vacuum of the future": (lambda t: t.vacuum(-1), IllegalArgumentException, "-1"),
    "a version that is not there": (lambda t: t.restoreToVersion(7), AnalysisException, "7"),
    "a time before the table": (lambda t: t.restoreToTimestamp("2001-01-01"), AnalysisException, "2001"),
    "optimize of rows": (
        lambda t: t.optimize().where("id > 1").executeCompaction(),
        AnalysisException,
        "partition",
    ),
    "optimize by a column that is not there": (
        lambda t: t.optimize().where("x = 1").executeCompaction(),
        AnalysisException,
        "x",
    ),
    "z-order by nothing that is there": (
        lambda t: t.optimize().executeZOrderBy("x"),
        IllegalArgumentException,
        "x",
    ),
    "a mode that is none": (lambda t: t.generate("json"), IllegalArgumentException, "json"),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_refused(spark: SparkSession, path: str, case: str) -> None:
    act, error, said = CASES[case]
    with pytest.raises(error, match=said):
        act(DeltaTable.forPath(spark, path))
    assert versions(path) == 1


def test_a_condition_is_text_or_a_column_or_none(spark: SparkSession, path: str) -> None:
    table = DeltaTable.forPath(spark, path)
    table.delete(F.col("id") == 1)
    table.delete(condition="id = 2")
    assert ids(table.toDF()) == [0, 3, 4, 5]
    table.update(F.lit(True), {"id": F.col("id") + 1})
    assert ids(table.toDF()) == [1, 4, 5, 6]
    table.delete(None)
    assert ids(table.toDF()) == []


def test_errors_of_tables_are_those_of_spark_too(spark: SparkSession, path: str, tmp_path: Path) -> None:
    with pytest.raises(AnalysisException) as missing:
        DeltaTable.forPath(spark, str(tmp_path / "none"))
    assert isinstance(missing.value, exceptions.TableNotFoundError)
    assert missing.value.kind == "TableNotFound"
    with pytest.raises(AnalysisException) as missing:
        _ = spark.read.format("delta").load(str(tmp_path / "none")).schema
    assert isinstance(missing.value, exceptions.TableNotFoundError)
    with pytest.raises(AnalysisException) as there:
        spark.range(3).write.format("delta").save(path)
    assert isinstance(there.value, exceptions.TableAlreadyExistsError)
    assert there.value.version == 0
    with pytest.raises(AnalysisException) as unfit:
        deltaic.save(spark.range(3).toDF("new"), path, mode="append")
    assert isinstance(unfit.value, exceptions.SchemaMismatchError)
    assert unfit.value.facts.keys() == {"path", "reason"}


@pytest.mark.classic("looks at the session of the JVM")
def test_without_a_session_the_active_one_is_enabled(spark: SparkSession, path: str) -> None:
    found: Any = deltaic.enable()
    assert found._jsparkSession.equals(spark._jsparkSession)
    assert found.read.format("delta").load(path).count() == 6
