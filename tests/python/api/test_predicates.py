"""SQL text becomes the predicate tree, exactly or as `unknown`."""

import json
from datetime import date, datetime, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltaic.exceptions import InvalidPredicateError
from deltaic.predicates import from_sql, name_parts, unqualified


def tree(text):
    return json.loads(from_sql(text))


def compare(op, column, kind, value=None):
    literal = {"type": kind} if kind == "null" else {"type": kind, "value": value}
    return {"compare": {"op": op, "column": column.split("."), "value": literal}}


DAY = (date(2024, 2, 29) - date(1970, 1, 1)).days
NOON = int(datetime(2024, 2, 29, 12, tzinfo=timezone.utc).timestamp()) * 1_000_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = 5", compare("=", "a", "long", 5)),
        ("a == 5", compare("=", "a", "long", 5)),
        ("5 < a", compare(">", "a", "long", 5)),
        ("5 <= a", compare(">=", "a", "long", 5)),
        ("(5) > (a)", compare("<", "a", "long", 5)),
        ("a <> -5", compare("!=", "a", "long", -5)),
        ("a != - -5", compare("!=", "a", "long", 5)),
        ("a <=> NULL", compare("<=>", "a", "null")),
        ("a IS DISTINCT FROM 3", {"not": compare("<=>", "a", "long", 3)}),
        ("a IS NOT DISTINCT FROM 3", compare("<=>", "a", "long", 3)),
        ("a = NULL", compare("=", "a", "null")),
        ("a = TRUE", compare("=", "a", "boolean", True)),
        ("flag", compare("=", "flag", "boolean", True)),
        ("NOT flag", {"not": compare("=", "flag", "boolean", True)}),
        ("flag IS TRUE", compare("<=>", "flag", "boolean", True)),
        ("flag IS NOT FALSE", {"not": compare("<=>", "flag", "boolean", False)}),
        ("a.b.c = 1", compare("=", "a.b.c", "long", 1)),
        ("a.b.c.d.e.f = 1", compare("=", "a.b.c.d.e.f", "long", 1)),
        (
            "`a.b`.`c``d` = 1",
            {"compare": {"op": "=", "column": ["a.b", "c`d"], "value": {"type": "long", "value": 1}}},
        ),
        ("9223372036854775807 = a", compare("=", "a", "long", 2**63 - 1)),
        ("a = -9223372036854775808", compare("=", "a", "long", -(2**63))),
        ("a = 9223372036854775808", compare("=", "a", "decimal", "9223372036854775808")),
        ("a = 1.50", compare("=", "a", "decimal", "1.50")),
        ("a = -.5", compare("=", "a", "decimal", "-0.5")),
        ("a = 1.5BD", compare("=", "a", "decimal", "1.5")),
        ("a = 15e-1", compare("=", "a", "double", 1.5)),
        ("a = 1.5D", compare("=", "a", "double", 1.5)),
        ("a = 1.5F", compare("=", "a", "double", 1.5)),
        ("a = -7L", compare("=", "a", "long", -7)),
        ("a = CAST(7 AS INT)", compare("=", "a", "long", 7)),
        ("a = CAST(5 AS DECIMAL(3,1))", compare("=", "a", "decimal", "5.0")),
        ("a = X'1fA0'", compare("=", "a", "binary", "1fa0")),
        ("a = 'it''s'", compare("=", "a", "string", "it's")),
        ('a = "it\'s"', compare("=", "a", "string", "it's")),
        ("a = 'x\\ny'", compare("=", "a", "string", "x\ny")),
        ("a = R'x\\ny'", compare("=", "a", "string", "x\\ny")),
        ("a = '日本 é'", compare("=", "a", "string", "日本 é")),
        ("a >= DATE'2024-02-29'", compare(">=", "a", "date", DAY)),
        ("a >= CAST('2024-02-29' AS DATE)", compare(">=", "a", "date", DAY)),
        ("a >= CAST('2024-02-29 12:00:00' AS DATE)", compare(">=", "a", "date", DAY)),
        ("a >= DATE '2024-2'", compare(">=", "a", "date", DAY - 28)),
        ("a < TIMESTAMP'2024-02-29 12:00:00'", compare("<", "a", "timestamp", NOON)),
        ("a < TIMESTAMP'2024-02-29T12:00:00.0000019Z'", compare("<", "a", "timestamp", NOON + 1)),
        ("a < TIMESTAMP'2024-02-29 13:30:00+01:30'", compare("<", "a", "timestamp", NOON)),
        ("a < CAST('2024-02-29 13:00:00 Europe/Paris' AS TIMESTAMP)", compare("<", "a", "timestamp", NOON)),
        ("a < TIMESTAMP_NTZ'2024-02-29 12:00:00'", compare("<", "a", "timestampntz", NOON)),
        ("a < TIMESTAMP'1969-12-31 23:59:59.999999'", compare("<", "a", "timestamp", -1)),
        ("a IS NULL", {"isnull": {"column": ["a"]}}),
        ("a IS NOT NULL", {"isnotnull": {"column": ["a"]}}),
        ("NULL IS NULL", {"constant": True}),
        (
            "a IN (1, 'x', NULL)",
            {
                "in": {
                    "column": ["a"],
                    "values": [
                        {"type": "long", "value": 1},
                        {"type": "string", "value": "x"},
                        {"type": "null"},
                    ],
                }
            },
        ),
        ("a NOT IN (1)", {"not": {"in": {"column": ["a"], "values": [{"type": "long", "value": 1}]}}}),
        ("a BETWEEN 1 AND 2", {"and": [compare(">=", "a", "long", 1), compare("<=", "a", "long", 2)]}),
        (
            "NOT a BETWEEN 1 AND 2",
            {"not": {"and": [compare(">=", "a", "long", 1), compare("<=", "a", "long", 2)]}},
        ),
        ("5 BETWEEN a AND b", {"and": [compare("<=", "a", "long", 5), compare(">=", "b", "long", 5)]}),
        ("a LIKE 'x%'", {"startswith": {"column": ["a"], "prefix": "x"}}),
        ("a LIKE '%'", {"startswith": {"column": ["a"], "prefix": ""}}),
        ("a NOT LIKE 'x%%'", {"not": {"startswith": {"column": ["a"], "prefix": "x"}}}),
        ("a LIKE 'x\\%y\\_%'", {"startswith": {"column": ["a"], "prefix": "x%y_"}}),
        ("a LIKE '5!%%' ESCAPE '!'", {"startswith": {"column": ["a"], "prefix": "5%"}}),
        ("a NOT LIKE '5!%%' ESCAPE '!'", {"not": {"startswith": {"column": ["a"], "prefix": "5%"}}}),
        (
            "a LIKE 'xy'",
            {"and": [{"startswith": {"column": ["a"], "prefix": "xy"}}, compare("=", "a", "string", "xy")]},
        ),
        ("startswith(a, 'x')", {"startswith": {"column": ["a"], "prefix": "x"}}),
        ("TRUE", {"constant": True}),
        ("NULL", {"constant": None}),
        ("1 = 1", {"constant": True}),
        ("1 > NULL", {"constant": None}),
        ("NULL <=> NULL", {"constant": True}),
        (
            "a = 1 AND b = 2 AND (c = 3 OR NOT d = 4)",
            {
                "and": [
                    compare("=", "a", "long", 1),
                    compare("=", "b", "long", 2),
                    {"or": [compare("=", "c", "long", 3), {"not": compare("=", "d", "long", 4)}]},
                ]
            },
        ),
    ],
)
def test_conditions_that_the_tree_can_say(text, expected):
    assert tree(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "a = b",
        "a + 1 = 2",
        "upper(a) = 'X'",
        "a LIKE '%x'",
        "a LIKE 'x_'",
        "a LIKE 'x%y'",
        "a LIKE 'x\\\\y'",
        "a ILIKE 'x%'",
        "a RLIKE 'x'",
        "a[0] = 1",
        "a.b[0].c = 1",
        "a IN (SELECT 1)",
        "a IN (1, b)",
        "a = current_date()",
        "CAST(a AS INT) = 1",
        "a = CAST(1.7 AS INT)",
        "a = CAST(300 AS TINYINT)",
        "a = CAST(5.25 AS DECIMAL(3,1))",
        "a = CAST('1_0' AS DECIMAL(3,0))",
        "a = 0.1F",
        "a = 1e400",
        "a = 12345678901234567890123456789012345678.9",
        "1 = 1.0",
        "a = :p",
    ],
)
def test_what_the_tree_cannot_say_is_unknown(text):
    assert list(tree(text)) == ["unknown"]


