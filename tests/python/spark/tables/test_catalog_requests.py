"""What callers of Spark's catalog ask of a table beyond SQL, as pipelines do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import deltaic
from deltaic.exceptions import InvalidArgumentError, InvalidColumnChangeError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.classic("asks the catalog in the JVM")]


@pytest.fixture
def name(spark: SparkSession) -> Iterator[str]:
    yield "requested"
    spark.sql("DROP TABLE IF EXISTS requested")


def _class(spark: SparkSession, name: str) -> Any:
    return getattr(spark.sparkContext._gateway.jvm, f"org.apache.spark.sql.connector.{name}")


def _array(spark: SparkSession, of: Any, *items: Any) -> Any:
    made = spark.sparkContext._gateway.new_array(of, len(items))
    for i, item in enumerate(items):
        made[i] = item
    return made


def _texts(spark: SparkSession, *texts: str) -> Any:
    return _array(spark, spark.sparkContext._gateway.jvm.java.lang.String, *texts)


def _catalog(spark: SparkSession) -> Any:
    return spark._jsparkSession.sessionState().catalogManager().currentCatalog()


def _identifier(spark: SparkSession, name: str) -> Any:
    return _class(spark, "catalog.Identifier").of(_texts(spark, "default"), name)


def _type(spark: SparkSession, text: str) -> Any:
    return spark.sparkContext._gateway.jvm.org.apache.spark.sql.types.DataType.fromDDL(text)


def _alter(spark: SparkSession, name: str, *changes: Any) -> None:
    _catalog(spark).alterTable(
        _identifier(spark, name), _array(spark, _class(spark, "catalog.TableChange"), *changes)
    )


def _history(spark: SparkSession, name: str) -> list[str]:
    rows = spark.sql(f"DESCRIBE HISTORY {name}").collect()
    return [row.operation for row in sorted(rows, key=lambda row: row.version)]


def test_changes_of_several_kinds(spark: SparkSession, name: str) -> None:
    change = _class(spark, "catalog.TableChange")
    spark.sql(
        f"CREATE TABLE {name} (a BIGINT, b STRING, c INT NOT NULL) USING delta "
        "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
    )
    spark.sql(f"INSERT INTO {name} VALUES (1, 'x', 2)")
    _alter(
        spark,
        name,
        change.addColumn(_texts(spark, "d"), _type(spark, "double"), True, "new"),
        change.deleteColumn(_texts(spark, "b"), False),
        change.updateColumnNullability(_texts(spark, "c"), True),
        change.updateColumnComment(_texts(spark, "a"), "key"),
        change.setProperty("team", "x"),
        change.setProperty("comment", "said"),
        change.setProperty("provider", "DELTA"),
    )
    assert [(r.a, r.c, r.d) for r in spark.table(name).collect()] == [(1, 2, None)]
    assert _history(spark, name)[2:] == ["SET TBLPROPERTIES", "DROP COLUMNS", "ADD COLUMNS", "CHANGE COLUMNS"]
    table = deltaic.Table(spark.sql(f"DESCRIBE DETAIL {name}").first().location)
    assert [(f.name, f.nullable, f.metadata.get("comment")) for f in table.schema] == [
        ("a", True, "key"),
        ("c", True, None),
        ("d", True, "new"),
    ]
    assert (table.properties["team"], table.metadata.description) == ("x", "said")
    assert "provider" not in table.properties


def test_columns_that_go_for_others(spark: SparkSession, name: str) -> None:
    """Where one stays, it must not go with them."""
    change = _class(spark, "catalog.TableChange")
    spark.sql(f"CREATE TABLE {name} (a BIGINT, b STRING) USING delta")
    go = change.deleteColumn(_texts(spark, "b"), False)
    come = change.addColumn(_texts(spark, "B"), _type(spark, "int"), True, None)
    with pytest.raises(InvalidColumnChangeError):
        _alter(spark, name, come, go)
    assert spark.table(name).columns == ["a", "b"]
    spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
    _alter(spark, name, come, go)
    assert spark.table(name).dtypes == [("a", "bigint"), ("B", "int")]
    gone = [change.deleteColumn(_texts(spark, column), False) for column in ("a", "B")]
    _alter(spark, name, change.addColumn(_texts(spark, "c"), _type(spark, "int"), True, None), *gone)
    assert spark.table(name).columns == ["c"]


def test_the_format_stays(spark: SparkSession, name: str) -> None:
    change = _class(spark, "catalog.TableChange")
    spark.sql(f"CREATE TABLE {name} (a BIGINT) USING delta")
    _alter(spark, name, change.setProperty("provider", "delta"))
    assert _history(spark, name) == ["CREATE TABLE"]
    with pytest.raises(InvalidArgumentError, match="provider"):
        _alter(spark, name, change.setProperty("provider", "parquet"))


@pytest.mark.parametrize("default", ["delta", "parquet"])
def test_a_table_without_a_format(spark: SparkSession, name: str, setting: Any, default: str) -> None:
    setting("spark.sql.sources.default", default)
    column = _class(spark, "catalog.Column")
    catalog = _catalog(spark)
    catalog.createTable(
        _identifier(spark, name),
        _array(spark, column, column.create("a", _type(spark, "bigint"))),
        _array(spark, _class(spark, "expressions.Transform")),
        spark.sparkContext._gateway.jvm.java.util.HashMap(),
    )
    spark.sql(f"INSERT INTO {name} VALUES (1)")
    described = {r.col_name: r.data_type for r in spark.sql(f"DESCRIBE EXTENDED {name}").collect()}
    assert described["Provider"] == default
    if default == "delta":
        assert _history(spark, name) == ["CREATE TABLE", "WRITE"]


def test_an_append_names_the_clustering(spark: SparkSession, name: str) -> None:
    """delta-spark refuses it: its tables do not say how they are clustered."""
    spark.sql(f"CREATE TABLE {name} (a BIGINT, s STRUCT<`b.c`: INT>) USING delta CLUSTER BY (a, s.`b.c`)")
    rows = spark.sql("SELECT 1L AS a, named_struct('b.c', 2) AS s")
    rows.write.format("delta").clusterBy("a", "s.`b.c`").mode("append").saveAsTable(name)
    with pytest.raises(Exception, match="do not match"):
        rows.write.format("delta").clusterBy("s.`b.c`").mode("append").saveAsTable(name)
    assert spark.table(name).count() == 1
    # Spark would print it as partitioning
    described = {r.col_name for r in spark.sql(f"DESCRIBE EXTENDED {name}").collect()}
    assert "# Partition Information" not in described


def test_the_description_is_shown(spark: SparkSession, name: str) -> None:
    """As by delta-spark."""
    spark.sql(f"CREATE TABLE {name} (a BIGINT) USING delta COMMENT 'said'")
    described = {r.col_name: r.data_type for r in spark.sql(f"DESCRIBE EXTENDED {name}").collect()}
    assert described["Comment"] == "said"
