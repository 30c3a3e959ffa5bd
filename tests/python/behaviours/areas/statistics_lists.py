"""Which columns are listed for statistics and what is refused there; how text is cut; counts by the log."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from playing import VECTORS, Area

from areas.logs import change, copy, forget_checksums, put

if TYPE_CHECKING:
    from playing import Player

AREA = Area("statistics_lists")

LISTED = "delta.dataSkippingStatsColumns"
MAPPED = "'delta.columnMapping.mode' = 'name'"
LENGTH = "delta.dataSkippingStringPrefixLength"


def written(p: Player, action: str = "add", path: str | None = None) -> None:
    """Tells the statistics of the newest commit's files."""
    stats = [a[action].get("stats") for a in p.actions(path=path) if action in a]
    p.tell(sorted((json.loads(s) if s else None for s in stats), key=lambda s: json.dumps(s, sort_keys=True)))


def by_both(p: Player, columns: str, listed: str, *properties: str, by: str = "") -> None:
    """Tells of a list at CREATE, and by ALTER of a table without one."""
    given = ", ".join([f"'{LISTED}' = '{listed}'", *properties])
    p.attempt(f"CREATE TABLE delta.`{p.at}/create` ({columns}) USING delta {by} TBLPROPERTIES ({given})")
    plain = f"TBLPROPERTIES ({', '.join(properties)})" if properties else ""
    p.sql(f"CREATE TABLE {{u}} ({columns}) USING delta {by} {plain}")
    p.attempt(f"ALTER TABLE {{u}} SET TBLPROPERTIES ('{LISTED}' = '{listed}')")
    p.rows(f"SHOW TBLPROPERTIES {{u}} ('{LISTED}')")


@AREA.grid({of: of for of in ("BINARY", "BOOLEAN", "ARRAY<TINYINT>", "MAP<DATE, INT>")})
def types_that_cannot_be_listed(p: Player, of: str) -> None:
    by_both(p, f"c1 BIGINT, c2 {of}, s STRUCT<c3: {of}>", "c2")
    p.attempt(f"ALTER TABLE {{u}} SET TBLPROPERTIES ('{LISTED}' = 's.c3')")


@AREA.grid({listed: listed for listed in ("c0,c0", "c1,c1.c11", "c1.c11,c1.c11", "c1,c1", "`c0`,c0")})
def columns_that_are_listed_twice(p: Player, listed: str) -> None:
    by_both(p, "c0 BIGINT, c1 STRUCT<c11: BIGINT, c12: BIGINT>", listed, MAPPED)


@AREA.grid(
    {
        "a partition": ("c1", "PARTITIONED BY (c1)"),
        "a space": (" ", ""),
        "nothing": ("", ""),
    }
)
def lists_of_what_is_no_column(p: Player, case: tuple[str, str]) -> None:
    listed, by = case
    by_both(p, "c0 INT, c1 INT", listed, by=by)


@AREA.grid({listed: listed for listed in ("zz", "s.zz", "c0.x", "s.x.y")})
def columns_in_a_list_that_are_not_there(p: Player, listed: str) -> None:
    by_both(p, "c0 BIGINT, s STRUCT<x: BIGINT>", listed)


@AREA.situation()
def special_names_in_a_list(p: Player) -> None:
    listed = "`c1.`,`c2*`,`c3,`,`c-4`"
    columns = "`c1.` BIGINT, `c2*` BIGINT, `c3,` BIGINT, `c-4` BIGINT"
    p.attempt(
        f"CREATE TABLE {{t}} ({columns}) USING delta TBLPROPERTIES ('{LISTED}' = '{listed}', {MAPPED})",
        f"SHOW TBLPROPERTIES {{t}} ('{LISTED}')",
    )


@AREA.situation()
def names_with_bars_and_dots_in_a_struct(p: Player) -> None:
    p.sql(
        f"CREATE TABLE {{t}} (`|` BIGINT, c STRUCT<s: STRUCT<a: INT, b: INT>, `s.a`: INT>) USING delta"
        f" TBLPROPERTIES ({MAPPED})",
        f"ALTER TABLE {{t}} SET TBLPROPERTIES ('{LISTED}' = 'c')",
    )
    p.rows(f"SHOW TBLPROPERTIES {{t}} ('{LISTED}')")
    p.sql("INSERT INTO {t} SELECT 1, named_struct('s', named_struct('a', 1, 'b', 2), 's.a', 3)")
    p.tell([len(json.loads(a["add"]["stats"])["minValues"]) for a in p.actions() if "add" in a])


