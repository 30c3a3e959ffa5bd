"""Overwrites with `replaceWhere` whose condition calls the table by an alias."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playing import Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("insert_replace")

_ROWS = "SELECT * FROM VALUES (1, 'a'), (2, 'b'), (3, 'c') AS v(id, data)"
_NEW = "SELECT {} AS id, '{}' AS data"


def _replace(p: Player, alias: str | None, condition: str, rows: str, **options: str) -> None:
    """Tells whether the overwrite is done, and the rows then."""
    given = options if alias is None else {"targetAlias": alias, **options}
    p.attempt(lambda: p.write(rows, "overwrite", replaceWhere=condition, **given))
    p.rows()


@AREA.situation()
def an_alias(p: Player) -> None:
    """A column behind the alias of the table is the table's, in any case and with backticks."""
    p.write(_ROWS)
    _replace(p, "t", "t.id = 1", _NEW.format(1, "x"))
    p.commit(metrics=False)
    _replace(p, "t", "t.id >= 2 AND t.id <= 3", _NEW.format(2, "y"))
    _replace(p, "T", "t.id = 2", _NEW.format(2, "z"))
    _replace(p, "hello world", "`hello world`.id IN (1, 2)", _NEW.format(1, "w"))
    _replace(p, "22", "NOT (`22`.id > 1)", _NEW.format(1, "v"))


@AREA.situation()
def structs_of_the_same_name(p: Player) -> None:
    """The first part of a name is the alias before it is a column."""
    p.write(
        "SELECT id, named_struct('id', 10 * id, 't', named_struct('id', 100 * id)) AS t FROM VALUES (1), (2) AS v(id)"
    )
    new = "SELECT 1 AS id, named_struct('id', 10, 't', named_struct('id', 100)) AS t"
    _replace(p, "t", "t.id = 1", new)
    _replace(p, "t", "t.t.id = 10", new)
    _replace(p, "t", "t.t.t.id = 100", new)
    _replace(p, "s", "s.t.id = 10", new)
    _replace(p, None, "t.id = 10", new)


@AREA.situation()
def a_column_of_the_same_name(p: Player) -> None:
    p.write("SELECT * FROM VALUES (1, 1), (2, 2), (3, 3) AS v(id, t)")
    _replace(p, "t", "t.t >= 2", "SELECT 2 AS id, 2 AS t")
    _replace(p, "t", "t >= 2", "SELECT 4 AS id, 4 AS t")


@AREA.situation()
def partitions(p: Player) -> None:
    """A condition behind an alias is one on partitions where its column is one, also without change of data."""
    p.write("SELECT * FROM VALUES (1, 'p'), (2, 'p'), (3, 'q') AS v(id, part)", by=("part",))
    _replace(p, "t", "t.part = 'p'", "SELECT 1 AS id, 'p' AS part")
    _replace(p, "t", "t.part = 'p' OR t.part = 'q'", "SELECT 5 AS id, 'q' AS part", dataChange="false")
    p.conf("spark.databricks.delta.replaceWhere.dataColumns.enabled", "false")
    _replace(p, "t", "t.part = 'q'", "SELECT 6 AS id, 'q' AS part")
    _replace(p, "t", "t.id = 6", "SELECT 6 AS id, 'q' AS part")


_CHECK = "spark.databricks.delta.replaceWhere.constraintCheck.enabled"
_SENSITIVE = "spark.sql.caseSensitive"
_OTHERS: dict[str, tuple[str | None, str, str, dict[str, str], dict[str, str]]] = {
    "a new column": (
        "t",
        "t.id = 1",
        "SELECT 1 AS id, 'n' AS data, 'p' AS part, 7 AS more",
        {"mergeSchema": "true"},
        {},
    ),
    "data where none changes": ("t", "t.id = 1", "", {"dataChange": "false"}, {}),
    "both where none changes": ("t", "t.part = 'p' AND t.id = 1", "", {"dataChange": "false"}, {}),
    "forgotten": (None, "t.id = 1", "", {}, {}),
    "another one": ("t", "wrong.id = 1", "", {}, {}),
    "no column": ("t", "t >= 1", "", {}, {}),
    "a row outside, unchecked": ("t", "t.id = 2", "", {}, {_CHECK: "false"}),
    "in another case": ("T", "t.id = 1", "", {}, {}),
    "in another case that tells": ("T", "t.id = 1", "", {}, {_SENSITIVE: "true"}),
    "in": ("t", "t.id IN (1, 3)", "", {}, {_CHECK: "false"}),
    "or": ("t", "t.id = 1 OR t.id = 3", "", {}, {_CHECK: "false"}),
    "not": ("t", "NOT (t.id = 2)", "", {}, {_CHECK: "false"}),
    "with the catalog": ("t", "spark_catalog.default.t.id = 1", "", {}, {}),
}


@AREA.grid(
    _OTHERS,
    "CREATE TABLE {t} (id INT, data STRING, part STRING) USING delta PARTITIONED BY (part)",
    "INSERT INTO {t} VALUES (1, 'a', 'p'), (2, 'b', 'p'), (3, 'c', 'q')",
)
def by_other_aliases(p: Player, case: tuple[str | None, str, str, dict[str, str], dict[str, str]]) -> None:
    """Aliases that fit and that do not, with other options beside them."""
    alias, condition, rows, options, settings = case
    for name, value in settings.items():
        p.conf(name, value)
    _replace(p, alias, condition, rows or "SELECT 1 AS id, 'n' AS data, 'p' AS part", **options)
