"""Tables by name: looked up and registered in the catalog of a session."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from pyspark.errors import AnalysisException

from deltaic import _core
from deltaic.exceptions import (
    InvalidArgumentError,
    TableAlreadyExistsError,
    TableNotFoundError,
    UnsupportedError,
    UnsupportedFeatureError,
)
from deltaic.identifiers import FORMATS, path_of, quoted, sql
from deltaic.spark.session.enabling import format_name
from deltaic.spark.session.jvm import java_method
from deltaic.spark.session.kind import is_connect
from deltaic.spark.session.places import placed
from deltaic.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

_STORE = re.compile(r"[^/:]+://[^/]*")
_OCCUPIED = "DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION"
_FACTS = "# Detailed Table Information"


@dataclass(frozen=True)
class Named:
    """What a catalog knows of a table."""

    name: str
    """Qualified name, as `DESCRIBE DETAIL` shows it."""
    path: str
    """Where the table is."""
    managed: bool = False
    """Whether the files go with the name."""


def find(spark: Any, name: list[str]) -> Named | None:
    """The table of ours that the catalog knows by a name; none where it knows nothing by it.

    Raises:
        TableNotFoundError: it is a view, or a table of another format.
    """
    text = sql(name)
    format_name(spark)
    try:
        rows = spark.sql(f"DESCRIBE TABLE EXTENDED {text}").collect()
    except AnalysisException as error:
        if error.getCondition() in {"TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND"}:
            return None
        raise
    described = [(row[0], row[1]) for row in rows]
    # a column may be called as a fact
    begin = next((at for at, (key, _) in enumerate(described) if key == _FACTS), len(described))
    facts = dict(described[begin:])
    if "Provider" not in facts:
        # DESCRIBE does not show these facts of a table that a Python Data Source reads
        facts = _shown(spark, name)
    provider, location = facts.get("Provider"), facts.get("Location")
    if provider is None or location is None or provider.lower() not in FORMATS:
        kind = "a view" if provider is None else f"a table of the format {provider}"
        _not_found(text, f"{text} is {kind}, not a Delta table")
    qualified = [facts.get("Catalog"), facts.get("Database"), facts.get("Table")]
    # PySpark 4.0 shows the whole name in one row
    whole = facts.get("Name") or ".".join(part for part in qualified if part)
    return Named(whole, placed(spark, location), facts.get("Type") == "MANAGED")


def ours(spark: Any, name: list[str]) -> Named | None:
    """The table of ours with a name, by its path or in the catalog; None if the server handles it."""
    path = path_of(name)
    if path is not None:
        return Named(f"spark_catalog.{name[0]}.`{name[1]}`", path)
    try:
        return find(spark, name)
    except TableNotFoundError:
        # a view, or a table of another format
        return None


def _shown(spark: Any, name: list[str]) -> dict[str, str]:
    schema = f" IN {sql(name[:-1])}" if name[:-1] else ""
    pattern = name[-1].replace("\\", "\\\\").replace("'", "\\'")
    for row in spark.sql(f"SHOW TABLE EXTENDED{schema} LIKE '{pattern}'").collect():
        if row["tableName"].lower() == name[-1].lower():
            lines = row["information"].splitlines()
            return dict(line.split(": ", 1) for line in lines if ": " in line)
    return {}


def known(spark: Any, name: list[str]) -> Named:
    """The table of ours that the catalog knows by a name.

    Raises:
        TableNotFoundError: there is none.
    """
    found = find(spark, name)
    if found is None:
        _not_found(sql(name), f"the catalog has no table {sql(name)}; DeltaTable.forPath takes a path")
    return found


def default_path(spark: Any, name: list[str]) -> str:
    """Where the catalog puts a table that is given no location.

    Raises:
        InvalidArgumentError: the schema does not exist, or has no location.
    """
    schema = f" {sql(name[:-1])}" if name[:-1] else f" {quoted(spark.catalog.currentDatabase())}"
    try:
        rows = spark.sql(f"DESCRIBE SCHEMA{schema}").collect()
    except AnalysisException as error:
        if error.getCondition() != "SCHEMA_NOT_FOUND":
            raise
        rows = []
    location = next((row[1] for row in rows if row[0] == "Location"), None)
    if not location:
        reason = f"the catalog has no location for tables of{schema}; give the table a location"
        raise InvalidArgumentError.of("tableName", reason)
    return f"{placed(spark, location).rstrip('/')}/{name[-1].lower()}"


def of_session(name: list[str]) -> bool:
    """Whether a name is one of the session's own catalog, and of none beside it."""
    return len(name) < 3 or name[0].lower() == "spark_catalog"


def in_metastore(spark: Any, name: list[str]) -> bool:
    """Whether the session's metastore can be asked for a name, and told of it: not by a client of Connect alone."""
    return not is_connect(spark) and of_session(name)


