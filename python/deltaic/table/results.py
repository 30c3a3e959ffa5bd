"""Results of `Table`: protocol, metadata, totals, checkpoints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True)
class Protocol:
    """What a client must be able to do to read and write the table."""

    min_reader_version: int
    """Minimum reader version."""
    min_writer_version: int
    """Minimum writer version."""
    reader_features: tuple[str, ...]
    """Table features that a reader must have; none before reader version 3."""
    writer_features: tuple[str, ...]
    """Table features that a writer must have; none before writer version 7."""


@dataclass(frozen=True)
class Metadata:
    """Identity, partitioning and properties of the table."""

    id: str
    """Unique id of the table."""
    name: str | None
    """Name given by the user."""
    description: str | None
    """Description given by the user."""
    partition_columns: tuple[str, ...]
    """Partition columns in order."""
    configuration: dict[str, str]
    """Table properties."""
    created_time: datetime | None
    """When this metadata was made."""


class FileTotals(NamedTuple):
    """Numbers of a set of files."""

    files: int
    """Files."""
    bytes: int
    """Their bytes."""
    deletion_vectors: int
    """Files of which rows are deleted by deletion vectors."""
    deleted_rows: int
    """The rows that these delete."""


class Checkpoint(NamedTuple):
    """A checkpoint: the log up to a version in files that are quick to read."""

    version: int
    """Version."""
    name: str
    """Its (top-level) file in `_delta_log`."""
    existed: bool
    """Whether it existed already, so that nothing was written."""
    files: int
    """Data files in it; 0 if it existed."""
    actions: int
    """Actions in it."""
    bytes: int
    """Bytes of all its files."""
    written: int
    """Bytes that were written: all of them but those of sidecars that were taken over."""
    sidecars_written: int
    """Sidecars that were written."""
    sidecars_reused: int
    """Sidecars of the checkpoint before that were taken over, because nothing in them changed."""


class CompactedLog(NamedTuple):
    """Several commits in one file."""

    start: int
    """First version."""
    end: int
    """Last version."""
    name: str
    """The file in `_delta_log`."""
    existed: bool
    """Whether it existed already."""
    actions: int
    """Actions of the commits."""
    kept: int
    """Actions of the file."""
    bytes: int
    """Its bytes."""


class CleanedLog(NamedTuple):
    """What a cleanup of the log deleted."""

    deleted: list[str]
    """Files of `_delta_log` that were deleted, or would be in a dry run."""
    failed: list[tuple[str, str]]
    """Files that could not be deleted, with the reason."""
