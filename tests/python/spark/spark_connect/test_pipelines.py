"""Spark Declarative Pipelines with Delta tables, by the command `spark-pipelines`.

What the tables then hold, and the commits, are as delta-spark 4.4 leaves them with PySpark 4.1, where that can: it
refuses clustering, and second runs of tables that name their format; and it commits properties that do not change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyspark
import pytest
from pipelines import Project, history, of_the_page, rows

import deltaic

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SPARK = tuple(map(int, pyspark.__version__.split(".")[:2]))
pytestmark = [
    pytest.mark.spark,
    pytest.mark.timeout(900),
    pytest.mark.skipif(SPARK < (4, 1), reason="pipelines came with 4.1"),
]
HAS_AUTO_CDC = SPARK >= (4, 3)


@pytest.fixture
def database(served: Any, request: pytest.FixtureRequest) -> Iterator[str]:
    name = f"of_{request.node.originalname}"
    served.sql(f"CREATE DATABASE {name}").collect()
    served.sql(
        f"CREATE TABLE {name}.raw (id BIGINT, item STRING, amount BIGINT, day STRING) USING delta"
    ).collect()
    served.sql(
        f"INSERT INTO {name}.raw VALUES (1, 'a', 10, 'mon'), (2, 'b', 20, 'mon'), (3, 'a', 30, 'tue')"
    ).collect()
    yield name
    served.sql(f"DROP DATABASE {name} CASCADE").collect()


def test_the_example(served: Any, admins: str, database: str, tmp_path: Path) -> None:
    project = Project(tmp_path / "project", database)
    files = of_the_page()
    assert list(files) == ["orders.py", "days.sql", "customers.py"]
    for name, text in files.items():
        if name != "customers.py" or HAS_AUTO_CDC:
            project.define(name, text)
    served.sql(
        f"CREATE TABLE {database}.customer_changes (id BIGINT, city STRING, op STRING, seq BIGINT) USING delta"
    ).collect()
    served.sql(
        f"INSERT INTO {database}.customer_changes VALUES (1, 'rome', 'upsert', 1), (2, 'oslo', 'upsert', 1), "
        "(1, 'paris', 'upsert', 3), (2, NULL, 'delete', 4)"
    ).collect()

    project.succeed("run", "--remote", admins)
    assert rows(served, f"SELECT * FROM {database}.totals") == [("a", 40), ("b", 20)]
    assert rows(served, f"SELECT * FROM {database}.days") == [("mon", 2), ("tue", 1)]
    assert rows(served, f"SELECT id FROM {database}.large") == [(2,), (3,)]

    served.sql(f"ALTER TABLE {database}.raw ADD COLUMN note STRING").collect()
    served.sql(f"INSERT INTO {database}.raw VALUES (4, 'c', 5, 'wed', 'late')").collect()
    served.sql(
        f"INSERT INTO {database}.customer_changes VALUES (1, 'berlin', 'upsert', 2), (2, 'kiel', 'upsert', 3), "
        "(3, 'nice', 'upsert', 5)"
    ).collect()
    project.define("orders.py", files["orders.py"].replace("as they come", "as they came"))
    project.succeed("run", "--remote", admins)
    assert rows(served, f"SELECT id, note FROM {database}.orders") == [
        (1, None),
        (2, None),
        (3, None),
        (4, "late"),
    ]
    assert rows(served, f"SELECT * FROM {database}.totals") == [("a", 40), ("b", 20), ("c", 5)]
    assert rows(served, f"SELECT * FROM {database}.totals VERSION AS OF 1") == [("a", 40), ("b", 20)]
    assert rows(served, f"SELECT * FROM {database}.days") == [("mon", 2), ("tue", 1), ("wed", 1)]
    changed = ["SET TBLPROPERTIES", "ADD COLUMNS"]
    assert history(served, f"{database}.orders") == [
        "CREATE TABLE",
        "STREAMING UPDATE",
        *changed,
        "STREAMING UPDATE",
    ]
    for view in ("totals", "days"):
        assert history(served, f"{database}.{view}") == ["CREATE TABLE", "WRITE", "TRUNCATE", "WRITE"]
    orders = deltaic.Table(served.sql(f"DESCRIBE DETAIL {database}.orders").first().location)
    assert orders.metadata.description == "orders as they came"
    assert orders.partition_columns == ["day"]
    assert orders.properties["delta.enableChangeDataFeed"] == "true"
    totals = served.sql(f"DESCRIBE DETAIL {database}.totals").first()
    assert totals.clusteringColumns == ["item"]
    if HAS_AUTO_CDC:
        _check_customers(served, database)


def _check_customers(served: Any, database: str) -> None:
    assert rows(served, f"SELECT id, city FROM {database}.customers") == [(1, "paris"), (3, "nice")]
    assert rows(served, f"SELECT id, city, __START_AT, __END_AT FROM {database}.customers_history") == [
        (1, "berlin", 2, 3),
        (1, "paris", 3, None),
        (1, "rome", 1, 2),
        (2, "kiel", 3, 4),
        (2, "oslo", 1, 3),
        (3, "nice", 5, None),
    ]
    for target in ("customers", "customers_history"):
        assert history(served, f"{database}.{target}") == ["CREATE TABLE", "MERGE", "MERGE"]
