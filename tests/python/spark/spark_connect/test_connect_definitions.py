"""`deltaic.sql` on Spark Connect makes and changes tables as a classic session does by its catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from alike import compare
from pyspark.errors import AnalysisException, PySparkException

import deltaic
from deltaic.exceptions import (
    DeltaError,
    InvalidArgumentError,
    InvalidColumnChangeError,
    InvalidSchemaError,
    SchemaMismatchError,
    TableAlreadyExistsError,
    TableNotFoundError,
    UnsupportedError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.spark

WIDE = """CREATE TABLE {t} (id BIGINT NOT NULL, name STRING, n INT, s STRUCT<a: INT, b: STRING>) USING delta
          TBLPROPERTIES ('delta.columnMapping.mode' = 'name', delta.feature.allowColumnDefaults = 'supported')"""
SCRIPTS: dict[str, list[str]] = {
    "columns": [
        """CREATE TABLE {t} (
             id BIGINT GENERATED ALWAYS AS IDENTITY (START WITH 10 INCREMENT BY 2), c CHAR(3), v VARCHAR(5) COMMENT 'v',
             at TIMESTAMP NOT NULL COMMENT "it's", day DATE GENERATED ALWAYS AS (cast( at as DATE)),
             d DECIMAL(12, 2) DEFAULT abs(-1.5), s STRUCT<a: ARRAY<INT> COMMENT 'x', m: MAP<STRING, DATE>>)
           USING delta PARTITIONED BY (day) COMMENT 'of all'
           TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported', delta.checkpointInterval = 5, k=TRUE)""",
    ],
    "partition columns with types": [
        "CREATE TABLE {t} (a INT) USING delta PARTITIONED BY (p STRING, q DATE)"
    ],
    "clustering": [
        "CREATE TABLE {t} (a INT, s STRUCT<b: INT>) USING delta CLUSTER BY (a, s.b)",
        "ALTER TABLE {t} CLUSTER BY (s.b)",
        "ALTER TABLE {t} CLUSTER BY NONE",
    ],
    "replaced": [
        "CREATE TABLE IF NOT EXISTS {t} (a INT) USING delta TBLPROPERTIES (k = 1)",
        "CREATE TABLE IF NOT EXISTS {t} (b INT) USING delta",
        "REPLACE TABLE {t} (c INT NOT NULL, d INT) USING delta PARTITIONED BY (c)",
        "CREATE OR REPLACE TABLE {t} (d INT) USING delta COMMENT 'new'",
    ],
    "with rows": [
        """CREATE TABLE {t} USING delta PARTITIONED BY (p) COMMENT 'rows' TBLPROPERTIES ('delta.appendOnly' = 'false')
           AS SELECT id, cast(id % 2 AS STRING) AS p FROM range(0, 6, 1, 1); """,
        "CREATE TABLE IF NOT EXISTS {t} USING delta AS SELECT 1 AS other",
        "REPLACE TABLE {t} USING delta CLUSTER BY (id) AS WITH r AS (SELECT 7L AS id) SELECT * FROM r",
        "CREATE OR REPLACE TABLE {t} USING delta COMMENT 'c' AS SELECT id + 1L AS a, 'x' AS `b` FROM {t}",
    ],
    "columns added": [
        WIDE,
        "ALTER TABLE {t} ADD COLUMNS (first INT FIRST, s.c DATE COMMENT 'c' AFTER a, more STRING AFTER id)",
        "ALTER TABLE {t} ADD COLUMN last DOUBLE COMMENT 'l'",
    ],
    "columns replaced": [
        WIDE,
        "ALTER TABLE {t} REPLACE COLUMNS (name STRING COMMENT 'of it', id BIGINT, s STRUCT<b: STRING>)",
        "ALTER TABLE {t} REPLACE COLUMNS (name STRING, id BIGINT, s STRUCT<b: STRING>, n DOUBLE)",
    ],
    "columns changed": [
        WIDE,
        "ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableTypeWidening' = 'true')",
        "ALTER TABLE {t} ALTER COLUMN n TYPE BIGINT, name COMMENT 'of it', s.b FIRST, id DROP NOT NULL",
        "ALTER TABLE {t} ALTER COLUMN name SET DEFAULT concat('a', 'b'), n AFTER id",
        "ALTER TABLE {t} ALTER name DROP DEFAULT",
        "ALTER TABLE {t} CHANGE COLUMN s.a a INT COMMENT 'hive' AFTER b",
        "ALTER TABLE {t} CHANGE n FIRST",
    ],
    "columns renamed and dropped": [
        WIDE,
        "ALTER TABLE {t} RENAME COLUMN s.a TO `a b`",
        "ALTER TABLE {t} RENAME COLUMN name TO title",
        "ALTER TABLE {t} DROP COLUMN s.b",
        "ALTER TABLE {t} DROP COLUMNS IF EXISTS (n, nowhere)",
        "ALTER TABLE {t} DROP COLUMN IF EXISTS nowhere",
    ],
    "properties": [
        WIDE,
        "ALTER TABLE {t} SET TBLPROPERTIES ('a' = 'b', c.d = 1.5, 'delta.appendOnly' = true)",
        "ALTER TABLE {t} UNSET TBLPROPERTIES IF EXISTS ('a', 'nowhere')",
        "ALTER TABLE {t} UNSET TBLPROPERTIES (c.d, nowhere)",
        "COMMENT ON TABLE {t} IS 'a comment'",
        "COMMENT ON TABLE {t} IS NULL",
    ],
}
REFUSED: dict[str, tuple[str, type[Exception]]] = {
    "a table that is there": ("CREATE TABLE {t} (a INT) USING delta", TableAlreadyExistsError),
    "rows of a table that is there": (
        "CREATE TABLE {t} USING delta AS SELECT 1 AS a",
        TableAlreadyExistsError,
    ),
    "a place without a table": ("REPLACE TABLE delta.`{none}` (a INT)", TableNotFoundError),
    "a default of a column": ("CREATE TABLE delta.`{none}` (a INT, b INT DEFAULT a)", AnalysisException),
    "another default of a column": ("ALTER TABLE {t} ALTER COLUMN id SET DEFAULT id + 1", AnalysisException),
    "no columns": ("CREATE OR REPLACE TABLE delta.`{none}`", InvalidSchemaError),
    "a column that is no type": ("ALTER TABLE {t} ADD COLUMN a BIGNT", InvalidArgumentError),
    "SET NOT NULL": ("ALTER TABLE {t} ALTER COLUMN id SET NOT NULL", UnsupportedError),
    "columns added and dropped at once": (
        "ALTER TABLE {t} REPLACE COLUMNS (a INT)",
        InvalidColumnChangeError,
    ),
    "another place": ("ALTER TABLE {t} SET LOCATION '/p'", UnsupportedError),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_tables_are_defined_alike(spark: Any, connect: Any, tmp_path: Path, name: str) -> None:
    paths = []
    for kind, door in (("classic", spark), ("connect", connect)):
        paths.append(str(tmp_path / kind / "t"))
        for statement in SCRIPTS[name]:
            done = deltaic.sql(door, statement.replace("{t}", f"delta.`{paths[-1]}`"))
            assert (done.columns, done.collect()) == ([], [])
    compare(*paths)


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_refused_changes_nothing(connect: Any, spark: Any, tmp_path: Path, what: str) -> None:
    text, kind = REFUSED[what]
    path, none = str(tmp_path / "t"), str(tmp_path / "none")
    deltaic.sql(connect, f"CREATE TABLE delta.`{path}` (id INT)")
    with pytest.raises(kind):
        deltaic.sql(connect, text.format(t=f"delta.`{path}`", none=none))
    with pytest.raises((DeltaError, PySparkException)):
        deltaic.sql(spark, text.format(t=f"delta.`{path}`", none=none))
    assert deltaic.Table(path).version == 0
    assert not (tmp_path / "none").exists()


BY_NAME = [
    """CREATE TABLE IF NOT EXISTS {name} (id BIGINT NOT NULL, p STRING) USING delta PARTITIONED BY (p)
       TBLPROPERTIES ('delta.columnMapping.mode' = 'name')""",
    "CREATE TABLE IF NOT EXISTS {name} (other INT) USING delta",
    "ALTER TABLE {name} ADD COLUMN n INT COMMENT 'n' AFTER id",
    "ALTER TABLE spark_catalog.default.{name} RENAME COLUMN n TO m",
    "COMMENT ON TABLE {name} IS 'a comment'",
    "CREATE OR REPLACE TABLE {name} USING delta COMMENT 'rows' AS SELECT id, id % 2 = 0 AS even FROM range(0, 4, 1, 1)",
]

AS_SELECT = ["CREATE TABLE {name} USING delta AS SELECT id, 'a' AS name FROM by_name VERSION AS OF 4"]


@pytest.fixture
def names(spark: Any, connect: Any) -> Iterator[list[str]]:
    """Names of tables of a test."""
    made = ["by_name", "as_select", "placed", "parquet_table"]
    yield made
    for door in (spark, connect):
        for name in made:
            door.sql(f"DROP TABLE IF EXISTS {name}")


@pytest.mark.usefixtures("names")
def test_tables_of_the_catalog_are_defined_alike(spark: Any, connect: Any) -> None:
    for name, made in (("by_name", BY_NAME), ("as_select", AS_SELECT)):
        paths = []
        for door in (spark, connect):
            for statement in made:
                deltaic.sql(door, statement.format(name=name))
            paths.append(
                deltaic.sql(door, f"DESCRIBE DETAIL {name}").collect()[0].location.removeprefix("file:")
            )
        compare(*paths, owned=True)


ASKED = [
    "DESCRIBE {t}",
    "desc table {t};",
    "SHOW COLUMNS IN {t}",
    "SHOW TBLPROPERTIES {t}",
    "SHOW TBLPROPERTIES {t} ('k')",
    "SHOW TBLPROPERTIES {t} (no.where)",
]


@pytest.mark.parametrize("partitioned", ["", "PARTITIONED BY (p, a)"])
@pytest.mark.usefixtures("names")
def test_tables_are_described_alike_after_a_change(
    spark: Any, connect: Any, tmp_path: Path, partitioned: str
) -> None:
    path = str(tmp_path / "t")
    columns = "a INT NOT NULL COMMENT 'a', p STRING, v VARCHAR(3), s STRUCT<q: ARRAY<INT> COMMENT 'z'>"
    for door in (spark, connect):
        place = f"USING delta {partitioned} LOCATION '{path}' TBLPROPERTIES (k = 'v')"
        deltaic.sql(door, f"CREATE TABLE placed ({columns}) {place}")
    deltaic.Table(path).add_columns("more MAP<STRING, DATE>")
    for statement in ASKED:
        for name in ("placed", f"delta.`{path}`"):
            reported = [deltaic.sql(door, statement.format(t=name)) for door in (spark, connect)]
            assert reported[0].columns == reported[1].columns
            assert [tuple(row) for row in reported[0].collect()] == [
                tuple(row) for row in reported[1].collect()
            ]


@pytest.mark.usefixtures("names")
def test_what_is_no_table_of_ours_the_server_describes(connect: Any) -> None:
    connect.sql("CREATE TABLE parquet_table (a INT) USING parquet TBLPROPERTIES (k = 'v')")
    assert deltaic.sql(connect, "DESCRIBE parquet_table").collect()[0].col_name == "a"
    assert ("k", "v") in [
        tuple(row) for row in deltaic.sql(connect, "SHOW TBLPROPERTIES parquet_table").collect()
    ]
    assert deltaic.sql(connect, "DESCRIBE SCHEMA default").count() > 0
    assert deltaic.sql(connect, "DESCRIBE QUERY SELECT 1 AS a").count() == 1


@pytest.mark.usefixtures("names")
def test_a_table_with_a_place_is_registered_in_the_catalog(connect: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "it's here")
    # as SQL writes it
    place = path.replace("'", "\\'")
    deltaic.sql(connect, f"CREATE TABLE placed USING delta LOCATION '{place}' AS SELECT 1 AS a")
    assert deltaic.Table(path).version == 0
    connect.sql("DROP TABLE placed")
    with pytest.raises(TableAlreadyExistsError):
        deltaic.sql(connect, f"CREATE TABLE placed USING delta LOCATION '{place}' AS SELECT 1 AS a")
    with pytest.raises(SchemaMismatchError):
        deltaic.sql(connect, f"CREATE TABLE placed (b INT) USING delta LOCATION '{place}'")
    assert not connect.catalog.tableExists("placed")
    deltaic.sql(connect, f"CREATE TABLE placed USING delta LOCATION '{place}'")
    deltaic.sql(connect, "ALTER TABLE placed SET TBLPROPERTIES (k = 'v')")
    assert deltaic.Table(path).properties == {"k": "v"}
    assert deltaic.Table(path).version == 1


@pytest.mark.usefixtures("names")
def test_tables_of_other_formats_are_the_servers(connect: Any) -> None:
    deltaic.sql(connect, "CREATE TABLE parquet_table (a INT, p STRING) USING parquet PARTITIONED BY (p)")
    deltaic.sql(connect, "ALTER TABLE parquet_table ADD COLUMNS (b INTERVAL DAY)")
    deltaic.sql(connect, "ALTER TABLE parquet_table ADD PARTITION (p = 'a')")
    assert connect.table("parquet_table").columns == ["a", "b", "p"]
    with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND"):
        deltaic.sql(connect, "ALTER TABLE nowhere ADD COLUMNS (a INT)")


def test_a_query_that_fails_makes_no_table(connect: Any, tmp_path: Path) -> None:
    path = tmp_path / "t"
    for query in ("SELECT nothing", "SELECT 1 AS a, 2 AS A", "SELECT raise_error('no') AS a"):
        with pytest.raises((DeltaError, PySparkException)):
            deltaic.sql(connect, f"CREATE TABLE delta.`{path}` AS {query}")
        with pytest.raises(TableNotFoundError):
            deltaic.Table(str(path))
