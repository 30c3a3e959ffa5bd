"""Opens tables for the JVM and plans their files; all of it happens in the core."""

from __future__ import annotations

import json
import os
import tempfile
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deltaic import _core, identifiers
from deltaic.columns import COMPARED, GENERATION, generation
from deltaic.exceptions import SchemaMismatchError, TableNotFoundError
from deltaic.identifiers import is_url
from deltaic.spark.bridge import change_data_feed
from deltaic.spark.catalog.alterations import stored_columns
from deltaic.spark.catalog.partition_values import partition_values
from deltaic.spark.read import held, opened
from deltaic.spark.read.options import split_storage, time_travel, verify_level
from deltaic.spark.read.partition_folders import PartOfTable, partition_folder
from deltaic.spark.session.jvm import session_of
from deltaic.spark.session.settings import storage
from deltaic.spark.session.time_zone import TIME_ZONE
from deltaic.table import Table
from deltaic.time_travel import may_name_a_time, of_path

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deltaic.spark.write.definition import Definition

# bytes of a list that py4j still carries: it makes text of them, and the JVM holds both
_LONG_LIST = 1 << 20
_BYPASS = "spark.databricks.delta.alterLocation.bypassSchemaCheck"


def describe(asked: dict[str, Any]) -> str:
    """Opens the requested version and returns, as JSON, what Spark needs to know without its files."""
    _, storage = split_storage(asked["options"])
    if change_data_feed.wanted(asked["options"]):
        return str(opened.keep(change_data_feed.of_options(asked)).describe())
    version, timestamp = time_travel(asked)
    path = asked["path"]
    if version is None and timestamp is None and may_name_a_time(path):
        path, timestamp = of_path(path, session_of(None).conf.get(TIME_ZONE), storage)
    try:
        table = _open(path, version, timestamp, storage, verify_level(asked["options"]))
    except TableNotFoundError as error:
        raise (error if asked.get("target") else _not_there(error)) from None
    opened.keep(table)
    # the kept one may have been asked for as the newest, which may be written to
    return str(table.describe())


def _not_there(error: TableNotFoundError) -> TableNotFoundError:
    """The error of a read or a write, which differs for a folder without a table and for no folder."""
    # what a store holds below a path takes a listing to know
    nothing = not is_url(error.path) and not Path(error.path).exists()
    return error.named("PATH_NOT_FOUND" if nothing else "DELTA_TABLE_NOT_FOUND")


def again(asked: dict[str, Any]) -> Any:
    """The version that `describe` opened, or the files that the owner of a frame holds."""
    if "held" in asked:
        return held.find(asked["identity"], asked["uri"])
    table = opened.kept(asked["identity"])
    if table is None and "changes" in asked:
        table = opened.keep(change_data_feed.again(asked))
    elif table is None:
        _, storage = split_storage(asked["options"])
        found = _core.SparkTable(
            asked["uri"], asked["version"], None, storage, verify_level(asked["options"])
        )
        table = opened.keep(PartOfTable(found, asked["partition"]) if "partition" in asked else found)
    return table


def newest(asked: dict[str, Any]) -> str | None:
    """`describe` of the newest version; None if that is the known one. Costs one listing."""
    if "changes" in asked:
        changes = change_data_feed.newest(asked)
        return None if changes is None else str(opened.keep(changes).describe())
    _, storage = split_storage(asked["options"])
    known = opened.kept(asked["identity"])
    table: Any
    if known is None:
        table = _core.SparkTable(asked["uri"], None, None, storage, verify_level(asked["options"]))
    else:
        table = known.newest()
    if table is None or table.identity == asked["identity"]:
        return None
    opened.keep(table)
    return str(table.describe())


def check_analyzed(asked: dict[str, Any]) -> None:
    """Checks that a query that was analyzed with other columns can read a version.

    Raises:
        SchemaChangedError: when it cannot.
    """
    again(asked).check_analyzed(asked["analyzed"])


