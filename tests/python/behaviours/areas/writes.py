"""Writes by DataFrame: modes, partitions, replaceWhere, options, applications, and what the history says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playing import Area

if TYPE_CHECKING:
    from collections.abc import Callable

    from playing import Player

AREA = Area("writes")
DYNAMIC = {"partitionOverwriteMode": "dynamic"}


ROUTES: dict[str, Callable[..., object]] = {
    "saveAsTable": lambda p, df, o: (
        df.write.format("delta").mode("overwrite").options(**o).saveAsTable(p.name)
    ),
    "save": lambda p, df, o: df.write.format("delta").mode("overwrite").options(**o).save(p.path),
    "insertInto": lambda p, df, o: df.write.mode("overwrite").options(**o).insertInto(p.name),
    "overwritePartitions": lambda p, df, o: df.writeTo(p.name).options(**o).overwritePartitions(),
    "createOrReplace": lambda p, df, o: df.writeTo(p.name).using("delta").options(**o).createOrReplace(),
    "replace": lambda p, df, o: df.writeTo(p.name).using("delta").options(**o).replace(),
    "append": lambda p, df, o: df.writeTo(p.name).options(**o).append(),
    "saveAsTable append": lambda p, df, o: (
        df.write.format("delta").mode("append").options(**o).saveAsTable(p.name)
    ),
}


def named(p: Player) -> None:
    p.sql(
        "CREATE TABLE {name} (id INT, p INT) USING delta PARTITIONED BY (p) LOCATION '{at}/t'",
        "INSERT INTO {name} VALUES (1, 1), (2, 2)",
    )


def _where(
    condition: str, rows: str = "SELECT 9 AS id, 2 AS p", **options: str
) -> tuple[str, str, dict[str, str]]:
    return condition, rows, options


@AREA.family(
    {
        "a subquery": _where("id IN (SELECT 1)"),
        "without a change of data, by column": _where("id = 9", dataChange="false"),
    }
)
def replace_where(p: Player, case: tuple[str, str, dict[str, str]]) -> None:
    condition, rows, options = case
    p.sql(
        "CREATE TABLE {t} (id INT, p INT) USING delta PARTITIONED BY (p)",
        "INSERT INTO {t} VALUES (1, 1), (2, 2), (3, 2), (4, NULL)",
    )
    p.attempt(lambda: p.write(rows, "overwrite", replaceWhere=condition, **options))
    p.rows()
    p.commit()
