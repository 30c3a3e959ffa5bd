"""Changes of what a table is: its properties, features, columns and constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltaic import _core
from deltaic.exceptions import InvalidArgumentError
from deltaic.schema import columns_json
from deltaic.table.handle import Handle

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Alterations(Handle):
    """The changes of `Table` that touch no row."""

    __slots__ = ()

    def set_properties(
        self,
        properties: Mapping[str, str],
        *,
        allow_arbitrary: bool = False,
        user_metadata: str | None = None,
    ) -> int:
        """Sets table properties, and returns the version of the commit. Other properties stay.

        This and the other changes of what a table is are made on the newest version, in one commit, and retried when
        another writer's change lands first. No data file is written, but where `drop_feature` has to. Where nothing was
        to change, nothing is committed and the newest version is returned. This object stays at its version until
        `update()`.

        `delta.enableRowTracking` on a table whose files have no row ids takes commits of its own before that one: the
        feature is added to the protocol, and the files are committed again with row ids. Each of them leaves a valid
        table, and after a failure the call can be made again.

        Args:
            properties: Keys and values.
            allow_arbitrary: Whether keys that begin with `delta.` and that deltaic does not know are stored unchanged.
            user_metadata: Text that the history shows with the commit.

        Raises:
            InvalidArgumentError: a key that deltaic does not know, or a value that it cannot have.
            DataFileError: a file needs row ids, and its statistics lack its number of rows.
            InvalidFeatureChangeError: the property needs a table feature that the table cannot get.
            InvalidSchemaError: the table cannot have the property.
            CommitConflictError: other writers were first again and again.
            CommitStateUnknownError: the store did not say whether the commit landed.
        """
        return _core.set_properties(self._core, dict(properties), user_metadata, allow_arbitrary)

    def unset_properties(
        self, keys: str | Sequence[str], *, if_exists: bool = False, user_metadata: str | None = None
    ) -> int:
        """Takes table properties away, and returns the version of the commit. Table features stay.

        Args:
            keys: One key, or several.
            if_exists: Ignores keys that are not set.
            user_metadata: Text that the history shows with the commit.

        Raises:
            InvalidArgumentError: a key that is not set, unless `if_exists`, or one that is not unset by hand.
        """
        return _core.unset_properties(self._core, _path(keys), if_exists, user_metadata)

    def add_feature(self, name: str, *, user_metadata: str | None = None) -> int:
        """Adds a table feature to the protocol, with those that it requires, and returns the version of the commit.

        Args:
            name: As in `protocol`.
            user_metadata: Text that the history shows with the commit.

        Raises:
            InvalidArgumentError: deltaic does not know the feature.
            InvalidFeatureChangeError: deltaic does not read and write tables that have it.
        """
        return self.set_properties({f"delta.feature.{name}": "supported"}, user_metadata=user_metadata)

    def drop_feature(
        self, name: str, *, truncate_history: bool = False, user_metadata: str | None = None
    ) -> int:
        """Drops a table feature, and returns the version of the last commit, which no longer has it.

        Every row stays. The traces of the feature are removed first, in commits of their own: files with deletion
        vectors, mapped names or narrower types are rewritten, properties and domains are removed. An interrupted drop
        continues from there when it is called again.

        Where readers need the feature, older versions stay behind checkpoints that writers keep for readers that do
        not know it: the feature `checkpointProtection` is added to the protocol.

        Args:
            name: As in `protocol`.
            truncate_history: Removes these older versions instead, once
                `delta.dropFeatureTruncateHistory.retentionDuration` (24 hours unless set) has passed since the last of
                them. It is also how `checkpointProtection` is dropped.
            user_metadata: Text that the history shows with the commit.

        Raises:
            InvalidFeatureChangeError: it is no feature, the table does not have it, it cannot be dropped, another
                feature or a constraint needs it, or another writer uses it again.
            FeatureInHistoryError: with `truncate_history`, as long as the history is too young. The newest version no
                longer uses the feature; `come_again` says when to drop it again.
            CommitConflictError: other writers were first again and again.
            CommitStateUnknownError: the store did not say whether a commit landed.
        """
        return _core.drop_feature(self._core, name, truncate_history, user_metadata)

    def add_columns(
        self,
        columns: Mapping[str, str | dict[str, Any]] | str,
        *,
        parent: str | Sequence[str] = (),
        first: bool = False,
        after: str | None = None,
        user_metadata: str | None = None,
    ) -> int:
        """Adds columns, which are null in existing rows, and returns the version of the commit.

        Args:
            columns: As SQL writes them (`city STRING COMMENT 'of birth'`), or types by name, as `Field.type` has them:
                `long`, `decimal(10,2)`, or the JSON of a nested type.
            parent: Struct that they are added to, as a name or a path, instead of the table.
            first: Puts them before all others, instead of after them.
            after: Puts them after this column.
            user_metadata: Text that the history shows with the commit.

        Raises:
            InvalidColumnChangeError: a column exists already, or `parent` or `after` does not.
            InvalidSchemaError: a name or type that a table cannot have.
            InvalidFeatureChangeError: a type whose table feature must be added first.
        """
        _one_place(first=first, after=after)
        added: _core._AddedColumns = {
            "schema": columns_json(columns),
            "parent": _path(parent),
            "first": first,
            "after": after,
        }
        return _core.add_columns(self._core, [added], user_metadata)

    def replace_columns(
        self, columns: Mapping[str, str | dict[str, Any]] | str, *, user_metadata: str | None = None
    ) -> int:
        """Gives the table these columns in this order, and returns the version of the commit.

        Each is the column of its name, where there is one: it keeps its rows, and its comment where none is given, and
        may get a wider type. Columns without a namesake are added, or those left over are dropped, but not both at
        once: a column under another name would lose its rows. The same holds within structs.

        Args:
            columns: As for `add_columns`: all columns of the table.
            user_metadata: Text that the history shows with the commit.

        Raises:
            InvalidColumnChangeError: columns would be added and dropped at once; and as for `add_columns`,
                `drop_columns` and `change_column`.
        """
        return _core.replace_columns(self._core, columns_json(columns), user_metadata)

    def drop_columns(
        self, columns: str | Sequence[str | Sequence[str]], *, user_metadata: str | None = None
    ) -> int:
        """Drops columns, and returns the version of the commit.

        Their values stay in the files, where no later version reads them.

        Args:
            columns: A name, or a list of names and paths.
            user_metadata: Text that the history shows with the commit.

        Raises:
            InvalidColumnChangeError: a column does not exist, or something refers to it; or the table has no column
                mapping: set `delta.columnMapping.mode` to `name` first.
        """
        columns = [columns] if isinstance(columns, str) else columns
        return _core.drop_columns(self._core, [_path(column) for column in columns], user_metadata)

    def rename_column(
        self, column: str | Sequence[str], name: str, *, user_metadata: str | None = None
    ) -> int:
        """Renames a column, given as a name or a path, and returns the version of the commit.

        Args:
            column: Name, or path.
            name: Its new name.
            user_metadata: Text that the history shows with the commit.

        Raises:
            InvalidColumnChangeError: as for `drop_columns`, or the name is taken.
        """
        return _core.rename_column(self._core, _path(column), name, user_metadata)

    def change_column(
        self,
        column: str | Sequence[str],
        *,
        data_type: str | None = None,
        nullable: bool | None = None,
        comment: str | None = None,
        default: str | None = None,
        first: bool = False,
        after: str | None = None,
        user_metadata: str | None = None,
    ) -> int:
        """Changes a column, and returns the version of the commit. What is not given stays.

        Args:
            column: Name, or path; in arrays and maps it continues with `element`, `key` and `value`.
            data_type: A wider type, in a table with `delta.enableTypeWidening`.
            nullable: Whether it can be null. Only `True` is a change.
            comment: Another comment; empty text takes it away.
            default: Another SQL expression for rows that do not give the column; empty text removes it. Existing rows
                stay as they are.
            first: Puts it before all others of its struct.
            after: Puts it after this column of its struct.
            user_metadata: Text that the history shows with the commit.

        Raises:
            InvalidColumnChangeError: the column does not exist, or cannot be changed in this way.
            InvalidFeatureChangeError: for a default where the table does not have the feature allowColumnDefaults.
        """
        _one_place(first=first, after=after)
        schema = None if data_type is None else columns_json({"column": data_type})
        changed: _core._ChangedColumn = {
            "path": _path(column),
            "schema": schema,
            "nullable": nullable,
            "comment": comment,
            "default": default,
            "first": first,
            "after": after,
        }
        return _core.change_columns(self._core, [changed], user_metadata)

    def sync_identity(
        self, column: str | Sequence[str], *, allow_lower: bool = False, user_metadata: str | None = None
    ) -> int:
        """Brings the high-water mark of an identity column to the farthest value of its rows; returns the version.

        The next values that the table generates come after it, as after rows that brought values of their own. It
        commits even if the mark stays. Reads the column in all rows.

        Args:
            column: Name of the identity column, or its path of one name.
            allow_lower: Lets the mark move back, so that the table makes values again that deleted rows had.
            user_metadata: Text that the history shows with the commit.

        Raises:
            InvalidColumnChangeError: the column does not exist, or is not an identity column.
            CommitConflictError: other writers were first again and again.
        """
        return _core.sync_identity(self._core, _path(column), allow_lower, user_metadata)

    def cluster_by(self, columns: Sequence[str | Sequence[str]], *, user_metadata: str | None = None) -> int:
        """Gives the table other clustering columns, or none, and returns the version of the commit.

        Existing rows stay where they are: `optimize` clusters them.

        Args:
            columns: Up to four names and paths of columns that have statistics.
            user_metadata: Text that the history shows with the commit.

        Raises:
            InvalidColumnChangeError: a column that does not exist, or has no statistics.
            InvalidArgumentError: more than four columns.
            InvalidFeatureChangeError: the table is partitioned.
        """
        return _core.cluster_by(self._core, [_path(column) for column in columns], user_metadata)

    def add_constraint(self, name: str, expression: str, *, user_metadata: str | None = None) -> int:
        """Adds a CHECK constraint that every row of the table passes, and returns the version of the commit.

        The columns of the expression are read in all rows.

        Args:
            name: Unlike those of other constraints.
            expression: A condition in SQL.
            user_metadata: Text that the history shows with the commit.

        Raises:
            InvariantViolationError: a row for which it is not true; null is not true.
            InvalidExpressionError: deltaic cannot evaluate the expression.
            InvalidArgumentError: the name is taken.
        """
        return _core.add_constraint(self._core, name, expression, user_metadata)

    def drop_constraint(self, name: str, *, if_exists: bool = False, user_metadata: str | None = None) -> int:
        """Drops a CHECK constraint, and returns the version of the commit.

        Args:
            name: As it was added.
            if_exists: Does nothing where there is none of this name.
            user_metadata: Text that the history shows with the commit.

        Raises:
            InvalidArgumentError: there is none of this name, unless `if_exists`.
        """
        return _core.drop_constraint(self._core, name, if_exists, user_metadata)


def _path(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _one_place(*, first: bool, after: str | None) -> None:
    if first and after is not None:
        raise InvalidArgumentError.of("after", "and `first` name two different places; give one")
