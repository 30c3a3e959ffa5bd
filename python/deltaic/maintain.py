"""Operations that make tables, and what operations on whole tables did."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deltaic import _core, ddl
from deltaic.schema import columns_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


@dataclass(frozen=True)
class VacuumResult:
    """What a vacuum deleted, or would delete."""

    files: list[str]
    """Files that were deleted, as the store confirmed it; in a dry run, those that would be."""
    bytes: int
    """Their bytes."""
    failed: list[tuple[str, str]]
    """Files that could not be deleted, and why."""
    cutoff: datetime
    """Files that were changed, or removed from the table, after this time are kept."""
    version: int | None
    """Version of the commit `VACUUM END`."""
    warnings: list[str]
    """What went wrong after the files were deleted."""


@dataclass(frozen=True)
class RestoreResult:
    """What a restore did."""

    version: int
    """Version that was committed."""
    restored_version: int
    """Version that it restored."""
    restored_files: int
    """Files that came back."""
    restored_bytes: int
    """Their bytes."""
    removed_files: int
    """Files that left."""
    removed_bytes: int
    """Their bytes."""
    files: int
    """Files of the table now."""
    bytes: int
    """Their bytes."""
    warnings: list[str]
    """What went wrong after the commit, which stands."""


@dataclass(frozen=True)
class OptimizeResult:
    """What an optimize did."""

    version: int | None
    """Version that was committed; None where there was nothing to do."""
    considered_files: int
    """Files that were looked at."""
    partitions: int
    """Partitions that something was done in."""
    added_files: int
    """Files that joined."""
    added_bytes: int
    """Their bytes."""
    removed_files: int
    """Files that left."""
    removed_bytes: int
    """Their bytes."""
    removed_vectors: int
    """Deletion vectors that left with their files."""
    deleted_rows: int
    """Rows that these vectors hid, which are not in the new files."""
    min_file_size: int
    """Size of the smallest file that joined; 0 where none did, as for the next four."""
    p25_file_size: int
    """First quartile of the sizes."""
    p50_file_size: int
    """Median of the sizes."""
    p75_file_size: int
    """Third quartile of the sizes."""
    max_file_size: int
    """Size of the largest file that joined."""


@dataclass(frozen=True)
class FsckResult:
    """Files that the log has and the store has not."""

    missing: list[str]
    """Data files. But for a dry run, they left the log."""
    missing_vectors: list[str]
    """Files of deletion vectors. Their data files stay in the log: nobody can tell which of their rows are deleted."""
    version: int | None
    """Version of the commit; None where there was nothing to do."""
    warnings: list[str]
    """What went wrong after the commit, which stands."""


@dataclass(frozen=True)
class ManifestResult:
    """What a generation of symlink manifests did."""

    version: int
    """Version whose files are listed."""
    written: int
    """Manifests that were written, one for each partition."""
    deleted: int
    """Manifests of partitions without files that were deleted."""


@dataclass(frozen=True)
class CloneResult:
    """What a clone did."""

    uri: str
    """Where the clone is."""
    version: int
    """Its version."""
    source_version: int
    """Version of the source."""
    files: int
    """Files that the clone refers to."""
    bytes: int
    """Their bytes."""
    warnings: list[str]
    """What went wrong after the commit, which stands."""


@dataclass(frozen=True)
class ConvertResult:
    """What a conversion did."""

    version: int
    """Version of the table: 0, or the newest one where there was a table already."""
    existed: bool
    """Whether there was a table already, so that nothing was done."""
    files: int
    """Files of the new table."""
    bytes: int
    """Their bytes."""
    rows: int
    """Their rows."""
    warnings: list[str]
    """What went wrong after the commit, which stands."""


def convert(
    uri: str | os.PathLike[str],
    partition_by: str | Mapping[str, str] | None = None,
    *,
    infer_partitions: bool = False,
    statistics: bool = True,
    configuration: Mapping[str, str] | None = None,
    storage_options: Mapping[str, str] | None = None,
) -> ConvertResult:
    """Makes a table of the Parquet files of a folder, in one commit; no data is read or copied.

    Before the commit there is no table, after it all files are in it. All columns can be null, and a column that some
    files lack is null in their rows. Hidden files (`_…`, `.…`) are left out. Where there is a Delta table already,
    nothing is done.

    Args:
        uri: The folder, as a path or a URL such as `s3://bucket/folder`.
        partition_by: The partition columns in the order of the folders (`year=2026/month=1`), as SQL writes them
            (`year INT, month INT`) or types of the protocol by name. Times in the names of folders are those of UTC.
        infer_partitions: Takes the partition columns from the folders instead: integers, dates and times where every
            value is exactly one, and else text.
        statistics: Whether to take statistics of columns from the footers. The number of rows is always taken.
        configuration: Table properties.
        storage_options: Credentials, region, endpoint … of the store.

    Raises:
        InvalidArgumentError: there are no files, or folders name other partition columns than are given.
        DataFileError: a file is not Parquet, or holds a type that no table can have.
        SchemaMismatchError: a column has different types in two files.
        InvalidSchemaError: a partition value is none of its type, or a name is one that no table can have.
        TableAlreadyExistsError: another writer made a table meanwhile.
    """
    given = (
        ddl.schema_json(partition_by) if isinstance(partition_by, str) else columns_json(partition_by or {})
    )
    options, properties = dict(storage_options or {}), dict(configuration or {})
    schema = None if infer_partitions and not partition_by else given
    found: dict[str, Any] = json.loads(_core.convert(os.fspath(uri), options, schema, statistics, properties))
    return ConvertResult(**found)
