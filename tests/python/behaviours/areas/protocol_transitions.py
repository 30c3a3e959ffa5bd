"""Which protocol a table has after versions, features and what uses them were asked for, or features were dropped."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from playing import FEED, VECTORS, Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("protocol_transitions")

Asked = dict[str, Any]
MAPPING, TIMES, TRACKED = (
    "delta.columnMapping.mode",
    "delta.enableInCommitTimestamps",
    "delta.enableRowTracking",
)

# which commit, and when, is another one by the commits that an engine makes
OTHERS = ("delta.inCommitTimestampEnablementTimestamp", "delta.requireCheckpointProtectionBeforeVersion")


def versions(reader: int | None = None, writer: int | None = None, **properties: str) -> Asked:
    given: Asked = {} if reader is None else {"delta.minReaderVersion": reader}
    if writer is not None:
        given["delta.minWriterVersion"] = writer
    return given | properties


def feature(*names: str, word: str = "supported") -> Asked:
    return {f"delta.feature.{name}": word for name in names}


def clause(asked: Asked) -> str:
    return "(" + ", ".join(f"'{name}' = '{value}'" for name, value in asked.items()) + ")"


def create(p: Player, asked: Asked, columns: str = "id INT", of: str = "{t}") -> None:
    p.attempt(
        f"CREATE TABLE {of} ({columns}) USING delta" + (f" TBLPROPERTIES {clause(asked)}" if asked else "")
    )


def alter(p: Player, asked: Asked) -> None:
    p.attempt(f"ALTER TABLE {{t}} SET TBLPROPERTIES {clause(asked)}")


def protocol(p: Player, path: str | None = None) -> None:
    """Tells the newest protocol of the log, and the properties, but for what is another one in each run."""
    names = (c.stem for c in Path(path or p.path, "_delta_log").glob("*.json"))
    commits = sorted(int(name) for name in names if name.isdigit())
    found: dict[str, Any] = {}
    for version in commits:
        for action in p.actions(version, path):
            found |= {k: v for k, v in action.items() if k in {"protocol", "metaData"}}
    reported = found.get("protocol")
    if reported is None:
        p.tell(None)
        return
    features = [sorted(reported[k]) if k in reported else None for k in ("readerFeatures", "writerFeatures")]
    properties = found["metaData"]["configuration"]
    kept = {k: "<...>" if k in OTHERS else v for k, v in properties.items() if "materialized" not in k}
    p.tell([reported["minReaderVersion"], reported["minWriterVersion"], *features, kept])


CREATED: dict[str, Asked] = {
    "nothing": {},
    "1, 1": versions(1, 1),
    "3, 7": versions(3, 7),
    "2, 2": versions(2, 2),
    "2, 3": versions(2, 3),
    "2, 6": versions(2, 6),
    "3, 5": versions(3, 5),
    "4, 7": versions(4, 7),
    "1, 8": versions(1, 8),
    "writer 3": versions(writer=3),
    "reader 2": versions(2),
    "writer 7": versions(writer=7),
    "writer 3 and vectors": versions(writer=3) | feature("deletionVectors"),
    "append only": {"delta.appendOnly": "true"},
    "append only at 3, 7": versions(3, 7) | {"delta.appendOnly": "true"},
    "mapping enabled": feature("columnMapping", word="enabled"),
    "feed enabled": feature("changeDataFeed", word="enabled"),
    "vectors by property": {VECTORS: "true"},
    "vectors by property at 3, 7": versions(3, 7) | {VECTORS: "true"},
    "vectors enabled": feature("deletionVectors", word="enabled"),
    "vectors enabled at 3, 7": versions(3, 7) | feature("deletionVectors", word="enabled"),
    "mapping enabled at 2, 5": versions(2, 5) | feature("columnMapping", word="enabled"),
    "mapping enabled at 3, 7": versions(3, 7) | feature("columnMapping", word="enabled"),
    "vectors at 1, 7": versions(1, 7) | feature("deletionVectors"),
    "vectors at 2, 7": versions(2, 7) | feature("deletionVectors"),
    "times": feature("inCommitTimestamp"),
    "times at 3, 7": versions(3, 7) | feature("inCommitTimestamp"),
    "times and mapping": feature("inCommitTimestamp", "columnMapping"),
    "row tracking at 3, 7": versions(3, 7) | feature("rowTracking"),
    "row tracking by property at 3, 7": versions(3, 7) | {TRACKED: "true"},
    "iceberg at 3, 7": versions(3, 7) | feature("icebergCompatV2"),
    "feed": {FEED: "true"},
    "feed at 1, 3": versions(1, 3) | {FEED: "true"},
    "feed at 1, 4": versions(1, 4) | {FEED: "true"},
    "feed at 1, 7": versions(1, 7) | {FEED: "true"},
    "mapping by property": {MAPPING: "name"},
    "mapping by property at 1, 4": versions(1, 4) | {MAPPING: "name"},
    "a version of a text": {"delta.minWriterVersion": "new"},
    "another word": feature("deletionVectors", word="on"),
    "an unknown feature": feature("unknownX"),
}


def _each(p: Player, cases: Any) -> Any:
    for number, (name, case) in enumerate(cases.items()):
        p.tell({"case": name})
        p.path = f"{p.at}/t{number}"
        yield case


@AREA.situation()
def created(p: Player) -> None:
    for asked in _each(p, CREATED):
        create(p, asked)
        protocol(p)


@AREA.situation(long=True)
def created_with_generated_columns(p: Player) -> None:
    cases = {"no versions": {}, "1, 7": versions(1, 7), "1, 3": versions(1, 3), "1, 4": versions(1, 4)}
    for asked in _each(p, cases):
        create(p, asked, "id INT, more INT GENERATED ALWAYS AS (id + 1)")
        protocol(p)


@AREA.situation(long=True)
def created_with_types_and_rules(p: Player) -> None:
    cases = {
        "not null": "id INT NOT NULL",
        "without zone": "id TIMESTAMP_NTZ",
        "a variant": "id VARIANT",
        "identity": "id BIGINT GENERATED ALWAYS AS IDENTITY, n INT",
        "text of a length": "id CHAR(3)",
    }
    for columns in _each(p, cases):
        for asked in ({}, versions(1, 7)):
            p.path += "_"
            create(p, asked, columns)
            protocol(p)


ALTERED: dict[str, tuple[Asked, Asked]] = {
    "1, 1 to 1, 4": (versions(1, 1), versions(1, 4)),
    "1, 2 to 1, 4": (versions(1, 2), versions(1, 4)),
    "1, 4 to 1, 2": (versions(1, 4), versions(1, 2)),
    "1, 4 to 1, 4": (versions(1, 4), versions(1, 4)),
    "1, 6 to 2, 5": (versions(1, 6), versions(2, 5)),
    "2, 5 to 1, 6": (versions(2, 5), versions(1, 6)),
    "1, 1 to 2, 1": (versions(1, 1), versions(2, 1)),
    "1, 1 to 2, 2": (versions(1, 1), versions(2, 2)),
    "1, 1 to 2, 3": (versions(1, 1), versions(2, 3)),
    "1, 1 to 2, 4": (versions(1, 1), versions(2, 4)),
    "1, 1 to 1, 5": (versions(1, 1), versions(1, 5)),
    "1, 1 to 3, 7": (versions(1, 1), versions(3, 7)),
    "2, 5 to reader 1": (versions(2, 5), versions(1)),
    "1, 3 to writer 1": (versions(1, 3), versions(writer=1)),
    "2, 5 to 1, 1": (versions(2, 5), versions(1, 1)),
    "2, 5 to 1, 5": (versions(2, 5), versions(1, 5)),
    "2, 5 to 1, 7": (versions(2, 5), versions(1, 7)),
    "1, 2 to 1, 1 with the feed": (versions(1, 2), versions(1, 1) | {FEED: "true"}),
    "to writer 3": ({}, versions(writer=3)),
    "to writer 3 and vectors": ({}, versions(writer=3) | feature("deletionVectors")),
    "times to 1, 3": (feature("inCommitTimestamp"), versions(1, 3)),
    "times and identity to 1, 3": (feature("inCommitTimestamp", "identityColumns"), versions(1, 3)),
    "1, 3 to 1, 7 with the feed": (versions(1, 3), versions(1, 7) | {FEED: "true"}),
    "invariants to 1, 2": (feature("invariants"), versions(1, 2)),
    "constraints to 1, 2": (feature("checkConstraints"), versions(1, 2)),
    "1, 2 to constraints": (versions(1, 2), feature("checkConstraints")),
    "1, 4 to mapping": (versions(1, 4), feature("columnMapping")),
    "1, 4 to 1, 7 with mapping": (versions(1, 4), versions(1, 7) | {MAPPING: "name"}),
    "to the feed at 1, 4": ({}, versions(1, 4) | {FEED: "true"}),
    "to the feed at 1, 7": ({}, versions(1, 7) | {FEED: "true"}),
    "1, 1 to append only": (versions(1, 1), {"delta.appendOnly": "true"}),
    "1, 1 to mapping enabled": (versions(1, 1), feature("columnMapping", word="enabled")),
    "1, 2 to the feed enabled": (versions(1, 2), feature("changeDataFeed", word="enabled")),
    "1, 1 to vectors by property": (versions(1, 1), {VECTORS: "true"}),
    "1, 1 to vectors": (versions(1, 1), feature("deletionVectors")),
    "1, 1 to mapping at 2, 5": (versions(1, 1), versions(2, 5) | feature("columnMapping", word="enabled")),
    "1, 1 to mapping at 3, 7": (versions(1, 1), versions(3, 7) | feature("columnMapping", word="enabled")),
    "1, 1 to vectors at 3, 7": (versions(1, 1), versions(3, 7) | feature("deletionVectors", word="enabled")),
    "3, 7 to append only": (versions(3, 7), {"delta.appendOnly": "true"}),
    "3, 7 to mapping": (versions(3, 7), feature("columnMapping", word="enabled")),
    "3, 7 to vectors by property": (versions(3, 7), {VECTORS: "true"}),
    "3, 7 to vectors": (versions(3, 7), feature("deletionVectors", word="enabled")),
    "vectors to 1, 7": (feature("deletionVectors"), versions(1, 7)),
    "vectors to times": (feature("deletionVectors"), feature("inCommitTimestamp")),
    "to row tracking": ({}, feature("rowTracking")),
    "3, 7 to row tracking by property": (versions(3, 7), {TRACKED: "true"}),
    "3, 7 to iceberg": (versions(3, 7), feature("icebergCompatV2")),
    "to times by property": ({}, {TIMES: "true"}),
    "to an unknown feature": ({}, feature("unknownX")),
    "to another word": ({}, feature("deletionVectors", word="on")),
}


@AREA.situation(long=True)
def altered(p: Player) -> None:
    for first, then in _each(p, ALTERED):
        create(p, first)
        alter(p, then)
        protocol(p)


MANUAL = {
    "a column without zone": "ALTER TABLE {t} ADD COLUMN more TIMESTAMP_NTZ",
    "a variant": "ALTER TABLE {t} ADD COLUMN more VARIANT",
    "a constraint": "ALTER TABLE {t} ADD CONSTRAINT c CHECK (id > 0)",
    "a default": "ALTER TABLE {t} ALTER COLUMN id SET DEFAULT 5",
    "clustering": "ALTER TABLE {t} CLUSTER BY (id)",
}


@AREA.situation(long=True)
def features_by_statements(p: Player) -> None:
    for statement in _each(p, MANUAL):
        for asked in (
            versions(1, 1),
            versions(3, 7),
            feature("timestampNtz", "variantType", "allowColumnDefaults"),
        ):
            p.path += "_"
            create(p, asked)
            p.attempt(statement)
            protocol(p)


@AREA.situation()
def a_schema_that_joins_asks_for_a_feature(p: Player) -> None:
    create(p, {})
    p.attempt(lambda: p.write("SELECT 1 AS id, TIMESTAMP_NTZ '2020-01-01' AS more", mergeSchema="true"))
    protocol(p)
    alter(p, feature("timestampNtz"))
    p.attempt(lambda: p.write("SELECT 1 AS id, TIMESTAMP_NTZ '2020-01-01' AS more", mergeSchema="true"))
    protocol(p)


DROPPED: dict[str, tuple[Asked, str]] = {
    "constraints of 1, 3": (versions(1, 3), "checkConstraints"),
    "constraints of 1, 4": (versions(1, 4), "checkConstraints"),
    "times": (feature("inCommitTimestamp"), "inCommitTimestamp"),
    "times at 1, 7": (versions(1, 7) | feature("inCommitTimestamp"), "inCommitTimestamp"),
    "vectors beside mapping and times": (
        feature("columnMapping", "inCommitTimestamp", "deletionVectors"),
        "deletionVectors",
    ),
    "vectors beside times": (feature("inCommitTimestamp", "deletionVectors"), "deletionVectors"),
    "mapping of 2, 5": (versions(2, 5), "columnMapping"),
    "one that is not there": ({}, "deletionVectors"),
    "one that is unknown": ({}, "unknownX"),
    "one that stays": ({}, "appendOnly"),
    "a property": ({}, "`delta.enableDeletionVectors`"),
    "one that another needs": (feature("rowTracking"), "domainMetadata"),
    "row tracking": (feature("rowTracking"), "rowTracking"),
    "domains": (feature("domainMetadata"), "domainMetadata"),
    "the check of VACUUM": (feature("vacuumProtocolCheck"), "vacuumProtocolCheck"),
    "V2 checkpoints": (feature("v2Checkpoint"), "v2Checkpoint"),
    "type widening": (feature("typeWidening"), "typeWidening"),
}


@AREA.situation(long=True)
def dropped(p: Player) -> None:
    for asked, name in _each(p, DROPPED):
        create(p, asked)
        p.attempt(f"ALTER TABLE {{t}} DROP FEATURE {name}")
        protocol(p)


@AREA.situation()
def dropped_with_the_history(p: Player) -> None:
    cases = (
        "constraints of 1, 3",
        "times",
        "vectors beside times",
        "one that is not there",
        "one that stays",
    )
    for asked, name in _each(p, {case: DROPPED[case] for case in cases}):
        create(p, asked)
        p.attempt(f"ALTER TABLE {{t}} DROP FEATURE {name} TRUNCATE HISTORY")
        protocol(p)


@AREA.situation(long=True)
def protected_checkpoints_are_dropped_with_the_history_alone(p: Player) -> None:
    create(p, feature("deletionVectors"))
    p.attempt("ALTER TABLE {t} DROP FEATURE deletionVectors")
    protocol(p)
    p.attempt("ALTER TABLE {t} DROP FEATURE checkpointProtection")
    p.attempt("ALTER TABLE {t} DROP FEATURE checkpointProtection TRUNCATE HISTORY")
    alter(p, feature("deletionVectors"))
    p.attempt("ALTER TABLE {t} DROP FEATURE deletionVectors")
    protocol(p)


DEFAULTS = "spark.databricks.delta.properties.defaults."
SESSIONS: dict[str, dict[str, str]] = {
    "versions 1, 7": {"minReaderVersion": "1", "minWriterVersion": "7"},
    "vectors at 1, 7": {"minReaderVersion": "1", "minWriterVersion": "7", "enableDeletionVectors": "true"},
    "feed": {"enableChangeDataFeed": "true"},
    "feed at 1, 7": {"minReaderVersion": "1", "minWriterVersion": "7", "enableChangeDataFeed": "true"},
    "a feature": {"feature.changeDataFeed": "supported", "minWriterVersion": "7"},
}


def _session(p: Player, settings: dict[str, str], ignored: str = "false") -> None:
    for name, value in settings.items():
        p.conf(DEFAULTS + name, value)
    if ignored == "true":
        p.conf(DEFAULTS + "ignoreProtocolDefaults", "true")


@AREA.family(SESSIONS, quick={"a feature"})
def defaults_of_the_session(p: Player, settings: dict[str, str]) -> None:
    create(p, versions(1, 2))
    p.sql("INSERT INTO {t} VALUES (1)")
    path = p.path
    _session(p, settings)
    for asked in _each(
        p, {"nothing": {}, "1, 1": versions(1, 1), "1, 7": versions(1, 7), "feed": {FEED: "true"}}
    ):
        create(p, asked)
        protocol(p)
    p.path = path
    alter(p, {"delta.appendOnly": "false"})
    protocol(p)
    p.attempt("INSERT INTO {t} VALUES (2)", "RESTORE TABLE {t} TO VERSION AS OF 1")
    protocol(p)
    p.attempt("CREATE TABLE {u} SHALLOW CLONE {t}")
    protocol(p, f"{p.at}/u")
    p.attempt(lambda: p.write("SELECT 5 AS id", mode="overwrite", overwriteSchema="true"))
    protocol(p)
    p.attempt("REPLACE TABLE {t} USING delta AS SELECT 3 AS id")
    protocol(p)


@AREA.family({"a feature": SESSIONS["a feature"], "versions": SESSIONS["versions 1, 7"]}, quick=())
def defaults_that_are_ignored(p: Player, settings: dict[str, str]) -> None:
    create(p, versions(1, 2))
    _session(p, settings, "true")
    p.attempt("REPLACE TABLE {t} USING delta AS SELECT 3 AS id")
    protocol(p)


WAYS = {
    "CLONE": "CREATE TABLE {u} SHALLOW CLONE {t} TBLPROPERTIES %s",
    "ALTER": "ALTER TABLE {t} SET TBLPROPERTIES %s",
}
BRINGS: dict[str, Asked] = {
    "feed": {FEED: "true"},
    "vectors": {VECTORS: "true"},
    "times": {TIMES: "true"},
    "mapping": {MAPPING: "name"},
    "append only": {"delta.appendOnly": "true"},
    "the check of VACUUM": feature("vacuumProtocolCheck"),
    "a feature": feature("deletionVectors"),
    "V2 checkpoints": {"delta.checkpointPolicy": "v2"},
    "row tracking": {TRACKED: "true"},
    "versions": versions(1, 4),
}


@AREA.family(WAYS, quick={"CLONE"})
def properties_bring_features(p: Player, statement: str) -> None:
    own = {"mapping", "V2 checkpoints", "row tracking", "versions"} if "CLONE" in statement else set()
    for asked in _each(p, {name: asked for name, asked in BRINGS.items() if name not in own}):
        create(p, versions(1, 1))
        other = statement.replace("{u}", "delta.`" + p.path + "_u`")
        p.attempt(other.replace("%s", clause(asked)))
        protocol(p, f"{p.path}_u" if other != statement else None)


@AREA.situation()
def an_overwrite_takes_no_properties(p: Player) -> None:
    create(p, versions(1, 2))
    for options in ({"delta.feature.deletionVectors": "supported"}, {"mine": "5"}):
        p.attempt(lambda options=options: p.write("SELECT 5 AS id", mode="overwrite", **options))
        protocol(p)


LEVELS = ("Serializable", "WriteSerializable", "SnapshotIsolation", "none")


@AREA.situation(differs="WriteSerializable is a level, too, and the one that is not written")
def levels_of_isolation(p: Player) -> None:
    create(p, {})
    for level in LEVELS:
        p.tell(level)
        alter(p, {"delta.isolationLevel": level})
