"""CONVERT TO DELTA of folders of Parquet files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playing import Area

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
