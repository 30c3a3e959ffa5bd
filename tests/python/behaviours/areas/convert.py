"""CONVERT TO DELTA of folders of Parquet files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from playing import Area
from pyspark.sql import functions as f

if TYPE_CHECKING:
    from playing import Player

AREA = Area("convert")


def parquet(p: Player, rows: str, by: tuple[str, ...] = (), at: str = "t") -> None:
    writer = p.sql(rows).coalesce(1).write.mode("append")
    (writer.partitionBy(*by) if by else writer).parquet(f"{p.at}/{at}")


def stats(p: Player) -> None:
    """Tells what statistics files of the newest commit have."""
    found = [a["add"].get("stats") for a in p.actions() if "add" in a]
    p.tell(sorted(map(str, found)))


@AREA.family({"by SQL": "SQL", "by method": "method"})
def partitions_of_many_types(p: Player, door: str) -> None:
    parquet(p, "SELECT 1 AS id, 2 AS i, 'a b' AS s, DATE '2020-01-01' AS d", ("i", "s", "d"))
    parquet(
        p,
        "SELECT 2 AS id, CAST(NULL AS INT) AS i, CAST(NULL AS STRING) AS s, CAST(NULL AS DATE) AS d",
        ("i", "s", "d"),
    )
    if door == "SQL":
        p.sql("CONVERT TO DELTA parquet.`{at}/t` PARTITIONED BY (i INT, s STRING, d DATE)")
    else:
        p.tables.convertToDelta(p.spark, p.text("parquet.`{at}/t`"), "i INT, s STRING, d DATE")
    p.rows()
    p.rows("SELECT id FROM {t} WHERE d IS NULL AND i IS NULL")
    p.rows("SELECT id FROM {t} WHERE s = 'a b'")
    p.sql("INSERT INTO {t} VALUES (3, 4, 'c', DATE '2021-01-01')")
    p.rows()
    p.commit()


NAMES = {
    "works 1": "%!@#$%^&*-",
    "works 2": "?.+<_>|/",
    "blank": "a b",
    "comma": "a,b",
    "semicolon": "a;b",
    "braces": "a{b}",
    "parentheses": "a(b)",
    "equals": "a=b",
    "underline": "_p",
    "dot": ".p",
}


@AREA.situation(long=True)
def names_of_columns(p: Player) -> None:
    for kind in p.each(n for n in NAMES if n not in {"underline", "dot"}):
        try:
            p.spark.range(2).withColumn(NAMES[kind], f.lit("x")).coalesce(1).write.parquet(p.path)
        except Exception:  # noqa: BLE001 Spark itself does not write such a column
            p.tell("not written")
            continue
        p.attempt(f"CONVERT TO DELTA parquet.`{p.path}`")


@AREA.situation()
def files_of_any_name(p: Player) -> None:
    parquet(p, "SELECT 1 AS id", at="from")
    (file,) = Path(p.at, "from").glob("*.parquet")
    Path(p.path).mkdir()
    for name in ("some-data-id=1.snappy.parquet", "unknown_suffix", "a b.parquet", "x%20y.parquet"):
        Path(p.path, name).write_bytes(file.read_bytes())
    Path(p.path, "empty", "deeper").mkdir(parents=True)
    Path(p.path, "_hidden.parquet").write_text("x", encoding="utf-8")
    Path(p.path, ".hidden").write_text("x", encoding="utf-8")
    p.attempt("CONVERT TO DELTA parquet.`{at}/t`")
    p.rows("SELECT * FROM {t}")
    p.tell(sorted(a["add"]["path"] for a in p.actions() if "add" in a))


@AREA.situation()
def a_partition_folder_for_itself(p: Player) -> None:
    parquet(p, "SELECT 1 AS id, 2 AS p, 3 AS q", ("p", "q"))
    p.attempt("CONVERT TO DELTA parquet.`{at}/t/p=2` PARTITIONED BY (q INT)")
    p.rows("SELECT * FROM delta.`{at}/t/p=2`")


@AREA.situation(differs="no file is left out by bounds that do not tell of its NaN, so no row is lost")
def values_that_are_no_number(p: Player) -> None:
    """NaN is larger than all numbers, whatever a file says of its bounds."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    Path(p.path).mkdir()
    pq.write_table(pa.table({"c": pa.array([1.0, 2.0, float("nan")])}), f"{p.path}/a.parquet")
    pq.write_table(pa.table({"c": pa.array([float("nan"), float("nan")])}), f"{p.path}/b.parquet")
    p.sql("CONVERT TO DELTA parquet.`{at}/t`")
    p.rows("SELECT count(*) FROM {t} WHERE c >= 100")
    p.rows("SELECT count(*) FROM {t} WHERE c = 'NaN'")
    p.rows("SELECT count(*) FROM {t} WHERE c > 1 AND c < 3")


