"""Rules that delta-spark puts on a table hold for what deltaic writes, and delta-spark goes on from there."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import deltaic
from deltaic.exceptions import InvalidExpressionError, InvariantViolationError

if TYPE_CHECKING:
    from pathlib import Path


def test_constraints_generated_and_default_columns_and_identities(delta_spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "t"
    delta_spark.sql(
        f"""CREATE TABLE delta.`{path}` (
            key BIGINT GENERATED ALWAYS AS IDENTITY (START WITH 100 INCREMENT BY 10),
            at TIMESTAMP,
            day DATE GENERATED ALWAYS AS (CAST(at AS DATE)),
            month STRING GENERATED ALWAYS AS (date_format(at, 'yyyy-MM')),
            status STRING DEFAULT 'new',
            price DECIMAL(10,2)
        ) USING delta PARTITIONED BY (month) TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')""",
        f"ALTER TABLE delta.`{path}` ADD CONSTRAINT dear CHECK (price * 1.2 > 1 AND status IN ('new', 'old'))",
        f"INSERT INTO delta.`{path}` (at, price) VALUES (TIMESTAMP '2024-01-31 23:59:59', 3.50)",
    )
    times = [
        dt.datetime(2024, 2, 29, 12, tzinfo=dt.timezone.utc),
        dt.datetime(2025, 1, 1, tzinfo=dt.timezone.utc),
    ]

    def rows(*prices: str) -> pa.Table:
        decimals = pa.array([Decimal(price) for price in prices], pa.decimal128(10, 2))
        return pa.table({"at": pa.array(times, pa.timestamp("us", "UTC")), "price": decimals})

    version = deltaic.Table(str(path)).version
    with pytest.raises(InvariantViolationError, match="CHECK constraint dear") as error:
        deltaic.write(str(path), rows("1.00", "0.00"), mode="append")
    assert error.value.row == "status = new, price = 0.00"
    assert deltaic.Table(str(path)).version == version
    deltaic.write(str(path), rows("1.50", "2.00"), mode="append")
    delta_spark.sql(f"INSERT INTO delta.`{path}` (at, price) VALUES (TIMESTAMP '2026-01-01 00:00:00', 9.99)")
    found = delta_spark.read(path).sort_by("at").to_pydict()
    assert found["day"] == [
        dt.date(2024, 1, 31),
        dt.date(2024, 2, 29),
        dt.date(2025, 1, 1),
        dt.date(2026, 1, 1),
    ]
    assert found["month"] == ["2024-01", "2024-02", "2025-01", "2026-01"]
    assert found["status"] == ["new"] * 4
    assert len(set(found["key"])) == 4
    assert sorted(key % 10 for key in found["key"]) == [0] * 4
    # each goes on after the mark of the other
    assert found["key"][0] < min(found["key"][1:3])
    assert max(found["key"][:3]) < found["key"][3]


# what delta-spark takes as a rule, with what the core prints, and what only Spark knows
GENERATED = {
    "upper_name": ("STRING", "upper(name)"),
    "quoted": ("STRING", "concat(name, '\\\\t\\'', \"b\")"),
    "number": ("BIGINT", "CAST(-n AS BIGINT) * 2L DIV 3"),
    "part": ("DECIMAL(12,3)", "CAST(n / 8 AS DECIMAL(12,3))"),
    "month": ("STRING", "date_format(at, 'yyyy-MM')"),
    "day": ("DATE", "CAST(at AS DATE)"),
    "of_day": ("INT", "year(at) * 100 + month(CAST(at AS DATE))"),
    "hashed": ("STRING", "substr(sha2(name, 256), 1, 8)"),
    "kind": ("STRING", "CASE WHEN n IS NULL THEN 'none' WHEN n % 2 = 0 THEN 'even' ELSE 'odd' END"),
    "sound": ("STRING", "soundex(name)"),
    "first": ("STRING", "split(name, '[ ]')[0]"),
    "numbers": ("ARRAY<INT>", "CAST(array(n) AS ARRAY<INT>)"),
}
CHECKS = {
    "short": "levenshtein(name, 'abc') < 20",
    "some": "n BETWEEN -10 AND 10 OR n IS NULL",
    "known": "name IN ('Anna Bo', 'it\\'s', 'x') AND NOT name <=> NULL",
    "plain": "forall(split(name, ''), c -> c <> 'z')",
    "past": "at < current_timestamp() + INTERVAL 100 DAYS",
    "like": "name LIKE '%' AND name RLIKE '^[a-zA-Z].*$'",
}
DEFAULTS = {
    "status": ("STRING", "concat('n', 'ew')"),
    "who": ("STRING", "current_user()"),
    "many": ("INT", "1 + 2"),
}
# what it refuses where a generated column is made, and takes where the log has it; the first word is the condition
REFUSED = {
    "java_method('java.lang.System', 'getProperty', 'java.version')": "UNSUPPORTED_EXPRESSION_GENERATED_COLUMN",
    "(SELECT max(id) FROM range(9))": "UNSUPPORTED_EXPRESSION_GENERATED_COLUMN",
    "uuid()": "UNSUPPORTED_EXPRESSION_GENERATED_COLUMN",
    "input_file_name()": "UNSUPPORTED_EXPRESSION_GENERATED_COLUMN",
    "current_user()": "DELTA_UNSUPPORTED_EXPRESSION_GENERATED_COLUMN",
    "version()": "DELTA_UNSUPPORTED_EXPRESSION_GENERATED_COLUMN",
    "CAST(current_date() AS STRING)": "DELTA_UNSUPPORTED_EXPRESSION_GENERATED_COLUMN",
    "CAST(unix_timestamp() AS STRING)": "DELTA_UNSUPPORTED_EXPRESSION_GENERATED_COLUMN",
}


