"""What the core prints of a rule is to Spark what the text is: value, type and error, whatever the settings."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from bridge_tables import Log
from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from deltaic.exceptions import InvalidExpressionError
from deltaic.spark.write.options import WriteOptions
from deltaic.spark.write.transaction import make_plan

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.spark

EXPRESSIONS = Path(__file__).parents[3] / "expressions"
# what else means something of its own to Spark
MORE = [
    "'it\\'s' || \"so\"",
    "'a\\nb\\u00e9\\101'",
    "s LIKE '%b\\\\_c%'",
    "s LIKE '%b!_c%' ESCAPE '!'",
    "s ILIKE 'ABC' OR s RLIKE '^[a-z]+$'",
    "NOT (b <=> NULL) AND ! b IS TRUE",
    "a == 1",
    "i = -2147483648 AND l = -9223372036854775808 OR y = -128Y",
    "-1.5BD * m2 - -.5 + 1e-3D / 2F",
    "- (3) % 2 DIV 1L",
    "ts > TIMESTAMP '2000-01-01 00:00:00'",
    "CAST(TIMESTAMP '2000-01-01 00:00:00' AS STRING) || CAST(TIMESTAMP '2000-01-01 00:00:00+03:00' AS STRING)",
    "dt + INTERVAL 1 MONTH - INTERVAL '3' DAY",
    "ts + INTERVAL 90 MINUTES",
    "ntz >= TIMESTAMP_NTZ '1970-01-01 00:00:00.5'",
    "st.x + arr[0] > 1 OR mp['k'] IS NULL",
    "i BETWEEN 1 AND l OR i NOT IN (1, 2, NULL)",
    "CASE i WHEN 3 THEN 'three' WHEN 0 THEN 'none' END",
    "TRY_CAST(t AS DATE) IS DISTINCT FROM dt",
    "EXTRACT(YEAR FROM dt) + date_part('month', ts)",
    "trim(BOTH 'a' FROM s) || trim(s) || ltrim('a', s)",
    "position('b' IN s) + locate('b', s) + substring(s FROM 2 FOR 1)",
    "ceil(m2, 1) + floor(d)",
    "if(b, 1, 2.5) + coalesce(NULL, i)",
    "levenshtein(s, 'abc') + crc32(bin)",
    "to_json(named_struct('a', i)) || soundex(s)",
    "regexp_replace(s, '[$]?b', '$0')",
    "hex(X'0fF') = '00FF'",
    "((i + 1) * (l - (2 - 1))) / 4 - 1 - (1 - 1)",
]


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    return runpy.run_path(str(EXPRESSIONS / "make.py"))


@pytest.fixture(scope="module")
def rows(spark: Any, made: dict[str, Any]) -> Any:
    """The rows of `make.py`, which Spark holds in the plan."""
    names = ", ".join(made["COLUMNS"])
    casts = ", ".join(f"CAST({name} AS {kind}) AS {name}" for name, kind in made["COLUMNS"].items())
    return spark.sql(f"SELECT {casts} FROM VALUES {made['ROWS']} AS v({names})")


def printed(folder: Path, schema: str, text: str) -> str | None:
    """What the core prints of a CHECK constraint; None where it is not given to Spark, or only Spark knows it."""
    log = Log(folder)
    metadata = log.metadata([])
    metadata["metaData"] |= {"schemaString": schema, "configuration": {"delta.constraints.c": text}}
    features = ["checkConstraints", "invariants", "timestampNtz"]
    reader = {"minReaderVersion": 3, "readerFeatures": ["timestampNtz"]}
    log.commit({"protocol": {**reader, "minWriterVersion": 7, "writerFeatures": features}}, metadata)
    try:
        plan = make_plan(str(folder), "append", schema, None, WriteOptions(), "4.0", None, rules_held=True)
    except InvalidExpressionError:
        return None
    (check,) = json.loads(plan.rules)["checks"]
    sql: str | None = check["sql"]
    return sql


def answer(rows: Any, *expressions: str) -> list[Any]:
    """Types and values, row by row, of expressions; an error tells which."""
    df = rows.select(*(F.expr(text).alias(f"v{n}") for n, text in enumerate(expressions)))
    kinds = [field.dataType for field in df.schema.fields]
    found = df.select(*(F.col(c).cast("string") for c in df.columns)).collect()
    return [(kind, [row[n] for row in found]) for n, kind in enumerate(kinds)]


def reported(rows: Any, expression: str) -> Any:
    try:
        return answer(rows, expression)[0]
    except PySparkException as error:
        return error.getCondition()


def same(rows: Any, text: str, sql: str) -> None:
    try:
        ours, theirs = answer(rows, sql, text)
    except PySparkException:
        ours, theirs = reported(rows, sql), reported(rows, text)
    assert ours == theirs, f"{text} is printed as {sql}"


def test_more_is_the_same_to_spark(
    spark: Any, rows: Any, tmp_path: Path, setting: Callable[[str, str], None]
) -> None:
    known = {text: printed(tmp_path / str(n), rows.schema.json(), text) for n, text in enumerate(MORE)}
    unknown = [text for text, sql in known.items() if sql is None]
    assert unknown == ["a == 1"]  # there is no such column
    for ansi in ("true", "false"):
        setting("spark.sql.ansi.enabled", ansi)
        setting("spark.sql.session.timeZone", "Pacific/Auckland" if ansi == "true" else "America/New_York")
        for text, sql in known.items():
            if sql is not None:
                same(rows, text, sql)
    expected = {text: reported(rows, text) for text in known}
    # these give the text another meaning, and not what was printed
    setting("spark.sql.parser.escapedStringLiterals", "true")
    for text, sql in known.items():
        if sql is not None:
            assert reported(rows, sql) == expected[text], (text, sql)


def check_all(
    rows: Any, folder: Path, setting: Callable[[str, str], None], every: int, modes: tuple[str, ...]
) -> int:
    lines = (EXPRESSIONS / "expressions.txt").read_text(encoding="utf-8").splitlines()
    texts = [line for line in lines if line.strip() and not line.startswith("#")][::every]
    found = {text: printed(folder / str(n), rows.schema.json(), text) for n, text in enumerate(texts)}
    known = {text: sql for text, sql in found.items() if sql is not None}
    for ansi in modes:
        setting("spark.sql.ansi.enabled", ansi)
        for text, sql in known.items():
            # others each time
            if "now()" not in text and "current_timestamp" not in text.lower():
                same(rows, text, sql)
    return len(known)


def test_some_expressions_of_the_core_are_the_same_to_spark(
    rows: Any, tmp_path: Path, setting: Callable[[str, str], None]
) -> None:
    assert check_all(rows, tmp_path, setting, 12, ("true",)) > 30


@pytest.mark.long
def test_every_expression_of_the_core_is_the_same_to_spark(
    rows: Any, tmp_path: Path, setting: Callable[[str, str], None]
) -> None:
    assert check_all(rows, tmp_path, setting, 1, ("true", "false")) > 400
