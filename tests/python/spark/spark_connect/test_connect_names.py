"""What a Connect server would begin and not finish with a table of the catalog is refused: nothing has changed then."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException

import deltaic
from deltaic.exceptions import UnsupportedError
from deltaic.spark.catalog import names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.spark

ROWS = [(1, "x")]

# each would drop the name, and of a managed table the files
REPLACED: dict[str, Callable[[Any, Any], Any]] = {
    "saveAsTable": lambda df, _: df.write.format("delta").mode("overwrite").saveAsTable("kept"),
    "saveAsTable without a format": lambda df, _: df.write.mode("overwrite").saveAsTable("kept"),
    "saveAsTable with a path": lambda df, _: (
        df.write.format("Delta").option("path", "/nowhere").mode("overwrite").saveAsTable("default.kept")
    ),
    "saveAsTable of another format": lambda df, _: (
        df.write.format("parquet").mode("overwrite").saveAsTable("spark_catalog.default.kept")
    ),
    "replace": lambda df, _: df.writeTo("kept").using("delta").replace(),
    "createOrReplace": lambda df, _: df.writeTo("kept").using("delta").createOrReplace(),
    "createOrReplace of another format": lambda df, _: df.writeTo("kept").using("csv").createOrReplace(),
    "CREATE OR REPLACE AS": lambda _, s: s.sql("CREATE OR REPLACE TABLE kept USING delta AS SELECT 5 AS a"),
    "CREATE OR REPLACE": lambda _, s: s.sql("/* c */ create or replace table kept (a INT) using DELTA"),
    "REPLACE": lambda _, s: s.sql("REPLACE TABLE kept AS SELECT ';' AS a"),
    "REPLACE by another format": lambda _, s: s.sql("REPLACE TABLE kept USING parquet AS SELECT 5 AS a"),
    "a computed name": lambda _, s: s.sql(
        "CREATE OR REPLACE TABLE IDENTIFIER(:n) USING delta AS SELECT 5 AS a", args={"n": "kept"}
    ),
    "a query with a DataFrame": lambda df, s: s.sql(
        "CREATE OR REPLACE TABLE kept USING delta AS SELECT * FROM {df}", df=df
    ),
    "EXECUTE IMMEDIATE": lambda _, s: s.sql(
        "EXECUTE IMMEDIATE 'CREATE OR REPLACE TABLE kept USING delta AS SELECT 5 AS a'"
    ),
    "EXECUTE IMMEDIATE of a variable": lambda _, s: s.sql("EXECUTE IMMEDIATE replacing"),
    "a script": lambda _, s: s.sql(
        "BEGIN SELECT 1; CREATE OR REPLACE TABLE kept USING delta AS SELECT 5 AS a; SELECT 2; END"
    ),
}
# each would make a name without a table
MADE: dict[str, Callable[[Any, Any], Any]] = {
    "CREATE TABLE": lambda _, s: s.sql("CREATE TABLE made (a INT) USING delta"),
    "CREATE TABLE IF NOT EXISTS": lambda _, s: s.sql("CREATE TABLE IF NOT EXISTS made (a INT) USING delta"),
    "CREATE TABLE AS": lambda _, s: s.sql("CREATE TABLE made USING delta AS SELECT 1 AS a"),
    "createTable": lambda df, s: s.catalog.createTable("made", source="delta", schema=df.schema),
    "saveAsTable": lambda df, _: df.write.format("delta").saveAsTable("made"),
    "create": lambda df, _: df.writeTo("made").using("delta").create(),
}
# the server itself refuses these before anything happens
REFUSED: dict[str, Callable[[Any, Any], Any]] = {
    "saveAsTable append": lambda df, _: df.write.format("delta").mode("append").saveAsTable("kept"),
    "saveAsTable": lambda df, _: df.write.format("delta").saveAsTable("kept"),
    "insertInto": lambda df, _: df.write.insertInto("kept"),
    "insertInto overwrite": lambda df, _: df.write.insertInto("kept", overwrite=True),
    "create": lambda df, _: df.writeTo("kept").using("delta").create(),
    "append": lambda df, _: df.writeTo("kept").append(),
    "overwritePartitions": lambda df, _: df.writeTo("kept").overwritePartitions(),
    "INSERT": lambda _, s: s.sql("INSERT INTO kept SELECT 2, 'y'"),
    "INSERT OVERWRITE": lambda _, s: s.sql("INSERT OVERWRITE kept SELECT 2, 'y'"),
    "TRUNCATE": lambda _, s: s.sql("TRUNCATE TABLE kept"),
    "DELETE": lambda _, s: s.sql("DELETE FROM kept"),
}


@pytest.fixture(scope="module", params=["managed", "external"])
def kept(request: Any, connect: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the table `kept` of the catalog is, with its files in the catalog's keeping or not."""
    if request.param == "managed":
        # as another client of the catalog makes one
        guarded = connect.client.__dict__.pop("execute_command")
        connect.sql("CREATE TABLE kept (a INT, b STRING) USING delta")
        connect.client.execute_command = guarded
        place = names.known(connect, ["kept"]).path
    else:
        place = str(tmp_path_factory.mktemp("kept") / "t")
    deltaic.write(place, pa.table({"a": pa.array([1], pa.int32()), "b": ["x"]}))
    if request.param == "external":
        deltaic.sql(connect, f"CREATE TABLE kept USING delta LOCATION '{place}'")
    connect.sql("DECLARE OR REPLACE VARIABLE replacing = 'REPLACE TABLE kept USING delta AS SELECT 5 AS a'")
    connect.conf.set("spark.sql.sources.default", "delta")
    yield place
    connect.conf.unset("spark.sql.sources.default")
    connect.sql("DROP TEMPORARY VARIABLE replacing")
    connect.sql("DROP TABLE kept")