def test_an_unknown_part_leaves_the_others_standing():
    assert tree("a = 1 AND upper(b) = 'X'") == {
        "and": [compare("=", "a", "long", 1), {"unknown": "UPPER(b) = 'X'"}]
    }
    assert tree("NOT a > b") == {"not": {"unknown": "a > b"}}


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("a = ", "="),
        ("a = 1 bogus 2", "bogus"),
        ("a = 1; DROP TABLE t", "DROP"),
        ("a >= AND b = 1", "AND"),
        ("(a = 1", "("),
    ],
)
def test_a_syntax_error_points_at_the_word(text, word):
    with pytest.raises(InvalidPredicateError) as caught:
        from_sql(text)
    assert caught.value.predicate == text
    assert word in caught.value.reason
    assert str(caught.value) == f"predicate `{text}`: {caught.value.reason}"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it is empty"),
        ("  ", "it is empty"),
        ("a = 'x", "a quote or comment is not closed"),
        ("a = DATE'2023-02-29'", "`2023-02-29` is not a date"),
        ("a = DATE'soon'", "`soon` is not a date"),
        ("a = TIMESTAMP'2023-01-01 25:00:00'", "`2023-01-01 25:00:00` is not a timestamp"),
        (
            "a = TIMESTAMP'2023-01-01 05:00:00 Mars/Base'",
            "`2023-01-01 05:00:00 Mars/Base` is not a timestamp",
        ),
    ],
)
def test_what_is_no_condition_is_an_error(text, reason):
    with pytest.raises(InvalidPredicateError) as caught:
        from_sql(text)
    assert caught.value.reason == reason
    assert isinstance(caught.value, ValueError)