def test_rules_that_delta_spark_makes_give_the_same_in_spark(
    delta_spark: Any, spark: Any, tmp_path: Path
) -> None:
    path = tmp_path / "t"
    columns = ["writer STRING", "name STRING", "n INT", "at TIMESTAMP"]
    columns += [f"{name} {kind} GENERATED ALWAYS AS ({text})" for name, (kind, text) in GENERATED.items()]
    columns += [f"{name} {kind} DEFAULT {text}" for name, (kind, text) in DEFAULTS.items()]
    supported = "TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')"
    delta_spark.sql(
        f"CREATE TABLE delta.`{path}` ({', '.join(columns)}) USING delta {supported}",
        *(
            f"ALTER TABLE delta.`{path}` ADD CONSTRAINT {name} CHECK ({text})"
            for name, text in CHECKS.items()
            # its own grammar has no lambdas there
            if name != "plain"
        ),
        f"ALTER TABLE delta.`{path}` SET TBLPROPERTIES ('delta.feature.checkConstraints' = 'supported')",
    )
    values = """
        ('{0}', 'Anna Bo', 7, TIMESTAMP '2024-02-29 23:30:00'), ('{0}', 'it\\'s', -8, TIMESTAMP '1969-12-31 00:00:01'),
        ('{0}', 'x', NULL, NULL), ('{0}', 'x', NULL, TIMESTAMP '2020-01-01 00:00:00')
    """
    query = "SELECT * FROM VALUES {} AS v(writer, name, n, at) WHERE at IS NOT NULL"
    delta_spark.write(path, query.format(values.format("delta-spark")), "append", {}, [])
    deltaic.save(spark.sql(query.format(values.format("save"))), str(path), mode="append")
    rows = spark.sql(query.format(values.format("insert")))
    rows.createOrReplaceTempView("to_insert")
    spark.sql(f"INSERT INTO delta.`{path}` (writer, name, n, at) SELECT * FROM to_insert")
    found = delta_spark.read(path).to_pylist()
    of = {
        writer: sorted(repr({**row, "writer": None, "who": None}) for row in found if row["writer"] == writer)
        for writer in ("delta-spark", "save", "insert")
    }
    assert len(of["delta-spark"]) == 3
    assert of["save"] == of["insert"] == of["delta-spark"]
    assert {bool(row["who"]) for row in found} == {True}
    with pytest.raises(InvariantViolationError, match="CHECK constraint some"):
        deltaic.save(spark.sql("SELECT 'x' AS name, 99 AS n, now() AS at"), str(path), mode="append")


@pytest.mark.parametrize("text", REFUSED)
def test_what_delta_spark_makes_no_rule_of_is_refused_where_a_log_has_it(
    delta_spark: Any, spark: Any, text: str, tmp_path: Path
) -> None:
    made = f"CREATE TABLE delta.`{tmp_path / 'made'}` (s STRING, g STRING GENERATED ALWAYS AS ({text})) USING delta"
    with pytest.raises(AssertionError, match=rf"\[{REFUSED[text]}\]"):
        delta_spark.sql(made)
    path = tmp_path / "t"
    delta_spark.sql(
        f"CREATE TABLE delta.`{path}` (s STRING, g STRING GENERATED ALWAYS AS (upper(s))) USING delta"
    )
    commit = path / "_delta_log" / f"{0:020}.json"
    commit.write_text(commit.read_text().replace("upper(s)", text.replace("'", "\\u0027")))
    # the checksum has the other one
    commit.with_suffix(".crc").unlink()
    with pytest.raises(InvalidExpressionError) as error:
        deltaic.save(spark.sql("SELECT 'a' AS s"), str(path), mode="append")
    assert (error.value.expression, error.value.condition) == (text, REFUSED[text])
    assert deltaic.Table(str(path)).version == 0
