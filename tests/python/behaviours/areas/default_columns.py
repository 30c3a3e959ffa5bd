"""Columns with defaults: which rows get them, and which tables that are made from others keep them."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playing import Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("default_columns")

FEATURE = "TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')"

TYPES = {
    "STRING": "'hello'",
    "INT": "42",
    "BIGINT": "1234567890123",
    "SMALLINT": "1 + 2",
    "TINYINT": "5",
    "BOOLEAN": "true",
    "DOUBLE": "3.14",
    "FLOAT": "1.5",
    "DECIMAL(5, 2)": "9.99",
    "DATE": "DATE '2024-01-01'",
    "TIMESTAMP": "TIMESTAMP '2024-01-01 10:00:00'",
    "BINARY": "X'0102'",
    "VARCHAR(5)": "'abc'",
    "CHAR(5)": "'abc'",
    "ARRAY<INT>": "array(1, 2, 3)",
    "MAP<STRING, INT>": "map('a', 1, 'b', 2)",
    "STRUCT<x: INT, y: STRING>": "named_struct('x', 7, 'y', 'foo')",
}
_COLUMNS = ", ".join(f"c{n} {kind} DEFAULT {value}" for n, (kind, value) in enumerate(TYPES.items()))


@AREA.situation()
def every_type(p: Player) -> None:
    p.sql(f"CREATE TABLE {{t}} (id INT, {_COLUMNS}) USING delta {FEATURE}")
    p.logged_schema()
    p.attempt(
        "INSERT INTO {t} (id) VALUES (1)",
        f"INSERT INTO {{t}} VALUES (2, {', '.join(['DEFAULT'] * len(TYPES))})",
        lambda: p.write("SELECT 3 AS id"),
        "UPDATE {t} SET c0 = 'x', c1 = DEFAULT, c14 = DEFAULT WHERE id = 1",
        "MERGE INTO {t} AS t USING (SELECT 5 AS k) AS s ON t.id = s.k WHEN NOT MATCHED THEN INSERT (id) VALUES (k)",
    )
    p.rows()


ROWS = {
    "without the column": "INSERT INTO {t} (a) VALUES (1)",
    "DEFAULT": "INSERT INTO {t} VALUES (1, DEFAULT)",
    "DEFAULT of one without": "INSERT INTO {t} VALUES (DEFAULT, DEFAULT)",
    "NULL": "INSERT INTO {t} VALUES (1, NULL)",
    "DEFAULT in an expression": "INSERT INTO {t} VALUES (1, DEFAULT + 1)",
    "DEFAULT of a query": "INSERT INTO {t} SELECT 1, DEFAULT",
    "BY NAME": "INSERT INTO {t} BY NAME SELECT 1 AS a",
    "OVERWRITE": "INSERT OVERWRITE {t} (a) VALUES (1)",
    "REPLACE WHERE": "INSERT INTO {t} REPLACE WHERE a = 7 SELECT 7, 8",
    "UPDATE": "UPDATE {t} SET b = DEFAULT",
    "UPDATE of one without": "UPDATE {t} SET a = DEFAULT",
    "UPDATE with an expression": "UPDATE {t} SET b = DEFAULT + 1",
    "MERGE INSERT without": """MERGE INTO {t} AS t USING (SELECT 9 AS k) ON a = k
        WHEN NOT MATCHED THEN INSERT (a) VALUES (k)""",
}


@AREA.grid(
    ROWS,
    f"CREATE TABLE {{t}} (a INT, b INT DEFAULT 5) USING delta {FEATURE}",
    "INSERT INTO {t} VALUES (7, 70)",
    long=True,
)
def rows(p: Player, statement: str) -> None:
    p.attempt(statement)
    p.rows()


OF_MERGES = {
    "MERGE UPDATE": "MERGE INTO {t} AS t USING (SELECT 7 AS k) ON a = k WHEN MATCHED THEN UPDATE SET b = DEFAULT",
    "MERGE INSERT": """MERGE INTO {t} AS t USING (SELECT 9 AS k) ON a = k
        WHEN NOT MATCHED THEN INSERT (a, b) VALUES (k, DEFAULT)""",
    "MERGE by source": """MERGE INTO {t} AS t USING (SELECT 9 AS k) ON a = k
        WHEN NOT MATCHED BY SOURCE THEN UPDATE SET b = DEFAULT""",
}


@AREA.grid(
    OF_MERGES,
    f"CREATE TABLE {{t}} (a INT, b INT DEFAULT 5) USING delta {FEATURE}",
    "INSERT INTO {t} VALUES (7, 70)",
    differs="DEFAULT is the column's default in a merge, too; delta-spark fails with INTERNAL_ERROR",
)
def rows_of_merges(p: Player, statement: str) -> None:
    p.attempt(statement)
    p.rows()


ALTERS = {
    "SET": ("ALTER TABLE {t} ALTER COLUMN a SET DEFAULT 6",),
    "SET another": ("ALTER TABLE {t} ALTER COLUMN b SET DEFAULT 6",),
    "SET of another type": ("ALTER TABLE {t} ALTER COLUMN b SET DEFAULT 'x'",),
    "SET of a wider type": ("ALTER TABLE {t} ALTER COLUMN b SET DEFAULT 5000000000",),
    "SET by chance": ("ALTER TABLE {t} ALTER COLUMN b SET DEFAULT CAST(rand() * 0 AS INT)",),
    "SET of a time": (
        "ALTER TABLE {t} ALTER COLUMN b SET DEFAULT year(current_date()) - year(current_date())",
    ),
    "SET of a query": ("ALTER TABLE {t} ALTER COLUMN b SET DEFAULT (SELECT 1)",),
    "SET to null": ("ALTER TABLE {t} ALTER COLUMN b SET DEFAULT NULL",),
    "DROP": ("ALTER TABLE {t} ALTER COLUMN b DROP DEFAULT",),
    "DROP of none": ("ALTER TABLE {t} ALTER COLUMN a DROP DEFAULT",),
    "ADD": ("ALTER TABLE {t} ADD COLUMN n INT DEFAULT 7",),
    "ADD, then SET": ("ALTER TABLE {t} ADD COLUMN n INT", "ALTER TABLE {t} ALTER COLUMN n SET DEFAULT 7"),
    "the feature goes": ("ALTER TABLE {t} DROP FEATURE allowColumnDefaults",),
    "its comment": ("ALTER TABLE {t} ALTER COLUMN b COMMENT 'x'",),
    "its name": ("ALTER TABLE {t} RENAME COLUMN b TO z",),
    "its type": ("ALTER TABLE {t} ALTER COLUMN b TYPE BIGINT",),
    "columns are replaced": ("ALTER TABLE {t} REPLACE COLUMNS (a INT, b INT, s STRUCT<x: INT>)",),
}


@AREA.grid(
    ALTERS,
    f"""CREATE TABLE {{t}} (a INT, b INT DEFAULT 5, s STRUCT<x: INT>) USING delta {FEATURE[:-1]},
    'delta.columnMapping.mode' = 'name', 'delta.enableTypeWidening' = 'true')""",
    "INSERT INTO {t} (a) VALUES (1)",
    long=True,
)
def alter_table(p: Player, statements: tuple[str, ...]) -> None:
    p.attempt(*statements, "INSERT INTO {t} (a) VALUES (2)")
    p.rows()
    _defaults(p)


def _defaults(p: Player, path: str | None = None) -> None:
    """Tells what the log says of defaults."""
    for commit in sorted(Path(path or p.path, "_delta_log").glob("*.json"), reverse=True):
        for line in map(json.loads, commit.read_text().splitlines()):
            if "metaData" in line:
                fields = json.loads(line["metaData"]["schemaString"])["fields"]
                p.tell(
                    [[f["name"], {k: v for k, v in f["metadata"].items() if "DEFAULT" in k}] for f in fields]
                )
                return


DEFINITIONS = {
    "without the feature": "(a INT, b INT DEFAULT 5) USING delta",
    "with it": f"(a INT, b INT DEFAULT 5) USING delta {FEATURE}",
    "not null": f"(a INT, b INT NOT NULL DEFAULT 5) USING delta {FEATURE}",
    "not null, null": f"(a INT, b INT NOT NULL DEFAULT NULL) USING delta {FEATURE}",
    "of another type": f"(a INT, b INT DEFAULT 'x') USING delta {FEATURE}",
    "a cast": f"(a INT, b STRING DEFAULT 5) USING delta {FEATURE}",
    "of a query": f"(a INT, b INT DEFAULT (SELECT 1)) USING delta {FEATURE}",
    "of a time": f"(a INT, b BOOLEAN DEFAULT (current_timestamp() > TIMESTAMP '2020-01-01')) USING delta {FEATURE}",
    "by chance": f"(a INT, b BOOLEAN DEFAULT (rand() < 2)) USING delta {FEATURE}",
    "a partition": f"(a INT, b INT DEFAULT 5) USING delta PARTITIONED BY (b) {FEATURE}",
}


@AREA.grid(DEFINITIONS, long=True)
def defined_by_sql(p: Player, definition: str) -> None:
    p.attempt(f"CREATE TABLE {{t}} {definition}")
    if p.reported[-1] == "done":
        _defaults(p)
        p.attempt("INSERT INTO {t} (a) VALUES (1)", "INSERT INTO {t} VALUES (2, DEFAULT)")
        p.rows()


@AREA.situation()
def defined_by_replace(p: Player) -> None:
    for verb in ("CREATE OR REPLACE", "REPLACE", "CREATE OR REPLACE"):
        p.attempt(
            f"{verb} TABLE {{name}} (a INT, b INT DEFAULT {len(verb)}) USING delta {FEATURE} LOCATION '{{at}}/t'"
        )
        _defaults(p)
        p.attempt("INSERT INTO {name} (a) VALUES (1)")
        p.rows()


COPIES = {
    "AS SELECT": "CREATE TABLE {u} USING delta AS SELECT * FROM {t}",
    "AS SELECT, with the feature": f"CREATE TABLE {{u}} USING delta {FEATURE} AS SELECT * FROM {{t}}",
    "AS SELECT of an expression": "CREATE TABLE {u} USING delta AS SELECT a, b + 1 AS b FROM {t}",
    "AS SELECT of another column": "CREATE TABLE {u} USING delta AS SELECT a FROM {t}",
    "AS SELECT under another name": "CREATE TABLE {u} USING delta AS SELECT a, b AS c FROM {t}",
    "LIKE": "CREATE TABLE {name} LIKE {t} USING delta LOCATION '{at}/u'",
    "SHALLOW CLONE": "CREATE TABLE {u} SHALLOW CLONE {t}",
}


@AREA.grid(
    COPIES,
    f"CREATE TABLE {{t}} (a INT, b INT DEFAULT 5) USING delta {FEATURE}",
    "INSERT INTO {t} (a) VALUES (1)",
    long=True,
)
def tables_made_from_it(p: Player, made: str) -> None:
    if " LIKE " in made:
        p.sql("CREATE TABLE {name}_s USING delta LOCATION '{at}/t'")
        made = made.replace("{t}", "{name}_s")
    p.attempt(made, "DROP TABLE IF EXISTS {name}_s")
    if list(Path(p.at, "u", "_delta_log").glob("*.json")):
        _defaults(p, f"{p.at}/u")
        p.attempt("INSERT INTO {u} (a) VALUES (2)")
        p.answers("SELECT * FROM {u}")


@AREA.situation()
def a_copy_after_the_default_went(p: Player) -> None:
    p.sql(
        f"CREATE TABLE {{t}} (a INT, b INT DEFAULT 5) USING delta {FEATURE}", "INSERT INTO {t} (a) VALUES (1)"
    )
    p.sql("ALTER TABLE {t} ALTER COLUMN b DROP DEFAULT")
    p.attempt("CREATE TABLE {u} USING delta AS SELECT * FROM {t}")
    _defaults(p, f"{p.at}/u")
    p.detail("{u}")


# -- what rows had before the column

KEEPS = {
    "SET DEFAULT": "ALTER TABLE {t} ALTER COLUMN a SET DEFAULT 2",
    "CLUSTER BY": "ALTER TABLE {t} CLUSTER BY (a)",
    "a comment": "ALTER TABLE {t} SET TBLPROPERTIES ('comment' = 'x')",
    "INSERT": "INSERT INTO {t} VALUES (1, 1)",
    "append": lambda p: p.write("SELECT 1 AS a, 1 AS b"),
    "overwrite": lambda p: p.write("SELECT 1 AS a, 1 AS b", mode="overwrite"),
    "SHALLOW CLONE": "CREATE OR REPLACE TABLE {u} SHALLOW CLONE {t}",
}


@AREA.grid(KEEPS, f"CREATE TABLE {{t}} (a INT, b INT DEFAULT 1) USING delta {FEATURE}", long=True)
def what_is_kept_of_old_rows(p: Player, statement: Any) -> None:
    """`EXISTS_DEFAULT`, which another writer put there, stays."""
    log = Path(p.path, "_delta_log")
    line = next(a["metaData"] for a in p.actions(0) if "metaData" in a)
    schema = json.loads(line["schemaString"])
    schema["fields"][1]["metadata"]["EXISTS_DEFAULT"] = "1"
    line["schemaString"] = json.dumps(schema)
    (log / f"{1:020}.json").write_text(json.dumps({"metaData": line}) + "\n")
    p.attempt(statement if isinstance(statement, str) else lambda: statement(p))
    _defaults(p)
    if Path(p.at, "u").exists():
        _defaults(p, f"{p.at}/u")
    p.answers(p.read)


@AREA.situation()
def a_frame_of_it_that_is_saved(p: Player) -> None:
    """As a new table, which has the defaults and not the feature: it can still be changed."""
    p.sql(
        f"CREATE TABLE {{u}} (d DATE DEFAULT '2020-01-01', n INT DEFAULT 5) USING delta {FEATURE}",
        "INSERT INTO {u} VALUES ('2020-11-12', 3)",
    )
    p.write(p.read(f"{p.at}/u"))
    p.logged_schema()
    p.detail()
    p.attempt(
        "INSERT INTO {t} (n) VALUES (9)",
        "INSERT INTO {t} VALUES (DEFAULT, 10)",
        "UPDATE {t} SET n = DEFAULT WHERE n = 9",
        "MERGE INTO {t} AS t USING (SELECT 77 AS n) AS s ON t.n = s.n WHEN NOT MATCHED THEN INSERT (n) VALUES (s.n)",
        "ALTER TABLE {t} ALTER COLUMN n SET DEFAULT 7",
        "ALTER TABLE {t} ADD COLUMN z INT",
        "INSERT INTO {t} (z) VALUES (1)",
        "ALTER TABLE {t} ALTER COLUMN n DROP DEFAULT",
        lambda: p.write("SELECT 8 AS n"),
        "ALTER TABLE {t} ALTER COLUMN n SET DEFAULT 5",
    )
    p.rows()
    p.logged_schema()


@AREA.situation()
def numbers_that_are_reported(p: Player) -> None:
    """As they are written, by DESCRIBE, in the schema of a frame, and in the table that is made from it."""
    numbers = (
        "s SMALLINT DEFAULT -32768S, n INT DEFAULT -5, d DOUBLE DEFAULT -1.5D, e DECIMAL(5, 2) DEFAULT -1.50"
    )
    p.sql(
        f"CREATE TABLE {{u}} (id INT, {numbers}, t STRING DEFAULT 'x') USING delta {FEATURE}",
        "INSERT INTO {u} (id) VALUES (1)",
    )
    described = [tuple(row) for row in p.sql("DESCRIBE EXTENDED {u}").collect()]
    p.tell([row for before, row in pairwise(described) if before[0] == "# Column Default Values"])
    p.tell([field.metadata for field in p.read(f"{p.at}/u").schema])
    p.write(p.read(f"{p.at}/u"))
    p.logged_schema()
    p.answers("SELECT * FROM {t}")
