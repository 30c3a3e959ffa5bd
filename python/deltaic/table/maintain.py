"""Operations on whole tables, and what they did."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deltaic import _core, time_travel, times
from deltaic.credentials import with_credentials
from deltaic.exceptions import InvalidArgumentError
from deltaic.progress import followed
from deltaic.schema import columns_json
from deltaic.table.handle import Handle
from deltaic.table.uri import place
from deltaic.table.verify import VerifyReport, verify

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence
    from datetime import date, datetime

    from deltaic.credentials import Credentials
    from deltaic.progress import Progress

# hours that the core can count in milliseconds
_MOST_HOURS = 2**40


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
    """Version that was committed; the newest one where that was to be restored."""
    restored_version: int
    """Version that it restored."""
    restored_files: int
    """Files that were restored."""
    restored_bytes: int
    """Their bytes."""
    removed_files: int
    """Files that were removed."""
    removed_bytes: int
    """Their bytes."""
    files: int
    """Files of the table now."""
    bytes: int
    """Their bytes."""
    warnings: list[str]
    """What failed after the commit. The commit is not undone."""


@dataclass(frozen=True)
class CurveStats:
    """What an optimize along a curve found and wrote. A cube is the files that one run wrote for one set of rows."""

    cube_files: int
    """Files of cubes of the same columns, before."""
    cube_bytes: int
    """Their bytes."""
    cubes: int
    """These cubes."""
    other_files: int
    """All other files, before."""
    other_bytes: int
    """Their bytes."""
    merged_files: int
    """Files of both that were written again."""
    merged_bytes: int
    """Their bytes."""
    new_cubes: int
    """Cubes that came of them."""


@dataclass(frozen=True)
class OptimizeResult:
    """What an optimize did."""

    version: int | None
    """Version that was committed; None where there was nothing to do."""
    considered_files: int
    """Files that were considered."""
    partitions: int
    """Partitions that something was done in."""
    added_files: int
    """Files that were added."""
    added_bytes: int
    """Their bytes."""
    removed_files: int
    """Files that were removed."""
    removed_bytes: int
    """Their bytes."""
    removed_vectors: int
    """Deletion vectors that were removed with their files."""
    deleted_rows: int
    """Rows that these vectors hid, which are not in the new files."""
    min_file_size: int
    """Size of the smallest added file; 0 if there is none, as for the next four."""
    p25_file_size: int
    """First quartile of the sizes."""
    p50_file_size: int
    """Median of the sizes."""
    p75_file_size: int
    """Third quartile of the sizes."""
    max_file_size: int
    """Size of the largest added file."""
    min_removed_size: int
    """Size of the smallest removed file; 0 if there is none."""
    max_removed_size: int
    """Size of the largest removed file; 0 if there is none."""
    warnings: list[str]
    """What failed after the commit. The commit is not undone."""
    zorder: CurveStats | None
    """Where rows were put into a Z-order."""
    clustering: CurveStats | None
    """Where the table is clustered."""


@dataclass(frozen=True)
class FsckResult:
    """Files that the log has and the store has not."""

    missing: list[str]
    """Data files. Except in a dry run, they were removed from the log."""
    missing_vectors: list[str]
    """Files of deletion vectors. Their data files stay in the log: it is unknown which of their rows are deleted."""
    version: int | None
    """Version of the commit; None where there was nothing to do."""
    warnings: list[str]
    """What failed after the commit. The commit is not undone."""


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
    """What failed after the commit. The commit is not undone."""


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
    """What failed after the commit. The commit is not undone."""


class Maintenance(Handle):
    """The part of `Table` that cleans, compacts, restores, clones and verifies whole tables."""

    __slots__ = ()

    def vacuum(
        self,
        retention_hours: float | None = None,
        *,
        mode: str = "full",
        dry_run: bool = False,
        allow_short_retention: bool = False,
        inventory: Sequence[tuple[str, int]] | None = None,
        user_metadata: str | None = None,
        progress: bool | Callable[[Progress], object] = False,
        _run: Callable[[_core.Vacuum], str] | None = None,
    ) -> VacuumResult:
        """Deletes the files that no version within the retention needs, and moves to the newest version.

        Args:
            retention_hours: Instead of `delta.deletedFileRetentionDuration` of the table, a week where it is not set.
            mode: `full` lists the store and finds also what failed writers left; `lite` reads only the log.
            dry_run: Reports what would be deleted, and deletes nothing.
            allow_short_retention: Allows a retention below that of the table. Readers and writers that take longer
                than it fail then, and what they write may be lost.
            inventory: Files of the table with the milliseconds since 1970 of their last change, instead of a listing
                of the store: (`p=1/part-0.parquet`, 1767225600000), relative to the table. Only those of them that are
                old by the store, too, are deleted.
            user_metadata: Text that the history shows with the commit.
            progress: Whether to show a bar with files and bytes on standard error, and at the end what was done; or a
                function that is called with a `deltaic.progress.Progress`, several times a second. What it raises stops
                the operation.

        Raises:
            InvalidArgumentError: the retention is below that of the table.
        """
        files = None if inventory is None else list(inventory)
        if retention_hours is not None and not abs(retention_hours) < _MOST_HOURS:
            reason = f"{retention_hours} is not a number of hours"
            raise InvalidArgumentError.of("retention_hours", reason)
        millis = None if retention_hours is None else round(retention_hours * 3_600_000)
        vacuum = _core.Vacuum(
            self._core,
            {
                "mode": mode,
                "retention_millis": millis,
                "allow_short_retention": allow_short_retention,
                "dry_run": dry_run,
                "inventory": files,
                "user_metadata": user_metadata,
            },
        )
        with followed(progress, "vacuum") as tell:
            found = json.loads(vacuum.run(tell=tell) if _run is None else _run(vacuum))
        self._advance()
        found["cutoff"] = times.from_millis(found["cutoff"])
        found["failed"] = [(path, reason) for path, reason in found["failed"]]
        return VacuumResult(**found)

    def restore(
        self,
        version: int | None = None,
        timestamp: str | datetime | date | None = None,
        *,
        ignore_missing_files: bool = False,
        user_metadata: str | None = None,
        progress: bool | Callable[[Progress], object] = False,
    ) -> RestoreResult:
        """Makes the table what it was at a version or time, by a new version, and moves to it.

        Nothing is committed for the newest version.

        Args:
            version: Version to restore.
            timestamp: Time to restore, in place of a version.
            ignore_missing_files: Restores also when files of the old version are missing; `fsck` then removes them.
            user_metadata: Text that the history shows with the commit.
            progress: Whether to show a bar with files and bytes, or a function that is told of them: as of `optimize`.

        Raises:
            DataFileError: a file of the old version is missing.
            VersionNotFoundError, TimestampOutOfRangeError: the log does not have it.
        """
        if (version is None) == (timestamp is None):
            time_travel.refuse(self._core.uri, "give a version or a timestamp to restore")
        time_travel.check_version(self._core.uri, version)
        at = time_travel.millis(self._core.uri, timestamp)
        with followed(progress, "restore") as tell:
            done = _core.restore(self._core, version, at, ignore_missing_files, user_metadata, tell)
        self._advance()
        return RestoreResult(**json.loads(done))

    def optimize(
        self,
        where: str | None = None,
        target_size: int | None = None,
        *,
        min_size: int | None = None,
        max_deleted_ratio: float | None = None,
        purge: bool = False,
        user_metadata: str | None = None,
        zorder_by: Sequence[str] = (),
        check_statistics: bool = True,
        full: bool = False,
        progress: bool | Callable[[Progress], object] = False,
        _files: _core._FileChoices | None = None,
        _partitions: list[dict[str, str | None]] | None = None,
        _run: Callable[[_core.Optimize], str] | None = None,
    ) -> OptimizeResult:
        """Compacts small files of a partition and leaves deleted rows out, and moves to the newest version.

        No row changes, and rows keep their row ids. Appends may land meanwhile, and with deletion vectors enabled so
        may row-level deletes of the same files. Where another writer rewrote one of the files, it is retried on the
        newest version. Where there is nothing to do, nothing is committed. Ctrl-C stops it and leaves the table as it
        was, unless it is committing.

        With `zorder_by` all rows of a partition are put into the Z-order of these columns, in files of about the target
        size: a condition on any of the columns then reads few of the files. A clustered table is clustered by its own
        columns, along a Hilbert curve: new files, and cubes of less than 100 times the target size; what is clustered
        already is left alone. Both read the columns of the curve once more than the others, and rows that are more than
        128 MiB go through a file in the temporary folder of the system (`TMPDIR`).

        Args:
            where: The partitions to optimize: a condition in SQL on partition columns.
            target_size: Bytes of files that are compacted into one; `delta.targetFileSize` of the table or 1 GiB where
                it is not given.
            min_size: Files below this size are compacted; the target size by default.
            max_deleted_ratio: Files of which more than this share of the rows is deleted are written again; 0.05 where
                it is not given.
            purge: Whether files of which any row is deleted, and those that have dropped columns, are written again
                without these, and nothing else is done, whatever the sizes and the order of a clustered table: a REORG
                in the history. The footer of each file without deleted rows is read.
            user_metadata: Text that the history shows with the commit.
            zorder_by: Names of columns, such as `a` or `s.x`, or lists of them; not for a clustered table.
            check_statistics: Whether columns of `zorder_by` must have statistics: without them the order is of no use.
            full: For a clustered table: whether files that were clustered by other columns than those that it has now
                are clustered again.
            progress: Whether to show a bar with files and bytes on standard error, and at the end what was done; or a
                function that is called with a `deltaic.progress.Progress`, several times a second. What it raises stops
                the operation.

        Raises:
            InvalidExpressionError: `where` is not a condition on this table, or cannot be computed for a partition.
            InvalidArgumentError: the condition is not on partition columns, a column of `zorder_by` does not exist, is
                a partition column or has no statistics, or the table is clustered and one of the two is given.
            CommitConflictError: other writers rewrote the files again and again. Nothing was changed.
        """
        optimize = _core.Optimize(
            self._core.uri,
            self._core.storage_options,
            {
                "predicate": where,
                "partitions": _partitions,
                "target_size": target_size,
                "min_size": min_size,
                "max_deleted_ratio": max_deleted_ratio,
                "purge": purge,
                "user_metadata": user_metadata,
                "zorder_by": list(zorder_by),
                "check_statistics": check_statistics,
                "full": full,
                "files": _files,
            },
        )
        with followed(progress, "optimize") as tell:
            found = json.loads(optimize.run(tell=tell) if _run is None else _run(optimize))
        self._advance()
        for key in ("zorder", "clustering"):
            found[key] = found[key] and CurveStats(**found[key])
        return OptimizeResult(**found)

    def fsck(self, *, dry_run: bool = False) -> FsckResult:
        """Takes the files out of the log that the store does not have, and moves to the newest version.

        Args:
            dry_run: Reports what is missing, and changes nothing.
        """
        found = json.loads(_core.fsck(self._core.uri, self._core.storage_options, dry_run))
        self._advance()
        return FsckResult(**found)

    def generate_manifest(self) -> ManifestResult:
        """Writes `_symlink_format_manifest` for engines that read Hive tables, and moves to the newest version.

        Each partition gets a list of its files; lists of partitions without files are deleted. With the property
        `delta.compatibility.symlinkFormatManifest.enabled` every commit does so for the partitions that it touches.

        Raises:
            UnsupportedError: the table has deletion vectors or column mapping, which such engines cannot read.
        """
        found = json.loads(_core.generate_manifest(self._core.uri, self._core.storage_options))
        self._advance()
        return ManifestResult(**found)

    def shallow_clone(
        self,
        target: str | os.PathLike[str],
        *,
        replace: bool = False,
        properties: Mapping[str, str] | None = None,
        user_metadata: str | None = None,
        progress: bool | Callable[[Progress], object] = False,
        _source_name: str | None = None,
    ) -> CloneResult:
        """Makes a table at `target` of this version, in one commit that refers to the files here.

        From then on they are independent, and a vacuum of the clone never deletes a file of this table. A vacuum of
        this table may delete files that only the clone still needs. Row ids are not kept.

        Args:
            target: A path, or a URL, in a store that the same options open.
            replace: Whether the clone may take the place of a table that has no files.
            properties: Table properties in place of those of this table.
            user_metadata: Text that the history shows with the commit.
            progress: Whether to show a bar with files and bytes, or a function that is told of them: as of `optimize`.

        Raises:
            TableAlreadyExistsError: the target is a table, unless `replace`.
            InvalidArgumentError: the target is this table or has files, or the properties change column mapping.
        """
        with followed(progress, "clone") as tell:
            done = _core.shallow_clone(
                self._core,
                place(target),
                {
                    "properties": dict(properties or {}),
                    "replace": replace,
                    "user_metadata": user_metadata,
                    "source_name": _source_name,
                },
                tell,
            )
        return CloneResult(**json.loads(done))

    def verify(
        self, *, deep: bool = False, progress: bool | Callable[[Progress], object] = False
    ) -> VerifyReport:
        """Compares the log up to this version, and its files, with themselves; see `deltaic.verify`.

        Args:
            deep: Opens data files and deletion vectors too.
            progress: Whether to show a bar with files and bytes on standard error, and at the end what was done; or a
                function that is called with a `deltaic.progress.Progress`, several times a second. What it raises stops
                the operation.
        """
        return verify(
            self._core.uri,
            version=self._core.version,
            deep=deep,
            storage_options=self._core.storage_options,
            progress=progress,
        )


def convert(
    uri: str | os.PathLike[str],
    partition_by: str | Mapping[str, str] | None = None,
    *,
    infer_partitions: bool = False,
    statistics: bool = True,
    configuration: Mapping[str, str] | None = None,
    user_metadata: str | None = None,
    storage_options: Mapping[str, str] | None = None,
    credentials: Credentials | None = None,
    progress: bool | Callable[[Progress], object] = False,
    _run: Callable[[_core.Convert], str] | None = None,
    _catalog_table: str | None = None,
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
        user_metadata: Text that the history shows with the commit.
        storage_options: Credentials, region, endpoint … of the store.
        credentials: A function that gives the credentials of the store, instead of options: see `deltaic.Table`.
        progress: Whether to show a bar with files and bytes on standard error, and at the end what was done; or a
            function that is called with a `deltaic.progress.Progress`, several times a second. What it raises stops
            the operation.

    Raises:
        InvalidArgumentError: there are no files, or folders name other partition columns than are given.
        DataFileError: a file is not Parquet, or holds a type that no table can have.
        SchemaMismatchError: a column has different types in two files.
        InvalidSchemaError: a partition value does not have its type, or a name is one that no table can have.
        TableAlreadyExistsError: another writer made a table meanwhile.
    """
    given = columns_json({} if partition_by is None else partition_by)
    options, properties = with_credentials(storage_options, credentials), dict(configuration or {})
    schema = None if infer_partitions and not partition_by else given
    conversion = _core.Convert(place(uri), options, schema, statistics, properties, user_metadata)
    if _catalog_table is not None:
        conversion.set_catalog_table(_catalog_table)
    with followed(progress, "convert") as tell:
        found: dict[str, Any] = json.loads(conversion.run(tell) if _run is None else _run(conversion))
    return ConvertResult(**found)
