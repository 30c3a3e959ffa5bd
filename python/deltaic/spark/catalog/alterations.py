"""ALTER TABLE: the changes of Spark's catalog as changes of `deltaic.Table`, each statement in one commit.

Pipelines ask for several kinds of changes at once, which no statement does: these are as many commits.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from deltaic import _core
from deltaic.exceptions import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deltaic.table import Table

_COLUMN = {
    "UpdateColumnType",
    "UpdateColumnNullability",
    "UpdateColumnComment",
    "UpdateColumnDefaultValue",
    "UpdateColumnPosition",
}
_SAID = ("nullable", "comment", "default", "first", "after")
_METADATA = {
    "GENERATION_EXPRESSION": "delta.generationExpression",
    "identity.start": "delta.identity.start",
    "identity.step": "delta.identity.step",
    "identity.allowExplicitInsert": "delta.identity.allowExplicitInsert",
}
# changes of several kinds come in this order: what goes may have the name of what comes
_IN_TURN = ({"SetProperty"}, {"RemoveProperty"}, {"DeleteColumn"}, {"AddColumn"}, _COLUMN, {"ClusterBy"})
# properties that mean something else in Spark's catalog
_NO_PROPERTIES = {
    "location": ("ALTER TABLE … SET LOCATION", "DROP TABLE and CREATE TABLE … LOCATION"),
    "collation": ("ALTER TABLE … DEFAULT COLLATION", "give the columns their collations"),
}


def alter(
    table: Table,
    changes: Sequence[Mapping[str, Any]],
    user_metadata: str | None,
    *,
    allow_arbitrary: bool = False,
) -> int:
    """Makes the changes of one statement, in one commit or none of them; the version of the table then.

    Changes of several kinds are a commit for each kind; only REPLACE COLUMNS is one.

    `user_metadata` is shown with the commit.

    With `allow_arbitrary` unknown properties `delta.*` are stored unchanged.

    Raises:
        UnsupportedError: several changes that one commit of ours does not make, or one that is not known.
        DeltaError: as the method of `deltaic.Table` that makes the change.
    """
    kinds = {change["kind"] for change in changes}
    said = {"user_metadata": user_metadata}
    if not changes:
        return table.version
    if kinds <= _COLUMN:
        return _change_columns(table, changes, **said)
    if kinds == {"SetProperty"}:
        for change in changes:
            if change["key"] in _NO_PROPERTIES:
                raise _refusal(table, *_NO_PROPERTIES[change["key"]])
        properties = {change["key"]: change["value"] for change in changes}
        return table.set_properties(properties, allow_arbitrary=allow_arbitrary, **said)
    if kinds == {"RemoveProperty"}:
        return table.unset_properties([change["key"] for change in changes], if_exists=True, **said)
    if kinds == {"AddColumn"}:
        return _add_columns(table, changes, **said)
    if kinds == {"DeleteColumn"}:
        return _drop_columns(table, changes, **said)
    if kinds == {"ClusterBy"} and len(changes) == 1:
        return table.cluster_by(changes[0]["columns"], **said)
    if kinds == {"RenameColumn"} and len(changes) == 1:
        return table.rename_column(changes[0]["column"], changes[0]["to"], **said)
    # REPLACE COLUMNS lets all go first, also those that come again
    if (
        kinds == {"AddColumn", "DeleteColumn"}
        and changes[0]["kind"] == "DeleteColumn"
        and _none_stays(table, changes)
    ):
        return _replace_columns(table, changes, **said)
    if kinds <= set().union(*_IN_TURN):
        return _in_turn(table, changes, user_metadata, allow_arbitrary=allow_arbitrary)
    raise _refusal(table, f"ALTER TABLE with {', '.join(sorted(kinds))} in one statement")


def _in_turn(
    table: Table, changes: Sequence[Mapping[str, Any]], user_metadata: str | None, *, allow_arbitrary: bool
) -> int:
    turns = list(_IN_TURN)
    if _none_stays(table, changes):
        # a table has columns at any time
        turns.remove({"DeleteColumn"})
        turns.append({"DeleteColumn"})
    for kinds in turns:
        some = [change for change in changes if change["kind"] in kinds]
        if some:
            alter(table, some, user_metadata, allow_arbitrary=allow_arbitrary)
            table = table.update()
    return table.version


def _none_stays(table: Table, changes: Sequence[Mapping[str, Any]]) -> bool:
    """Whether every column goes; without a name a change is about all of them."""
    drops = [change for change in changes if change["kind"] == "DeleteColumn"]
    gone = {tuple(change["column"]) for change in drops if "column" in change}
    return len(drops) > 0 and (
        any("column" not in change for change in drops) or gone >= {(name,) for name in table.schema.names}
    )


def stored_columns(text: str) -> dict[str, Any]:
    """Columns of Spark's catalog, as the JSON of a schema, in the form of the protocol."""
    schema: dict[str, Any] = json.loads(text)
    for field in schema["fields"]:
        found = field["metadata"]
        found.pop("EXISTS_DEFAULT", None)
        field["metadata"] = {_METADATA.get(key, key): value for key, value in found.items()}
    return schema


def _change_columns(table: Table, changes: Sequence[Mapping[str, Any]], user_metadata: str | None) -> int:
    columns: dict[tuple[str, ...], dict[str, Any]] = {}
    for change in changes:
        if change["kind"] == "UpdateColumnNullability" and not change["nullable"]:
            raise _refusal(table, "ALTER COLUMN … SET NOT NULL", "add a CHECK constraint")
        said = columns.setdefault(tuple(change["column"]), {})
        said |= {key: change[key] for key in _SAID if key in change}
        if "field" in change:
            said["type"] = change["field"]
    changed: list[_core._ChangedColumn] = [
        {
            "path": list(column),
            "schema": said.get("type"),
            "nullable": said.get("nullable"),
            "comment": said.get("comment"),
            "default": said.get("default"),
            "first": bool(said.get("first")),
            "after": said.get("after"),
        }
        for column, said in columns.items()
    ]
    return _core.change_columns(table._core, changed, user_metadata)


def _add_columns(table: Table, changes: Sequence[Mapping[str, Any]], user_metadata: str | None) -> int:
    added: list[_core._AddedColumns] = [
        {
            "schema": json.dumps(stored_columns(change["field"])),
            "parent": list(change["column"][:-1]),
            "first": bool(change.get("first")),
            "after": change.get("after"),
        }
        for change in changes
    ]
    return _core.add_columns(table._core, added, user_metadata)


def _replace_columns(table: Table, changes: Sequence[Mapping[str, Any]], user_metadata: str | None) -> int:
    added = (stored_columns(change["field"]) for change in changes if change["kind"] == "AddColumn")
    schema = {"type": "struct", "fields": [field for column in added for field in column["fields"]]}
    return _core.replace_columns(table._core, json.dumps(schema), user_metadata)


def _drop_columns(table: Table, changes: Sequence[Mapping[str, Any]], user_metadata: str | None) -> int:
    names = {name.lower() for name in table.schema.names}
    there = [
        list(change["column"])
        for change in changes
        if not (change.get("ifExists") and change["column"][0].lower() not in names)
    ]
    return table.drop_columns(there, user_metadata=user_metadata) if there else table.version


def _refusal(table: Table, what: str, instead: str = "write one statement for each") -> UnsupportedError:
    message = f"`{table.uri}`: {what} is not supported: {instead}"
    return UnsupportedError(message, path=table.uri, what=what)
