"""Deletes and updates of the rows that a condition is true for."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deltaic import _core
from deltaic.progress import followed
from deltaic.table.handle import Handle

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from deltaic.progress import Progress


@dataclass(frozen=True)
class DeleteResult:
    """What a delete did."""

    version: int | None
    """Version that was committed; None where no row matched, or the transaction was recorded already."""
    deleted_rows: int | None
    """Rows deleted; None if whole files were removed whose statistics lack the number of rows."""
    copied_rows: int
    """Rows that stayed and were written again, into other files."""
    removed_files: int
    """Data files removed."""
    added_files: int
    """Data files added."""
    vectors_added: int
    """Deletion vectors that were added, in place of another or not."""
    vectors_removed: int
    """Deletion vectors that were removed, with their file or for another."""
    change_files: int
    """Files of row-level changes."""
    warnings: list[str]
    """What failed after the commit. The commit is not undone."""


@dataclass(frozen=True)
class UpdateResult:
    """What an update did."""

    version: int | None
    """Version that was committed; None where no row matched, or the transaction was recorded already."""
    updated_rows: int
    """Rows updated."""
    copied_rows: int
    """Rows that stayed as they were and were written again, into other files."""
    touched_files: int
    """Data files with updated rows: they were removed, or the rows marked in a deletion vector."""
    added_files: int
    """Data files added."""
    vectors_added: int
    """Deletion vectors that were added, in place of another or not."""
    vectors_removed: int
    """Deletion vectors that were removed, with their file or for another."""
    change_files: int
    """Files of row-level changes."""
    warnings: list[str]
    """What failed after the commit. The commit is not undone."""


def dml_options(
    compression: str | None,
    target_file_size: int | None,
    user_metadata: str | None,
    app_transaction: tuple[str, int] | None,
) -> _core._DmlOptions:
    """How rows are written and committed, in the form of the core."""
    return {
        "compression": compression,
        "target_file_size": target_file_size,
        "user_metadata": user_metadata,
        "app_transaction": app_transaction,
    }


class RowChanges(Handle):
    """The part of `Table` that deletes and updates rows."""

    __slots__ = ()

    def delete(
        self,
        where: str | None = None,
        *,
        compression: str | None = None,
        target_file_size: int | None = None,
        user_metadata: str | None = None,
        app_transaction: tuple[str, int] | None = None,
        progress: bool | Callable[[Progress], object] = False,
    ) -> DeleteResult:
        """Deletes the rows of the newest version for which `where` is true, and moves to the version that it makes.

        All of it in one version, or nothing. Rows for which the condition is false or unknown stay. Rows are marked in
        deletion vectors where the table has `delta.enableDeletionVectors`; else the rows that stay are written into
        new files. Where no row matches, nothing is committed. A delete that loses a race which it may not follow is
        retried on what the winner left. Ctrl-C stops it and leaves the table as it was, unless it is committing.

        Args:
            where: A condition in Spark SQL; without it, every row is deleted. On partition columns alone, and without
                a condition, no data file is read.
            compression: Codec of the data files, instead of the table's own.
            target_file_size: Bytes at which a data file is closed and the next one begins.
            user_metadata: Text that the history shows with the commit.
            app_transaction: Application id and its version. A version that the table has recorded is not done again.
            progress: Whether to show a bar with files and bytes, or a function that is told of them: as of `optimize`.

        Raises:
            InvalidExpressionError: `where` is not a condition on this table, or cannot be computed for a row.
            AppendOnlyError: the table loses no rows.
            UnsupportedFeatureError: the table asks more of a writer than deltaic does.
            CommitConflictError: other writers were first again and again.
            CommitStateUnknownError: the store did not say whether the commit landed. Nothing was removed.
        """
        options = dml_options(compression, target_file_size, user_metadata, app_transaction)
        with followed(progress, "delete") as tell:
            done = _core.delete_rows(self._core, where, options, tell)
        self._advance()
        return DeleteResult(**json.loads(done))

    def update_rows(
        self,
        set: Mapping[str, str],  # noqa: A002 (the word of SQL, and of delta.tables)
        where: str | None = None,
        *,
        compression: str | None = None,
        target_file_size: int | None = None,
        user_metadata: str | None = None,
        app_transaction: tuple[str, int] | None = None,
        progress: bool | Callable[[Progress], object] = False,
    ) -> UpdateResult:
        """Sets columns in the rows of the newest version for which `where` is true, and moves to the version made.

        All of it in one version, or nothing. Every expression sees the row as it was. Generated columns that are not
        set are computed again, and every rule of the table holds for the new rows. Rows move between partitions where
        partition columns are set. Where no row matches, nothing is committed. An update that loses a race which it may
        not follow is retried on what the winner left. Ctrl-C stops it as it does `delete`. (`update()` is something
        else: it moves to the newest version.)

        Args:
            set: Expressions in Spark SQL by column, or by field of a struct (`a.b`). `DEFAULT` is the default of the
                column.
            where: A condition in Spark SQL; without it, every row is updated.
            compression: Codec of the data files, instead of the table's own.
            target_file_size: Bytes at which a data file is closed and the next one begins.
            user_metadata: Text that the history shows with the commit.
            app_transaction: Application id and its version. A version that the table has recorded is not done again.
            progress: Whether to show a bar with files and bytes, or a function that is told of them: as of `optimize`.

        Raises:
            InvalidArgumentError: a column does not exist, is set twice, or lies in an array or map.
            InvalidExpressionError: an expression cannot be evaluated, or gives no value of its column's type.
            SchemaMismatchError: a value must not be null or is too long, or an identity column is GENERATED ALWAYS.
            InvariantViolationError: a new row breaks a rule of the table.
            AppendOnlyError, UnsupportedFeatureError, CommitConflictError, CommitStateUnknownError: as for `delete`.
        """
        options = dml_options(compression, target_file_size, user_metadata, app_transaction)
        with followed(progress, "update") as tell:
            done = _core.update_rows(self._core, list(set.items()), where, options, tell)
        self._advance()
        return UpdateResult(**json.loads(done))
