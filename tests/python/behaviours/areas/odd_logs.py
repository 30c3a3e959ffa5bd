"""Logs as other writers leave them: unknown fields, files in other spellings, one instant in two texts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from playing import FEED, Area

from areas.logs import change, copy, forget_checksums, put

if TYPE_CHECKING:
    from collections.abc import Callable

    from playing import Player

AREA = Area("odd_logs")


def changed(p: Player, how: Callable[[dict[str, Any]], Any]) -> None:
    """The table becomes a copy whose log is changed."""
    path = copy(p)
    change(p, path, how)
    forget_checksums(path)
    p.path = path


@AREA.situation()
def fields_and_actions_that_nobody_knows(p: Player) -> None:
    p.sql(
        f"CREATE TABLE {{t}} (id INT, v STRING) USING delta TBLPROPERTIES ('{FEED}' = 'true')",
        "INSERT INTO {t} VALUES (1, 'a'), (2, 'b')",
        "INSERT INTO {t} VALUES (3, 'c')",
        "DELETE FROM {t} WHERE id = 1",
    )

    def unknown(action: dict[str, Any]) -> None:
        for known in action.values():
            known["nobody"] = {"knows": [1, 2]}
        action["unheard"] = {"x": 1}

    changed(p, unknown)
    p.rows()
    source = "(SELECT 2 AS id, 'y' AS v UNION ALL SELECT 9, 'n') s"
    p.attempt(
        "INSERT INTO {t} VALUES (4, 'd')",
        "UPDATE {t} SET v = 'z' WHERE id = 2",
        "DELETE FROM {t} WHERE id = 3",
        f"MERGE INTO {{t}} t USING {source} ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
        "OPTIMIZE {t}",
        "ALTER TABLE {t} ADD COLUMNS (n INT)",
        "VACUUM {t}",
    )
    p.rows()
    p.changes(0)
    p.attempt(lambda: p.stream(to=f"{p.at}/streamed", ignoreChanges="true"))
    p.answers("SELECT version, operation FROM (DESCRIBE HISTORY {t}) WHERE version > 3")


SPELLINGS = {"file and two slashes": "file://{}", "file": "file:{}", "a path": "{}"}


@AREA.family(SPELLINGS)
def a_file_that_leaves_in_another_spelling(p: Player, spelling: str) -> None:
    p.sql("CREATE TABLE {t} (id INT) USING delta", "INSERT INTO {t} VALUES (1)", "INSERT INTO {t} VALUES (2)")
    p.path = copy(p)
    forget_checksums(p.path)
    (name,) = [a["add"]["path"] for a in p.actions(1) if "add" in a]
    remove = {
        "path": spelling.format(f"{p.path}/{name}"),
        "deletionTimestamp": 1_700_000_000_000,
        "dataChange": True,
    }
    put(p.path, 3, {"commitInfo": {"timestamp": 1, "operation": "DELETE"}}, {"remove": remove})
    p.rows()
    p.attempt("DELETE FROM {t} WHERE id = 2", "VACUUM {t}")
    p.rows()


ONE = "TIMESTAMP '2000-01-01 12:00:00'"
AT = {
    "dynamic": {"partitionOverwriteMode": "dynamic"},
    "condition": {"replaceWhere": "ts = '2000-01-01 12:00:00'"},
    "OPTIMIZE": "OPTIMIZE {t}",
    "DELETE": f"DELETE FROM {{t}} WHERE ts = {ONE}",
    "MERGE": f"MERGE INTO {{t}} t USING (SELECT {ONE} AS ts) s ON t.ts = s.ts "
    "WHEN MATCHED THEN UPDATE SET id = t.id + 10",
}


@AREA.family(AT)
def one_instant_in_two_texts(p: Player, what: str | dict[str, str]) -> None:
    p.sql("CREATE TABLE {t} (id INT, ts TIMESTAMP) USING delta PARTITIONED BY (ts)")
    for i in (1, 2):
        p.sql(f"INSERT INTO {{t}} VALUES ({i}, {ONE})")
    texts = iter(("2000-01-01 12:00:00", "2000-01-01T12:00:00.000000Z"))

    def text(action: dict[str, Any]) -> None:
        if "add" in action:
            action["add"]["partitionValues"]["ts"] = next(texts)

    changed(p, text)
    p.rows()
    if isinstance(what, str):
        p.attempt(what)
    else:
        p.attempt(lambda: p.write(f"SELECT 9 AS id, {ONE} AS ts", "overwrite", **what))
    p.rows()
    p.tell(p.sql("DESCRIBE DETAIL {t}").first().numFiles)


@AREA.family({"west": "America/Los_Angeles", "east": "+05:45"})
def instants_as_partitions_in_other_zones(p: Player, zone: str) -> None:
    p.conf("spark.sql.session.timeZone", zone)
    p.sql("CREATE TABLE {t} (id INT, ts TIMESTAMP) USING delta PARTITIONED BY (ts)")
    for i in range(5):
        p.sql(f"INSERT INTO {{t}} VALUES ({i}, TIMESTAMP '2024-03-10 0{i}:30:00')")
    p.rows()
    found = [a["add"]["partitionValues"]["ts"] for v in range(1, 6) for a in p.actions(v) if "add" in a]
    p.tell(sorted(found))
    p.conf("spark.sql.session.timeZone", "UTC")
    p.rows()
    p.rows(p.read().where("ts = '2024-03-10 09:30:00'"))


@AREA.situation()
def a_checkpoint_without_the_commit_of_its_version(p: Player) -> None:
    p.sql("CREATE TABLE {t} (id INT) USING delta TBLPROPERTIES ('delta.checkpointInterval' = '2')")
    for i in range(5):
        p.sql(f"INSERT INTO {{t}} VALUES ({i})")
    p.path = copy(p)
    Path(p.path, "_delta_log", f"{4:020}.json").unlink()
    p.rows()
    p.attempt("INSERT INTO {t} VALUES (77)")
    p.rows()
    p.rows(p.read(versionAsOf=3))


ON = "'delta.enableInCommitTimestamps' = 'true'"


@AREA.situation()
def commit_timestamps_that_come_and_go(p: Player) -> None:
    def told() -> None:
        rows = p.sql("SHOW TBLPROPERTIES {name}").collect()
        named = {row.key.removeprefix("delta."): row.value for row in rows if "CommitTimestamp" in row.key}
        p.tell(
            {key: "a time" if key.endswith("EnablementTimestamp") else named[key] for key in sorted(named)}
        )

    p.sql("CREATE TABLE {name} (id INT) USING delta", "INSERT INTO {name} VALUES (1)")
    for statement in (
        f"ALTER TABLE {{name}} SET TBLPROPERTIES ({ON})",
        "INSERT INTO {name} VALUES (1)",
        "ALTER TABLE {name} SET TBLPROPERTIES ('a' = 'b')",
        "CREATE OR REPLACE TABLE {name} USING delta AS SELECT 1 AS id",
        f"CREATE OR REPLACE TABLE {{name}} USING delta TBLPROPERTIES ({ON}) AS SELECT 1 AS id",
        f"REPLACE TABLE {{name}} (id INT) USING delta TBLPROPERTIES ({ON.replace('true', 'false')})",
        "RESTORE TABLE {name} TO VERSION AS OF 3",
        "RESTORE TABLE {name} TO VERSION AS OF 1",
        "RESTORE TABLE {name} TO VERSION AS OF 2",
    ):
        p.attempt(statement)
        told()
    p.rows("SELECT * FROM {name}")
