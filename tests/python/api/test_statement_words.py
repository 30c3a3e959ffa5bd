"""Statements that Spark does not know: what they say, and errors that point at the word."""

from __future__ import annotations

import pytest

from deltaic.exceptions import InvalidArgumentError
from deltaic.statements import model as S  # noqa: N812
from deltaic.statements.dml import parse_change
from deltaic.statements.parse import parse

READ = {
    "OPTIMIZE a.b WHERE p = (1) AND q IN ('zorder by') ZORDER BY (x, y.z)": S.Optimize(
        ["a", "b"], "p = (1) AND q IN ('zorder by')", ["x", "y.z"]
    ),
    "OPTIMIZE t WHERE p = ';' ;": S.Optimize(["t"], "p = ';'"),
    "optimize delta.`/a b/c` FULL;": S.Optimize(["delta", "/a b/c"], full=True),
    "-- first\n/* then */ vacuum '/p' LITE RETAIN 0.5 HOURS DRY RUN": S.Vacuum(
        ["'", "/p"], 0.5, dry_run=True, lite=True
    ),
    "VACUUM t RETAIN 1 HOURS USING INVENTORY s.`i n`": S.Vacuum(["t"], 1, inventory="TABLE `s`.`i n`"),
    "vacuum t using inventory (SELECT f(')') FROM i) full dry run": S.Vacuum(
        ["t"], dry_run=True, inventory="SELECT f(')') FROM i"
    ),
    "RESTORE TABLE t TO VERSION AS OF 3": S.Restore(["t"], 3),
    "restore t timestamp as of '2026-01-01'": S.Restore(["t"], None, "2026-01-01"),
    "DESCRIBE HISTORY t LIMIT 3": S.History(["t"], 3),
    "desc detail t": S.Detail(["t"]),
    "CONVERT TO DELTA parquet.`/a` PARTITIONED BY (a INT, b DECIMAL(3, 2)) NO STATISTICS": S.Convert(
        ["parquet", "/a"], "a INT, b DECIMAL(3, 2)", statistics=False
    ),
    "GENERATE symlink_format_manifest FOR TABLE t": S.Generate(["t"], "symlink_format_manifest"),
    "CREATE OR REPLACE TABLE a SHALLOW CLONE b VERSION AS OF 2 TBLPROPERTIES ('k' = 'v')": S.Clone(
        ["a"], ["b"], replaces=True, version=2, properties={"k": "v"}
    ),
    "REPLACE TABLE a SHALLOW CLONE '/b'": S.Clone(["a"], ["'", "/b"], replaces=True, creates=False),
    "CREATE TABLE IF NOT EXISTS a CLONE b LOCATION '/p'": S.Clone(
        ["a"], ["b"], shallow=False, if_not_exists=True, location="/p"
    ),
    "REORG TABLE t WHERE a = 1 APPLY (PURGE)": S.Reorg(["t"], "a = 1"),
    "ALTER TABLE t ADD CONSTRAINT c CHECK (a > (1) AND b = ')')": S.AddConstraint(
        ["t"], "c", "a > (1) AND b = ')'"
    ),
    "ALTER TABLE t CHANGE COLUMN `a b` SYNC IDENTITY": S.SyncIdentity(["t"], ["a b"]),
    "ALTER TABLE t ALTER id SYNC IDENTITY": S.SyncIdentity(["t"], ["id"]),
    "ALTER TABLE t DROP CONSTRAINT IF EXISTS c": S.DropConstraint(["t"], "c", if_exists=True),
    "ALTER TABLE t DROP FEATURE deletionVectors TRUNCATE HISTORY": S.DropFeature(
        ["t"], "deletionVectors", truncate_history=True
    ),
    "ALTER TABLE t DROP FEATURE 'deletionVectors' TRUNCATE HISTORY": S.DropFeature(
        ["t"], "deletionVectors", truncate_history=True
    ),
}
SPARKS = [
    "SELECT 1",
    "",
    "-- nothing",
    "DESCRIBE history",
    "DESCRIBE t",
    "CREATE TABLE t AS SELECT 'CLONE'",
    "CREATE OR REPLACE TEMP VIEW v AS SELECT 1",
    "ALTER TABLE t ADD COLUMN feature INT",
    "ALTER VIEW v AS SELECT 1",
    "ALTER TABLE t ALTER COLUMN sync COMMENT 'identity'",
]
WRONG = {
    "VACUUM t RETAIN 5 DAYS": r"expected HOURS, found `DAYS` \(line 1, column 19\)",
    "VACUUM": r"expected the name of a table, .*, found the end \(line 1, column 7\)",
    "OPTIMIZE\n  t ZORDER (x)": r"expected BY, found `\(` \(line 2, column 12\)",
    "VACUUM :t": r"found `:` \(line 1, column 8\)",
    "OPTIMIZE t WHERE": "expected a condition, found the end",
    "OPTIMIZE t WHERE p = 'x": "a quote or comment is not closed",
    "RESTORE t": "expected VERSION AS OF or TIMESTAMP AS OF",
    "DESCRIBE HISTORY t LIMIT few": "expected a number of commits, found `few`",
    "REORG TABLE t APPLY (UPGRADE)": "expected PURGE, found `UPGRADE`",
    "ALTER TABLE t ADD CONSTRAINT c (a > 1)": r"expected CHECK, found `\(`",
    "GENERATE symlink_format_manifest t": "expected FOR, found `t`",
    "VACUUM t LITE USING INVENTORY i": "LITE reads the log only",
    "VACUUM t LITE FULL": "LITE/FULL is given twice",
    "VACUUM t FULL LITE": "LITE/FULL is given twice",
    "VACUUM t DRY RUN DRY RUN": "DRY RUN is given twice",
    "VACUUM t RETAIN 0 HOURS RETAIN 0 HOURS": "RETAIN is given twice",
    "CONVERT TO ICEBERG t": "expected DELTA, found `ICEBERG`",
    "DESCRIBE DETAIL t u": "expected the end of the statement, found `u`",
}