TYPES = (
    "BIGINT",
    "DATE",
    "DECIMAL(3, 2)",
    "DOUBLE",
    "FLOAT",
    "INT",
    "SMALLINT",
    "STRING",
    "TIMESTAMP",
    "TIMESTAMP_NTZ",
    "TINYINT",
    "STRUCT<c3: BIGINT>",
    "STRUCT<c3: BIGINT, c4: ARRAY<BIGINT>>",
)


@AREA.situation()
def types_that_can_be_listed(p: Player) -> None:
    columns = ", ".join(f"c{n} {of}, s{n} STRUCT<a: INT, b: {of}>" for n, of in enumerate(TYPES))
    tops = [f"c{n}" for n in range(len(TYPES))]
    p.sql(f"CREATE TABLE {{t}} ({columns}) USING delta")
    for n, names in enumerate(
        (tops, [f"s{n}" for n in range(len(TYPES))], [f"s{n}.b" for n in range(len(TYPES))])
    ):
        listed = ",".join(names)
        p.attempt(
            f"ALTER TABLE {{t}} SET TBLPROPERTIES ('{LISTED}' = '{listed}')",
            f"CREATE TABLE delta.`{p.at}/u{n}` ({columns}) USING delta TBLPROPERTIES ('{LISTED}' = '{listed}')",
        )
        p.rows(f"SHOW TBLPROPERTIES delta.`{p.at}/u{n}` ('{LISTED}')")


@AREA.situation()
def listed_columns_that_are_renamed_and_dropped(p: Player) -> None:
    columns = (
        "id BIGINT, info STRUCT<title: STRING, value: BIGINT, depart: STRUCT<org: BIGINT, perf: BIGINT>>,"
        " prev_job STRUCT<title: STRING, depart: STRUCT<org: BIGINT, perf: BIGINT>>"
    )
    listed = "info.title,info.depart.org,info.depart.perf,prev_job.title,prev_job.depart.perf"
    for how in p.each(("create", "alter")):
        given = f"{MAPPED}, '{LISTED}' = '{listed}'" if how == "create" else MAPPED
        p.sql(f"CREATE TABLE {{t}} ({columns}) USING delta TBLPROPERTIES ({given})")
        if how == "alter":
            p.sql(f"ALTER TABLE {{t}} SET TBLPROPERTIES ('{LISTED}' = '{listed}')")
        for step in (
            "RENAME COLUMN info.title TO title_name",
            "RENAME COLUMN info TO detail",
            "RENAME COLUMN detail.depart TO organization",
            "DROP COLUMN detail.title_name",
            "DROP COLUMN detail.organization",
            "DROP COLUMN prev_job",
        ):
            p.attempt(f"ALTER TABLE {{t}} {step}")
            p.rows(f"SHOW TBLPROPERTIES {{t}} ('{LISTED}')")
        p.attempt("INSERT INTO {t} SELECT 1, named_struct('value', 2L)")
        p.tell([sorted(json.loads(a["add"]["stats"])) for a in p.actions() if "add" in a])
        p.attempt("ALTER TABLE {t} RENAME COLUMN id TO key")


@AREA.situation()
def a_listed_column_that_changes_its_type(p: Player) -> None:
    columns = ", ".join(f"c{n} {of}" for n, of in enumerate(TYPES[:11]))
    listed = ",".join(f"c{n}" for n in range(11))
    p.sql(f"CREATE TABLE {{t}} ({columns}) USING delta TBLPROPERTIES ('{LISTED}' = '{listed}', {MAPPED})")
    for n in range(11):
        for of in (
            "BINARY",
            "BOOLEAN",
            "ARRAY<TINYINT>",
            "MAP<DATE, INT>",
            "STRUCT<c60:INT, c61:ARRAY<INT>>",
        ):
            p.attempt(f"ALTER TABLE {{t}} CHANGE c{n} TYPE {of}")


