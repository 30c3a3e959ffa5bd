"""Which statistics are written, which columns have them, and that no row is lost by them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from playing import VECTORS, Area

from areas.logs import change, copy, forget_checksums, of_checkpoint

if TYPE_CHECKING:
    from playing import Player

AREA = Area("statistics")

LISTED = "delta.dataSkippingStatsColumns"
COUNT = "delta.dataSkippingNumIndexedCols"


def create(p: Player, columns: str, *properties: str, by: str = "", of: str = "{t}") -> None:
    given = f" TBLPROPERTIES ({', '.join(properties)})" if properties else ""
    p.sql(f"CREATE TABLE {of} ({columns}) USING delta{by}{given}")


def written(p: Player, path: str | None = None) -> None:
    """Tells the statistics of the newest commit's files."""
    stats = [a["add"].get("stats") for a in p.actions(path=path) if "add" in a]
    p.tell(sorted((json.loads(s) if s else None for s in stats), key=lambda s: json.dumps(s, sort_keys=True)))


def opened(p: Player, condition: str, of: str = "{t}") -> None:
    """Tells how many files a condition leaves, and what it finds."""
    df = p.sql(f"SELECT * FROM {of} WHERE {condition}")
    p.tell([condition, df.count()])


# -- rows that are found


@AREA.situation()
def conditions_of_constants(p: Player) -> None:
    create(p, "a INT")
    p.sql("INSERT INTO {t} VALUES (1), (2)")
    opened(p, " AND ".join(["1 = 1"] * 150) + " AND a = 1")
    opened(p, "(" * 60 + "true" + " OR false)" * 60)
    opened(p, "a = 1 AND NOT (" * 30 + "false" + ")" * 30)


@AREA.situation()
def variants_and_nulls(p: Player) -> None:
    create(p, "a INT, v VARIANT")
    p.sql("INSERT INTO {t} SELECT 1, parse_json('{\"x\": 1}')", "INSERT INTO {t} SELECT 2, NULL")
    for condition in ("v IS NULL", "v IS NOT NULL", "variant_get(v, '$.x', 'int') = 1"):
        opened(p, condition)
    p.tell([json.loads(a["add"]["stats"])["nullCount"] for a in p.actions() if "add" in a])


@AREA.situation()
def a_z_order_by_listed_columns(p: Player) -> None:
    create(p, "a INT, b INT, c INT", f"'{LISTED}' = 'a,b'", f"'{COUNT}' = '0'")
    for n in range(2):
        p.sql(f"INSERT INTO {{t}} VALUES ({n}, {n}, {n})")
    p.attempt("OPTIMIZE {t} ZORDER BY (c)", "OPTIMIZE {t} ZORDER BY (a, c)", "OPTIMIZE {t} ZORDER BY (a, b)")
    p.commit()
    written(p)


@AREA.situation()
def names_in_another_case(p: Player) -> None:
    create(p, "Year INT, id INT", by=" PARTITIONED BY (Year)")
    p.sql("INSERT INTO {t} VALUES (1980, 1), (2000, 2)")
    opened(p, "year > 1990")
    p.conf("spark.sql.caseSensitive", "true")
    p.attempt("SELECT * FROM {t} WHERE year > 1990", "SELECT * FROM {t} WHERE Year > 1990")


@AREA.situation()
def chance_leaves_no_file_out(p: Player) -> None:
    p.write("SELECT id, id % 10 AS p FROM range(0, 1000, 1, 1)", by=("p",))
    p.tell(p.sql("SELECT count(*) FROM {t} WHERE rand(0) < 0.25").first()[0] > 150)
    p.rows("SELECT DISTINCT p FROM {t} WHERE rand(0) < 0.25")


LIMITS = (
    "rand() > 0.5",
    "monotonically_increasing_id() % 2 = 0",
    "hash(uuid()) % 100 < 50",
    "substring(uuid(), 1, 1) < '8'",
)


