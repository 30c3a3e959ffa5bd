"""VACUUM: which hidden and empty folders go, what LITE needs, what it answers, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from playing import Area

from areas.logs import copy, forget_checksums

if TYPE_CHECKING:
    from playing import Player

AREA = Area("vacuum")

CHECK = "spark.databricks.delta.retentionDurationCheck.enabled"
PARTS = "CREATE TABLE {t} (id INT, p INT) USING delta PARTITIONED BY (p)"


def left(p: Player, path: str | None = None) -> None:
    """Tells how many files of data, of changes and of vectors are there."""
    found = [f for f in Path(path or p.path).rglob("*") if f.is_file() and f.name[0] != "."]
    data = [f for f in found if "_delta_log" not in f.parts]
    changes = [f for f in data if f.name.startswith("cdc-")]
    vectors = [f for f in data if f.suffix == ".bin"]
    p.tell([len(data) - len(changes) - len(vectors), len(changes), len(vectors)])


@AREA.situation()
def hidden_partitions(p: Player) -> None:
    """Folders of partition columns whose names begin as those of hidden ones."""
    p.conf(CHECK, "false")
    p.sql(
        "CREATE TABLE {t} (id INT, _p INT) USING delta PARTITIONED BY (_p)",
        "INSERT INTO {t} VALUES (1, 1), (2, 2)",
    )
    p.sql("DELETE FROM {t} WHERE id = 1")
    Path(p.path, "_x").mkdir()
    Path(p.path, "_x", "x.parquet").write_text("x", encoding="utf-8")
    for _ in range(2):
        p.sql("VACUUM {t} RETAIN 0 HOURS")
        left(p)
    p.rows()


@AREA.situation(differs="a retention below 0 is an error in deltaic, whatever is checked")
def a_retention_below_nothing(p: Player) -> None:
    p.sql(PARTS, "INSERT INTO {t} VALUES (1, 1)")
    p.attempt(lambda: p.table().vacuum(-1.0))
    p.conf(CHECK, "false")
    p.attempt(lambda: p.table().vacuum(-1.0))


# -- folders, lite, inventories


@AREA.situation(differs="folders without files stay in deltaic")
def empty_folders(p: Player) -> None:
    p.conf(CHECK, "false")
    p.sql(PARTS, "INSERT INTO {t} VALUES (1, 1), (2, 2)", "DELETE FROM {t} WHERE id = 1")
    Path(p.path, "a", "b", "c").mkdir(parents=True)
    for _ in range(5):
        p.tell(p.sql("VACUUM {t} RETAIN 0 HOURS DRY RUN").count())
        p.sql("VACUUM {t} RETAIN 0 HOURS")
        folders = [f.relative_to(p.path) for f in Path(p.path).rglob("*") if f.is_dir()]
        p.tell(sorted(str(f) for f in folders if "_delta_log" not in f.parts))
    p.rows()


@AREA.family(
    {"without a full one": "", "after a full one": "VACUUM {t} RETAIN 0 HOURS"},
    differs=dict.fromkeys(
        ("without a full one", "after a full one"), "deltaic deletes what the log still names"
    ),
)
def lite_after_commits_are_gone(p: Player, full: str) -> None:
    p.conf(CHECK, "false")
    p.sql(
        "CREATE TABLE {t} (id INT) USING delta TBLPROPERTIES ('delta.checkpointInterval' = '2')",
        "INSERT INTO {t} VALUES (1)",
        "INSERT INTO {t} VALUES (2)",
    )
    if full:
        p.sql(full)
    p.sql("DELETE FROM {t} WHERE id = 1")
    path = copy(p)
    forget_checksums(path)
    for version in (0, 1):
        Path(path, "_delta_log", f"{version:020}.json").unlink()
    p.attempt("VACUUM {u} LITE RETAIN 0 HOURS")
    left(p, path)


@AREA.situation(differs="deltaic's error of an inventory beside LITE has no condition")
def lite_by_an_inventory(p: Player) -> None:
    p.sql(PARTS)
    p.attempt(
        "VACUUM {t} USING INVENTORY (SELECT '{at}/t/x' AS path, 1L AS length, false AS isDir, 1L AS modificationTime)"
        " LITE"
    )


# -- what is no table


@AREA.situation()
def vacuum_of_what_is_no_table(p: Player) -> None:
    p.sql(PARTS, "INSERT INTO {t} VALUES (1, 1)")
    p.sql("CREATE OR REPLACE TEMPORARY VIEW {name} AS SELECT * FROM {t}")
    p.attempt("VACUUM {name}", "VACUUM {name} DRY RUN")
    p.sql("DROP VIEW {name}")
    p.read().createOrReplaceTempView(p.name)
    p.attempt("VACUUM {name}")
    p.sql("DROP VIEW {name}", "CREATE TABLE {name} (a INT) USING parquet LOCATION '{at}/parquet'")
    p.sql("INSERT INTO {name} VALUES (1)")
    p.attempt(
        "VACUUM {name}",
        "VACUUM '{at}/parquet'",
        "VACUUM delta.`{at}/parquet`",
        "VACUUM parquet.`{at}/parquet`",
    )
    p.attempt("VACUUM nothing_of_the_name", "VACUUM '{at}/nothing'", "VACUUM delta.`{at}/nothing`")
    p.attempt("VACUUM '{at}/t/p=1'", "VACUUM delta.`{at}/t/p=1`")


@AREA.situation()
def answers_of_a_vacuum(p: Player) -> None:
    p.conf(CHECK, "false")
    p.sql("CREATE TABLE {name} (id INT, p INT) USING delta PARTITIONED BY (p) LOCATION '{at}/t'")
    p.sql("INSERT INTO {t} VALUES (1, 1), (2, 2)", "DELETE FROM {t} WHERE id = 1")
    for of in ("{name}", "{t}", "'{at}/t'"):
        frame = p.sql(f"VACUUM {of} RETAIN 0 HOURS DRY RUN")
        p.tell([frame.columns, frame.count()])
    for of in ("{name}", "{t}", "'{at}/t'"):
        frame = p.sql(f"VACUUM {of} RETAIN 0 HOURS")
        p.tell([frame.columns, [str(row[0]) for row in frame.collect()]])
    p.tell(p.table().vacuum(0.0).count() if p.table().vacuum(0.0) is not None else None)