@AREA.situation()
def a_list_in_another_case(p: Player) -> None:
    p.sql(
        "CREATE TABLE {t} (cOl1 BIGINT, COL2 STRUCT<COL20: INT, CoL21: BIGINT>, CoL3 BIGINT) USING delta"
        f" TBLPROPERTIES ('{LISTED}' = 'coL1, COL2.col20, COL2.col21, cOl3')"
    )
    rows = "(1, struct(1, 10), 1), (10, struct(10, 100), 10), (NULL, struct(NULL, NULL), NULL)"
    for _ in range(2):
        p.sql(f"INSERT INTO {{t}} SELECT /*+ COALESCE(1) */ * FROM VALUES {rows}")
    p.sql("OPTIMIZE {t}")
    written(p)


# -- text that is cut


MAX = "\U0010ffff"
ODD = "\ufffd"
CUT = (
    ("abcd", 3),
    ("abcdef", 6),
    (f"abcde{ODD}", 6),
    (MAX * 4, 1),
    (MAX * 2, 1),
    (f"a{MAX}d", 2),
    ("abcd", 6),
    (f"abcd{ODD}abcd", 6),
    (f"{ODD}abcd", 6),
    (f"abcdef{ODD}", 6),
    (f"abcdef{ODD}{ODD}", 6),
    (f"abcdef-abcdef{ODD}", 6),
    (f"abcdef{ODD}abcdef", 6),
    (f"abcde{ODD}abcdef{ODD}abcdef{ODD}abcdef", 6),
    ("\u6f22\u5b57\u4eee\u540d\ud55c\uae00\u0ba4\u0bae\u0bbf", 6),
    (f"\u6f22\u5b57\u4eee\u540d\ud55c\uae00{ODD}{ODD}", 6),
    ("\u6f22\u5b57\u4eee\u540d\ud55c\uae00", 6),
    ("abcdef\U0001f680", 6),
    (MAX * 4, 4),
    (ODD * 4, 2),
    (ODD * 3, 1),
    ("abcdefghijklm\U0001f49e\U0001f609\U0001f495\n" + "\U0001f940\U0001f339\U0001f490\U0001f33a" * 4, 32),
    ("", 3),
)


@AREA.situation()
def texts_are_cut_at_other_lengths(p: Player) -> None:
    for length in sorted({length for _, length in CUT}):
        p.path = f"{p.at}/t{length}"
        texts = [text for text, of in CUT if of == length]
        columns = ", ".join(f"c{n} STRING" for n in range(len(texts)))
        p.sql(f"CREATE TABLE {{t}} ({columns}) USING delta TBLPROPERTIES ('{LENGTH}' = '{length}')")
        row = p.spark.createDataFrame([tuple(texts)], p.read().schema)
        p.write(row.coalesce(1))
        written(p)


@AREA.situation()
def the_length_of_cut_texts_changes(p: Player) -> None:
    """Set at CREATE, changed by ALTER and by REPLACE, and what an action says that takes a file away."""
    texts = "SELECT /*+ COALESCE(1) */ repeat(c, 100) AS c FROM VALUES ('a'), ('b'), ('c') AS v (c)"
    p.sql(f"CREATE TABLE {{t}} (c STRING) USING delta TBLPROPERTIES ('{LENGTH}' = '64')")
    for step in (
        None,
        f"ALTER TABLE {{t}} SET TBLPROPERTIES ('{LENGTH}' = '40')",
        f"ALTER TABLE {{t}} UNSET TBLPROPERTIES ('{LENGTH}')",
    ):
        if step:
            p.sql(step)
        p.sql(f"INSERT INTO {{t}} {texts}")
        written(p)
    p.sql(f"REPLACE TABLE {{t}} USING delta TBLPROPERTIES ('{LENGTH}' = '10') AS {texts}")
    written(p)
    p.sql("DELETE FROM {t} WHERE c > 'b'")
    written(p)
    p.attempt(
        f"ALTER TABLE {{t}} SET TBLPROPERTIES ('{LENGTH}' = '0')",
    )


# -- bounds of files with vectors


@AREA.grid(
    {
        "all are null": "CASE WHEN id < 25 THEN id END",
        "none is": "id",
        "some are": "CASE WHEN id < 75 THEN id END",
    },
    f"CREATE TABLE {{t}} (id BIGINT, value BIGINT) USING delta TBLPROPERTIES ('{VECTORS}' = 'true')",
)
def null_counts_beside_vectors(p: Player, value: str) -> None:
    for first in (0, 50):
        p.write(p.spark.range(first, first + 50, 1, 1).selectExpr("id", f"{value} AS value"))
    for condition in ("id >= 80", "id >= 70", "id IN (1, 2)"):
        p.sql(f"DELETE FROM {{t}} WHERE {condition}")
        written(p)


