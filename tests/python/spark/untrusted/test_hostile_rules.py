"""Rules of a table from a stranger: nothing runs but what a rule may compute, and a refusal comes before a write."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from bridge_tables import Log, data_files, field, ruled
from pyspark.errors import AnalysisException

import deltaic
from deltaic import exceptions
from deltaic.spark.session.kind import is_connect, served_name
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.spark

GENERATION = "delta.generationExpression"
PROPERTY = "deltaic.hostile"
SET_IT = f"reflect('java.lang.System', 'setProperty', '{PROPERTY}', 'yes')"
GET_IT = "java_method('java.lang.System', 'getProperty', 'java.version')"
UNSUPPORTED = "DELTA_UNSUPPORTED_EXPRESSION_GENERATED_COLUMN"
OF_SPARK = "UNSUPPORTED_EXPRESSION_GENERATED_COLUMN"

# what a generation expression must not hold, with what delta-spark says where one is made
REFUSED = {
    "a method": (GET_IT, OF_SPARK),
    "a quoted method": (GET_IT.replace("java_method", "`java_method`"), UNSUPPORTED),
    "a query": ("(SELECT max(s) FROM other_table)", OF_SPARK),
    "a member of a query": ("CAST(name IN (SELECT s FROM other_table) AS STRING)", OF_SPARK),
    "another each time": ("uuid()", OF_SPARK),
    "the user": ("current_user()", UNSUPPORTED),
    "the user, as a name": ("current_user", UNSUPPORTED),
    "a file": ("input_file_name()", OF_SPARK),
    "a function of the session": ("shout(name)", UNSUPPORTED),
    "a temporary function": ("twice(name)", UNSUPPORTED),
    "an aggregate": ("max(name)", UNSUPPORTED),
    "a function of a schema": ("other.shout(name)", UNSUPPORTED),
    "a variable": ("secret", "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
}
# in what only Spark knows: lambdas
WITHIN = {
    "a method": (f"transform(array(name), x -> {GET_IT})[0]", UNSUPPORTED),
    "a query": ("transform(array(name), x -> (SELECT max(s) FROM other_table))[0]", OF_SPARK),
    "another each time": ("transform(array(name), x -> uuid())[0]", UNSUPPORTED),
    "a function of the session": ("transform(array(name), x -> shout(x))[0]", UNSUPPORTED),
    "the user, as a name": ("transform(array(name), x -> current_user)[0]", UNSUPPORTED),
    "a variable": ("transform(array(name), x -> secret)[0]", UNSUPPORTED),
    "a name of a function": ("transform(array(name), x -> identifier('java_method')(x))[0]", UNSUPPORTED),
    "an aggregate": ("transform(array(name), x -> max(x))[0]", UNSUPPORTED),
    "a window": ("transform(array(name), x -> first(x) OVER (ORDER BY x))[0]", UNSUPPORTED),
    "more rows": ("explode(transform(array(name), x -> x))", UNSUPPORTED),
    "no column": ("transform(array(name), x -> nothing)[0]", None),
    "no expression": ("transform(array(name), x -> )", None),
}


@pytest.fixture
def hostile(door: Any) -> Iterator[Any]:
    """A session with what rules try to reach."""
    door.udf.register("shout", lambda text: f"{text}!")
    door.sql("CREATE OR REPLACE TEMPORARY VIEW other_table AS SELECT 'a secret' AS s")
    if not _is_old(door):
        door.sql("CREATE OR REPLACE TEMPORARY FUNCTION twice(x STRING) RETURNS STRING RETURN concat(x, x)")
    door.sql("DECLARE OR REPLACE VARIABLE secret STRING DEFAULT 'a secret'")
    yield door
    door.sql("DROP TEMPORARY VARIABLE secret")
    door.sql("DROP VIEW other_table")


def _is_old(door: Any) -> bool:
    return bool(door.version.startswith("4.0"))


def refuses(path: str, write: Callable[[], Any], text: str) -> exceptions.InvalidExpressionError:
    """Nothing is written, and the error is that of the rule."""
    before, version = data_files_of(path), deltaic.Table(path).version
    with pytest.raises(exceptions.InvalidExpressionError) as error:
        write()
    assert error.value.expression == text
    assert (data_files_of(path), deltaic.Table(path).version) == (before, version)
    return error.value


def data_files_of(path: str) -> set[str]:
    from pathlib import Path

    return data_files(Path(path))


def named(door: Any, path: str, name: str = "a") -> None:
    deltaic.save(door.sql(f"SELECT '{name}' AS name"), path, mode="append")


@pytest.mark.parametrize("what", REFUSED)
def test_generated_columns_that_reach_further_are_refused(hostile: Any, what: str, tmp_path: Path) -> None:
    text, condition = REFUSED[what]
    path = ruled(tmp_path / "t", [field("name", "string"), field("g", "string", **{GENERATION: text})])
    error = refuses(path, lambda: named(hostile, path), text)
    assert error.condition == condition
    # a value of the writer's own is compared with it
    given = hostile.sql("SELECT 'a' AS name, 'b' AS g")
    refuses(path, lambda: deltaic.save(given, path, mode="append"), text)


@pytest.mark.parametrize("what", WITHIN)
def test_what_only_spark_knows_is_looked_at_first(
    hostile: Any, what: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    text, condition = WITHIN[what]
    path = ruled(tmp_path / "t", [field("name", "string"), field("g", "string", **{GENERATION: text})])
    error = refuses(path, lambda: named(hostile, path), text)
    if request.node.callspec.params["door"] == "connect":
        assert "Spark Connect" in error.reason or what == "a query"
    else:
        assert error.condition == condition, error


def test_what_only_spark_knows_holds_where_it_does_no_harm(door: Any, tmp_path: Path) -> None:
    fields = [
        field("name", "string"),
        field("g", "string", **{GENERATION: "transform(array(name, 'x'), v -> upper(v))[0]"}),
    ]
    path = ruled(tmp_path / "t", fields, short="forall(split(name, ''), c -> c <> 'z')")
    if is_connect(door) and served_name(door) is None:
        error = refuses(path, lambda: named(door, path), fields[1]["metadata"][GENERATION])
        assert "classic session" in error.reason
        return
    named(door, path)
    assert [tuple(row) for row in deltaic.read(door, path).collect()] == [("a", "A")]
    with pytest.raises(exceptions.InvariantViolationError, match="CHECK constraint short"):
        named(door, path, "az")


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        (f"{SET_IT} IS NULL", "DELTA_NON_DETERMINISTIC_EXPRESSION_IN_CHECK_CONSTRAINT"),
        (f"exists(array(1), x -> {SET_IT} IS NULL)", "DELTA_UNSUPPORTED_EXPRESSION_CHECK_CONSTRAINT"),
        ("false) OR (true", None),
        ("(true", None),
        ("rand() < 2", "DELTA_NON_DETERMINISTIC_EXPRESSION_IN_CHECK_CONSTRAINT"),
        ("(SELECT count(*) FROM other_table) > 0", "DELTA_UNSUPPORTED_EXPRESSION_CHECK_CONSTRAINT"),
        ("shout(name) = 'a!'", "DELTA_UNSUPPORTED_EXPRESSION_CHECK_CONSTRAINT"),
        ("name = '${env:HOME}' OR exists(array(name), x -> x = '${env:HOME}')", None),
        ("(" * 20_000 + "true" + ")" * 20_000, None),
        ("exists(array(1), x -> " + "(" * 200 + "true" + ")" * 200 + ")", None),
        ("exists(array(1), x -> " + " OR ".join(["x = 1"] * 2000) + ")", None),
    ],
)
def test_checks_and_invariants_that_reach_further_are_refused(
    hostile: Any, text: str, condition: str | None, tmp_path: Path
) -> None:
    invariant = json.dumps({"expression": {"expression": text}})
    tables = [
        ruled(tmp_path / "check", [field("name", "string")], c=text),
        ruled(tmp_path / "invariant", [field("name", "string", **{"delta.invariants": invariant})]),
    ]
    for path in tables:
        error = refuses(path, lambda path=path: named(hostile, path), text)
        if hasattr(hostile, "_jvm"):
            assert error.condition == condition, error
    if hasattr(hostile, "_jvm"):
        assert hostile._jvm.java.lang.System.getProperty(PROPERTY) is None
    assert hostile.range(3).count() == 3


def test_a_constraint_that_ends_its_parenthesis_is_not_added(door: Any, tmp_path: Path) -> None:
    path = ruled(tmp_path / "t", [field("name", "string")])
    with pytest.raises(exceptions.InvalidExpressionError):
        deltaic.Table(path).add_constraint("c", "false) OR (true")
    with pytest.raises(exceptions.DeltaError):
        deltaic.sql(door, f"ALTER TABLE delta.`{path}` ADD CONSTRAINT c CHECK (false) OR (true)")
    assert deltaic.Table(path).version == 0


def test_functions_of_the_session_do_not_take_the_place_of_sparks(another: Any, tmp_path: Path) -> None:
    fields = [field("name", "string"), field("g", "string", **{GENERATION: "soundex(name)"})]
    path = ruled(tmp_path / "t", fields, c="levenshtein(name, 'abc') < 9")
    # older Sparks do not give their own back
    own = another()
    own.udf.register("soundex", lambda _: "the session's")
    if own.sql("SELECT soundex('abc')").first()[0] == "the session's":
        error = refuses(path, lambda: named(own, path, "abc"), "soundex(name)")
        assert error.condition == "DELTA_UDF_IN_GENERATED_COLUMN"
    else:
        # newer ones take their own first
        named(own, path, "abc")
        assert deltaic.read(own, path).first().g == "A120"


def test_spark_puts_no_variables_into_texts_and_names(
    spark: Any, setting: Callable[[str, str], None], tmp_path: Path
) -> None:
    setting("spark.hostile.secret", "a secret")
    text = "concat(name, '${spark.hostile.secret}${env:HOME}')"
    path = ruled(tmp_path / "t", [field("name", "string"), field("g", "string", **{GENERATION: text})])
    named(spark, path)
    assert deltaic.read(spark, path).first().g == "a${spark.hostile.secret}${env:HOME}"
    column = "${spark.hostile.secret}"
    path = ruled(
        tmp_path / "named", [field("name", "string"), field(column, "string")], c=f"`{column}` IS NULL"
    )
    refuses(path, lambda: named(spark, path), f"`{column}` IS NULL")


@pytest.mark.parametrize("escaped", ["false", "true"])
def test_texts_mean_the_same_by_every_setting(
    spark: Any, setting: Callable[[str, str], None], escaped: str, tmp_path: Path
) -> None:
    setting("spark.sql.parser.escapedStringLiterals", escaped)
    text = r"concat(name, 'it\'s \"so\"', '\n', 'a\\b')"
    path = ruled(tmp_path / "t", [field("name", "string"), field("g", "string", **{GENERATION: text})])
    named(spark, path)
    assert deltaic.read(spark, path).first().g == 'ait\'s "so"\na\\b'


def with_default(path: Path, **metadata: str) -> str:
    """A table with a row that was there before its column `b`."""
    log = Log(path)
    features = {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": ["allowColumnDefaults"]}
    fields = [field("a", "long"), field("b", "string", **metadata)]
    log.commit({"protocol": features}, log.metadata(fields), log.add("old.parquet", pa.table({"a": [1]})))
    return str(path)


@pytest.mark.parametrize(
    "text", [GET_IT, "(SELECT max(s) FROM other_table)", "shout('a')", "(" * 20_000 + "1" + ")" * 20_000]
)
def test_what_rows_had_before_a_column_is_null(hostile: Any, text: str, tmp_path: Path) -> None:
    # Spark parses this by itself where a file lacks the column
    path = with_default(tmp_path / "t", EXISTS_DEFAULT=text)
    assert [tuple(row) for row in deltaic.read(hostile, path).collect()] == [(1, None)]
    deltaic.save(hostile.sql("SELECT 2L AS a, 'x' AS b"), path, mode="append")
    assert sorted(tuple(row) for row in deltaic.read(hostile, path).collect()) == [(1, None), (2, "x")]


DEFAULTS = [
    (GET_IT, "NOT_CONSTANT"),
    ("(SELECT max(s) FROM other_table)", "SUBQUERY_EXPRESSION"),
    ("shout('a')", "NOT_CONSTANT"),
    ("uuid()", "NOT_CONSTANT"),
    ("transform(array('a'), x -> shout(x))[0]", "NOT_CONSTANT"),
    ("(" * 20_000 + "1" + ")" * 20_000, None),
]


@pytest.mark.parametrize(("text", "condition"), DEFAULTS)
def test_defaults_that_reach_further_are_refused(
    hostile: Any, text: str, condition: str | None, tmp_path: Path
) -> None:
    path = with_default(tmp_path / "t", CURRENT_DEFAULT=text)
    before = deltaic.Table(path).version
    error = refuses(path, lambda: deltaic.save(hostile.sql("SELECT 2L AS a"), path, mode="append"), text)
    if condition is not None:
        assert error.condition == f"INVALID_DEFAULT_VALUE.{condition}"
    table = DeltaTable.forPath(hostile, path)
    refuses(path, lambda: table.update(set={"b": "DEFAULT"}), text)
    source = hostile.sql("SELECT 9L AS a UNION ALL SELECT 10L")
    merge = table.alias("t").merge(source.alias("s"), "t.a = s.a")
    merge = merge.whenNotMatchedInsert("s.a = 9", values={"a": "s.a"}).whenNotMatchedInsert(
        values={"a": "s.a", "b": "'x'"}
    )
    refuses(path, merge.execute, text)
    if hasattr(hostile, "_jvm"):
        # Spark itself fills a column that an INSERT leaves out
        for statement in (
            f"INSERT INTO delta.`{path}` (a) VALUES (3)",
            f"INSERT INTO delta.`{path}` VALUES (3, DEFAULT)",
            f"UPDATE delta.`{path}` SET b = DEFAULT",
        ):
            with pytest.raises((AnalysisException, exceptions.InvalidExpressionError)):
                hostile.sql(statement)
    assert deltaic.Table(path).version == before
    assert [tuple(row) for row in deltaic.read(hostile, path).collect()] == [(1, None)]


def test_defaults_that_delta_spark_takes_are_those_of_every_api(spark: Any, tmp_path: Path) -> None:
    user = spark.sql("SELECT current_user()").first()[0]
    for n, (text, value) in enumerate(
        [("concat('n', 'ew')", "new"), ("current_user()", user), ("'it''s ' || 1::string", "it's 1")]
    ):
        path = with_default(tmp_path / str(n), CURRENT_DEFAULT=text)
        deltaic.save(spark.sql("SELECT 2L AS a"), path, mode="append")
        spark.sql(f"INSERT INTO delta.`{path}` (a) VALUES (3)")
        spark.sql(f"INSERT INTO delta.`{path}` VALUES (4, DEFAULT)")
        spark.sql(f"UPDATE delta.`{path}` SET b = DEFAULT WHERE a = 1")
        found = {row.a: row.b for row in deltaic.read(spark, path).collect()}
        assert found == dict.fromkeys([1, 2, 3, 4], value), text


def test_changes_of_rows_compute_no_rule_that_is_refused(hostile: Any, tmp_path: Path) -> None:
    log = Log(tmp_path / "t")
    path = str(log.path)
    fields = [field("name", "string"), field("g", "string", **{GENERATION: GET_IT})]
    protocol = {"minReaderVersion": 1, "minWriterVersion": 4}
    rows = pa.table({"name": ["a"], "g": ["x"]})
    log.commit({"protocol": protocol}, log.metadata(fields), log.add("f.parquet", rows))
    table = DeltaTable.forPath(hostile, path)
    refuses(path, lambda: table.update(set={"name": "'b'"}), GET_IT)
    source = hostile.sql("SELECT 'a' AS name, 1 AS n UNION ALL SELECT 'c', 2 UNION ALL SELECT 'd', 3").alias(
        "s"
    )
    for clauses in (
        lambda m: m.whenMatchedUpdate(set={"name": "'b'"}),
        lambda m: m.whenNotMatchedInsert(values={"name": "s.name"}),
        lambda m: m.whenNotMatchedInsert("s.n = 2", values={"name": "s.name"}).whenNotMatchedInsert(
            values={"name": "s.name", "g": "'x'"}
        ),
    ):
        merge = clauses(table.alias("t").merge(source, "t.name = s.name"))
        refuses(path, merge.execute, GET_IT)
    assert [tuple(row) for row in deltaic.read(hostile, path).collect()] == [("a", "x")]


@pytest.mark.classic("asks the JVM for the functions of Spark")
def test_what_a_rule_may_call_is_sparks_and_computes_from_its_arguments(spark: Any) -> None:
    """Of the functions of this Spark; others it does not know, and refuses."""
    from deltaic import _core

    functions = spark._jvm.org.apache.spark.sql.catalyst.analysis.FunctionRegistry.builtin()
    identifier = spark._jvm.org.apache.spark.sql.catalyst.FunctionIdentifier
    reach = re.compile(r"Reflect|Aggregate|Generator|Window|Avro|Protobuf|InputFile|MonotonicallyIncreasing")
    groups = {"agg_funcs", "window_funcs", "generator_funcs", "avro_funcs", "protobuf_funcs"}
    known = 0
    for name in _core.rule_functions("generated"):
        info = functions.lookupFunction(identifier(name))
        if info.isEmpty():
            continue
        known += 1
        group, of = info.get().getGroup(), info.get().getClassName()
        assert group not in groups, name
        assert not reach.search(of.rpartition(".")[2]) or name in {"aggregate", "reduce"}, (name, of)
    assert known > 300


def test_names_and_values_of_a_table_do_not_end_the_sql_that_they_are_in(spark: Any, tmp_path: Path) -> None:
    path, odd, variable = str(tmp_path / "t"), "a`b' OR true --", "${spark.app.name}"
    mapped = {"delta.columnMapping.mode": "name"}
    rows = spark.createDataFrame([(1, "x' OR '1'='1", "p`q'"), (2, "y", "z")], [odd, "v", "by"])
    deltaic.save(rows, path, partition_by=["by"], **mapped)
    new = spark.createDataFrame([(1, "new", "p`q'"), (3, "other", "p`q'")], [odd, "v", "by"])
    deltaic.upsert(new, path, [odd, "by"])
    found = sorted(tuple(row) for row in deltaic.read(spark, path).collect())
    assert found == [(1, "new", "p`q'"), (2, "y", "z"), (3, "other", "p`q'")]
    deltaic.save(new.limit(1), path, mode="overwrite", replaceUsing="by")
    assert deltaic.read(spark, path).count() == 2

    path = str(tmp_path / "variable")
    rows = spark.createDataFrame([(1, "x")], [variable, "v"])
    deltaic.save(rows, path, **mapped)
    for write in (
        lambda: deltaic.upsert(rows, path, variable),
        lambda: deltaic.save(rows, path, mode="overwrite", replaceUsing=variable),
    ):
        with pytest.raises(exceptions.UnsupportedError, match="variable"):
            write()
    assert deltaic.Table(path).version == 0
