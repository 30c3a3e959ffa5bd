"""Creating a table, appending to it and overwriting it, without an engine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deltaic import _core
from deltaic.credentials import with_credentials
from deltaic.exceptions import InvalidArgumentError
from deltaic.schema import ArrowSchema, Schema
from deltaic.table.uri import place

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from deltaic.credentials import Credentials


@dataclass(frozen=True)
class WriteResult:
    """What a write did."""

    version: int
    """Version that was committed, or the newest one when nothing was."""
    files: int
    """Data files added."""
    rows: int
    """Rows added."""
    bytes: int
    """Bytes of the files added."""
    removed: int
    """Data files removed, by an overwrite."""
    created: bool
    """Whether the table was created."""
    skipped: bool
    """Whether nothing was committed: `ignore` found a table, the transaction was recorded, or there were no rows."""
    warnings: list[str]
    """What failed after the commit, which is not undone: a checkpoint, a checksum … Each is a `DeltaWarning` too."""


@dataclass(frozen=True)
class CreateResult:
    """What a creation did."""

    version: int
    """Version of the table: 0 where it was created."""
    created: bool
    """Whether it was created; if not, it existed."""
    replaced: bool
    """Whether an existing table was replaced."""


def create(
    uri: str | os.PathLike[str],
    schema: Schema | ArrowSchema | Mapping[str, Any] | str,
    partition_by: str | Sequence[str] | None = None,
    *,
    cluster_by: Sequence[str | Sequence[str]] = (),
    if_not_exists: bool = False,
    or_replace: bool = False,
    configuration: Mapping[str, str] | None = None,
    name: str | None = None,
    description: str | None = None,
    storage_options: Mapping[str, str] | None = None,
    credentials: Credentials | None = None,
) -> CreateResult:
    """Creates a table without rows, or replaces one: in one commit, or nothing.

    A table that is replaced gets a new id, and has no rows and nothing of its old schema, partitioning and properties.
    Its old versions stay readable, and it keeps its table features.

    Args:
        uri: A path, or a URL such as `s3://bucket/table`.
        schema: The columns: as SQL writes them (`id BIGINT NOT NULL, name STRING`), in the form of the protocol (JSON,
            as text or as it is read), a schema of pyarrow or anything else with `__arrow_c_schema__`, or the schema of
            another table.
        partition_by: Partition columns.
        cluster_by: Clustering columns, as names and paths; at most four, and only without partition columns.
        if_not_exists: Whether an existing table is left alone, without an error.
        or_replace: Whether an existing table is replaced.
        configuration: Table properties.
        name: Name of the table.
        description: Description of the table.
        storage_options: Credentials, region, endpoint … of the store.
        credentials: A function that gives the credentials of the store, instead of options: see `deltaic.Table`.

    Raises:
        TableAlreadyExistsError: there is a table, unless `if_not_exists` or `or_replace`.
        InvalidSchemaError, InvalidArgumentError, InvalidFeatureChangeError: something that a table cannot have.
        AppendOnlyError: the table to be replaced loses no rows.
        CommitStateUnknownError: the store did not say whether the commit landed.
    """
    if if_not_exists and or_replace:
        raise InvalidArgumentError.of("or_replace", "and `if_not_exists` contradict each other; give one")
    mode = "create_if_not_exists" if if_not_exists else "create_or_replace" if or_replace else "create"
    if isinstance(partition_by, str):
        partition_by = [partition_by]
    done = _core.create(
        place(uri),
        _schema_json(schema),
        with_credentials(storage_options, credentials),
        mode,
        {
            "partition_by": list(partition_by or ()),
            "cluster_by": [[column] if isinstance(column, str) else list(column) for column in cluster_by],
            "configuration": dict(configuration or {}),
            "defaults": {},
            "arbitrary_properties": False,
            "name": name,
            "description": description,
            "user_metadata": None,
            "managed": False,
            "engine": None,
        },
    )
    return CreateResult(**done)


def _schema_json(schema: Schema | ArrowSchema | Mapping[str, Any] | str) -> str:
    if isinstance(schema, Schema):
        return schema.json()
    if isinstance(schema, str):
        if schema.lstrip().startswith("{"):
            return schema
        from deltaic import ddl  # it reads SQL, which most programs have none of

        return ddl.schema_json(schema)
    if isinstance(schema, Mapping):
        return json.dumps(schema)
    if isinstance(schema, ArrowSchema):
        return _core.arrow_schema_json(schema)
    raise InvalidArgumentError.of(
        "schema", f"a {type(schema).__name__} is no schema: give SQL, JSON or an Arrow schema"
    )


def write(
    uri: str | os.PathLike[str],
    data: Any,
    mode: str = "append",
    partition_by: str | Sequence[str] | None = None,
    *,
    replace_where: str | None = None,
    partition_overwrite: str = "static",
    configuration: Mapping[str, str] | None = None,
    name: str | None = None,
    description: str | None = None,
    compression: str | None = None,
    target_file_size: int | None = None,
    user_metadata: str | None = None,
    app_transaction: tuple[str, int] | None = None,
    storage_options: Mapping[str, str] | None = None,
    credentials: Credentials | None = None,
) -> WriteResult:
    """Appends the data to a table, overwrites it, or creates it: all of it in one version, or nothing.

    Args:
        uri: A path, or a URL such as `s3://bucket/table`.
        data: Anything with `__arrow_c_stream__` or `__arrow_c_array__`: a table or reader of pyarrow, a frame of
            Polars or pandas, a relation of DuckDB. It is read once, batch by batch.
        mode: What to do where there is a table: `append`, `overwrite`, `errorifexists` or `ignore`.
        partition_by: Partition columns of a new table; for an existing one, its own or none.
        replace_where: With `overwrite`: a condition in SQL. Only the rows for which it is true are replaced, and all
            rows of the data must match it. On partition columns whole files are removed; on other columns rows are
            deleted as in
            `Table.delete`: marked in deletion vectors where the table has them, with row ids and changes kept.
        partition_overwrite: With `overwrite`: `dynamic` replaces the partitions that the data has rows of and no
            others; `static` replaces everything.
        configuration: Table properties of a new table.
        name: Name of a new table.
        description: Description of a new table.
        compression: Codec of the data files, instead of the table's own.
        target_file_size: Bytes at which a data file is closed and the next one begins.
        user_metadata: Text that the history shows with the commit.
        app_transaction: Application id and its version. A version that the table has recorded is not written again.
        storage_options: Credentials, region, endpoint … of the store.
        credentials: A function that gives the credentials of the store, instead of options: see `deltaic.Table`.

    Raises:
        TableAlreadyExistsError: the mode is `errorifexists`, and there is a table.
        ReplaceWhereMismatchError: a row of the data does not match `replace_where`.
        SchemaMismatchError: the data does not fit the table.
        InvalidExpressionError: `replace_where` is not a condition on this table, or cannot be computed for a row.
        InvalidArgumentError, InvalidSchemaError: something that a table cannot be created with.
        CommitConflictError: another writer changed the table so that this data may not follow.
        CommitStateUnknownError: the store did not say whether the commit landed. Nothing was removed.
    """
    if isinstance(partition_by, str):
        partition_by = [partition_by]
    written = _core.write(
        place(uri),
        data,
        with_credentials(storage_options, credentials),
        mode,
        {
            "replace_where": replace_where,
            "dynamic_partitions": _is_dynamic(partition_overwrite),
            "partition_by": list(partition_by or ()),
            "configuration": dict(configuration or {}),
            "name": name,
            "description": description,
            "compression": compression,
            "target_file_size": target_file_size,
            "user_metadata": user_metadata,
            "app_transaction": app_transaction,
        },
    )
    return WriteResult(**json.loads(written))


def _is_dynamic(given: str) -> bool:
    name = given.lower()
    if name not in ("static", "dynamic"):
        raise InvalidArgumentError.of("partition_overwrite", f"`{given}` is neither `static` nor `dynamic`")
    return name == "dynamic"