@AREA.grid(
    {
        "delete": "DELETE FROM {t} WHERE id = 60",
        "update": "UPDATE {t} SET id = 0 WHERE id = 60",
        "merge": "MERGE INTO {t} AS t USING (SELECT 60L AS id) AS s ON t.id = s.id WHEN MATCHED THEN DELETE",
    },
    f"CREATE TABLE {{t}} (id BIGINT) USING delta TBLPROPERTIES ('{VECTORS}' = 'true')",
    "INSERT INTO {t} SELECT id FROM range(0, 50, 1, 1)",
    "INSERT INTO {t} SELECT id FROM range(50, 100, 1, 1)",
)
def files_become_wide(p: Player, statement: str) -> None:
    """Files that say that they are tight, and files that say nothing of it."""
    path = copy(p)
    forget_checksums(path)

    def silent(action: dict[str, Any]) -> None:
        if "add" in action:
            stats = json.loads(action["add"]["stats"])
            stats.pop("tightBounds", None)
            action["add"]["stats"] = json.dumps(stats, separators=(",", ":"))

    change(p, path, silent)
    for one in (p.path, path):
        p.path = one
        p.sql(statement)
        written(p)
        p.rows("SELECT count(*), max(id) FROM {t}")


# -- counts


@AREA.situation()
def counts_of_files_without_rows(p: Player) -> None:
    """Files that are not there, of which the log says that they have no rows."""
    p.sql("CREATE TABLE {t} (id BIGINT) USING delta", "INSERT INTO {t} SELECT id FROM range(0, 10, 1, 1)")
    path = copy(p)
    forget_checksums(path)
    add = next(a for a in p.actions(1, path) if "add" in a)
    empty = {**add["add"], "path": "part-0-empty.parquet", "stats": '{"numRecords":0}'}
    put(path, 2, p.actions(1, path)[0], {"add": empty})
    p.path = path
    p.answers("SELECT count(*) FROM {t}", "SELECT count(*) AS n FROM (SELECT * FROM {t})")


@AREA.situation()
def two_counts_in_one_query(p: Player) -> None:
    """Both are of one version, where a commit comes between the analysis and the answer."""
    p.sql("CREATE TABLE {t} (id BIGINT) USING delta", "INSERT INTO {t} SELECT id FROM range(0, 10, 1, 1)")
    query = "SELECT (SELECT count(*) FROM {t}) AS a, (SELECT count(*) FROM {t}) AS b"
    frame = p.sql(query)
    frame.collect()
    p.sql("INSERT INTO {t} VALUES (11)")
    row = p.sql(query).first()
    p.tell([row.a, row.b])
    stale = frame.first()
    p.tell(stale.a == stale.b)


# -- expressions that statistics of one value could answer


FUNCTIONS: tuple[str, ...] = (
    "length({c}) = 50",
    "length({c}) = 1",
    "upper({c}) = 'A'",
    "coalesce({c}, 'x') = 'x'",
    "endswith({c}, '9')",
    "startswith({c}, 'fghij')",
    "split({c}, '--')[1] = '8'",
    "get(array(1, 2, 3), int(substr({c}, 4, 1))) IN (1, 2)",
    "concat({c}, n) IS NULL",
)


@AREA.situation()
def functions_of_texts_lose_no_row(p: Player) -> None:
    """Files of one value each, whole and cut, clustered so that delta-spark asks their statistics."""
    p.conf("spark.databricks.delta.skipping.partitionLikeFilters.enabled", "true")
    p.conf("spark.databricks.delta.skipping.partitionLikeDataSkippingFilesThreshold", "1")
    p.sql(
        "CREATE TABLE {t} (`s.t` STRING, n INT, `a b` STRING) USING delta CLUSTER BY (`s.t`, n)"
        f" TBLPROPERTIES ({MAPPED})"
    )
    texts = ["a", "fghij9", "abc2", None, "x--8", "b" * 50, "abcde" * 9 + "--8", "abcde" * 10 + "9"]
    for n, text in enumerate(texts):
        value = "NULL" if text is None else f"'{text}'"
        p.sql(f"INSERT INTO {{t}} VALUES ({value}, {n}, {value})")
    for name in ("`s.t`", "`a b`"):
        p.answers(
            *(f"SELECT n FROM {{t}} WHERE {condition.format(c=name, t='{t}')}" for condition in FUNCTIONS)
        )