def _open(
    path: str, version: int | None, timestamp: int | None, storage: dict[str, str], verify: str | None
) -> Any:
    """The table at a path, or the part of it whose folder the path is."""
    try:
        return _core.SparkTable(path, version, timestamp, storage, verify)
    except TableNotFoundError:
        part = partition_folder(path, version, timestamp, storage, verify)
        if part is None:
            raise
        return PartOfTable(part.table, part.predicate)


def files(asked: dict[str, Any]) -> bytes | str:
    """The files that may hold a row for which `predicate` is true, in the layout of engine/file_list.rs.

    With a `limit`, as many as hold so many rows are enough. A long list is in a file, whose path is the answer: who
    reads it deletes it.
    """
    table = again(asked)
    listed = bytes(table.files(asked["predicate"], *([asked["limit"]] if "limit" in asked else [])))
    if len(listed) <= _LONG_LIST:
        return listed
    number, path = tempfile.mkstemp(prefix="deltaic-files-")
    with os.fdopen(number, "wb") as file:
        file.write(listed)
    return path


def hadoop_settings(asked: dict[str, Any]) -> str:
    """What the options of a read say of the store, by Hadoop's names, as JSON."""
    _, storage = split_storage(asked["given"])
    return json.dumps(_core.hadoop_settings(asked["uri"], storage))


def size(asked: dict[str, Any]) -> int:
    """Bytes of all files."""
    return int(again(asked).size())


def partitions(asked: dict[str, Any], data: Any) -> Any:
    """SHOW PARTITIONS: see `deltaic.spark.catalog.partition_values`; a Java Dataset."""
    return partition_values(session_of(data), again(asked), asked.get("spec") or {})._jdf


def definition(asked: dict[str, Any]) -> str:
    """Description (null if there is none), clustering columns (as SQL names them) and how columns are made, as JSON.

    Beside `describe`, because hardly anybody asks for them, and clustering columns take reading the log.
    """
    _, storage_options = split_storage(asked["options"])
    table = Table(asked["uri"], version=asked["version"], storage_options=storage_options)
    columns = [identifiers.sql(path) for path in table._core.clustering_columns()]
    made = {field.name: how for field in table.schema if (how := generation(field.metadata)) is not None}
    found = {"description": table.metadata.description, "clusteringColumns": columns, "made": made}
    return json.dumps(found)


def rows(asked: dict[str, Any]) -> int:
    """Rows that are not deleted; -1 if statistics lack the number, or the relation is not the whole table."""
    table = again(asked)
    known = table.rows() if isinstance(table, _core.SparkTable) else None
    return -1 if known is None else int(known)


def may_have_deletion_vectors(asked: dict[str, Any]) -> bool:
    """Whether a file of a version may have a deletion vector."""
    return bool(again(asked).may_have_deletion_vectors())


def exists(path: str) -> bool:
    """Whether there is a table."""
    try:
        _core.SparkTable(path, None, None, storage(session_of(None), {}))
    except TableNotFoundError:
        return False
    return True