@AREA.situation(long=True)
def limits_over_chance(p: Player) -> None:
    p.write("SELECT id AS a, id % 20 AS p FROM range(0, 4000, 1, 1)", by=("p",))
    for condition in LIMITS:
        p.tell(p.sql(f"SELECT * FROM (SELECT * FROM {{t}} WHERE {condition} LIMIT 500)").count())
        p.tell(p.sql(f"SELECT * FROM (SELECT * FROM {{t}} WHERE a = 1 OR {condition} LIMIT 500)").count())


@AREA.situation()
def limits_beside_vectors(p: Player) -> None:
    create(p, "id BIGINT", f"'{VECTORS}' = 'true'")
    for first in (0, 50):
        p.sql(f"INSERT INTO {{t}} SELECT id FROM range({first}, {first + 50}, 1, 1)")
    p.sql("DELETE FROM {t} WHERE id % 5 = 0")
    for limit in (0, 10, 40, 45, 80, 90):
        p.tell(len(p.sql(f"SELECT * FROM {{t}} LIMIT {limit}").collect()))
    p.tell(len(p.sql("SELECT * FROM {t} WHERE id > 10 LIMIT 60").collect()))
    p.rows(
        "SELECT (SELECT count(*) FROM {t}), (SELECT count(*) FROM {t} WHERE id < 50), (SELECT max(id) FROM {t})"
    )


@AREA.situation()
def metadata_beside_a_column_of_the_name(p: Player) -> None:
    create(p, "file_name BIGINT")
    p.sql("INSERT INTO {t} VALUES (1)", "INSERT INTO {t} VALUES (2)")
    name = p.sql("SELECT _metadata.file_name FROM {t} WHERE file_name = 1").first()[0]
    p.rows(f"SELECT * FROM {{t}} WHERE _metadata.file_name = '{name}'")
    p.rows(f"SELECT * FROM {{t}} WHERE _metadata.file_name != '{name}' AND file_name = 2")


@AREA.situation()
def two_tables_of_one_content(p: Player) -> None:
    for of in ("{t}", "{u}"):
        create(p, "id INT, p INT", of=of, by=" PARTITIONED BY (p)")
        p.sql(f"INSERT INTO {of} VALUES (1, 1), (2, 2)")
    p.sql("INSERT INTO {u} VALUES (3, 3)")
    p.rows("SELECT a.id, b.id FROM {t} a JOIN {u} b ON a.p = b.p WHERE a.p > 1")
    p.rows("SELECT * FROM {t} WHERE p > 1 UNION ALL SELECT * FROM {u} WHERE p > 1")
    p.rows("SELECT (SELECT count(*) FROM {t}), (SELECT count(*) FROM {u})")


@AREA.situation()
def a_subquery_over_partitions(p: Player) -> None:
    p.write("SELECT id AS i, concat('a', id) AS p FROM range(0, 5, 1, 1)", by=("p",))
    p.rows("SELECT * FROM {t} WHERE i IN (SELECT max(i) FROM {t})")
    p.rows("SELECT * FROM {t} WHERE p = 'a2' AND i IN (SELECT i FROM {t} WHERE i > 1)")


@AREA.family({"TIMESTAMP": "TIMESTAMP", "TIMESTAMP_NTZ": "TIMESTAMP_NTZ"})
def timestamps_at_the_end_of_time(p: Player, of: str) -> None:
    create(p, f"ts {of}")
    for micros in (9223372036854775807, 9223372036854774808):
        p.sql(f"INSERT INTO {{t}} SELECT CAST(timestamp_micros({micros}) AS {of})")
    for test in (">=", "<", "="):
        opened(p, f"ts {test} CAST(timestamp_micros(9223372036854775807) AS {of})")
        opened(p, f"ts {test} CAST(timestamp_micros(9223372036854774808) AS {of})")
    opened(p, "ts <= TIMESTAMP '2019-09-09 01:02:03'")


