"""Tables that are made by DataFrames and by name: doors, places, names, and what becomes a property."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from playing import Area

if TYPE_CHECKING:
    from collections.abc import Callable

    from playing import Player

AREA = Area("saved_tables")

AT = "CREATE TABLE {name} (id BIGINT, n INT) USING delta LOCATION '{at}/t'"


def saved(p: Player, rows: str, mode: str, **options: Any) -> None:
    p.sql(rows).write.format("delta").mode(mode).options(**options).saveAsTable(p.name)


@AREA.situation(long=True)
def what_is_no_table_of_ours(p: Player) -> None:
    """A view, a Parquet table, no path."""
    rows = "SELECT 2L AS id"
    p.sql("CREATE VIEW {name} AS SELECT 1L AS id")
    doors: tuple[Callable[[], Any], ...] = (
        lambda: saved(p, rows, "append"),
        lambda: saved(p, rows, "overwrite"),
        lambda: p.sql(rows).write.insertInto(p.name),
        lambda: p.sql(rows).writeTo(p.name).append(),
    )
    p.attempt(*doors)
    p.end()
    p.sql("CREATE TABLE {name} (id BIGINT) USING parquet LOCATION '{at}/parquet'")
    p.attempt(*doors[:2])
    p.attempt(lambda: p.sql(rows).write.format("delta").save())


@AREA.situation(long=True)
def folders_at_random(p: Player) -> None:
    """`delta.randomizeFilePrefixes`, with partitions and without."""
    for by in p.each(("", "PARTITIONED BY (n)")):
        p.sql(
            f"CREATE TABLE {{t}} (id INT, n INT) USING delta {by} TBLPROPERTIES"
            " ('delta.randomizeFilePrefixes' = 'true', 'delta.randomPrefixLength' = '3')"
        )
        p.sql("INSERT INTO {t} VALUES (1, 1), (2, 2)")
        p.tell(sorted({len(a["add"]["path"].split("/")[0]) for a in p.actions() if "add" in a}))
        p.sql("DELETE FROM {t} WHERE id = 1")
        p.attempt("VACUUM {t}")
        p.rows()


@AREA.situation(long=True)
def descriptions_of_a_column(p: Player) -> None:
    p.sql("CREATE TABLE {name} (a INT COMMENT 'the a', s STRUCT<b: INT>) USING delta LOCATION '{at}/t'")
    p.answers("DESCRIBE {name} a", "DESCRIBE {name} s.b", "DESCRIBE {name} x", "SHOW COLUMNS IN {name}")
    p.answers("DESCRIBE {t}", "DESCRIBE {t} a", "SHOW COLUMNS IN {t}", "SHOW TBLPROPERTIES {t}")


@AREA.situation(long=True)
def another_name(p: Player) -> None:
    """A frame of a name that is no more."""
    p.sql(AT, "INSERT INTO {name} VALUES (1, 1)")
    frame = p.spark.table(p.name)
    p.sql("ALTER TABLE {name} RENAME TO {name}_2")
    p.answers(lambda: frame, "SELECT * FROM {name}_2", "SELECT * FROM {name}")
    p.sql("DROP TABLE {name}_2")
    p.answers("SELECT * FROM {name}_2", "SELECT * FROM {t}")