def _state(connect: Any, place: str) -> Any:
    facts = {key: value for key, value, _ in connect.sql("DESCRIBE TABLE EXTENDED kept").collect()}
    files = sorted(path for path in Path(place).rglob("*") if path.is_file())
    return names.known(connect, ["kept"]), facts, files, deltaic.read(connect, place).collect()


@pytest.mark.parametrize("how", REPLACED)
def test_a_table_is_not_replaced_by_halves(connect: Any, kept: str, how: str) -> None:
    before = _state(connect, kept)
    assert before[3] == ROWS
    rows = connect.range(1).selectExpr("CAST(id AS INT) AS a", "'y' AS b")
    with pytest.raises(UnsupportedError, match="not supported on Spark Connect: "):
        REPLACED[how](rows, connect)
    assert _state(connect, kept) == before


@pytest.mark.parametrize("how", REFUSED)
def test_what_the_server_refuses_changes_nothing(connect: Any, kept: str, how: str) -> None:
    before = _state(connect, kept)
    rows = connect.range(1).selectExpr("CAST(id AS INT) AS a", "'y' AS b")
    with pytest.raises(PySparkException):
        REFUSED[how](rows, connect)
    assert _state(connect, kept) == before


@pytest.mark.parametrize("how", MADE)
def test_no_name_is_made_without_a_table(connect: Any, how: str) -> None:
    rows = connect.range(1).selectExpr("CAST(id AS INT) AS a", "'y' AS b")
    with pytest.raises((UnsupportedError, PySparkException)):
        MADE[how](rows, connect)
    assert not connect.catalog.tableExists("made")


def test_tables_of_other_formats_are_replaced_by_the_server(connect: Any) -> None:
    rows = connect.range(2)
    try:
        rows.write.format("parquet").saveAsTable("others")
        rows.limit(1).write.format("parquet").mode("overwrite").saveAsTable("others")
        assert connect.table("others").count() == 1
        connect.sql("CREATE TABLE IF NOT EXISTS others (b INT) USING delta")
        assert connect.table("others").columns == ["id"]
        connect.catalog.createTable("more", source="parquet", schema=rows.schema)
    finally:
        connect.sql("DROP TABLE IF EXISTS others")
        connect.sql("DROP TABLE IF EXISTS more")