def check_registration(
    path: str, name: str, schema: str, wanted: Definition, expressions: dict[str, str] | None
) -> None:
    """Checks CREATE TABLE … LOCATION against the existing table.

    Where columns are given, all that is given must be the table's; where properties are, they must be all that it has.
    Generated columns are those of the schema, unless `expressions` has them by name.

    Raises:
        TableNotFoundError: there is none.
        SchemaMismatchError: when columns, partitioning, clustering or properties are given and differ.
    """
    facts = json.loads(_core.SparkTable(path, None, None, storage(session_of(None), {})).describe())
    columns = _columns(json.loads(schema))
    there = _columns(facts["schema"])
    gives = f"CREATE TABLE {name} gives"
    if columns and columns != there:
        reason = f"{gives} the columns {columns}, the table has {there}"
        raise SchemaMismatchError.of(path, reason).named("DELTA_CREATE_TABLE_SCHEME_MISMATCH")
    if expressions is None:
        expressions = _expressions(stored_columns(schema))
    own_expressions = {made: text for made, text in facts["made"].items() if text is not None}
    if columns and expressions != own_expressions:
        reason = f"{gives} the generated columns {expressions}, the table has {own_expressions}"
        raise SchemaMismatchError.of(path, reason).named("DELTA_CREATE_TABLE_SCHEME_MISMATCH")
    clustering = _core.Table(path, None, None, storage(session_of(None), {})).clustering_columns()
    parted = "partitioning", wanted.partition_by, facts["partitionColumns"]
    clustered = "clustering", _dotted(wanted.cluster_by), _dotted(clustering)
    for what, given, own in (parted, clustered):
        if (columns or given) and given != own:
            error = SchemaMismatchError.of(path, f"{gives} the {what} {given}, the table has {own}")
            shown = {"specifiedColumns": ", ".join(given), "existingColumns": ", ".join(own)}
            if what == "partitioning":
                raise error.named("DELTA_CREATE_TABLE_WITH_DIFFERENT_PARTITIONING", **shown)
            raise error.named("DELTA_CREATE_TABLE_WITH_DIFFERENT_CLUSTERING", **shown)
    said, kept = _comparable(wanted.properties), _comparable(facts["properties"])
    if wanted.properties and said != kept:
        error = SchemaMismatchError.of(path, f"{gives} the properties {said}, the table has {kept}")
        shown = {"specifiedProperties": _lines(said), "existingProperties": _lines(kept)}
        raise error.named("DELTA_CREATE_TABLE_WITH_DIFFERENT_PROPERTY", **shown)


def _dotted(columns: list[list[str]]) -> list[str]:
    return [".".join(column) for column in columns]


# of the protocol, or given by a writer: no statement repeats them
_NOT_COMPARED = (
    "delta.feature.",
    "delta.minReaderVersion",
    "delta.minWriterVersion",
    "delta.columnMapping.maxColumnId",
    "delta.rowTracking.materialized",
)


def _comparable(properties: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in properties.items() if not key.startswith(_NOT_COMPARED)}


def _lines(properties: Mapping[str, str]) -> str:
    return "\n".join(f"{key}={value}" for key, value in sorted(properties.items()))


def check_location(asked: dict[str, Any]) -> None:
    """Checks ALTER TABLE … SET LOCATION against the table that is in the other place.

    Raises:
        TableNotFoundError: there is none.
        SchemaMismatchError: when its columns or its partitioning are others, and the session does not allow it.
    """
    now = json.loads(again(asked).describe())
    there = json.loads(_core.SparkTable(asked["to"], None, None, storage(session_of(None), {})).describe())
    if asked["other"] == "true":
        return
    compared = itemgetter("schema", "partitionColumns")
    if compared(now) == compared(there):
        return
    schemas = {"original": _shape(now), "destination": _shape(there)}
    reason = f"the table there has {schemas['destination']}, and not {schemas['original']}"
    error = SchemaMismatchError.of(asked["to"], f"ALTER TABLE … SET LOCATION: {reason}")
    raise error.named("DELTA_SET_LOCATION_SCHEMA_MISMATCH", **schemas, config=_BYPASS)


def _shape(described: dict[str, Any]) -> str:
    """The columns of a table, and by which it is partitioned, in one line."""
    by, columns = described["partitionColumns"], json.dumps(described["schema"], ensure_ascii=False)
    return f"{columns} partitioned by {', '.join(by)}" if by else columns


def _expressions(schema: dict[str, Any]) -> dict[str, str]:
    """Those of generated columns."""
    fields = ((field["name"], field["metadata"].get(GENERATION)) for field in schema["fields"])
    return {name: text for name, text in fields if text is not None}


def _columns(schema: dict[str, Any]) -> list[tuple[Any, ...]]:
    facts = ("name", "type", "nullable")
    return [(*map(f.get, facts), *map(f["metadata"].get, COMPARED)) for f in schema["fields"]]
