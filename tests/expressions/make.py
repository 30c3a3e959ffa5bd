"""Writes `expected.json`: what Spark answers to the expressions of `expressions.txt`, with ANSI on and off.

Run it with a PySpark 4.x: `python tests/expressions/make.py`. An answer is the type, and for each row of the
table below the value as text, null, or an error by either setting.
"""

from __future__ import annotations

import json
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

HERE = Path(__file__).parent
ERROR = {"error": True}
ROWS = """
 (1, 1Y, 2S, 3, 4L, 0.5F, 1.5D, 12.34BD, 0.000100BD, 'abc', 'true', DATE '2024-02-29',
  TIMESTAMP '2024-02-29 13:14:15.123456', TIMESTAMP_NTZ '2024-02-29 13:14:15', true, X'616263', array(1, 2, 3),
  named_struct('x', 7, 'Y', 'in'), map('k', 1, 'n', NULL), '2024-01-31', '12'),
 (2, -128Y, -32768S, -2147483648, -9223372036854775808L, float('-0.0'), double('NaN'), -99999999.99BD, -1.000005BD,
  'Ünï cödé', 'F', DATE '1969-12-31', TIMESTAMP '1969-12-31 23:59:59.999999', TIMESTAMP_NTZ '1582-10-15 00:00:00',
  false, X'', array(), named_struct('x', CAST(NULL AS INT), 'Y', ''), map(), ' 2023-2-8 ', '-7'),
 (3, 127Y, 32767S, 2147483647, 9223372036854775807L, float('Infinity'), double('-Infinity'), 0.00BD, 0.000000BD, '',
  'x', DATE '0001-01-01', TIMESTAMP '9999-12-31 23:59:59', TIMESTAMP_NTZ '2000-01-01 12:00:00.5', true, X'00FF',
  array(NULL, 5), NULL, map('', 0), 'not a date', '3.5'),
 (4, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
  NULL, NULL),
 (5, 0Y, 0S, 0, 0L, 0F, 0D, 0.05BD, 123456.654321BD, '  a%b_c\\\\d  ', 'yes', DATE '2000-12-31',
  TIMESTAMP '2000-01-01 00:00:00', TIMESTAMP_NTZ '1970-01-01 00:00:00', false, X'41', array(0),
  named_struct('x', 0, 'Y', NULL), map('k', 5), '2024-01-31 10:11:12.5', '0'),
 (6, -1Y, -2S, -3, -4L, 1e10F, 1234567.891D, 2.50BD, -0.500000BD, 'a-b-c', 'NO', DATE '2023-01-01',
  TIMESTAMP '2023-06-15 08:05:09.1', TIMESTAMP_NTZ '2023-06-15 08:05:09.1', true, X'7A', array(-1, -1),
  named_struct('x', -5, 'Y', 'z'), map('k', -1), '2024-01-31T23:59:59+01:00', ' 42 ')
"""
COLUMNS = {
    "row": "int",
    "y": "tinyint",
    "sh": "smallint",
    "i": "int",
    "l": "bigint",
    "f": "float",
    "d": "double",
    "m2": "decimal(10,2)",
    "m6": "decimal(20,6)",
    "s": "string",
    "bs": "string",
    "dt": "date",
    "ts": "timestamp",
    "ntz": "timestamp_ntz",
    "b": "boolean",
    "bin": "binary",
    "arr": "array<int>",
    "st": "struct<x:int,Y:string>",
    "mp": "map<string,int>",
    "t": "string",
    "n": "string",
}


def answers(spark: SparkSession, sql: str, *, ansi: bool) -> dict[str, object]:
    """The type and the text of each row, or that the expression is refused as a whole."""
    spark.conf.set("spark.sql.ansi.enabled", str(ansi).lower())
    try:
        kind = spark.sql(f"SELECT {sql} AS v FROM rows_of").schema["v"].dataType.simpleString()
    except PySparkException:
        return {"type": None, "rows": None}
    text = f"SELECT row, CAST({sql} AS STRING) AS v FROM rows_of"
    try:
        values: dict[int, object] = {found.row: found.v for found in spark.sql(text).collect()}
    except PySparkException:
        values = {row: answer(spark, f"{text} WHERE row = {row}") for row in range(1, 7)}
    return {"type": kind, "rows": [values[row] for row in range(1, 7)]}


def answer(spark: SparkSession, text: str) -> object:
    """The answer for one row."""
    try:
        return spark.sql(text).collect()[0].v
    except PySparkException:
        return ERROR


def main() -> None:
    """Asks Spark and writes the file."""
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "1")
        .config(
            "spark.sql.optimizer.excludedRules",
            "org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation",
        )
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    names = ", ".join(COLUMNS)
    casts = ", ".join(f"CAST({name} AS {kind}) AS {name}" for name, kind in COLUMNS.items())
    spark.sql(f"SELECT {casts} FROM VALUES {ROWS} AS v({names})").coalesce(1).cache().createOrReplaceTempView(
        "rows_of"
    )
    spark.table("rows_of").count()
    cases = []
    for line in (HERE / "expressions.txt").read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            cases.append(
                {
                    "sql": line,
                    "ansi": answers(spark, line, ansi=True),
                    "legacy": answers(spark, line, ansi=False),
                }
            )
    text = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
    (HERE / "expected.json").write_text(f"[\n{text}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