@pytest.mark.parametrize("text", READ)
def test_what_statements_say(text: str) -> None:
    assert parse(text) == READ[text]


@pytest.mark.parametrize(
    "value",
    [
        "10L",
        "-1.5BD",
        "2e3D",
        "x'ab'",
        "r'a (b'",
        "'a  b'",
        "10L + a /* ) */",
        "a NOT  IN (1S)",
        "CASE WHEN a THEN 1Y END",
        "`a  b`.c",
    ],
)
def test_conditions_and_values_are_as_they_are_written(value: str) -> None:
    update = parse_change(f"UPDATE t SET a = {value}, b = {value} WHERE c = {value}")
    assert update is not None
    written = value.removesuffix(" /* ) */")
    assert (update.values, update.condition) == ({"a": written, "b": written}, f"c = {written}")
    assert parse(f"ALTER TABLE t ADD CONSTRAINT d CHECK (c = {value})") == S.AddConstraint(
        ["t"], "d", f"c = {written}"
    )
    assert parse(f"OPTIMIZE t WHERE c = {value} ZORDER BY (d)") == S.Optimize(["t"], f"c = {written}", ["d"])


@pytest.mark.parametrize("text", SPARKS)
def test_other_statements_are_sparks(text: str) -> None:
    assert parse(text) is None


@pytest.mark.parametrize("text", WRONG)
def test_errors_point_at_the_word(text: str) -> None:
    with pytest.raises(InvalidArgumentError, match=WRONG[text]) as raised:
        parse(text)
    assert "\n" not in str(raised.value)


def test_changes_of_rows() -> None:
    deleted = parse_change("DELETE FROM delta.`/a` AS x WHERE x.a = (SELECT 1);")
    assert deleted is not None
    assert (deleted.name, deleted.alias, deleted.condition) == (["delta", "/a"], "x", "x.a = (SELECT 1)")
    updated = parse_change("UPDATE t SET a.b = f(1, 2), c = CASE WHEN d THEN 'x, WHERE' END WHERE e")
    assert updated is not None
    assert updated.values == {"a.b": "f(1, 2)", "c": "CASE WHEN d THEN 'x, WHERE' END"}
    merged = parse_change(
        "MERGE WITH SCHEMA EVOLUTION INTO t USING (SELECT 1 AS a) s ON t.a = s.a"
        " WHEN MATCHED AND CASE WHEN s.a > 1 THEN true END THEN UPDATE SET *"
        " WHEN NOT MATCHED THEN INSERT (a, b) VALUES (s.a, f(1, 2)) WHEN NOT MATCHED BY SOURCE THEN DELETE"
    )
    assert merged is not None
    assert merged.evolves
    assert [(c.when, c.action, c.condition) for c in merged.clauses] == [
        ("whenMatched", "update", "CASE WHEN s.a > 1 THEN true END"),
        ("whenNotMatched", "insert", None),
        ("whenNotMatchedBySource", "delete", None),
    ]
    assert merged.clauses[1].values == {"a": "s.a", "b": "f(1, 2)"}
    with pytest.raises(InvalidArgumentError, match="2 values for 2 columns"):
        parse_change("MERGE INTO t USING s ON a = b WHEN NOT MATCHED THEN INSERT (a, b) VALUES (1)")
    assert parse_change("SELECT 1") is None
