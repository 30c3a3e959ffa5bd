"""Spark Declarative Pipelines with Delta tables, by the command `spark-pipelines`.

What the tables then hold, and the commits, are as delta-spark 4.4 leaves them with PySpark 4.1, where that can: it
refuses clustering, and second runs of tables that name their format; and it commits properties that do not change.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pyspark
import pytest
from pipelines import Project, history, of_the_page, rows

import deltaic
from deltaic.spark.java import ensure_java

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
BEGIN = "from pyspark import pipelines as dp\nfrom pyspark.sql import SparkSession\nspark = SparkSession.active()\n"


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


@pytest.mark.long
def test_refreshes(served: Any, admins: str, database: str, tmp_path: Path) -> None:
    project = Project(tmp_path / "project", database, {"spark.sql.sources.default": "delta"})
    project.define("all.py", of_the_page()["orders.py"].replace('format="delta",', ""))
    project.succeed("dry-run", "--remote", admins)
    shown = served.sql(f"SHOW TABLES IN {database}").collect()
    assert [t.tableName for t in shown if not t.isTemporary] == ["raw"]
    project.succeed("run", "--remote", admins)
    served.sql(f"DELETE FROM {database}.orders WHERE id = 1").collect()
    project.succeed("run", "--remote", admins, "--refresh", "totals")
    assert rows(served, f"SELECT * FROM {database}.totals") == [("a", 30), ("b", 20)]
    project.succeed("run", "--remote", admins, "--full-refresh", "orders")
    assert rows(served, f"SELECT id FROM {database}.orders") == [(1,), (2,), (3,)]
    assert history(served, f"{database}.orders") == [
        "CREATE TABLE",
        "STREAMING UPDATE",
        "DELETE",
        "TRUNCATE",
        "STREAMING UPDATE",
    ]
    assert history(served, f"{database}.totals") == ["CREATE TABLE", "WRITE", "TRUNCATE", "WRITE"]
    project.succeed("run", "--remote", admins, "--full-refresh-all")
    assert rows(served, f"SELECT * FROM {database}.totals") == [("a", 40), ("b", 20)]


@pytest.mark.long
def test_columns_that_go_and_come(served: Any, admins: str, database: str, tmp_path: Path) -> None:
    """As with delta-spark: without column mapping the run stops, after it has taken the rows of the last one."""
    project = Project(tmp_path / "project", database)
    view = BEGIN + (
        '@dp.materialized_view(format="delta", table_properties={properties}, comment={comment!r})\n'
        "def view():\n    return spark.read.table('raw').selectExpr({columns})\n"
    )
    columns = "'id', 'item', 'amount AS sum'"
    project.define("view.py", view.format(properties="{}", comment="c", columns=columns))
    project.succeed("run", "--remote", admins)
    other = "'id', 'amount AS total', 'day'"
    project.define("view.py", view.format(properties="{}", comment="c", columns=other))
    failed = project.run("run", "--remote", admins)
    assert failed.returncode != 0
    assert "InvalidColumnChangeError" in failed.stdout + failed.stderr
    assert rows(served, f"SELECT id FROM {database}.view") == []
    mapped = '{"delta.columnMapping.mode": "name"}'
    project.define("view.py", view.format(properties=mapped, comment="d", columns=other))
    project.succeed("run", "--remote", admins)
    assert rows(served, f"SELECT id, total, day FROM {database}.view") == [
        (1, 10, "mon"),
        (2, 20, "mon"),
        (3, 30, "tue"),
    ]
    assert sorted(served.table(f"{database}.view").columns) == ["day", "id", "total"]
    # of the columns there is none left
    project.define("view.py", view.format(properties=mapped, comment="d", columns="'item AS x'"))
    project.succeed("run", "--remote", admins)
    assert rows(served, f"SELECT * FROM {database}.view") == [("a",), ("a",), ("b",)]
    project.define(
        "view.py",
        view.format(properties=mapped, comment="d", columns="'item AS x'").replace(
            "format=", 'partition_cols=["x"], format='
        ),
    )
    failed = project.run("run", "--remote", admins)
    assert "CANNOT_UPDATE_PARTITION_COLUMNS" in failed.stdout + failed.stderr


@pytest.mark.long
def test_sinks(served: Any, admins: str, database: str, tmp_path: Path) -> None:
    project = Project(tmp_path / "project", database)
    project.define(
        "sink.py",
        BEGIN + f'dp.create_sink("out", "delta", {{"path": "{tmp_path}/out"}})\n'
        '@dp.append_flow(target="out")\ndef to_out():\n    return spark.readStream.table("raw")\n',
    )
    for count in (3, 6):
        project.succeed("run", "--remote", admins)
        assert served.read.format("delta").load(f"{tmp_path}/out").count() == count
        served.sql(
            f"INSERT INTO {database}.raw SELECT id + 3, item, amount, day FROM {database}.raw"
        ).collect()


@pytest.mark.long
def test_a_server_of_its_own(tmp_path: Path) -> None:
    """Without `--remote`, twice, with a catalog that stays."""
    ensure_java()
    told = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "deltaic", "connect-conf", "--pipelines", "--json"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    settings = {
        **json.loads(told),
        "spark.sql.catalogImplementation": "hive",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.sql.shuffle.partitions": "2",
    }
    raw = str(tmp_path / "raw")
    deltaic.write(raw, _arrow("a", 1))
    project = Project(tmp_path / "project", "default")
    project.set_defaults(settings)
    project.define(
        "all.py",
        BEGIN
        + f'@dp.table(format="delta")\ndef orders():\n    return spark.readStream.format("delta").load("{raw}")\n'
        '@dp.materialized_view(format="delta", cluster_by=["item"])\n'
        'def items():\n    return spark.read.table("orders").select("item").distinct()\n',
    )
    for item, expected in (("b", ["a"]), ("c", ["a", "b"])):
        project.succeed("run")
        table = deltaic.Table(str(project.folder / "spark-warehouse" / "items"))
        assert sorted(_rows(table)) == expected
        deltaic.write(raw, _arrow(item, 2), mode="append")
    assert [c["operation"] for c in reversed(table.history())] == [
        "CREATE TABLE",
        "WRITE",
        "TRUNCATE",
        "WRITE",
    ]


def _arrow(item: str, amount: int) -> Any:
    import pyarrow as pa

    return pa.table({"item": [item], "amount": [amount]})


def _rows(table: deltaic.Table) -> list[str]:
    import pyarrow as pa

    found: list[str] = pa.table(table.to_arrow()).column("item").to_pylist()
    return found