@AREA.situation()
def files_with_different_columns(p: Player) -> None:
    parquet(p, "SELECT 1 AS id, CAST(2 AS SMALLINT) AS n")
    parquet(p, "SELECT 3 AS id, 4 AS n, 'x' AS more")
    parquet(p, "SELECT 5 AS id")
    p.attempt("CONVERT TO DELTA parquet.`{at}/t`")
    p.rows("SELECT id, n, more FROM {t}")


@AREA.situation()
def nested_columns_and_nullness(p: Player) -> None:
    parquet(
        p, "SELECT 1 AS id, named_struct('a', 1, 'b', array(named_struct('c', 'x'))) AS s, map('k', 1) AS m"
    )
    p.sql("CONVERT TO DELTA parquet.`{at}/t`")
    p.schema()
    p.rows()
    stats(p)


@AREA.situation()
def a_column_of_the_folders_is_in_the_files_too(p: Player) -> None:
    parquet(p, "SELECT 1 AS id, 7 AS p", at="t/p=2")
    p.attempt("CONVERT TO DELTA parquet.`{at}/t` PARTITIONED BY (p INT)")
    p.rows("SELECT id, p FROM {t}")
    p.rows("SELECT id FROM {t} WHERE p = 2")


@AREA.situation()
def by_the_method(p: Player) -> None:
    from pyspark.sql.types import IntegerType, StructType

    parquet(p, "SELECT 1 AS id, 2 AS p", ("p",))
    table = p.tables.convertToDelta(p.spark, p.text("parquet.`{at}/t`"), StructType().add("p", IntegerType()))
    p.rows(table.toDF())
    p.tell(p.tables.isDeltaTable(p.spark, p.path))
    p.attempt(lambda: p.tables.convertToDelta(p.spark, p.text("parquet.`{at}/none`")))


# -- tables of the catalog


def named(p: Player, more: str = "PARTITIONED BY (p)", rows: str = "(1, 2), (3, NULL)") -> None:
    p.sql(
        f"CREATE TABLE {{name}} (id INT COMMENT 'a b', p INT) USING parquet {more}",
        f"INSERT INTO {{name}} VALUES {rows}",
    )


def state(p: Player) -> None:
    """Tells rows, columns, partitions, properties, and what the catalog says of the format."""
    p.rows("SELECT * FROM {name}")
    p.tell([list(row) for row in p.sql("DESCRIBE TABLE {name}").collect() if not row[0].startswith("#")])
    detail = p.sql("DESCRIBE DETAIL {name}").first()
    p.tell([detail.format, detail.partitionColumns, detail.properties, detail.numFiles])
    p.tell([row[1] for row in p.sql("DESCRIBE TABLE EXTENDED {name}").collect() if row[0] == "Provider"])


CLAUSES = {
    "without partitions": ("", ""),
    "of partitions": ("PARTITIONED BY (p)", ""),
    "with the same columns": ("PARTITIONED BY (p)", "PARTITIONED BY (p INT)"),
    "with a type of its own": ("PARTITIONED BY (p)", "PARTITIONED BY (p STRING)"),
    "with another column": ("PARTITIONED BY (p)", "PARTITIONED BY (q INT)"),
    "with properties": ("TBLPROPERTIES ('a' = 'b', 'delta.appendOnly' = 'true')", ""),
    "external": ("PARTITIONED BY (p) LOCATION '{at}/x'", ""),
    "without statistics": ("", "NO STATISTICS"),
}


@AREA.family(CLAUSES)
def by_name(p: Player, case: tuple[str, str]) -> None:
    made, clause = case
    named(p, made)
    p.attempt(f"CONVERT TO DELTA {{name}} {clause}")
    if "STRING" in clause or "q" in clause:
        p.rows("SELECT * FROM {name}")
        return
    state(p)
    p.attempt(
        "CONVERT TO DELTA {name}", "INSERT INTO {name} VALUES (5, 6)", "UPDATE {name} SET id = 9 WHERE id = 1"
    )
    state(p)
    p.tell([row.operation for row in p.sql("DESCRIBE HISTORY {name}").collect()])


@AREA.situation()
def by_name_with_the_method(p: Player) -> None:
    named(p)
    table = p.tables.convertToDelta(p.spark, p.name)
    p.rows(table.toDF())
    table.delete("id = 1")
    p.rows("SELECT * FROM {name}")
    p.attempt(lambda: p.tables.convertToDelta(p.spark, p.name, "p INT"))