def test_a_long_chain_stays_flat():
    text = " OR ".join(f"a = {i}" for i in range(2000))
    assert len(tree(text)["or"]) == 2000


NAMES = st.text(
    st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), min_size=1, max_size=8
).filter(lambda name: name.strip() == name and name.isprintable())
TEXTS = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), max_size=12)


def quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def backticked(name):
    return "`" + name.replace("`", "``") + "`"


LITERALS = st.one_of(
    st.integers(-(2**63), 2**63 - 1).map(lambda v: (str(v), {"type": "long", "value": v})),
    TEXTS.map(lambda v: (quoted(v), {"type": "string", "value": v})),
    st.booleans().map(lambda v: (str(v).upper(), {"type": "boolean", "value": v})),
    st.dates().map(lambda v: (f"DATE'{v}'", {"type": "date", "value": (v - date(1970, 1, 1)).days})),
    st.decimals(-1000, 1000, places=3, allow_nan=False).map(
        lambda v: (f"{v:f}", {"type": "decimal", "value": f"{v:f}"})
    ),
    st.just(("NULL", {"type": "null"})),
)
COMPARISONS = st.tuples(NAMES, st.sampled_from(["=", "!=", "<", "<=", ">", ">=", "<=>"]), LITERALS).map(
    lambda c: (
        f"{backticked(c[0])} {c[1]} {c[2][0]}",
        {"compare": {"op": c[1], "column": [c[0]], "value": c[2][1]}},
    )
)
NULLS = NAMES.map(lambda n: (f"{backticked(n)} IS NULL", {"isnull": {"column": [n]}}))
INS = st.tuples(NAMES, st.lists(LITERALS, min_size=1, max_size=4)).map(
    lambda c: (
        f"{backticked(c[0])} IN ({', '.join(v[0] for v in c[1])})",
        {"in": {"column": [c[0]], "values": [v[1] for v in c[1]]}},
    )
)