def in_schema(name: list[str]) -> tuple[str | None, str]:
    """The schema, if one is named, and the table of a name of the session's own catalog."""
    return (name[-2] if len(name) > 1 else None, name[-1])


def register(spark: Any, name: list[str], path: str, *, managed: bool = False) -> Named:
    """Registers the name of an existing table in the catalog; with its files where it is `managed`.

    A managed name has to be `in_metastore`.

    Raises:
        UnsupportedError: the catalog refuses it. The table exists by its path.
    """
    try:
        if managed:
            java_method(spark, "CatalogEntry", "manage")(*in_schema(name), path)
        else:
            escaped = path.replace("\\", "\\\\").replace("'", "\\'")
            spark.sql(f"CREATE TABLE {sql(name)} USING {format_name(spark)} LOCATION '{escaped}'").collect()
    except AnalysisException as error:
        what = f"the name {sql(name)} for the table in this catalog"
        reason = str(error).partition("\n")[0]
        message = f"`{path}`: {what} is not supported; the table is there, by its path ({reason})"
        raise UnsupportedError(message, path=path, what=what) from error
    return known(spark, name)


@contextmanager
def location_errors(name: list[str] | None, path: str, mode: str) -> Iterator[None]:
    """Gives an error about the location of a new table the condition of delta-spark, by name or by path."""
    by_path = name is None or path_of(name) is not None
    place = {"tableId": sql(["delta", path] if name is None else name), "tableLocation": path}
    try:
        yield
    except TableNotFoundError as error:
        if mode != "replace":
            raise
        raise error.named("TABLE_OR_VIEW_NOT_FOUND", relationName=place["tableId"]) from None
    except (InvalidArgumentError, TableAlreadyExistsError) as error:
        if error.condition == "DELTA_INVALID_PARTITION_COLUMN_TYPE":
            kind = error.message_parameters["dataType"]
            raise error.named("INVALID_PARTITION_COLUMN_DATA_TYPE", type=kind) from None
        occupied = error.condition == _OCCUPIED
        if occupied and by_path and mode != "create_or_replace":
            raise error.named("TABLE_OR_VIEW_ALREADY_EXISTS", relationName=place["tableId"]) from None
        if occupied or (isinstance(error, TableAlreadyExistsError) and not by_path):
            raise error.named("DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION", **place) from None
        raise


def check_empty(path: str, name: str, storage: dict[str, str]) -> None:
    """Refuses a place with files of something else for a table of which no columns are given.

    Raises:
        TableNotFoundError: there are such files, and no table.
    """
    if not is_table(path, storage) and has_files(path, storage):
        message = f"no Delta table at `{path}`, but other files, and no columns are given to create {name}"
        place = {"tableName": name, "path": path, "logPath": f"{path.rstrip('/')}/_delta_log"}
        error = TableNotFoundError(message, path=path)
        raise error.named("DELTA_CREATE_EXTERNAL_TABLE_WITHOUT_TXN_LOG", **place)


def check_unoccupied(path: str, name: str, storage: dict[str, str]) -> None:
    """Refuses a place with a table for a name that would own its files: it is the table of another one.

    Raises:
        TableAlreadyExistsError: there is a table.
    """
    try:
        version = Table(path, storage_options=storage).version
    except TableNotFoundError:
        return
    message = f"a table already exists: `{path}`, version {version}; to name it, give its location"
    error = TableAlreadyExistsError(message, path=path, version=version)
    raise error.named(_OCCUPIED, tableId=name, tableLocation=path)


def has_files(path: str, storage: dict[str, str]) -> bool:
    """Whether there are files at a path, of whatever kind."""
    try:
        _core.check_place(path, storage)
    except InvalidArgumentError:
        return True
    return False


def upwards(path: str) -> Iterator[str]:
    """A path, and the folders that it is in; within a log none, for nothing there is of the table's rows."""
    store = _STORE.match(path)
    head = store[0] if store else ""
    below = [part for part in (path[len(head) :] if head else str(Path(path).absolute())).split("/") if part]
    for end in range(len(below), -1 if head else 0, -1):
        if end and below[end - 1] == "_delta_log":
            return
        yield "/".join([head, *below[:end]])


def is_in_table(path: str, storage: dict[str, str]) -> bool:
    """Whether a path is that of a table, or within one."""
    return any(is_table(above, storage) for above in upwards(path))


def is_table(path: str, storage: dict[str, str]) -> bool:
    """Whether there is a table at this path itself; one that deltaic cannot read is one, too."""
    try:
        Table(path, storage_options=storage)
    except TableNotFoundError:
        return False
    except UnsupportedFeatureError:
        return True
    return True


def _not_found(path: str, message: str) -> NoReturn:
    raise TableNotFoundError(message, path=path)
