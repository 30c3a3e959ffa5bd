"""Tables that can become Iceberg's: what turns it on, what such tables refuse, and what their files hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
from playing import VECTORS, Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("iceberg_compat")

V1, V2, V3 = (f"delta.enableIcebergCompatV{n}" for n in (1, 2, 3))
MODE = "delta.columnMapping.mode"
TRACKING = "delta.enableRowTracking"
SHOWN = (V1, V2, V3, MODE, TRACKING, VECTORS)
IDS = "SELECT *, _metadata.row_id AS row_id FROM {t}"


def _properties(**values: str) -> str:
    return "TBLPROPERTIES (" + ", ".join(f"'{key}' = '{value}'" for key, value in values.items()) + ")"


def _create(p: Player, columns: str, more: str = "", **properties: str) -> None:
    p.sql(
        f"CREATE TABLE {{t}} ({columns}) USING delta {more} {_properties(**properties) if properties else ''}"
    )


def _set(**properties: str) -> str:
    return f"ALTER TABLE {{t}} SET {_properties(**properties)}"


def _state(p: Player) -> None:
    """Tells the features of the table and those properties that matter here."""
    detail = p.sql("DESCRIBE DETAIL {t}").first()
    p.tell(sorted(detail.tableFeatures))
    p.tell({key: detail.properties[key] for key in SHOWN if key in detail.properties})


def _ids(p: Player) -> None:
    """Tells the ids that fields have at every depth of the files."""

    def of(field: Any) -> list[str]:
        kind = field.type
        own = (field.metadata or {}).get(b"PARQUET:field_id", b"").decode()
        return [own, *(one for i in range(kind.num_fields) for one in of(kind.field(i)))]

    files = [f for f in Path(p.path).rglob("*.parquet") if "_delta_log" not in f.parts]
    p.tell(sorted({one for f in files for field in pq.read_schema(f) for one in of(field)}))


# -- what a new table gets


NEW = {
    "alone": {},
    "by id": {MODE: "id"},
    "without mapping": {MODE: "none"},
    "with vectors": {VECTORS: "true"},
    "with row tracking": {TRACKING: "true"},
    "without row tracking": {TRACKING: "false"},
    "with the one before": {V2: "true"},
    "with the first one": {V1: "true"},
}


@AREA.grid({f"{v[-2:]}, {name}": {v: "true", **more} for v in (V1, V2, V3) for name, more in NEW.items()})
def new_tables(p: Player, properties: dict[str, str]) -> None:
    p.attempt(lambda: _create(p, "id INT, s STRING", **properties))
    p.attempt(lambda: _state(p))


TYPES = (
    "a ARRAY<INT>",
    "m MAP<STRING, INT>",
    "v VARIANT",
    "n VOID",
    "s STRUCT<x: ARRAY<VOID>>",
    "c CHAR(3)",
    "b BINARY",
)


@AREA.grid({f"{v[-2:]}, {t}": (v, t) for v in (V1, V2, V3) for t in TYPES})
def types(p: Player, case: tuple[str, str]) -> None:
    version, column = case
    p.attempt(lambda: _create(p, f"id INT, {column}", **{version: "true"}))
    p.path += "b"
    _create(p, "id INT", **{version: "true"})
    p.attempt(f"ALTER TABLE {{t}} ADD COLUMN {column}")


@AREA.situation()
def the_feature_alone(p: Player) -> None:
    for version in p.each(("1", "2", "3")):
        _create(p, "id INT", **{f"delta.feature.icebergCompatV{version}": "supported"})
        _state(p)
        p.sql("INSERT INTO {t} VALUES (1)")
        p.rows()


# -- tables that exist


EXISTING: dict[str, dict[str, str]] = {
    "plain": {},
    "mapped": {MODE: "name"},
    "mapped, with vectors": {MODE: "name", VECTORS: "true"},
    "mapped, with row tracking": {MODE: "name", TRACKING: "true"},
    "of V2": {V2: "true"},
}
TURNED = {
    "V2": {V2: "true"},
    "V3": {V3: "true"},
    "V3 and the mode": {V3: "true", MODE: "name"},
    "V3 and not V2": {V3: "true", V2: "false"},
    "V3 without row tracking": {V3: "true", TRACKING: "false"},
}


@AREA.grid({f"{e}, {t}": (EXISTING[e], TURNED[t]) for e in EXISTING for t in TURNED})
def turned_on_while_empty(p: Player, case: tuple[dict[str, str], dict[str, str]]) -> None:
    before, wanted = case
    _create(p, "id INT, a ARRAY<INT>", **before)
    p.attempt(_set(**wanted))
    _state(p)
    p.sql("INSERT INTO {t} VALUES (1, array(1)), (2, array(2))")
    p.rows()


@AREA.situation()
def turned_off(p: Player) -> None:
    for name in p.each((V1, V2, V3)):
        _create(p, "id INT", **{name: "true"})
        p.attempt(_set(**{name: "false"}))
        p.attempt(f"ALTER TABLE {{t}} UNSET TBLPROPERTIES ('{name}')")
        p.attempt(_set(**{TRACKING: "false"}), _set(**{MODE: "none"}))
        p.attempt(_set(**{V1: "true"}), _set(**{V3: "true"}))
        _state(p)


@AREA.situation()
def restored_to_before_it(p: Player) -> None:
    _create(p, "id INT", **{MODE: "name"})
    p.sql(_set(**{V3: "true"}), "INSERT INTO {t} VALUES (1)")
    p.attempt("RESTORE TABLE {t} TO VERSION AS OF 0")
    p.rows()


# -- replacing


REPLACED = {
    "the same": "(id INT, p INT) USING delta PARTITIONED BY (p)",
    "another type": "(id INT, p BIGINT) USING delta PARTITIONED BY (p)",
    "another column": "(id INT, q INT) USING delta PARTITIONED BY (q)",
    "without partitions": "(id INT, p INT) USING delta",
}


AGAIN = {f"{v[-2:]}, {name}": (v, r, True) for v in (V2, V3) for name, r in REPLACED.items()}


@AREA.grid({**AGAIN, **{f"{v[-2:]}, without it": (v, REPLACED["the same"], False) for v in (V1, V2, V3)}})
def replaced_tables(p: Player, case: tuple[str, str, bool]) -> None:
    version, definition, again = case
    _create(p, "id INT, p INT", "PARTITIONED BY (p)", **{version: "true"})
    p.sql("INSERT INTO {t} VALUES (1, 1), (2, 2)")
    p.attempt(f"REPLACE TABLE {{t}} {definition} {_properties(**{version: 'true'}) if again else ''}")
    _state(p)
    p.rows()


@AREA.situation()
def overwritten_with_a_schema(p: Player) -> None:
    for version in p.each((V2, V3)):
        _create(p, "id INT, a ARRAY<INT>", **{version: "true"})
        p.attempt(
            lambda: p.write("SELECT 1 AS id, map('a', 1) AS m", mode="overwrite", overwriteSchema="true")
        )
        _state(p)
        p.rows()


# -- changes of columns


DEFAULTS = {
    "5": "INT", "-5": "INT", "1 + 1": "INT", "(6)": "INT", "NULL": "INT", "'a'": "STRING", "concat('a', 'b')": "STRING",
    "1.5": "DECIMAL(5, 2)", "true": "BOOLEAN", "'2024-01-02'": "DATE", "current_date()": "DATE", "7L": "BIGINT",
    "'2024-01-02 03:04:05'": "TIMESTAMP", "current_timestamp()": "TIMESTAMP", "1e2": "DOUBLE", "x'0a'": "BINARY",
}  # fmt: skip


@AREA.grid({text: (text, kind) for text, kind in DEFAULTS.items()})
def defaults(p: Player, case: tuple[str, str]) -> None:
    text, kind = case
    allowed = {"delta.feature.allowColumnDefaults": "supported"}
    p.attempt(lambda: _create(p, f"id INT, c {kind} DEFAULT {text}", **{V3: "true"}, **allowed))
    p.path += "b"
    _create(p, f"id INT, c {kind}", **{V3: "true"}, **allowed)
    p.attempt(f"ALTER TABLE {{t}} ALTER COLUMN c SET DEFAULT {text}")
    p.sql("INSERT INTO {t} (id) VALUES (1)")
    p.tell(p.sql("SELECT count(c) IN (0, 1) FROM {t}").first()[0])


WIDENED = ("BIGINT", "DOUBLE", "DECIMAL(12, 2)")


@AREA.grid({f"{v[-2:]}, {to}": (v, to) for v in (V1, V2, V3) for to in WIDENED})
def widened(p: Player, case: tuple[str, str]) -> None:
    version, to = case
    _create(p, "id INT, w INT", **{version: "true", "delta.enableTypeWidening": "true"})
    p.sql("INSERT INTO {t} VALUES (1, 1)")
    p.attempt(f"ALTER TABLE {{t}} ALTER COLUMN w TYPE {to}")
    p.schema()
    p.rows()


# -- rows


@AREA.family({"of V2": (V2, {}), "of V3": (V3, {}), "of V3 with vectors": (V3, {VECTORS: "true"})})
def rows_and_files(p: Player, case: tuple[str, dict[str, str]]) -> None:
    version, more = case
    _create(
        p,
        "id INT, p STRING, a ARRAY<STRUCT<m: MAP<STRING, INT>>>",
        "PARTITIONED BY (p)",
        **{version: "true"},
        **more,
    )
    p.sql(
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ id, 'p', array(named_struct('m', map('k', 1))) FROM range(6)"
    )
    read = IDS if version == V3 else "SELECT * FROM {t}"
    p.sql("UPDATE {t} SET a = NULL WHERE id = 1")
    p.rows(read)
    p.sql("DELETE FROM {t} WHERE id = 2")
    p.rows(read)
    p.sql("""MERGE INTO {t} t USING (SELECT explode(array(0, 9)) AS id) s ON t.id = s.id
        WHEN MATCHED THEN UPDATE SET p = 'z' WHEN NOT MATCHED THEN INSERT (id, p) VALUES (s.id, 'n')""")
    p.rows("SELECT id, p, a FROM {t}")
    p.sql("OPTIMIZE {t}")
    p.rows("SELECT id, p, a FROM {t}")
    if version == V3:
        p.rows("SELECT id, _metadata.row_id AS row_id FROM {t} WHERE id < 6")
    _ids(p)
    p.tell(sorted({json.loads(a["add"]["stats"])["numRecords"] for a in p.actions() if "add" in a}))


@AREA.situation()
def a_clone(p: Player) -> None:
    of = f"{p.at}/s"
    p.sql(f"CREATE TABLE delta.`{of}` (id INT) USING delta {_properties(**{V3: 'true'})}")
    p.sql(f"INSERT INTO delta.`{of}` VALUES (1), (2)")
    p.attempt(f"CREATE TABLE {{t}} SHALLOW CLONE delta.`{of}`")
    _state(p)
    p.sql("INSERT INTO {t} VALUES (3)")
    p.rows()