def prefix_like(pair):
    name, prefix = pair
    pattern = prefix.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
    return f"{backticked(name)} LIKE {quoted(pattern)}", {"startswith": {"column": [name], "prefix": prefix}}


LEAVES = st.one_of(COMPARISONS, NULLS, INS, st.tuples(NAMES, TEXTS).map(prefix_like))


def joined(word, parts):
    return f" {word} ".join(f"({text})" for text, _ in parts), {word.lower(): [node for _, node in parts]}


def flat(node):
    """A chain of ANDs or ORs is one list, however it is bracketed."""
    for key in ("and", "or"):
        if key in node:
            parts = [flat(part) for part in node[key]]
            return {key: [inner for part in parts for inner in part.get(key, [part])]}
    if "not" in node:
        inner = flat(node["not"])
        return {"isnotnull": inner["isnull"]} if "isnull" in inner else {"not": inner}
    return node


CONDITIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: joined("AND", parts)),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: joined("OR", parts)),
        inner.map(lambda part: (f"NOT ({part[0]})", {"not": part[1]})),
    ),
    max_leaves=8,
)


@settings(deadline=None)
@given(CONDITIONS)
def test_every_tree_survives_the_way_through_sql(condition):
    text, expected = condition
    assert flat(tree(text)) == flat(expected)


@given(st.lists(st.text(min_size=1), min_size=1, max_size=3))
def test_quoted_names_keep_all_that_is_in_them(parts: list[str]) -> None:
    quoted = ".".join("`" + part.replace("`", "``") + "`" for part in parts)
    assert name_parts(quoted) == parts


@pytest.mark.parametrize(
    "text", ["(" * 20_000 + "id > 1" + ")" * 20_000, "NOT " * 20_000 + "id > 1"], ids=["parentheses", "not"]
)
def test_a_condition_of_great_depth_is_an_error(text):
    with pytest.raises(InvalidPredicateError, match="nested too deeply") as caught:
        from_sql(text)
    assert len(str(caught.value)) < 1000
    assert caught.value.predicate == text


def test_a_long_condition_is_no_deep_one():
    tree = json.loads(from_sql(" OR ".join(f"id = {n}" for n in range(20_000))))
    assert len(tree["or"]) == 20_000


@pytest.mark.parametrize(
    ("text", "name", "plain"),
    [
        ("t.id = 1", "t", "id = 1"),
        ("T.id >= 2 AND t . id <= 3", "t", "id >= 2 AND id <= 3"),
        ("`a b`.id IN (1, 2)", "a b", "id IN (1, 2)"),
        ("`22`.`x.y` IS NULL", "22", "`x.y` IS NULL"),
        ("t.t.t.id = 10", "t", "t.t.id = 10"),
        ("t >= 2 OR u.t.id = 't.id'", "t", "t >= 2 OR u.t.id = 't.id'"),
        ("t.id = 'open", "t", "t.id = 'open"),
    ],
)
def test_the_name_of_the_table_before_a_column_goes(text: str, name: str, plain: str) -> None:
    assert unqualified(text, name, case_sensitive=False) == plain


def test_the_name_of_the_table_may_count_case() -> None:
    assert unqualified("T.id = t.id", "t", case_sensitive=True) == "T.id = id"
