"""The same SQL statements by deltaic and by delta-spark: answers, rows, schema and history are the same."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import deltaic

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import DeltaSpark, Same
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Numbers:
    """A statement that answers with numbers of files and bytes: their columns are compared, and not they."""

    text: str
    is_said_alike: bool = True
    """Whether the history says the same."""


# `{t}` is the table by its path, `{d}` its folder, `{n}` a name of it in the catalog, `{newest}` the time of its last
# commit
SCRIPTS: dict[str, list[str | Numbers]] = {
    "the protocol": [
        """CREATE TABLE {n} (id BIGINT COMMENT 'c', p STRING) USING delta PARTITIONED BY (p) LOCATION '{d}'
           COMMENT 'about' TBLPROPERTIES ('k' = 'v')""",
        "SHOW TBLPROPERTIES {n}",
        "SHOW TBLPROPERTIES {t} ('delta.minWriterVersion')",
        """ALTER TABLE {n} SET TBLPROPERTIES
           ('delta.enableDeletionVectors' = 'true', 'delta.columnMapping.mode' = 'name')""",
        "SHOW TBLPROPERTIES {t}",
        "SHOW TBLPROPERTIES {n} ('delta.feature.deletionVectors')",
        Numbers("DESCRIBE EXTENDED {n}"),
        "DROP TABLE {n}",
    ],
    "vacuum by an inventory": [
        "CREATE TABLE {t} (id BIGINT) USING delta",
        "INSERT INTO {t} SELECT id FROM range(0, 10, 1, 1)",
        "DELETE FROM {t}",
        "INSERT INTO {t} SELECT id FROM range(10, 20, 1, 1)",
        "SET spark.databricks.delta.retentionDurationCheck.enabled = false",
        # columns of literals would not be the nullable ones that delta-spark asks for
        """INSERT OVERWRITE DIRECTORY '{d}_files' USING parquet SELECT DISTINCT replace(_metadata.file_path, 'file:///',
             'file:/') AS path, _metadata.file_size AS length, false AS isDir, 0L AS modificationTime, 'x' AS more
           FROM parquet.`{d}/*.parquet`""",
        Numbers("VACUUM {t} USING INVENTORY (SELECT * FROM parquet.`{d}_files`) RETAIN 0 HOURS DRY RUN"),
        "SELECT count(*) AS n, sum(cast(isDir AS INT)) AS dirs FROM parquet.`{d}_files`",
        "SELECT * FROM {t} ORDER BY id",
        "RESET spark.databricks.delta.retentionDurationCheck.enabled",
    ],
    "rows": [
        """CREATE TABLE {t} (id BIGINT NOT NULL, p STRING COMMENT 'part', x DOUBLE) USING delta PARTITIONED BY (p)
           COMMENT 'about' TBLPROPERTIES ('k' = 'v', 'delta.enableChangeDataFeed' = 'true')""",
        "INSERT INTO {t} VALUES (1, 'a', 1.0), (2, 'b', 2.0), (3, 'c', 3.0)",
        "INSERT INTO {t} BY NAME SELECT 4.0D AS x, 4L AS id, 'd' AS p",
        "INSERT INTO {t} PARTITION (p = 'e') VALUES (5, 5.0)",
        "INSERT INTO {t} REPLACE WHERE p = 'a' SELECT 9L, 'a', 9D",
        "INSERT OVERWRITE {t} PARTITION (p = 'b') SELECT 6L, 6D",
        "SELECT * FROM {t} VERSION AS OF 1 ORDER BY id",
        "SELECT count(*) AS n FROM delta.`{d}@v2`",
        "UPDATE {t} SET x = x + 1, p = upper(p) WHERE id > 4",
        "DELETE FROM {t} WHERE id = 3 OR p = 'd'",
        "DELETE FROM {t} WHERE id = 77",
        """MERGE INTO {t} AS t USING (SELECT 5L AS id, 'm' AS p, 0D AS x UNION ALL SELECT 20L, 'n', 1D) AS s
           ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED AND s.x > 0 THEN INSERT *
           WHEN NOT MATCHED BY SOURCE AND t.x > 8 THEN DELETE""",
        """MERGE WITH SCHEMA EVOLUTION INTO {t} AS t USING (SELECT 20L AS id, 'new' AS more) AS s ON t.id = s.id
           WHEN MATCHED THEN UPDATE SET *""",
        "SELECT id, p, x, more, _change_type, _commit_version FROM table_changes('delta.`{d}`', 6) ORDER BY ALL",
        "TRUNCATE TABLE {t}",
        "DESCRIBE TABLE {t}",
        "SHOW COLUMNS IN {t}",
    ],
    "alter": [
        "CREATE TABLE {t} (id INT, x DOUBLE, s STRUCT<a: INT>) USING delta",
        "INSERT INTO {t} VALUES (1, 1.0, named_struct('a', 1))",
        "ALTER TABLE {t} SET TBLPROPERTIES ('a' = '1', 'b' = '2')",
        "ALTER TABLE {t} UNSET TBLPROPERTIES ('a')",
        "ALTER TABLE {t} ADD COLUMN y INT COMMENT 'y' FIRST",
        "ALTER TABLE {t} ADD COLUMNS (s.b STRING)",
        "ALTER TABLE {t} ADD COLUMNS (z DATE, zz INT)",
        "ALTER TABLE {t} ADD COLUMNS (s.c INT FIRST, zzz STRING AFTER id)",
        "COMMENT ON TABLE {t} IS 'about'",
        "COMMENT ON TABLE {t} IS NULL",
        Numbers(
            "ALTER TABLE {t} SET TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')",
            is_said_alike=False,
        ),
        "ALTER TABLE {t} ALTER COLUMN zz SET DEFAULT 5 + 2",
        "INSERT INTO {t} (id) VALUES (90)",
        "ALTER TABLE {t} ALTER COLUMN zz DROP DEFAULT",
        "ALTER TABLE {t} ALTER COLUMN y COMMENT 'other'",
        "ALTER TABLE {t} ALTER COLUMN y AFTER id",
        "ALTER TABLE {t} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.enableTypeWidening' = 'true')",
        "ALTER TABLE {t} RENAME COLUMN y TO renamed",
        "ALTER TABLE {t} DROP COLUMNS (z, zz, zzz)",
        "ALTER TABLE {t} ALTER COLUMN id TYPE BIGINT",
        "ALTER TABLE {t} ALTER COLUMN renamed TYPE BIGINT, s.a COMMENT 'in s', x FIRST",
        "ALTER TABLE {t} ADD CONSTRAINT small CHECK (id < 100)",
        "ALTER TABLE {t} DROP CONSTRAINT small",
        "ALTER TABLE {t} CLUSTER BY (id, s.a)",
        "ALTER TABLE {t} CLUSTER BY (x)",
        "ALTER TABLE {t} CLUSTER BY NONE",
        "INSERT INTO {t} VALUES (5000000000, 3, 2.0, named_struct('c', 1, 'a', 2, 'b', 'c'))",
        "SELECT * FROM {t} ORDER BY id",
    ],
    "replace columns": [
        "CREATE TABLE {t} (id INT NOT NULL COMMENT 'key', x DOUBLE, s STRUCT<a: INT, b: STRING>) USING delta",
        "INSERT INTO {t} VALUES (1, 1.0, named_struct('a', 1, 'b', 'x'))",
        """ALTER TABLE {t} REPLACE COLUMNS
           (X DOUBLE COMMENT 'x', s STRUCT<c: DATE COMMENT 'c', B: STRING, a: INT>, id INT, y DATE)""",
        "INSERT INTO {t} VALUES (2.0, named_struct('c', DATE '2024-01-01', 'b', 'y', 'a', 2), 2, NULL)",
        """ALTER TABLE {t} SET TBLPROPERTIES
           ('delta.columnMapping.mode' = 'name', 'delta.enableTypeWidening' = 'true')""",
        "ALTER TABLE {t} REPLACE COLUMNS (id BIGINT, s STRUCT<b: STRING, a: INT>)",
        "ALTER TABLE {t} REPLACE COLUMNS (id BIGINT, s STRUCT<b: STRING, a: INT>, x DOUBLE)",
        "INSERT INTO {t} VALUES (5000000000, named_struct('b', 'z', 'a', 3), 3.0)",
        "DESCRIBE TABLE {t}",
        "SELECT * FROM {t} ORDER BY id",
    ],
    "as select": [
        """CREATE TABLE {t} USING delta CLUSTER BY (id) COMMENT 'about' TBLPROPERTIES ('k' = 'v')
           AS SELECT id, id % 3 AS p FROM range(10)""",
        "CREATE OR REPLACE TABLE {t} USING delta CLUSTER BY (p) COMMENT 'new' AS SELECT * FROM {t} WHERE id < 5",
        "REPLACE TABLE {t} USING delta TBLPROPERTIES ('l' = 'w') AS SELECT id, 'x' AS y FROM {t}",
        "CREATE TABLE {n} USING delta LOCATION '{d}'",
        "INSERT INTO {n} SELECT 7, 'y'",
        "REPLACE TABLE {n} (a INT) USING delta TBLPROPERTIES ('k' = 'v')",
        "CREATE OR REPLACE TABLE {n} (a INT, b STRING) USING delta CLUSTER BY (a)",
        "INSERT INTO {n} SELECT 7, 'y'",
        "SELECT * FROM {n}",
        "DROP TABLE {n}",
        "SELECT * FROM {t}",
    ],
    "like": [
        """CREATE TABLE {n}_source (id BIGINT GENERATED ALWAYS AS IDENTITY COMMENT 'key', a STRING NOT NULL,
           c VARCHAR(5), d INT, p STRING, g INT GENERATED ALWAYS AS (d + 1)) USING delta PARTITIONED BY (p)
           COMMENT 'about' TBLPROPERTIES ('k' = 'v', 'delta.enableChangeDataFeed' = 'true',
           'delta.columnMapping.mode' = 'name', 'delta.feature.allowColumnDefaults' = 'supported')""",
        "ALTER TABLE {n}_source ADD CONSTRAINT small CHECK (d < 10)",
        "ALTER TABLE {n}_source ALTER COLUMN a SET DEFAULT 'x'",
        "ALTER TABLE {n}_source RENAME COLUMN c TO cc",
        "INSERT INTO {n}_source (d, p) VALUES (1, 'p')",
        "CREATE TABLE {n} LIKE {n}_source USING delta LOCATION '{d}' TBLPROPERTIES ('k' = 'w', 'l' = 'm')",
        "INSERT INTO {n} (d, p) VALUES (2, 'q')",
        "CREATE TABLE IF NOT EXISTS {n} LIKE {n}_source",
        "SELECT * FROM {n}",
        "DROP TABLE {n}",
        "DROP TABLE {n}_source",
    ],
    "like parquet": [
        """CREATE TABLE {n}_source (a INT COMMENT 'ca', b VARCHAR(4), p STRING) USING parquet PARTITIONED BY (p)
           COMMENT 'about' TBLPROPERTIES ('k' = 'v')""",
        "CREATE TABLE {t} LIKE {n}_source USING delta TBLPROPERTIES ('l' = 'm')",
        "DESCRIBE TABLE {t}",
        "DROP TABLE {n}_source",
    ],
    "like clustered": [
        "CREATE TABLE {n}_source (a INT, b INT) USING delta CLUSTER BY (a)",
        "CREATE TABLE {t} LIKE {n}_source",
        "INSERT INTO {t} VALUES (1, 2)",
        "DROP TABLE {n}_source",
    ],
    "maintain": [
        """CREATE TABLE {t} USING delta TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')
           AS SELECT id, id % 3 AS p FROM range(10)""",
        "INSERT INTO {t} VALUES (100, 1)",
        Numbers("OPTIMIZE {t}"),
        Numbers("OPTIMIZE {t} ZORDER BY (p)"),
        "DELETE FROM {t} WHERE id = 3",
        Numbers("REORG TABLE {t} APPLY (PURGE)"),
        Numbers("RESTORE TABLE {t} TO VERSION AS OF 1"),
        Numbers("VACUUM {t} DRY RUN"),
        "GENERATE symlink_format_manifest FOR TABLE delta.`{d}`",
        Numbers("DESCRIBE DETAIL {t}"),
        "SELECT count(*) AS n FROM {t}",
        Numbers("CREATE TABLE delta.`{d}/../cloned` SHALLOW CLONE {t}"),
        "SELECT count(*) AS n FROM delta.`{d}/../cloned`",
    ],
    "views": [
        "CREATE TABLE {t} (id INT, v INT, s STRUCT<a: INT>) USING delta",
        "INSERT INTO {t} SELECT CAST(id AS INT), 10, named_struct('a', 1) FROM range(10)",
        "CREATE TEMPORARY VIEW {n}_all AS SELECT * FROM {t}",
        "CREATE TEMPORARY VIEW {n}_aliased AS SELECT * FROM (SELECT * FROM {t} AS x)",
        "CREATE TEMPORARY VIEW {n}_moved AS SELECT v, s, CAST(id AS INT) AS ID FROM {n}_all",
        "UPDATE {n}_all SET v = id + v WHERE id < 3",
        "UPDATE {n}_moved SET v = 20, s.a = 2 WHERE id = 9",
        "DELETE FROM {n}_aliased AS gone WHERE gone.id = 1",
        "DELETE FROM {n}_moved WHERE v = 12",
        """MERGE INTO {n}_aliased USING (SELECT 3 AS id, 33 AS v UNION ALL SELECT 50, 5) AS new
           ON {n}_aliased.id = new.id WHEN MATCHED THEN UPDATE SET v = new.v
           WHEN NOT MATCHED THEN INSERT (id, v) VALUES (new.id, new.v)""",
        """MERGE INTO {n}_all AS t USING (SELECT named_struct('a', 4) AS s, 4 AS id, 44 AS v UNION ALL
           SELECT named_struct('a', 6), 60, 6) AS new ON t.id = new.id
           WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *""",
        "SELECT * FROM {n}_all ORDER BY id",
        "DROP VIEW {n}_moved",
        "DROP VIEW {n}_aliased",
        "DROP VIEW {n}_all",
    ],
    "set location": [
        "CREATE TABLE {t} (id BIGINT, p STRING COMMENT 'part') USING delta PARTITIONED BY (p)",
        "INSERT INTO {t} VALUES (1, 'a')",
        """CREATE TABLE {n} (id BIGINT, p STRING COMMENT 'part') USING delta PARTITIONED BY (p)
           TBLPROPERTIES ('k' = 'v')""",
        "ALTER TABLE {n} SET LOCATION '{d}'",
        "SELECT * FROM {n}",
        "INSERT INTO {n} VALUES (2, 'b')",
        "CREATE TABLE delta.`{d}/../wider` (id BIGINT, x INT) USING delta",
        "SET spark.databricks.delta.alterLocation.bypassSchemaCheck = true",
        "ALTER TABLE {n} SET LOCATION '{d}/../wider'",
        "RESET spark.databricks.delta.alterLocation.bypassSchemaCheck",
        "DESCRIBE TABLE {n}",
        "INSERT INTO {n} VALUES (3, 3)",
        "SELECT * FROM delta.`{d}/../wider`",
        "DROP TABLE {n}",
        "SELECT * FROM {t} ORDER BY id",
    ],
    "facts": [
        """CREATE TABLE {n} (id BIGINT, p STRING) USING delta PARTITIONED BY (p) LOCATION '{d}'
           TBLPROPERTIES ('k' = 'v')""",
        "INSERT INTO {n} VALUES (1, 'a'), (2, 'b')",
        "SHOW TBLPROPERTIES {n} ('k')",
        "SHOW PARTITIONS {n}",
        "SELECT * FROM {n} TIMESTAMP AS OF '{newest}' ORDER BY id",
        "SELECT id FROM {n} FOR SYSTEM_VERSION AS OF 1 WHERE p = 'b'",
        "ALTER TABLE {n} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
        "DELETE FROM {n} WHERE id = 1",
        Numbers("DESCRIBE HISTORY {n}"),
        Numbers("DESCRIBE HISTORY {n} LIMIT 2"),
        "SELECT * FROM {n}",
        "DROP TABLE {n}",
    ],
    "time zones": [
        "CREATE TABLE {t} (id INT, ts TIMESTAMP) USING delta",
        """INSERT INTO {t} SELECT id, TIMESTAMP '2025-12-31 15:00:00Z' + make_dt_interval(0, id)
           FROM (SELECT CAST(id AS INT) AS id FROM range(20))""",
        "SET spark.sql.session.timeZone = America/New_York",
        # the history has instants, and that of delta-spark times in the zone
        Numbers(
            """INSERT INTO {t} REPLACE WHERE ts >= '2026-01-01 00:00:00'
               SELECT 100, TIMESTAMP '2026-01-01 00:00:00'""",
            is_said_alike=False,
        ),
        Numbers(
            """INSERT INTO {t} REPLACE WHERE ts < TIMESTAMP '2025-12-31 12:00:00' OR id = 9
               SELECT 200, TIMESTAMP '2025-12-31 11:59:59'""",
            is_said_alike=False,
        ),
        "UPDATE {t} SET id = id + 1000 WHERE ts > '2025-12-31 20:00:00'",
        "DELETE FROM {t} WHERE hour(ts) = 17",
        "SELECT * FROM {t} WHERE ts >= '2025-12-31 12:00:00' ORDER BY ALL",
        "SET spark.sql.session.timeZone = UTC",
        "SELECT * FROM {t} ORDER BY ALL",
    ],
    "user metadata": [
        "SET spark.databricks.delta.commitInfo.userMetadata = nightly",
        "CREATE TABLE {t} (id BIGINT, s STRING) USING delta",
        "INSERT INTO {t} VALUES (1, 'a'), (2, 'b')",
        "ALTER TABLE {t} SET TBLPROPERTIES ('k' = 'v')",
        "ALTER TABLE {t} UNSET TBLPROPERTIES ('k')",
        "ALTER TABLE {t} ADD COLUMNS (n INT)",
        "ALTER TABLE {t} ALTER COLUMN n COMMENT 'a number'",
        "ALTER TABLE {t} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
        "ALTER TABLE {t} RENAME COLUMN n TO m",
        "ALTER TABLE {t} DROP COLUMN m",
        "ALTER TABLE {t} ADD CONSTRAINT above CHECK (id > 0)",
        "ALTER TABLE {t} DROP CONSTRAINT above",
        "ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableRowTracking' = 'true')",
        "INSERT INTO {t} VALUES (3, 'c')",
        Numbers("OPTIMIZE {t}"),
        Numbers("RESTORE TABLE {t} TO VERSION AS OF 1"),
        Numbers("VACUUM {t}"),
        "RESET spark.databricks.delta.commitInfo.userMetadata",
    ],
    "convert": [
        "SET spark.databricks.delta.commitInfo.userMetadata = nightly",
        "INSERT OVERWRITE DIRECTORY '{d}' USING parquet SELECT id, id * 2 AS x FROM range(10)",
        "CONVERT TO DELTA parquet.`{d}`",
        "INSERT INTO {t} VALUES (20, 40)",
        "SELECT count(*) AS n, sum(x) AS x FROM {t}",
        "RESET spark.databricks.delta.commitInfo.userMetadata",
    ],
}


def place(folder: Path, text: str, name: str) -> str:
    path = folder / "t"
    if "{newest}" in text:
        text = text.replace("{newest}", str(deltaic.Table(path).history(1)[0]["timestamp"]))
    return text.replace("{t}", f"delta.`{path}`").replace("{d}", str(path)).replace("{n}", name)


def history(folder: Path) -> Any:
    """The newest operation. What it says of conditions are texts of two engines: they are left out."""
    if not (folder / "t" / "_delta_log").exists():
        return None
    newest = deltaic.Table(folder / "t").history(1)[0]
    parameters = {key: read(value) for key, value in newest["operationParameters"].items()}
    if newest["operation"] in {"DELETE", "UPDATE", "MERGE"}:
        parameters = dict.fromkeys(parameters)
    if newest["operation"] in {"CHANGE COLUMN", "CHANGE COLUMNS"}:
        changed = parameters.get("columns", [parameters.get("column")])
        for column in changed:
            # delta-spark says it in the schema only
            column["metadata"].pop("delta.typeChanges", None)
        # it has them in the order of a hash table
        changed.sort(key=lambda column: column["name"])
    return newest["version"], newest["operation"], parameters, newest.get("userMetadata")


def read(value: Any) -> Any:
    """JSON, as far as it is."""
    try:
        return json.loads(value)
    except (TypeError, ValueError):
        return value


def schema(folder: Path) -> Any:
    if not (folder / "t" / "_delta_log").exists():
        return None
    text = json.dumps([(f.name, f.type, f.nullable, f.metadata) for f in deltaic.Table(folder / "t").schema])
    # names in files are drawn
    return re.sub(r"col-[0-9a-f-]{36}", "col", text)


def answer(frame: Any) -> tuple[Any, list[str]]:
    return frame.schema.jsonValue(), [
        json.dumps(row.asDict(recursive=True), default=str) for row in frame.collect()
    ]


def columns(schema: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(field["name"], field["type"]) for field in schema["fields"]]


@pytest.mark.parametrize("script", SCRIPTS)
def test_statements(
    spark: SparkSession, delta_spark: DeltaSpark, same: Same, tmp_path: Path, script: str
) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for statement in SCRIPTS[script]:
        text = statement.text if isinstance(statement, Numbers) else statement
        found_schema, found = answer(spark.sql(place(ours, text, "sql_ours")))
        expected_schema, expected = delta_spark.answer(place(theirs, text, "sql_theirs"))
        assert columns(found_schema) == columns(expected_schema), text
        if not isinstance(statement, Numbers):
            assert found == expected, text
        if not isinstance(statement, Numbers) or statement.is_said_alike:
            assert history(ours) == history(theirs), text
        assert schema(ours) == schema(theirs), text
        if schema(theirs) is not None:
            same(*(pa.table(deltaic.Table(folder / "t").to_arrow()) for folder in (ours, theirs)))
