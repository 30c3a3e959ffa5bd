"""`DeltaTable`, which `deltaic.tables` shows with its builders under the names of `delta.tables`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from deltaic import identifiers
from deltaic.columns import check
from deltaic.credentials import with_credentials
from deltaic.exceptions import (
    InvalidArgumentError,
    UnsupportedError,
)
from deltaic.spark.catalog import names
from deltaic.spark.catalog.clone import clone
from deltaic.spark.catalog.table_builder import DeltaTableBuilder
from deltaic.spark.dml.arguments import check_condition, check_merge, check_values
from deltaic.spark.dml.delete import delete
from deltaic.spark.dml.merge_builder import DeltaMergeBuilder
from deltaic.spark.dml.update import update
from deltaic.spark.maintenance import result_frames, result_rows
from deltaic.spark.maintenance.manifest import generate
from deltaic.spark.maintenance.optimize import DeltaOptimizeBuilder
from deltaic.spark.maintenance.vacuum_tasks import VacuumRun
from deltaic.spark.read.partition_folders import table_of
from deltaic.spark.read.rows import read
from deltaic.spark.session import local_frames
from deltaic.spark.session.after_commit import altered, committed_at
from deltaic.spark.session.on_server import carried_out_by_server
from deltaic.spark.session.places import placed
from deltaic.spark.session.pyspark_errors import all_raise_pyspark_errors
from deltaic.spark.session.settings import (
    checks_retention,
    moment,
    storage,
    user_metadata,
    vacuum_mode,
)
from deltaic.spark.session.table_ref import TableRef
from deltaic.spark.statements.convert import convert
from deltaic.table import Table
from deltaic.table.shown import table_html

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from deltaic.credentials import Credentials
    from deltaic.table.maintain import RestoreResult


@all_raise_pyspark_errors
class DeltaTable:
    """A table in a Spark session, classic or Spark Connect.

    `forPath`, `forName`, `create` and its like, and `convertToDelta` make one. It is no version: each method works on
    the newest one.
    """

    def __init__(self, ref: TableRef) -> None:
        self._ref = ref

    def __repr__(self) -> str:
        return f"<deltaic.tables.DeltaTable {self._ref.name or self._ref.path}>"

    def _repr_html_(self) -> str:
        (found,) = self.detail().collect()
        columns = [
            (field.name, field.dataType.simpleString(), field.nullable, field.metadata.get("comment"))
            for field in self.toDF().schema
        ]
        return table_html("Delta table", found.asDict(), columns)

    @classmethod
    @carried_out_by_server
    def forPath(  # noqa: N802 (the name of delta-spark)
        cls,
        sparkSession: SparkSession,  # noqa: N803
        path: str,
        hadoopConf: dict[str, str] = dict(),  # noqa: B006, C408, N803 (the default of delta-spark)
        *,
        credentials: Credentials | None = None,
    ) -> DeltaTable:
        """The table at a path.

        By the folder of a partition it is the table with the rows of that partition alone, which cannot be changed;
        all else is done to the whole table.

        Args:
            sparkSession: The session, classic or Spark Connect.
            path: A path or URL.
            hadoopConf: Credentials, region, endpoint … of the store, by Hadoop's names (`fs.s3a.access.key`) or the
                keys of `deltaic.Table`. Other keys come from the session.
            credentials: A function that gives the credentials of the store, as in `deltaic.Table`.

        Raises:
            TableNotFoundError: when there is none.
        """
        given = placed(sparkSession, path)
        own = with_credentials(hadoopConf, credentials)
        options = storage(sparkSession, own)
        table = table_of(given, options)
        ref = TableRef(sparkSession, table, None, own, folder=None if table == given else given)
        Table(ref.path, storage_options=options)
        return cls(ref)

    @classmethod
    @carried_out_by_server
    def forName(  # noqa: N802 (the name of delta-spark)
        cls,
        sparkSession: SparkSession,  # noqa: N803
        tableOrViewName: str,  # noqa: N803
    ) -> DeltaTable:
        """The table that the catalog of the session knows by a name, or the one of a path: delta.`/path`.

        Raises:
            TableNotFoundError: there is no table of this name, or it is a view or a table of another format.
            InvalidArgumentError: this is not a name.
        """
        name = identifiers.parts(tableOrViewName)
        if (path := identifiers.path_of(name)) is not None:
            return cls.forPath(sparkSession, path)
        known = names.known(sparkSession, name)
        return cls(TableRef(sparkSession, known.path, name=known.name))

    @classmethod
    @carried_out_by_server
    def isDeltaTable(cls, sparkSession: SparkSession, identifier: str) -> bool:  # noqa: N802, N803
        """Whether a path is that of a table, or within one.

        Raises:
            StorageError: the store does not say.
        """
        options = storage(sparkSession, {})
        return names.is_in_table(placed(sparkSession, identifier), options)

    @classmethod
    @carried_out_by_server
    def convertToDelta(  # noqa: N802 (the name of delta-spark)
        cls,
        sparkSession: SparkSession,  # noqa: N803
        identifier: str,
        partitionSchema: str | StructType | None = None,  # noqa: N803
    ) -> DeltaTable:
        """Makes a table of Parquet files, in one commit; no data is read or copied.

        Where there is a Delta table already, nothing is done. A table of the catalog becomes a Delta table there, with
        the partition columns and properties that it has.

        Args:
            sparkSession: The session.
            identifier: A folder as parquet.`/path`, or the name of a Parquet table in the catalog of the session.
            partitionSchema: The partition columns in the order of the folders: as SQL writes them, or a schema.

        Raises:
            TableNotFoundError: the catalog has no such table.
            InvalidArgumentError: there are no files, folders name other partition columns than are given, or are
                partitions that the catalog does not know; or it is a view, or a table of another format.
            UnsupportedError: a table of the catalog by a client of Spark Connect alone; give its folder.
            DataFileError, SchemaMismatchError, InvalidSchemaError: as `deltaic.convert`.
        """
        given = partitionSchema
        if not (given is None or isinstance(given, str)):
            given = {f.name: f.dataType.jsonValue() for f in given.fields}
        return cls(convert(sparkSession, identifiers.parts(identifier), given))

    @classmethod
    def create(cls, sparkSession: SparkSession | None = None) -> DeltaTableBuilder[DeltaTable]:  # noqa: N803
        """Begins a table: an error where there is one. Without a session it is the active one."""
        return DeltaTableBuilder(_session(sparkSession), "create", cls)

    @classmethod
    def createIfNotExists(  # noqa: N802 (the name of delta-spark)
        cls,
        sparkSession: SparkSession | None = None,  # noqa: N803
    ) -> DeltaTableBuilder[DeltaTable]:
        """Begins a table: an existing one is left alone."""
        return DeltaTableBuilder(_session(sparkSession), "create_if_not_exists", cls)

    @classmethod
    def replace(cls, sparkSession: SparkSession | None = None) -> DeltaTableBuilder[DeltaTable]:  # noqa: N803
        """Begins the replacement of an existing table: an error if there is none.

        The new table has no rows and nothing of the old one but its versions, which stay readable, and its features.
        """
        return DeltaTableBuilder(_session(sparkSession), "replace", cls)

    @classmethod
    def createOrReplace(  # noqa: N802 (the name of delta-spark)
        cls,
        sparkSession: SparkSession | None = None,  # noqa: N803
    ) -> DeltaTableBuilder[DeltaTable]:
        """Begins a table, as `replace` where there is one and as `create` where there is none."""
        return DeltaTableBuilder(_session(sparkSession), "create_or_replace", cls)

    def toDF(self) -> DataFrame:  # noqa: N802 (the name of delta-spark)
        """The rows of the newest version."""
        path, options = self._ref.folder or self._ref.path, self._ref.storage_options
        fresh = read(self._ref.spark, path, storage_options=options)
        df: DataFrame = self._ref.frames.frame(fresh, self._ref.alias)
        return df

    def alias(self, aliasName: str) -> DeltaTable:  # noqa: N803 (the name of delta-spark)
        """The same table, whose columns conditions and values may call by this name."""
        return DeltaTable(replace(self._ref, alias=aliasName))

    @carried_out_by_server
    def delete(self, condition: str | Column | None = None) -> None:
        """Deletes the rows for which the condition is true, all rows without one: in one commit, or nothing.

        Raises:
            InvalidPredicateError: for a condition that is not deterministic.
            CommitConflictError: when another writer changed rows that the condition reads.
        """
        self._ref.check_whole()
        delete(self._ref, check_condition(condition))

    @carried_out_by_server
    def update(
        self,
        condition: str | Column | None = None,
        set: Mapping[str, str | Column] | None = None,  # noqa: A002 (the name of delta-spark)
    ) -> None:
        """Sets columns of the rows for which the condition is true, of all rows without one: in one commit, or nothing.

        Keys of `set` are columns or fields of structs (`s.a`), values SQL expressions or Columns. With an empty `set`
        the rows are rewritten as they are, as by delta-spark.

        Raises:
            InvalidArgumentError: for missing columns.
            AppendOnlyError: when the table loses no rows.
            InvalidPredicateError: for a condition or a value that is not deterministic.
            InvariantViolationError, SchemaMismatchError: for a new row that breaks a rule of the table.
            CommitConflictError: when another writer changed rows that the condition reads.
        """
        self._ref.check_whole()
        update(self._ref, check_values("set", set), check_condition(condition))

    def merge(self, source: DataFrame, condition: str | Column) -> DeltaMergeBuilder:
        """Begins a merge of the rows of a DataFrame into the table: see `DeltaMergeBuilder`.

        The condition decides which rows match. Name both sides by aliases:

        Example:
            >>> (
            ...     table.alias("t").merge(rows.alias("s"), "t.id = s.id")
            ...     .whenMatchedUpdateAll()
            ...     .whenNotMatchedInsertAll()
            ...     .execute()
            ... )  # doctest: +SKIP
        """
        self._ref.check_whole()
        check_merge(source, condition)
        return DeltaMergeBuilder(self._ref, source, condition)

    @carried_out_by_server
    def history(self, limit: int | None = None) -> DataFrame:
        """The commits, newest first, in the columns and types of delta-spark; what a commit does not record is null.

        Args:
            limit: At most so many; each one costs a read of its commit.

        Returns:
            `version`, `timestamp`, `userId`, `userName`, `operation`, `operationParameters`, `job`, `notebook`,
            `clusterId`, `readVersion`, `isolationLevel`, `isBlindAppend`, `operationMetrics`, `userMetadata`,
            `engineInfo`.
        """
        return self._frame(result_frames.HISTORY, result_rows.history(self._table(), limit))

    @carried_out_by_server
    def detail(self) -> DataFrame:
        """What the table is, in one row.

        Returns:
            `format`, `id`, `name`, `description`, `location`, `createdAt`, `lastModified`, `partitionColumns`,
            `clusteringColumns`, `numFiles`, `sizeInBytes`, `properties`, `minReaderVersion`, `minWriterVersion`,
            `tableFeatures`.
        """
        return self._frame(result_frames.DETAIL, [result_rows.detail(self._table(), self._ref.name)])

    @carried_out_by_server
    def vacuum(self, retentionHours: float | None = None) -> DataFrame:  # noqa: N803
        """Deletes the files that no version within the retention needs. `deltaic.Table.vacuum` lists them.

        Args:
            retentionHours: Instead of `delta.deletedFileRetentionDuration` of the table, a week where it is not set.

        Returns:
            A DataFrame without rows and columns, as that of delta-spark.

        Raises:
            InvalidArgumentError: the retention is below 0, or below that of the table, and the session does not have
                `spark.databricks.delta.retentionDurationCheck.enabled` = `false`.
        """
        if retentionHours is not None and retentionHours < 0:
            reason = f"{retentionHours} hours are not a retention: give 0 or more"
            error = InvalidArgumentError.of("retentionHours", reason)
            raise error.named("DELTA_VACUUM_RETENTION_PERIOD_NEGATIVE")
        hours = None if retentionHours is None else float(retentionHours)
        spark = self._ref.spark
        table = self._table()
        table.vacuum(
            hours,
            mode=vacuum_mode(spark),
            allow_short_retention=not checks_retention(spark),
            user_metadata=user_metadata(spark, "vacuum"),
            _run=VacuumRun(spark),
        )
        committed_at(spark, table.uri, table.version)
        return self._frame(result_frames.NOTHING, [])

    @carried_out_by_server
    def generate(self, mode: str) -> None:
        """Writes the symlink manifests of the newest version, for engines that read Hive tables.

        Args:
            mode: `symlink_format_manifest`, in any case.

        Raises:
            InvalidArgumentError: another mode.
            UnsupportedError: the table has deletion vectors or column mapping, which such engines cannot read.
        """
        generate(self._table(), mode)

    @carried_out_by_server
    def upgradeTableProtocol(self, readerVersion: int, writerVersion: int) -> None:  # noqa: N802, N803
        """Raises the versions of the protocol, with the features that they imply; it is never lowered.

        Raises:
            InvalidArgumentError: these are no versions.
            InvalidFeatureChangeError: a feature that deltaic does not have.
        """
        check("The readerVersion", readerVersion, int, "an integer")
        check("The writerVersion", writerVersion, int, "an integer")
        versions = {
            "delta.minReaderVersion": str(readerVersion),
            "delta.minWriterVersion": str(writerVersion),
        }
        table, spark = self._table(), self._ref.spark
        altered(spark, table, table.set_properties(versions, user_metadata=user_metadata(spark, "alter")))

    @carried_out_by_server
    def addFeatureSupport(self, featureName: str) -> None:  # noqa: N802, N803
        """Adds a table feature to the protocol, with those that it requires.

        Raises:
            InvalidArgumentError: deltaic does not know the feature.
            InvalidFeatureChangeError: deltaic does not read and write tables that have it.
        """
        check("featureName", featureName, str)
        table, spark = self._table(), self._ref.spark
        altered(spark, table, table.add_feature(featureName, user_metadata=user_metadata(spark, "alter")))

    @carried_out_by_server
    def dropFeatureSupport(  # noqa: N802 (the name of delta-spark)
        self,
        featureName: str,  # noqa: N803
        truncateHistory: bool | None = None,  # noqa: FBT001, N803
    ) -> None:
        """Takes a table feature away: what it left in the newest version, then the feature itself.

        Args:
            featureName: Name of the feature.
            truncateHistory: Whether the versions that have it go, too, as soon as the retention allows it. Without that
                they are kept from clients that lack the feature.

        Raises:
            DeltaError: as `deltaic.Table.drop_feature`.
        """
        check("featureName", featureName, str)
        truncates = truncateHistory is not None and check("truncateHistory", truncateHistory, bool)
        said = user_metadata(self._ref.spark, "drop_feature")
        table = self._table()
        version = table.drop_feature(featureName, truncate_history=truncates, user_metadata=said)
        altered(self._ref.spark, table, version)

    @carried_out_by_server
    def restoreToVersion(self, version: int) -> DataFrame:  # noqa: N802
        """Makes the table what it was at a version, by a new version. Nothing is committed for the newest one.

        Returns:
            One row, and none for the newest version: `table_size_after_restore`, `num_of_files_after_restore`,
            `num_removed_files`, `num_restored_files`, `removed_files_size`, `restored_files_size`.

        Raises:
            VersionNotFoundError: the log does not have it.
            DataFileError: a file of the old version is missing.
        """
        check("version", version, int)
        done = self._table().restore(version, user_metadata=user_metadata(self._ref.spark, "restore"))
        return self._restored(done)

    @carried_out_by_server
    def restoreToTimestamp(self, timestamp: str) -> DataFrame:  # noqa: N802
        """Makes the table what it was at a time, by a new version.

        Args:
            timestamp: `yyyy-MM-dd` or `yyyy-MM-dd HH:mm:ss`, in the time zone of the session where it names none.

        Returns:
            One row, as of `restoreToVersion`.

        Raises:
            TimestampOutOfRangeError: the time is before the first or after the last commit.
            InvalidTimeTravelError: this is no time.
            DataFileError: a file of the old version is missing.
        """
        check("timestamp", timestamp, str)
        spark = self._ref.spark
        at = moment(spark, self._ref.path, timestamp)
        done = self._table().restore(timestamp=at, user_metadata=user_metadata(spark, "restore"))
        return self._restored(done)

    def _restored(self, done: RestoreResult) -> DataFrame:
        committed_at(self._ref.spark, self._table().uri, done.version)
        return self._frame(result_frames.RESTORE, result_rows.restored(done))

    def optimize(self) -> DeltaOptimizeBuilder:
        """Begins to rewrite the files in a better layout.

        Example:
            >>> table.optimize().where("day = '2026-11-18'").executeCompaction()  # doctest: +SKIP
        """
        return DeltaOptimizeBuilder(self._ref)

    @carried_out_by_server
    def clone(
        self,
        target: str,
        isShallow: bool = False,  # noqa: FBT001, N803 (the name and default of delta-spark)
        replace: bool = False,  # noqa: FBT001
        properties: dict[str, str] | None = None,
    ) -> DeltaTable:
        """Makes a table of the newest version, in one commit that refers to the files here, and returns it.

        Args:
            target: An absolute path, a URL, or a name for the catalog of the session.
            isShallow: Must be `True`: like delta-spark, deltaic does not copy files.
            replace: Whether the clone may take the place of a table that has no files.
            properties: Table properties in place of those of this table.

        Raises:
            UnsupportedError: not shallow, or the catalog does not take the name.
            TableAlreadyExistsError: the target is a table, unless `replace`.
            InvalidArgumentError: the target is this table or has files, or the properties change column mapping.
        """
        return self._clone(self._table(), target, isShallow, replace, properties)

    @carried_out_by_server
    def cloneAtVersion(  # noqa: N802 (the name of delta-spark)
        self,
        version: int,
        target: str,
        isShallow: bool = False,  # noqa: FBT001, N803
        replace: bool = False,  # noqa: FBT001
        properties: dict[str, str] | None = None,
    ) -> DeltaTable:
        """As `clone`, of a version.

        Raises:
            VersionNotFoundError: the log does not have it; and as `clone`.
        """
        check("version", version, int)
        return self._clone(self._table(version=version), target, isShallow, replace, properties)

    @carried_out_by_server
    def cloneAtTimestamp(  # noqa: N802 (the name of delta-spark)
        self,
        timestamp: str,
        target: str,
        isShallow: bool = False,  # noqa: FBT001, N803
        replace: bool = False,  # noqa: FBT001
        properties: dict[str, str] | None = None,
    ) -> DeltaTable:
        """As `clone`, of the version at a time, in the time zone of the session where the text names none.

        Raises:
            TimestampOutOfRangeError, InvalidTimeTravelError: the log does not have it; and as `clone`.
        """
        check("timestamp", timestamp, str)
        at = moment(self._ref.spark, self._ref.path, timestamp)
        return self._clone(self._table(timestamp=at), target, isShallow, replace, properties)

    def _clone(self, source: Table, target: str, *how: Any) -> DeltaTable:
        is_shallow, replaces, properties = how
        for key, value in check("properties", properties or {}, dict).items():
            check(f"All property keys including {key}", key, str)
            check(f"All property values including {value}", value, str)
        check("target", target, str)
        if not check("isShallow", is_shallow, bool):
            what = "a deep clone, which copies files,"
            message = f"`{source.uri}`: {what} is not supported; give isShallow=True"
            raise UnsupportedError(message, path=source.uri, what=what)
        check("replace", replaces, bool)
        return DeltaTable(clone(self._ref, source, target, replaces=replaces, properties=properties))

    def _table(self, **at: Any) -> Table:
        allowed = storage(self._ref.spark, self._ref.storage_options)
        return Table(self._ref.path, storage_options=allowed, **at)

    def _frame(self, schema: StructType, rows: list[dict[str, Any]]) -> DataFrame:
        return local_frames.frame(self._ref.spark, schema, rows)


def _session(given: SparkSession | None) -> SparkSession:
    if given is not None:
        return given
    from pyspark.sql import SparkSession as Session

    if (active := Session.getActiveSession()) is None:
        raise InvalidArgumentError.of("sparkSession", "there is no active session; give one")
    return active
