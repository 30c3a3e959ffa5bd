"""Tables that are too new are refused at each door, and versions of them by time travel."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from playing import FEED, Area

from areas.logs import change, copy, forget_checksums, put

if TYPE_CHECKING:
    from playing import Player

AREA = Area("table_features")

# -- tables that are too new


def _too_new(p: Player, protocol: dict[str, Any], since: int | None = None) -> str:
    """A copy of a table of three versions with another protocol: at once, or in two versions that follow."""
    p.sql(f"CREATE TABLE {{t}} (id BIGINT) USING delta TBLPROPERTIES ('{FEED}' = 'true')")
    p.sql("INSERT INTO {t} VALUES (1)", "INSERT INTO {t} VALUES (2)")
    path = copy(p)
    forget_checksums(path)
    if since is None:
        change(p, path, lambda a: a["protocol"].update(protocol) if "protocol" in a else None)
    else:
        before = next(a for a in p.actions(0, path) if "protocol" in a)
        put(path, 3, {"protocol": protocol})
        put(path, 4, {"metaData": next(a["metaData"] for a in p.actions(0, path) if "metaData" in a)})
        put(path, 5, before)
    return path


NEW = {
    "feature of readers": {
        "minReaderVersion": 3,
        "minWriterVersion": 7,
        "readerFeatures": ["unknownX"],
        "writerFeatures": ["unknownX"],
    },
    "feature of writers": {
        "minReaderVersion": 1,
        "minWriterVersion": 7,
        "writerFeatures": ["changeDataFeed", "unknownX"],
    },
}
DOORS = {
    "SELECT": "SELECT * FROM {u}",
    "INSERT": "INSERT INTO {u} VALUES (9)",
    "INSERT OVERWRITE": "INSERT OVERWRITE {u} VALUES (9)",
    "DELETE": "DELETE FROM {u} WHERE id = 1",
    "DELETE nothing": "DELETE FROM {u} WHERE id = 100",
    "UPDATE": "UPDATE {u} SET id = 7 WHERE id = 1",
    "MERGE": "MERGE INTO {u} AS t USING (SELECT 1L AS id) AS s ON t.id = s.id WHEN MATCHED THEN DELETE",
    "REPLACE AS SELECT": "REPLACE TABLE {u} USING delta AS SELECT 1L AS id",
    "OPTIMIZE": "OPTIMIZE {u}",
    "VACUUM": "VACUUM {u}",
    "VACUUM DRY RUN": "VACUUM {u} DRY RUN",
    "RESTORE": "RESTORE TABLE {u} TO VERSION AS OF 1",
    "CLONE onto": "CREATE OR REPLACE TABLE {u} SHALLOW CLONE {t}",
    "ALTER": "ALTER TABLE {u} SET TBLPROPERTIES ('delta.appendOnly' = 'true')",
    "ADD COLUMNS": "ALTER TABLE {u} ADD COLUMNS (more INT)",
    "CONSTRAINT": "ALTER TABLE {u} ADD CONSTRAINT c CHECK (id > 0)",
    "DROP FEATURE": "ALTER TABLE {u} DROP FEATURE unknownX",
    "DESCRIBE DETAIL": "DESCRIBE DETAIL {u}",
    "DESCRIBE HISTORY": "DESCRIBE HISTORY {u}",
    "SHOW TBLPROPERTIES": "SHOW TBLPROPERTIES {u}",
}


@AREA.family(NEW)
def too_new(p: Player, protocol: dict[str, Any]) -> None:
    path = _too_new(p, protocol)
    before = len(list(Path(path, "_delta_log").glob("*.json")))
    for name, statement in DOORS.items():
        p.tell(name)
        p.attempt(statement)
    p.tell("append")
    p.attempt(lambda: p.write("SELECT 9L AS id", path=path))
    p.tell("stream")
    p.attempt(lambda: p.stream(to=f"{p.at}/w", rows=p.spark.readStream.format("delta").load(path)))
    p.tell("changes")
    p.attempt(lambda: p.read(path, readChangeFeed="true", startingVersion=0))
    p.tell(len(list(Path(path, "_delta_log").glob("*.json"))) == before)


@AREA.family({"feature of readers": NEW["feature of readers"]})
def a_version_that_is_too_new(p: Player, protocol: dict[str, Any]) -> None:
    path = _too_new(p, protocol, since=3)
    p.rows("SELECT * FROM {u}")
    for version in range(6):
        p.attempt(f"SELECT * FROM {{u}} VERSION AS OF {version}")
    p.attempt(lambda: p.read(path, versionAsOf=4))
    p.attempt(lambda: p.read(f"{path}@v4"))
    p.attempt("SELECT * FROM {u} TIMESTAMP AS OF current_timestamp()")
    p.attempt("RESTORE TABLE {u} TO VERSION AS OF 4")
    p.attempt("CREATE TABLE delta.`{at}/v` SHALLOW CLONE {u} VERSION AS OF 4")
    p.attempt("RESTORE TABLE {u} TO VERSION AS OF 1")
    p.attempt(lambda: p.rows(p.read(path)))


# -- metadata that uses a feature which the protocol, with its list of features, lacks


LACKS: dict[str, dict[str, str]] = {
    "feed": {"delta.enableChangeDataFeed": "true"},
    "vectors": {"delta.enableDeletionVectors": "true"},
    "mapping": {"delta.columnMapping.mode": "name"},
    "row tracking": {"delta.enableRowTracking": "true"},
    "constraint": {"delta.constraints.c": "id > 0"},
}
SOME_DOORS = ("SELECT", "INSERT", "DELETE", "ALTER", "DESCRIBE DETAIL")
LISTED = {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": ["vacuumProtocolCheck"]}
LEGACY = {"minReaderVersion": 1, "minWriterVersion": 2}


def _contradicts(
    p: Player, protocol: dict[str, Any], properties: dict[str, str], *, not_null: bool = False
) -> None:
    p.sql("CREATE TABLE {t} (id BIGINT) USING delta", "INSERT INTO {t} VALUES (1)")
    path = copy(p)
    forget_checksums(path)

    def other(action: dict[str, Any]) -> None:
        if "protocol" in action:
            action["protocol"] = protocol
        if "metaData" in action:
            action["metaData"]["configuration"] = properties
            if not_null:
                text = action["metaData"]["schemaString"]
                action["metaData"]["schemaString"] = text.replace('"nullable":true', '"nullable":false')

    change(p, path, other)
    for name in SOME_DOORS:
        p.tell(name)
        p.attempt(DOORS[name])
    p.attempt("SELECT * FROM {u} VERSION AS OF 0")


@AREA.family(LACKS, quick={"feed", "mapping"})
def a_feature_that_the_protocol_lacks(p: Player, properties: dict[str, str]) -> None:
    _contradicts(p, LISTED, properties)


@AREA.situation(long=True)
def a_column_that_is_not_null_without_the_feature(p: Player) -> None:
    _contradicts(p, LISTED, {}, not_null=True)


@AREA.situation()
def a_property_that_older_versions_do_not_know(p: Player) -> None:
    _contradicts(p, LEGACY, LACKS["feed"])
