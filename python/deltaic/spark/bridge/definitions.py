"""CREATE, REPLACE and ALTER TABLE, as Spark's catalog asks for them."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

from deltaic import _core, identifiers
from deltaic.columns import GENERATION
from deltaic.exceptions import (
    InvalidArgumentError,
    TableNotFoundError,
    UnsupportedError,
)
from deltaic.spark.bridge import tables
from deltaic.spark.catalog import names
from deltaic.spark.catalog.alterations import alter as alter_table
from deltaic.spark.catalog.alterations import stored_columns
from deltaic.spark.read.options import split_storage
from deltaic.spark.save import save
from deltaic.spark.session.after_commit import altered, committed_at
from deltaic.spark.session.jvm import session_of
from deltaic.spark.session.settings import Settings, allows_arbitrary, user_metadata
from deltaic.spark.session.settings import storage as storage_of
from deltaic.spark.write.definition import Definition
from deltaic.spark.write.options import CATALOGS_OWN
from deltaic.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping

# of Spark's catalog, and no properties of a table
_RESERVED = CATALOGS_OWN | {"comment", "external", "is_managed_location", "collation", "path"}
_OPTION = "option."


def create(asked: dict[str, Any], _: Any) -> None:
    """CREATE TABLE and REPLACE TABLE without a query: in one commit, or none if the table exists already.

    Raises:
        SchemaMismatchError: the place has a table of other columns.
        TableNotFoundError: the location has other files, and no columns are given; or the catalog says that there is a
            table.
        DeltaError: as `deltaic.create`.
    """
    _check_place(asked)
    path, schema = asked["path"], stored_columns(asked["schema"])
    if asked["mayBeThere"] and tables.exists(path):
        expressions = _source_expressions(asked) if "like" in asked else None
        tables.check_registration(path, asked["name"], asked["schema"], _definition(asked), expressions)
        return
    if "like" in asked:
        _create_like(asked)
        return
    if asked["named"]:
        _check_named(asked["name"], path)
    wanted = _definition(asked)
    spark = session_of(None)
    settings = Settings.of(spark, "create")
    storage = settings.storage(_storage(asked["properties"]))
    if not schema["fields"] and wanted.mode == "create":
        names.check_empty(path, identifiers.sql(identifiers.parts(asked["name"])[-2:]), storage)
    with names.location_errors(_name(asked), path, wanted.mode):
        defined = _core.create(
            path,
            json.dumps(schema),
            storage,
            wanted.mode,
            {
                "partition_by": wanted.partition_by,
                "cluster_by": wanted.cluster_by,
                "configuration": wanted.properties,
                "defaults": settings.defaults,
                "arbitrary_properties": settings.arbitrary_properties,
                "name": None,
                "description": wanted.description,
                "user_metadata": settings.user_metadata,
                "managed": wanted.managed,
                "engine": f"Apache-Spark/{spark.version}",
            },
        )
    committed_at(spark, path, defined["version"])


def _source(asked: dict[str, Any], settings: Settings) -> Table:
    """The table that CREATE TABLE … LIKE names."""
    _, storage = split_storage(asked["like"]["options"])
    return Table(asked["like"]["path"], storage_options=settings.storage(storage))


def _source_expressions(asked: dict[str, Any]) -> dict[str, str]:
    """The expressions of generated columns of that table, by column."""
    fields = _source(asked, Settings.of(session_of(None), "create")).schema
    return {f.name: f.metadata[GENERATION] for f in fields if GENERATION in f.metadata}


def _create_like(asked: dict[str, Any]) -> None:
    spark = session_of(None)
    settings = Settings.of(spark, "create")
    with names.location_errors(_name(asked), asked["path"], "create"):
        version = _core.create_like(
            _source(asked, settings)._core,
            asked["path"],
            _storage(asked["properties"]),
            {
                "configuration": _properties(asked["properties"]),
                "defaults": settings.defaults,
                "user_metadata": settings.user_metadata,
                "managed": asked["managed"],
                "engine": f"Apache-Spark/{spark.version}",
            },
        )
    committed_at(spark, asked["path"], version)


def create_as(asked: dict[str, Any], data: Any) -> None:
    """CREATE TABLE … AS SELECT, REPLACE TABLE … AS SELECT and saveAsTable: the table and its rows in one commit.

    Raises:
        DeltaError: as `deltaic.spark.save.save`.
    """
    from pyspark.sql.classic.dataframe import DataFrame

    _check_place(asked)
    spark = session_of(data)
    given = {**_options(asked["properties"]), **asked["options"]}
    given = {key: value for key, value in given.items() if key.lower() not in _RESERVED}
    wanted = _definition(asked)
    storage = _storage(asked["properties"])
    rest, _ = split_storage(given)
    rows, path = DataFrame(data["query"], spark), asked["path"]
    _check_replaced_schema(asked, wanted.mode, rest)
    if wanted.mode == "overwrite":
        by = wanted.partition_by or None
        save(spark, rows, path, "overwrite", by, rest, storage or None, saved_as_table=wanted.managed)
        return
    said = {key: value for key, value in rest.items() if key.lower().startswith("delta.")}
    wanted = dataclasses.replace(wanted, properties={**wanted.properties, **said})
    rest = {key: value for key, value in rest.items() if key not in said}
    with names.location_errors(_name(asked), path, wanted.mode):
        save(spark, rows, path, None, wanted.partition_by, rest, storage or None, definition=wanted)


def _check_replaced_schema(asked: dict[str, Any], mode: str, options: dict[str, str]) -> None:
    """Refuses a table that is replaced and is to keep its schema, which nothing would see to.

    Raises:
        InvalidArgumentError: `overwriteSchema` is false.
    """
    said = next((value for key, value in options.items() if key.lower() == "overwriteschema"), "true")
    if mode not in ("replace", "create_or_replace") or said.lower() != "false":
        return
    # `saveAsTable` replaces rows, and may make a table for them
    if not asked["byWriter"]:
        error = InvalidArgumentError.of("overwriteSchema", "a replaced table gets the schema of the rows")
        raise error.named("DELTA_ILLEGAL_USAGE", option="overwriteSchema", operation="replacing")


def alter(asked: dict[str, Any], data: Any) -> None:
    """ALTER TABLE, and what pipelines ask of a table: see `deltaic.spark.catalog.alterations`."""
    _, storage = split_storage(asked["options"])
    spark = session_of(data)
    table = Table(asked["path"], storage_options=storage_of(spark, storage))
    said = user_metadata(spark, "alter")
    # pipelines say in each run which format the table has
    changes = [change for change in asked["changes"] if not _keeps_format(change, asked["format"])]
    version = alter_table(table, changes, said, allow_arbitrary=allows_arbitrary(spark))
    altered(spark, table, version)


def _keeps_format(change: Mapping[str, Any], name: str) -> bool:
    return change.get("key") == "provider" and str(change.get("value")).lower() == name


def _check_place(asked: dict[str, Any]) -> None:
    """Refuses two locations, and a managed name for an existing table, which would own its files."""
    path = asked["path"]
    location = asked["properties"].get("location")
    if (
        asked["byPath"]
        and location is not None
        and identifiers.local(location).rstrip("/") != path.rstrip("/")
    ):
        two = InvalidArgumentError.of("location", f"`{location}`, but the name is the path `{path}`")
        places = {"identifier": path, "location": location}
        raise two.named("DELTA_AMBIGUOUS_PATHS_IN_CREATE_TABLE", **places)
    if asked["managed"]:
        names.check_unoccupied(path, asked["name"], storage_of(session_of(None), {}))


def _check_named(name: str, path: str) -> None:
    """Refuses to create a table where the catalog has one: its rows would be lost silently.

    With a query there are rows again, and delta-spark makes the table, too.
    """
    if tables.exists(path):
        return
    known = identifiers.sql(identifiers.parts(name)[-2:])
    message = f"{known} is in the catalog, and there is no Delta table at `{path}`: DROP TABLE {known} first"
    gone = {"tableName": known, "tablePath": f"{path.rstrip('/')}/_delta_log", "tableNameForDropCmd": known}
    error = TableNotFoundError(message, path=path)
    raise error.named("DELTA_METADATA_ABSENT_EXISTING_CATALOG_TABLE", **gone)


def _name(asked: dict[str, Any]) -> list[str] | None:
    return None if asked["byPath"] else identifiers.parts(asked["name"])


def _definition(asked: dict[str, Any]) -> Definition:
    partition_by: list[str] = []
    cluster_by: list[list[str]] = []
    for transform in asked["partitioning"]:
        if transform["name"] == "identity" and len(transform["columns"][0]) == 1:
            partition_by.append(transform["columns"][0][0])
        elif transform["name"] == "cluster_by":
            cluster_by += transform["columns"]
        else:
            path, what = asked["path"], f"partitioning by {transform['text']}"
            message = f"`{path}`: {what} is not supported: add a generated column and partition by that"
            error = UnsupportedError(message, path=path, what=what)
            if transform["name"].endswith("bucket"):
                error.named("DELTA_OPERATION_NOT_ALLOWED_DETAIL", operation="Bucketing", tableName=path)
            else:
                error.named("DELTA_OPERATION_NOT_ALLOWED", operation="Partitioning by expressions")
            raise error
    properties = asked["properties"]
    return Definition(
        mode=asked["mode"],
        partition_by=partition_by,
        cluster_by=cluster_by,
        properties=_properties(properties),
        description=properties.get("comment"),
        managed=asked["owned"],
    )


def _options(properties: Mapping[str, str]) -> dict[str, str]:
    return {key.removeprefix(_OPTION): value for key, value in properties.items() if key.startswith(_OPTION)}


def _storage(properties: Mapping[str, str]) -> dict[str, str]:
    return split_storage(_options(properties))[1]


def _properties(properties: Mapping[str, str]) -> dict[str, str]:
    """The TBLPROPERTIES, and the options that begin with `delta.`; Spark puts all options beside them."""
    options = _options(properties)
    own = {
        key: value
        for key, value in properties.items()
        if key.lower() not in _RESERVED and not key.startswith(_OPTION) and key not in options
    }
    return own | {key: value for key, value in options.items() if key.lower().startswith("delta.")}
