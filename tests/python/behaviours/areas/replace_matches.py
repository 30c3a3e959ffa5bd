"""Overwrites with `replaceOn` and `replaceUsing`: conditions, aliases, and names of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playing import Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("replace_matches")

_TABLE = "CREATE TABLE {t} (id INT, v STRING) USING delta"
_ROWS = "INSERT INTO {t} VALUES (1, 'a'), (2, 'b'), (NULL, 'n')"
_NEW = "SELECT 2 AS id, 'B' AS v UNION ALL SELECT 9, 'z'"


@AREA.grid(
    {
        "a function": ("t", "s", "abs(t.id) = abs(s.id)"),
        "in": ("t", "s", "t.id IN (s.id, 1)"),
        "the target alone": ("t", "s", "t.id = 1"),
        "the rows alone": ("t", "s", "s.id = 9"),
        "always": ("t", "s", "true"),
        "never": ("t", "s", "false"),
        "nulls": ("t", "s", "t.id <=> s.id"),
        "an alias in another case": ("T", "s", "t.id = s.id"),
        "a number": ("22", "s", "`22`.id = s.id"),
        "a number without backticks": ("22", "s", "22.id = s.id"),
        "two words": ("hello world", "s", "`hello world`.id = s.id"),
        "two words without backticks": ("hello world", "s", "hello world.id = s.id"),
        "no alias of the rows": ("t", None, "t.id = s.id"),
        "no alias of the rows, bare": ("t", None, "t.id = id"),
        "no alias of the table": (None, "s", "t.id = s.id"),
        "no alias": (None, None, "t.id = s.id"),
        "the same alias": ("t", "t", "t.id = t.id"),
        "another alias": ("u", "s", "t.id = s.id"),
        "bare": (None, None, "id = 2"),
        "bare, with aliases": ("t", "s", "t.id = s.id AND v = 'B'"),
        "no column": ("t", "s", "t.nothing = s.id"),
        "a subquery": ("t", "s", "t.id IN (SELECT 2)"),
    },
    _TABLE,
    _ROWS,
)
def conditions(p: Player, case: tuple[str | None, str | None, str]) -> None:
    alias, rows_alias, condition = case
    options = {"replaceOn": condition} | ({} if alias is None else {"targetAlias": alias})
    df = p.sql(_NEW)
    df = df if rows_alias is None else df.alias(rows_alias)
    p.attempt(lambda: df.write.format("delta").mode("overwrite").options(**options).save(p.path))
    p.rows()


@AREA.grid(
    {
        **{
            f"`{text}`": (text, {})
            for text in ("", " ", ",", "id,,v", ",id", "id,", " id ", "id , v", "id,id", "ID")
        },
        "of both": ("id,v", {}),
        "of none": ("nothing", {}),
        "in two parts": ("t.id", {}),
        "static": ("id", {"spark.sql.sources.partitionOverwriteMode": "static"}),
        "dynamic": ("id", {"spark.sql.sources.partitionOverwriteMode": "dynamic"}),
    },
    _TABLE,
    _ROWS,
)
def columns(p: Player, case: tuple[str, dict[str, str]]) -> None:
    """The text of `replaceUsing`, and settings of the session beside it."""
    text, settings = case
    for name, value in settings.items():
        p.conf(name, value)
    rows = p.sql(_NEW).write.format("delta").mode("overwrite")
    p.attempt(lambda: rows.option("replaceUsing", text).save(p.path))
    p.rows()
