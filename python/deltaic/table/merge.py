"""Merges and upserts rows of a source, without Spark."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from deltaic import _core
from deltaic.identifiers import quoted
from deltaic.progress import followed
from deltaic.table.dml import dml_options
from deltaic.table.handle import Handle

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from deltaic.progress import Progress


@dataclass(frozen=True)
class MergeResult:
    """What a merge did."""

    version: int | None
    """Version that was committed; None where no clause applied and no column was added, or the transaction was recorded
    already."""
    source_rows: int
    """Rows of the source."""
    inserted_rows: int
    """Rows inserted."""
    updated_rows: int
    """Rows updated."""
    deleted_rows: int
    """Rows deleted."""
    copied_rows: int
    """Rows that stayed as they were and were written again, into other files."""
    touched_files: int
    """Data files with updated or deleted rows: they were removed, or the rows marked in a deletion vector."""
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
class Merge:
    """A merge that waits for its clauses. Each method gives a new one; `execute` runs it.

    Of the clauses about a row, the first whose condition is true applies, and only the last of a kind may lack a
    condition. Expressions are Spark SQL. A column is `alias.column`, or `column` where one side has it.
    """

    _run: Callable[[_core._MergeRequest, bool | Callable[[Progress], object]], MergeResult]
    _request: _core._MergeRequest

    def when_matched_update(self, set: Mapping[str, str], where: str | None = None) -> Merge:  # noqa: A002
        """A row of the table that matches gets these values.

        Args:
            set: Expressions over both sides by column, or by field of a struct (`a.b`).
            where: A condition over both sides; without it, every match that is left.
        """
        return self._with("matched", "update", where, set)

    def when_matched_update_all(self, where: str | None = None) -> Merge:
        """Every column of a row of the table that matches gets that of the source with its name.

        Args:
            where: A condition over both sides; without it, every match that is left.
        """
        return self._with("matched", "update", where)

    def when_matched_delete(self, where: str | None = None) -> Merge:
        """A row of the table that matches is deleted.

        Args:
            where: A condition over both sides; without it, every match that is left.
        """
        return self._with("matched", "delete", where)

    def when_not_matched_insert(self, values: Mapping[str, str], where: str | None = None) -> Merge:
        """A row of the source that matches none of the table becomes a new row.

        Args:
            values: Expressions over the source by column. Other columns get their default, what they are generated
                from, or null.
            where: A condition over the source; without it, every row that is left.
        """
        return self._with("not_matched", "insert", where, values)

    def when_not_matched_insert_all(self, where: str | None = None) -> Merge:
        """A row of the source that matches none of the table becomes a new row, each column that of its name.

        Args:
            where: A condition over the source; without it, every row that is left.
        """
        return self._with("not_matched", "insert", where)

    def when_not_matched_by_source_update(
        self,
        set: Mapping[str, str],  # noqa: A002 (the word of SQL, and of delta.tables)
        where: str | None = None,
    ) -> Merge:
        """A row of the table that matches none of the source gets these values. All files are read.

        Args:
            set: Expressions over the table by column, or by field of a struct.
            where: A condition over the table; without it, every row that is left.
        """
        return self._with("not_matched_by_source", "update", where, set)

    def when_not_matched_by_source_delete(self, where: str | None = None) -> Merge:
        """A row of the table that matches none of the source is deleted. All files are read.

        Args:
            where: A condition over the table; without it, every row that is left.
        """
        return self._with("not_matched_by_source", "delete", where)

    def execute(self, *, progress: bool | Callable[[Progress], object] = False) -> MergeResult:
        """Runs the merge, and moves the table to the version that it makes. The source is read once.

        All of it in one version, or nothing. Nothing is committed where no clause applies and no column is added. A
        merge that loses a race which it may not follow is retried on what the winner left. Ctrl-C stops it and leaves
        the table as it was, unless it is committing.

        Args:
            progress: Whether to show a bar with files and bytes, or a function that is told of them: as of
                `Table.optimize`.

        Raises:
            MultipleMatchesError: a row of the table matches several rows of the source, and the only clause about
                matches does not delete them all.
            InvalidArgumentError: there is no clause, one that can never be reached, or a column that does not exist or
                is set twice.
            InvalidExpressionError: an expression cannot be evaluated, or has no value for a row.
            SchemaMismatchError: columns of the source do not fit those of the table, a value must not be null or is too
                long.
            InvariantViolationError: a new row breaks a rule of the table.
            AppendOnlyError: the table loses no rows, and a clause updates or deletes.
            UnsupportedFeatureError: the table asks more of a writer than deltaic does.
            CommitConflictError: other writers were first again and again.
            CommitStateUnknownError: the store did not say whether the commit landed. Nothing was removed.
        """
        return self._run(self._request, progress)

    def _with(
        self, when: str, action: str, where: str | None, values: Mapping[str, str] | None = None
    ) -> Merge:
        given = None if values is None else list(values.items())
        clause: _core._MergeClause = {"when": when, "action": action, "condition": where, "values": given}
        return replace(self, _request={**self._request, "clauses": [*self._request["clauses"], clause]})


class MergesRows(Handle):
    """The part of `Table` that merges and upserts rows."""

    __slots__ = ()

    def merge(
        self,
        source: Any,
        on: str | Sequence[str],
        *,
        source_alias: str = "source",
        target_alias: str = "target",
        with_schema_evolution: bool = False,
        compression: str | None = None,
        target_file_size: int | None = None,
        user_metadata: str | None = None,
        app_transaction: tuple[str, int] | None = None,
    ) -> Merge:
        """Begins a merge of the rows of a source into the newest version; add clauses, and `execute` it.

        Values are cast to the type of their column, and every rule of the table holds for new rows. Rows keep their row
        ids, and changes are recorded where `delta.enableChangeDataFeed` is set. Old rows are marked in deletion vectors
        where the table has `delta.enableDeletionVectors`; else files with a changed row are rewritten. Only files that
        may hold a key of the source are read, unless a clause is about rows that match nothing.

        Memory: the keys of the source, 256 MiB of its rows (the others go to a temporary file), and a few batches a
        core. A condition without `=` between both sides compares each row with each.

        Args:
            source: Anything with `__arrow_c_stream__` or `__arrow_c_array__`: a table or reader of pyarrow, a frame of
                Polars or pandas, a result of DuckDB. It is read when the merge is executed.
            on: When rows match: a condition in Spark SQL, or the names of columns that must be equal on both sides.
            source_alias: The name of the source in expressions.
            target_alias: The name of the table in expressions.
            with_schema_evolution: Adds columns that only the source has, where a clause sets them.
            compression: Codec of the data files, instead of the table's own.
            target_file_size: Bytes at which a data file is closed and the next one begins.
            user_metadata: Text that the history shows with the commit.
            app_transaction: Application id and its version. A version that the table has recorded is not done again.
        """
        if not isinstance(on, str):
            both = [
                (f"{quoted(target_alias)}.{quoted(c)}", f"{quoted(source_alias)}.{quoted(c)}") for c in on
            ]
            on = " AND ".join(f"{left} = {right}" for left, right in both)
        options = dml_options(compression, target_file_size, user_metadata, app_transaction)

        def run(
            request: _core._MergeRequest,
            progress: bool | Callable[[Progress], object],  # noqa: FBT001 as users give it
        ) -> MergeResult:
            with followed(progress, "merge") as tell:
                done = _core.merge_rows(self._core, source, request, options, tell)
            return self._done(done)

        request: _core._MergeRequest = {
            "condition": on,
            "target_alias": target_alias,
            "source_alias": source_alias,
            "clauses": [],
            "with_schema_evolution": with_schema_evolution,
        }
        return Merge(run, request)

    def upsert(
        self,
        source: Any,
        id_cols: str | Sequence[str],
        *,
        order_by: str | Sequence[str] | None = None,
        with_schema_evolution: bool = False,
        compression: str | None = None,
        target_file_size: int | None = None,
        user_metadata: str | None = None,
        app_transaction: tuple[str, int] | None = None,
        progress: bool | Callable[[Progress], object] = False,
    ) -> MergeResult:
        """Each row of a source replaces the row of the newest version with its key, or is added: in one commit.

        All of it or nothing; moves the table to the version that it makes. It is a `merge`: the same rules hold, only
        files that may hold a key of the source are read, and Ctrl-C leaves the table as it was.

        Memory: as of `merge`, and for each row of the source what it is ordered by.

        Args:
            source: As of `merge`, with all columns of the table.
            id_cols: The columns of the key. Nulls are equal.
            order_by: Columns or expressions in Spark SQL by which the greatest row of a key counts, null the least. Of
                equal ones the last counts. Without it each key may come once.
            with_schema_evolution: Adds columns that only the source has; the source may lack some of the table's then.
            compression: Codec of the data files, instead of the table's own.
            target_file_size: Bytes at which a data file is closed and the next one begins.
            user_metadata: Text that the history shows with the commit.
            app_transaction: Application id and its version, recorded with the commit, also where no row came. A version
                that the table has recorded is not done again.
            progress: Whether to show a bar with files and bytes, or a function that is told of them: as of `optimize`.

        Raises:
            MultipleMatchesError: several rows of the source have one key, and there is no `order_by`.
            InvalidArgumentError: there is no key, or a column that one side does not have.
            DeltaError: as `Merge.execute`.
        """
        request: _core._UpsertRequest = {
            "id_cols": _listed(id_cols),
            "order_by": _listed(order_by or []),
            "with_schema_evolution": with_schema_evolution,
        }
        options = dml_options(compression, target_file_size, user_metadata, app_transaction)
        with followed(progress, "upsert") as tell:
            done = _core.upsert_rows(self._core, source, request, options, tell)
        return self._done(done)

    def _done(self, result: str) -> MergeResult:
        self._advance()
        return MergeResult(**json.loads(result))


def _listed(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)