@AREA.situation()
def names_that_cannot_be_converted(p: Player) -> None:
    p.attempt("CONVERT TO DELTA nothing_of_that_name")
    p.sql("CREATE TABLE {name} (id INT) USING csv")
    p.attempt("CONVERT TO DELTA {name}")
    p.sql("DROP TABLE {name}", "CREATE TABLE {name} (id INT) USING parquet")
    p.attempt("CONVERT TO DELTA {name}")
    p.sql("DROP TABLE {name}", "CREATE VIEW {name} AS SELECT 1 AS id")
    p.attempt("CONVERT TO DELTA {name}")
    p.sql("DROP VIEW {name}", "CREATE TEMPORARY VIEW {name} AS SELECT 1 AS id")
    p.attempt("CONVERT TO DELTA {name}")
    p.sql("DROP VIEW {name}")
    p.attempt("CONVERT TO DELTA `{at}/t`")


@AREA.situation(
    differs="deltaic refuses it: delta-spark leaves out the folder, whose files a vacuum deletes then"
)
def a_partition_that_the_catalog_does_not_know(p: Player) -> None:
    named(p, "PARTITIONED BY (p) LOCATION '{at}/x'")
    parquet(p, "SELECT 7 AS id", at="x/p=9")
    p.attempt("CONVERT TO DELTA {name}")
    p.rows("SELECT * FROM {name}")


@AREA.situation()
def a_partition_that_is_made_known(p: Player) -> None:
    named(p, "PARTITIONED BY (p) LOCATION '{at}/x'")
    parquet(p, "SELECT 7 AS id", at="x/p=9")
    p.sql("MSCK REPAIR TABLE {name}")
    p.attempt("CONVERT TO DELTA {name}")
    p.rows("SELECT * FROM {name}")


@AREA.situation()
def what_was_converted_by_its_folder(p: Player) -> None:
    named(p, "LOCATION '{at}/x' TBLPROPERTIES ('a' = 'b')")
    p.sql("CONVERT TO DELTA parquet.`{at}/x`")
    p.attempt("CONVERT TO DELTA {name}")
    state(p)
    p.sql("CREATE TABLE {name}_2 (id INT, p INT) USING parquet LOCATION '{at}/x' TBLPROPERTIES ('c' = 'd')")
    p.attempt("CONVERT TO DELTA {name}_2")
    p.sql("DROP TABLE {name}_2")


@AREA.family(
    {
        "appendOnly": ("appendOnly", "true"),
    }
)
def defaults_of_the_session(p: Player, case: tuple[str, str]) -> None:
    parquet(p, "SELECT 1 AS id")
    p.conf(f"spark.databricks.delta.properties.defaults.{case[0]}", case[1])
    p.attempt("CONVERT TO DELTA parquet.`{at}/t`")
    p.attempt(lambda: p.detail())
    p.attempt("DELETE FROM {t}")


NAMES = {
    "works 1": "%!@#$%^&*-",
    "works 2": "?.+<_>|/",
    "blank": "a b",
    "comma": "a,b",
    "semicolon": "a;b",
    "braces": "a{b}",
    "parentheses": "a(b)",
    "equals": "a=b",
    "underline": "_p",
    "dot": ".p",
}


@AREA.family({name: name for name in ("orc", "json", "csv")})
def files_of_another_format(p: Player, name: str) -> None:
    p.sql("SELECT id FROM range(3)").coalesce(1).write.format(name).save(p.path)
    p.attempt(f"CONVERT TO DELTA parquet.`{p.path}`", f"CONVERT TO DELTA {name}.`{p.path}`")


@AREA.family({name: name for name in ("_a", "c.d", "i%j", "k+l")})
def names_of_partition_columns(p: Player, name: str) -> None:
    folder = name.replace("%", "%25")
    p.sql("SELECT id FROM range(3)").coalesce(1).write.parquet(f"{p.path}/{folder}=1")
    p.attempt(f"CONVERT TO DELTA parquet.`{p.path}` PARTITIONED BY (`{name}` INT)")
    p.rows()


@AREA.situation()
def a_table_by_both_names(p: Player) -> None:
    p.sql("SELECT id FROM range(3)").coalesce(1).write.format("delta").save(p.path)
    p.attempt(f"CONVERT TO DELTA delta.`{p.path}`", f"CONVERT TO DELTA parquet.`{p.path}`")
    p.commit()
