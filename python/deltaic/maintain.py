"""What operations on whole tables did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
