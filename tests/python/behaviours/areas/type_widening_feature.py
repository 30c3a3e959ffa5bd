"""The feature of type widening: how it comes and goes, its preview, and changes of types that a log must not have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playing import Area

from areas.type_widening import MAPPED, ON, metadata_of

if TYPE_CHECKING:
    from playing import Player

AREA = Area("type_widening_feature")

# -- the property and the feature


@AREA.situation()
def on_and_off(p: Player) -> None:
    p.sql(f"CREATE TABLE {{t}} (a BYTE) USING delta {ON}")
    p.detail()
    p.sql("ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableTypeWidening' = 'false')")
    p.detail()
    p.attempt("ALTER TABLE {t} ALTER COLUMN a TYPE SHORT", "ALTER TABLE {t} ALTER COLUMN a TYPE BYTE")
    p.sql("ALTER TABLE {t} UNSET TBLPROPERTIES ('delta.enableTypeWidening')")
    p.attempt("ALTER TABLE {t} ALTER COLUMN a TYPE SHORT")
    p.sql("CREATE TABLE {u} (a BYTE) USING delta TBLPROPERTIES ('delta.enableTypeWidening' = 'false')")
    p.detail("{u}")
    p.sql("ALTER TABLE {u} SET TBLPROPERTIES ('delta.enableTypeWidening' = 'false')")
    p.attempt(
        "ALTER TABLE {u} ALTER COLUMN a TYPE SHORT",
        "ALTER TABLE {u} ALTER COLUMN a TYPE BYTE",
        "ALTER TABLE {u} DROP FEATURE typeWidening",
    )
    p.sql("ALTER TABLE {u} SET TBLPROPERTIES ('delta.enableTypeWidening' = 'true')")
    p.detail("{u}")
    p.attempt("ALTER TABLE {u} ALTER COLUMN a TYPE BYTE", "ALTER TABLE {u} ALTER COLUMN a TYPE SHORT")


def _dropped(p: Player, feature: str = "typeWidening") -> None:
    """Tells what a drop of the feature does: the answer, how many files go, the schema, the features and the rows."""
    before = _files(p)
    p.attempt(f"ALTER TABLE {{t}} DROP FEATURE '{feature}'")
    p.tell(len(before - _files(p)))
    p.logged_schema()
    p.tell(sorted(p.sql("DESCRIBE DETAIL {t}").first().tableFeatures))
    p.rows()


def _files(p: Player) -> set[str]:
    """The files of the table, as its reader tells them."""
    return set(p.read().inputFiles())


DROPS = {
    "unused": (),
    "a file before": ("INSERT INTO {t} VALUES (1)", "ALTER TABLE {t} ALTER COLUMN a TYPE INT"),
    "files before and after": (
        "INSERT INTO {t} VALUES (1)",
        "ALTER TABLE {t} ALTER COLUMN a TYPE INT",
        "INSERT INTO {t} VALUES (70000)",
    ),
    "only files after": ("ALTER TABLE {t} ALTER COLUMN a TYPE INT", "INSERT INTO {t} VALUES (70000)"),
    "files that were rewritten": (
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ explode(array(1, 2, 3))",
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ explode(array(4, 5, 6))",
        "ALTER TABLE {t} ALTER COLUMN a TYPE INT",
        "ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'false')",
        "UPDATE {t} SET a = a + 10 WHERE a < 4",
    ),
    "two changes": (
        "INSERT INTO {t} VALUES (1)",
        "ALTER TABLE {t} ALTER COLUMN a TYPE SHORT",
        "INSERT INTO {t} VALUES (2)",
        "ALTER TABLE {t} ALTER COLUMN a TYPE INT",
        "INSERT INTO {t} VALUES (70000)",
    ),
    "restored to before": (
        "INSERT INTO {t} VALUES (1)",
        "ALTER TABLE {t} ALTER COLUMN a TYPE INT",
        "UPDATE {t} SET a = -70000 WHERE a = 1",
        "RESTORE TABLE {t} TO VERSION AS OF 1",
    ),
    "restored to after": (
        "INSERT INTO {t} VALUES (1)",
        "INSERT INTO {t} VALUES (2)",
        "ALTER TABLE {t} ALTER COLUMN a TYPE INT",
        "DELETE FROM {t} WHERE a = 1",
        "INSERT INTO {t} VALUES (-70000)",
        "RESTORE TABLE {t} TO VERSION AS OF 3",
    ),
}


@AREA.grid(DROPS, f"CREATE TABLE {{t}} (a BYTE) USING delta {ON}", long=True)
def the_feature_is_dropped(p: Player, before: tuple[str, ...]) -> None:
    p.sql(*before)
    _dropped(p)


@AREA.situation()
def the_feature_of_a_clone_is_dropped(p: Player) -> None:
    p.sql(
        f"CREATE TABLE {{u}} (a BYTE) USING delta {ON}",
        "INSERT INTO {u} VALUES (1)",
        "INSERT INTO {u} VALUES (2)",
        "ALTER TABLE {u} ALTER COLUMN a TYPE INT",
        "INSERT INTO {u} VALUES (200)",
        "CREATE OR REPLACE TABLE {t} SHALLOW CLONE {u}",
    )
    p.rows()
    _dropped(p)


@AREA.situation(long=True)
def void_is_no_change(p: Player) -> None:
    p.sql(
        f"CREATE TABLE {{t}} (a INT, v VOID) USING delta {ON}",
        "INSERT INTO {t} (a) VALUES (1)",
        "ALTER TABLE {t} ALTER COLUMN v TYPE INT",
        "INSERT INTO {t} VALUES (2, 2)",
    )
    _dropped(p)


# -- with column mapping


@AREA.situation(long=True)
def renamed(p: Player) -> None:
    p.sql(f"CREATE TABLE {{t}} (a BYTE) USING delta {MAPPED.format('name')}", "INSERT INTO {t} VALUES (1)")
    p.sql("ALTER TABLE {t} ALTER COLUMN a TYPE SHORT", "INSERT INTO {t} VALUES (2)")
    p.sql("ALTER TABLE {t} RENAME COLUMN a TO `a (with reserved characters)`")
    p.rows()
    p.sql(
        "INSERT INTO {t} VALUES (3)", "ALTER TABLE {t} ALTER COLUMN `a (with reserved characters)` TYPE INT"
    )
    p.sql("INSERT INTO {t} VALUES (70000)")
    p.rows()
    before = _files(p)
    p.attempt("ALTER TABLE {t} DROP FEATURE typeWidening")
    p.tell(len(before - _files(p)))
    p.rows()


@AREA.situation(long=True)
def a_changed_column_goes(p: Player) -> None:
    p.sql(
        f"CREATE TABLE {{t}} (a BYTE, b BYTE) USING delta {MAPPED.format('name')}",
        "INSERT INTO {t} VALUES (1, 1)",
    )
    p.sql(
        "ALTER TABLE {t} ALTER COLUMN b TYPE INT",
        "INSERT INTO {t} VALUES (2, 2)",
        "ALTER TABLE {t} DROP COLUMN b",
    )
    before = _files(p)
    p.attempt("ALTER TABLE {t} DROP FEATURE typeWidening")
    p.tell(len(before - _files(p)))
    p.rows()


@AREA.situation(long=True)
def exchanged_names(p: Player) -> None:
    p.sql(
        f"CREATE TABLE {{t}} (a BYTE, b BYTE) USING delta {MAPPED.format('name')}",
        "INSERT INTO {t} VALUES (1, 1)",
    )
    p.sql("ALTER TABLE {t} ALTER COLUMN b TYPE INT", "INSERT INTO {t} VALUES (2, 2)")
    p.sql(
        "ALTER TABLE {t} RENAME COLUMN b TO c",
        "ALTER TABLE {t} RENAME COLUMN a TO b",
        "ALTER TABLE {t} RENAME COLUMN c TO a",
    )
    p.sql("INSERT INTO {t} VALUES (3, 70000)")
    p.rows()
    p.schema()
    before = _files(p)
    p.attempt("ALTER TABLE {t} DROP FEATURE typeWidening")
    p.tell(len(before - _files(p)))
    p.rows()


# -- changes in the log that are none


def _logged(p: Player, fields: list[dict[str, Any]]) -> None:
    """A commit with other columns."""
    metadata = metadata_of(p)
    metadata["schemaString"] = json.dumps({"type": "struct", "fields": fields})
    newest = max(int(commit.stem) for commit in Path(p.path, "_delta_log").glob("*.json"))
    Path(p.path, "_delta_log", f"{newest + 1:020}.json").write_text(json.dumps({"metaData": metadata}) + "\n")


def _changed(name: str, data_type: Any, of: str, to: str, **more: Any) -> dict[str, Any]:
    change = {"fromType": of, "toType": to, **more}
    return {"name": name, "type": data_type, "nullable": True, "metadata": {"delta.typeChanges": [change]}}


_LIST = {"type": "array", "elementType": "string", "containsNull": True}
WRONG = {
    "a text": [_changed("a", "string", "integer", "string")],
    "an element": [_changed("a", _LIST, "integer", "string", fieldPath="element")],
    "a field": [
        {
            "name": "a",
            "type": {"type": "struct", "fields": [_changed("x", "boolean", "integer", "boolean")]},
            "nullable": True,
            "metadata": {},
        }
    ],
    "narrower": [_changed("a", "integer", "long", "integer")],
    "with a version": [_changed("a", "string", "integer", "string", tableVersion=2)],
    "right, with a version": [_changed("a", "long", "integer", "long", tableVersion=2)],
    "lengths": [
        _changed("a", "string", "string", "char(4)"),
        _changed("b", "string", "string", "varchar(4)"),
        _changed("c", "string", "char(4)", "string"),
        _changed("d", "string", "char(4)", "varchar(4)"),
        _changed("e", "string", "varchar(4)", "string"),
        _changed("f", "string", "varchar(4)", "char(4)"),
    ],
}


@AREA.grid(WRONG, f"CREATE TABLE {{t}} (a INT) USING delta {ON}", long=True)
def changes_in_the_log(p: Player, fields: list[dict[str, Any]]) -> None:
    _logged(p, fields)
    p.answers(p.read, "SELECT * FROM {t}")


# -- the preview


@AREA.situation(long=True)
def the_preview_of_a_table_without(p: Player) -> None:
    p.sql(f"CREATE TABLE {{t}} (a BYTE) USING delta {ON}", "INSERT INTO {t} VALUES (1)")
    p.attempt(
        "ALTER TABLE {t} ALTER COLUMN a TYPE INT", "ALTER TABLE {t} DROP FEATURE `typeWidening-preview`"
    )
    p.detail()
