"""CREATE, REPLACE and ALTER TABLE, as Spark's catalog asks for them."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

from deltaic import _core
from deltaic.exceptions import (
    InvalidArgumentError,
    TableAlreadyExistsError,
    TableNotFoundError,
    UnsupportedError,
)
from deltaic.spark.alterations import alter as alter_table
from deltaic.spark.alterations import stored_columns
from deltaic.spark.bridge import tables
from deltaic.spark.bridge.options import split_storage
from deltaic.spark.bridge.sessions import session_of
from deltaic.spark.committed import altered, committed_at
from deltaic.spark.definition import Definition
from deltaic.spark.options import CATALOGS_OWN
from deltaic.spark.settings import Settings, allows_arbitrary, user_metadata
from deltaic.spark.settings import storage as storage_of
from deltaic.spark.writer import save
from deltaic.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping

# of Spark's catalog, and no properties of a table
_RESERVED = CATALOGS_OWN | {"comment", "external", "is_managed_location", "collation", "path"}
_OPTION = "option."


def create(asked: dict[str, Any], _: Any) -> None:
    """CREATE TABLE and REPLACE TABLE without a query: in one commit, or none where the table is there already.

    Raises:
        SchemaMismatchError: the place has a table of other columns.
        TableNotFoundError: the place has no table, and no columns are given.
        DeltaError: as `deltaic.create`.
    """
    _check_place(asked)
    path, schema = asked["path"], stored_columns(asked["schema"])
    if asked["mayBeThere"] and tables.exists(path):
        partitioning = [column[0] for t in asked["partitioning"] for column in t["columns"]]
        tables.check_registration({**asked, "partitioning": partitioning})
        return
    if "like" in asked:
        _create_like(asked)
        return
    if not schema["fields"]:
        message = f"no Delta table at `{path}`, and CREATE TABLE {asked['name']} gives no columns to make one"
        raise TableNotFoundError(message, path=path)
    wanted = _definition(asked)
    spark = session_of(None)
    settings = Settings.of(spark, "create")
    version, _, _ = _core.create(
        path,
        json.dumps(schema),
        settings.storage(_storage(asked["properties"])),
        mode=wanted.mode,
        partition_by=wanted.partition_by,
        cluster_by=wanted.cluster_by,
        configuration=wanted.properties,
        defaults=settings.defaults,
        name=None,
        description=wanted.description,
        user_metadata=settings.user_metadata,
        managed=wanted.managed,
        engine=f"Apache-Spark/{spark.version}",
        arbitrary_properties=settings.arbitrary_properties,
    )
    committed_at(spark, path, version)


def _create_like(asked: dict[str, Any]) -> None:
    _, storage = split_storage(asked["like"]["options"])
    spark = session_of(None)
    settings = Settings.of(spark, "create")
    version = _core.create_like(
        Table(asked["like"]["path"], storage_options=storage)._core,
        asked["path"],
        _storage(asked["properties"]),
        configuration=_properties(asked["properties"]),
        defaults=settings.defaults,
        user_metadata=settings.user_metadata,
        managed=asked["managed"],
        engine=f"Apache-Spark/{spark.version}",
    )
    committed_at(spark, asked["path"], version)


def create_as(asked: dict[str, Any], data: Any) -> None:
    """CREATE TABLE … AS SELECT, REPLACE TABLE … AS SELECT and saveAsTable: the table and its rows in one commit.

    Raises:
        DeltaError: as `deltaic.spark.writer.save`.
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
    if wanted.mode == "overwrite":
        save(spark, rows, path, "overwrite", wanted.partition_by or None, rest, storage or None)
        return
    said = {key: value for key, value in rest.items() if key.lower().startswith("delta.")}
    wanted = dataclasses.replace(wanted, properties={**wanted.properties, **said})
    rest = {key: value for key, value in rest.items() if key not in said}
    save(spark, rows, path, None, wanted.partition_by, rest, storage or None, definition=wanted)


def alter(asked: dict[str, Any], data: Any) -> None:
    """ALTER TABLE: see `deltaic.spark.alterations`."""
    _, storage = split_storage(asked["options"])
    spark = session_of(data)
    table = Table(asked["path"], storage_options=storage_of(spark, storage))
    said = user_metadata(spark, "alter")
    version = alter_table(table, asked["changes"], said, allow_arbitrary=allows_arbitrary(spark))
    altered(spark, table, version)


def _check_place(asked: dict[str, Any]) -> None:
    path = asked["path"]
    if asked.get("occupied"):
        if tables.exists(path):
            version = Table(path).version
            message = f"a table already exists: `{path}`, version {version}"
            raise TableAlreadyExistsError(message, path=path, version=version)
        reason = f"{asked['name']} would own `{path}`, which has files already; give the table a LOCATION"
        raise InvalidArgumentError.of("location", reason)


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
            raise UnsupportedError(message, path=path, what=what)
    properties = asked["properties"]
    return Definition(
        mode=asked["mode"],
        partition_by=partition_by,
        cluster_by=cluster_by,
        properties=_properties(properties),
        description=properties.get("comment"),
        managed=asked["managed"],
    )


def _options(properties: Mapping[str, str]) -> dict[str, str]:
    return {key.removeprefix(_OPTION): value for key, value in properties.items() if key.startswith(_OPTION)}


def _storage(properties: Mapping[str, str]) -> dict[str, str]:
    return split_storage(_options(properties))[1]


def _properties(properties: Mapping[str, str]) -> dict[str, str]:
    """What TBLPROPERTIES says, and the options that begin with `delta.`; Spark puts all options beside them."""
    options = _options(properties)
    own = {
        key: value
        for key, value in properties.items()
        if key.lower() not in _RESERVED and not key.startswith(_OPTION) and key not in options
    }
    return own | {key: value for key, value in options.items() if key.lower().startswith("delta.")}
