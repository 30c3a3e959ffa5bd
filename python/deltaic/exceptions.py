"""The errors of deltaic: `DeltaError` at the root, one class a kind, the facts as attributes.

An error for which delta-spark (or Spark) has a condition has it here, too: `condition`, `sql_state`,
`message_parameters`.

A class is the name of a kind of the Rust core (`deltaic::Error`) followed by `Error`. Where a builtin has the same
meaning, the class is one of that too, and the names that `delta.exceptions` has for conflicts are names here too, so
that `except` clauses carry over. Every error can be pickled, with its facts: Spark workers send theirs to the driver.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltaic.error_conditions import conditions, of_kinds
from deltaic.printable import visible

if TYPE_CHECKING:
    from typing_extensions import Self


class DeltaError(Exception):
    """The root. `str(error)` is one line: what was read, what was found and what to do."""

    def __init__(self, message: str = "", /, **facts: object) -> None:
        super().__init__(message)
        for name, value in facts.items():
            setattr(self, name, value)
        self._condition: str | None = None
        self._parameters: dict[str, str] = {}

    def named(self, condition: str, /, **parameters: object) -> Self:
        """This error, with a condition of delta-spark or Spark.

        For the place that raises, where one kind has several conditions. `parameters` are the message parameters that
        no fact of the error fills.

        Raises:
            KeyError: it is not in the table of conditions, or has no such parameter.
        """
        for name in parameters:
            conditions()[condition].parameters[name]
        self._condition = conditions()[condition].name
        self._parameters = {name: str(value) for name, value in parameters.items()}
        return self

    def __str__(self) -> str:
        return visible(super().__str__())

    @property
    def condition(self) -> str | None:
        """The name of the condition of delta-spark or Spark, `DELTA_PATH_EXISTS`; None where they have none."""
        return self._condition or of_kinds().get(self.kind)

    @property
    def sql_state(self) -> str | None:
        """The SQLSTATE of the condition."""
        return None if self.condition is None else conditions()[self.condition].sql_state

    @property
    def message_parameters(self) -> dict[str, str]:
        """The known message parameters of the condition, by name."""
        if self.condition is None:
            return {}
        known = {}
        for name, fact in conditions()[self.condition].parameters.items():
            value = self._parameters.get(name, None if fact is None else getattr(self, fact, None))
            if value is not None:
                known[name] = ", ".join(value) if isinstance(value, list) else str(value)
        return known

    @property
    def kind(self) -> str:
        """The kind in one word, a stable key for programs: `TableNotFound`."""
        return type(self).__name__.removesuffix("Error")

    @property
    def facts(self) -> dict[str, object]:
        """The fields of the error by name, those of `vars(error)`."""
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}


class DeltaWarning(UserWarning):
    """A step after a commit failed: a checkpoint, a checksum, a cleanup. The commit is not undone."""

    def __str__(self) -> str:
        return visible(super().__str__())


class DeltaConcurrentModificationException(DeltaError):  # noqa: N818 (the name that delta-spark has)
    """A commit that lost against another writer; the name that delta-spark has for all of them."""


class TableNotFoundError(DeltaError, FileNotFoundError):
    """No Delta log at the location."""

    path: str


class TableAlreadyExistsError(DeltaError, FileExistsError):
    """A table is already there, and the operation must create one."""

    path: str
    version: int


class VersionNotFoundError(DeltaError, LookupError):
    """The version asked for is not in the log, or can no longer be rebuilt from it."""

    path: str
    version: int
    earliest: int
    latest: int


class TimestampOutOfRangeError(DeltaError, LookupError):
    """The timestamp asked for is before the first or after the last commit. Times are RFC 3339 text."""

    path: str
    timestamp: str
    earliest: str
    earliest_version: int
    latest: str
    latest_version: int


class InvalidTimeTravelError(DeltaError, ValueError):
    """A version or timestamp that cannot be parsed, or two that contradict each other."""

    path: str
    reason: str


class ChangesNotRecordedError(DeltaError):
    """The change data feed (`delta.enableChangeDataFeed`) was off in a version of the range."""

    path: str
    start: int
    end: int
    version: int


class ChangesSchemaMismatchError(DeltaError, NotImplementedError):
    """The changes of a range have no schema in common: a column was renamed, dropped or got another type."""

    path: str
    start: int
    end: int
    version: int
    read_version: int
    reason: str


class LogGapError(DeltaError):
    """Commits are missing between two that exist."""

    path: str
    version: int
    missing: str


class LogCorruptError(DeltaError):
    """A log file is torn, empty or against the protocol."""

    path: str
    version: int | None
    reason: str


class MissingActionError(DeltaError):
    """The log holds no `protocol` or no `metaData` action."""

    path: str
    version: int
    action: str


class UnsupportedFeatureError(DeltaError, NotImplementedError):
    """The table needs features that this reader or writer does not have."""

    path: str
    role: str
    features: list[str]
    supported: list[str]


class UnsupportedError(DeltaError, NotImplementedError):
    """Something that the protocol allows and deltaic does not do."""

    path: str
    what: str


class OutsideTableError(DeltaError, PermissionError):
    """A path that is not inside the table, or that a link leads to.

    Of a write or delete, or of a read that `allowed_locations` refuses.
    """

    path: str
    table: str
    operation: str
    reason: str


class InvalidSchemaError(DeltaError, ValueError):
    """A schema string, type or column that breaks the rules."""

    reason: str


class SchemaMismatchError(DeltaError, ValueError):
    """Data that does not fit the schema of the table."""

    path: str
    reason: str

    @classmethod
    def of(cls, path: str, reason: str) -> SchemaMismatchError:
        """The error of a table; the message has the reason."""
        return cls(f"the data does not fit the table `{path}`: {reason}", path=path, reason=reason)


class SchemaChangedError(DeltaError):
    """The table has another schema than the one that the plan of a query was made for."""

    path: str
    columns: str


class ReplaceWhereMismatchError(DeltaError, ValueError):
    """A row that the condition of an overwrite does not match: the next overwrite would not replace it."""

    path: str
    predicate: str
    row: str


class InvalidPredicateError(DeltaError, ValueError):
    """A predicate that is no SQL, names an unknown column, or cannot be evaluated as asked."""

    predicate: str
    reason: str


class InvalidExpressionError(DeltaError, ValueError):
    """An SQL expression that cannot be parsed, is not supported, or has no value for a row."""

    expression: str
    reason: str

    @classmethod
    def of(cls, expression: str, reason: str) -> InvalidExpressionError:
        """The error of an expression, whose message is both."""
        return cls(f"expression `{expression}`: {reason}", expression=expression, reason=reason)


class InvariantViolationError(DeltaError, ValueError):
    """A row that breaks a rule of the table. Nothing of the write is in the table."""

    path: str
    rule: str
    expression: str
    row: str


class MultipleMatchesError(DeltaError):
    """A merge in which a row of the table matches several rows of the source.

    In Spark it is also an `UnsupportedOperationException` of PySpark, which delta-spark raises for it.
    """

    path: str
    rows: list[str]
    """Some of the rows of the table."""

    @classmethod
    def of(cls, message: str, path: str, rows: list[str]) -> MultipleMatchesError:
        """The error of a table."""
        error = cls(message, path=path, rows=rows)
        return error.named("DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE")


class InvalidArgumentError(DeltaError, ValueError):
    """An argument that makes no sense."""

    argument: str
    reason: str

    @classmethod
    def of(cls, argument: str, reason: str) -> InvalidArgumentError:
        """The error of an argument, whose message is both."""
        return cls(f"{argument}: {reason}", argument=argument, reason=reason)


class InvalidColumnChangeError(DeltaError, ValueError):
    """A change of a column that the table, or the protocol, does not allow."""

    column: str
    reason: str


class InvalidFeatureChangeError(DeltaError, ValueError):
    """A table feature that cannot be added or dropped, or that the protocol would lack."""

    feature: str
    reason: str


class FeatureInHistoryError(DeltaError):
    """A table feature that versions in the log still show. Drop it again after `come_again`, a time in RFC 3339."""

    path: str
    feature: str
    clean_from: int
    retention: str
    come_again: str


class DataFileError(DeltaError):
    """A data file that the log lists is missing or unreadable."""

    path: str
    reason: str


class DeletionVectorError(DeltaError):
    """A deletion vector is missing, torn or inconsistent. It is never read as "nothing deleted"."""

    path: str
    reason: str


class AppendOnlyError(DeltaError):
    """Rows cannot be removed from an append-only table."""

    path: str
    file: str | None


class InvalidActionError(DeltaError, ValueError):
    """An action that a commit must not hold."""

    path: str
    action: str
    reason: str


class CommitConflictError(DeltaConcurrentModificationException):
    """Another writer took the version first, and this commit cannot follow it: the base of all conflicts.

    `version` and `winner` are version and operation of the other commit, `files` what the two disagree about,
    `predicate` the read predicate that these may match, `rule` the row of the conflict matrix and `level` the isolation
    level by which it is a conflict, `advice` what to do. `transaction` is what this commit read and does, as JSON: for
    `Table.explain_conflict` and `python -m deltaic explain-conflict`.
    """

    path: str
    version: int
    winner: str | None
    files: list[str]
    predicate: str | None
    rule: str
    level: str | None
    reason: str
    advice: str
    transaction: str | None


class ConcurrentAppendError(CommitConflictError):
    """Another writer added rows that this transaction should have read, or a file that it adds too."""


class ConcurrentDeleteReadError(CommitConflictError):
    """Another writer removed rows that this transaction read."""


class ConcurrentDeleteDeleteError(CommitConflictError):
    """Another writer removed or rewrote a file that this transaction removes or rewrites."""


class ConcurrentTransactionError(CommitConflictError):
    """Another writer recorded the application or the metadata domain that this transaction depends on."""


class ConcurrentWriteError(CommitConflictError):
    """Other writers won every race until the time was used up, or one overtook a RESTORE or CLONE."""


class MetadataChangedError(CommitConflictError):
    """Another writer changed schema, partition columns or properties."""


class ProtocolChangedError(CommitConflictError):
    """Another writer changed the protocol."""


# the names that delta-spark has
ConcurrentAppendException = ConcurrentAppendError
ConcurrentDeleteReadException = ConcurrentDeleteReadError
ConcurrentDeleteDeleteException = ConcurrentDeleteDeleteError
ConcurrentTransactionException = ConcurrentTransactionError
ConcurrentWriteException = ConcurrentWriteError
MetadataChangedException = MetadataChangedError
ProtocolChangedException = ProtocolChangedError
DeltaInvariantViolationException = InvariantViolationError


class SourceRowsChangedError(DeltaError):
    """A commit removed or changed rows of a table that a stream reads, which only passes on new rows."""

    path: str
    version: int
    what: str
    cause: str
    option: str


class SourceSchemaChangedError(DeltaError):
    """The schema or the partitioning of a table changed while a stream reads it."""

    path: str
    version: int
    reason: str


class SourceDataLostError(DeltaError):
    """A commit that a stream must read next is not in the log any more."""

    path: str
    version: int
    missing: str


class SourceReplacedError(DeltaError):
    """Where a stream read a table, another one is now."""

    path: str
    expected: str
    found: str


class InvalidOffsetError(DeltaError, ValueError):
    """An offset of a stream that cannot be used."""

    offset: str
    reason: str


class CommitStateUnknownError(DeltaError):
    """Whether the commit landed is unknown, and nothing was removed. Look at the log before you write."""

    path: str
    version: int
    reason: str


class CredentialsError(DeltaError, PermissionError):
    """Who gives the credentials of a store, a function or a class of Hadoop, gave none."""

    store: str
    reason: str


class StorageError(DeltaError, OSError):
    """The store refused or failed."""

    operation: str
    path: str
    source: str


class NotFoundError(DeltaError, FileNotFoundError):
    """An object does not exist."""

    path: str


class ArrowError(DeltaError):
    """An Arrow computation failed: a bug or an overflow, never bad input alone."""

    context: str
    source: str


class InterruptedError(DeltaError):  # noqa: A001 (named as its kind, as all are)
    """The caller asked to stop."""


class InternalError(DeltaError):
    """A panic of the core: a bug of deltaic, never bad input alone. Please report it."""

    operation: str
    reason: str