@AREA.situation()
def least_and_greatest(p: Player) -> None:
    create(p, "d DATE, `Column1.Id` INT, Column1 STRUCT<Id: INT>, Column2 STRING")
    p.rows("SELECT min(d), max(d), count(*), count(d) FROM {t}")
    p.sql(
        "INSERT INTO {t} VALUES (DATE '1582-10-15', 1, struct(7), 'x'), (NULL, NULL, NULL, NULL)",
        "INSERT INTO {t} VALUES (NULL, 3, struct(9), 'a')",
    )
    p.rows("SELECT min(d), max(d), count(d), count(*) FROM {t}")
    p.rows("SELECT min(`Column1.Id`), max(Column1.Id), min(Column1.Id) FROM {t}")
    p.rows("SELECT max(Column2), min(Column2) FROM (SELECT Column2 AS c, `Column1.Id` AS Column2 FROM {t})")
    p.sql("DELETE FROM {t} WHERE Column2 = 'x'")
    p.rows("SELECT min(d), max(d), min(Column2), max(Column2), count(*) FROM {t}")


# -- bounds that are tight or wide


@AREA.family({"binary": "BINARY", "no column": "BIGINT"})
def vectors_without_bounds(p: Player, of: str) -> None:
    create(p, f"v {of}", f"'{VECTORS}' = 'true'", f"'{COUNT}' = '0'")
    p.sql(
        f"INSERT INTO {{t}} SELECT CAST(id AS {of}) FROM range(0, 10, 1, 1)"
        if of == "BIGINT"
        else "INSERT INTO {t} SELECT CAST(CAST(id AS STRING) AS BINARY) FROM range(0, 10, 1, 1)"
    )
    written(p)
    p.sql(
        "DELETE FROM {t} WHERE v = 3" if of == "BIGINT" else "DELETE FROM {t} WHERE v = CAST('3' AS BINARY)"
    )
    written(p)


@AREA.situation()
def vectors_beside_bounds_that_say_they_are_tight(p: Player) -> None:
    create(p, "id BIGINT", f"'{VECTORS}' = 'true'")
    p.sql("INSERT INTO {t} SELECT id FROM range(0, 10, 1, 1)", "DELETE FROM {t} WHERE id = 9")
    path = copy(p)
    forget_checksums(path)

    def tight(action: dict[str, Any]) -> None:
        if "add" in action:
            action["add"]["stats"] = action["add"]["stats"].replace(
                '"tightBounds":false', '"tightBounds":true'
            )

    change(p, path, tight)
    p.attempt(
        "CREATE TABLE delta.`{at}/v` SHALLOW CLONE {u}",
        "ALTER TABLE {u} SET TBLPROPERTIES ('delta.enableRowTracking' = 'true')",
    )
    p.attempt("DELETE FROM {u} WHERE id = 8", "RESTORE TABLE {u} TO VERSION AS OF 2")
    p.rows("SELECT * FROM {u}")
    p.rows("SELECT * FROM delta.`{at}/v`")


# -- after a type was widened


@AREA.family(
    {
        f"{part}, {json_} and {struct}": (part, json_, struct)
        for part in ("partition", "column")
        for json_ in ("true", "false")
        for struct in ("true", "false")
    },
    quick={"column, true and true", "partition, false and true"},
)
def widened(p: Player, case: tuple[str, str, str]) -> None:
    part, text, struct = case
    create(
        p,
        "a SMALLINT, b INT",
        "'delta.enableTypeWidening' = 'true'",
        "'delta.checkpointInterval' = '2'",
        f"'delta.checkpoint.writeStatsAsJson' = '{text}'",
        f"'delta.checkpoint.writeStatsAsStruct' = '{struct}'",
        by=" PARTITIONED BY (a)" if part == "partition" else "",
    )
    p.sql(
        "INSERT INTO {t} VALUES (1, 1)",
        "INSERT INTO {t} VALUES (2, 2)",
        "ALTER TABLE {t} ALTER COLUMN a TYPE INT",
    )
    for value in (-2147483648, 2147483647):
        p.sql(f"INSERT INTO {{t}} VALUES ({value}, 3)")
        for condition in ("a = 1", f"a = {value}", "a < 0", "a > 40000"):
            opened(p, condition)
        p.rows("SELECT min(a), max(a), count(*) FROM {t}")
    add = of_checkpoint(p).schema["add"].dataType
    for name, path in (("stats_parsed", ("minValues",)), ("partitionValues_parsed", ())):
        if name in add.fieldNames():
            of = add[name].dataType
            for field in path:
                of = of[field].dataType if field in of.fieldNames() else None
            p.tell([name, None if of is None else of.simpleString()])
