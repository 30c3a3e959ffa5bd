"""The builder that makes and replaces tables."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from deltaic import _core, identifiers
from deltaic.columns import COMPARED, GENERATION, check_text
from deltaic.columns import names as names_of
from deltaic.exceptions import (
    InvalidArgumentError,
    SchemaMismatchError,
    TableAlreadyExistsError,
    TableNotFoundError,
)
from deltaic.spark.catalog import columns, names
from deltaic.spark.save import save
from deltaic.spark.session.after_commit import committed_at
from deltaic.spark.session.on_server import carried_out_by_server
from deltaic.spark.session.places import placed
from deltaic.spark.session.pyspark_errors import all_raise_pyspark_errors
from deltaic.spark.session.settings import Settings, storage
from deltaic.spark.session.table_ref import TableRef
from deltaic.spark.write.definition import Definition
from deltaic.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructField, StructType
    from typing_extensions import Self

    from deltaic.columns import IdentityGenerator


Made = TypeVar("Made")


@all_raise_pyspark_errors
class DeltaTableBuilder(Generic[Made]):
    """What a table is to be. Nothing happens before `execute()`.

    It must have a name or a location, and columns where it is to be made. Made by `DeltaTable.create`,
    `createIfNotExists`, `replace` and `createOrReplace`.

    Example:
        >>> table = (
        ...     DeltaTable.create(spark)
        ...     .location("/data/events")
        ...     .addColumn("id", "BIGINT", generatedAlwaysAs=IdentityGenerator())
        ...     .addColumn("at", "TIMESTAMP", nullable=False)
        ...     .addColumn("day", "DATE", generatedAlwaysAs="CAST(at AS DATE)")
        ...     .partitionedBy("day")
        ...     .execute()
        ... )  # doctest: +SKIP
    """

    def __init__(self, spark: SparkSession, mode: str, made: Callable[[TableRef], Made]) -> None:
        """`made` gives what `execute()` returns, of the table that it made."""
        self._spark = spark
        self._mode = mode
        self._made = made
        self._name: list[str] | None = None
        self._location: str | None = None
        self._comment: str | None = None
        self._columns: list[dict[str, Any]] = []
        self._partition_by: list[str] = []
        self._cluster_by: list[str] = []
        self._properties: dict[str, str] = {}
        self._rows: DataFrame | None = None

    def tableName(self, identifier: str) -> Self:  # noqa: N802 (the name of delta-spark)
        """Gives the table a name in the catalog of the session, or a path as delta.`/path`."""
        check_text("Identifier", identifier)
        self._name = identifiers.parts(identifier)
        return self

    def location(self, location: str) -> Self:
        """Sets the location of the table, as a path or URL; without it, the catalog chooses it."""
        check_text("Location", location)
        self._location = placed(self._spark, location)
        return self

    def comment(self, comment: str) -> Self:
        """Describes the table."""
        check_text("Table comment", comment)
        self._comment = comment
        return self

    def addColumn(  # noqa: N802 (the name of delta-spark)
        self,
        colName: str,  # noqa: N803
        dataType: str | DataType,  # noqa: N803
        nullable: bool = True,  # noqa: FBT001
        generatedAlwaysAs: str | IdentityGenerator | None = None,  # noqa: N803
        generatedByDefaultAs: IdentityGenerator | None = None,  # noqa: N803
        comment: str | None = None,
    ) -> Self:
        """Adds a column after the others.

        Args:
            colName: Name.
            dataType: Type, as SQL writes it or of `pyspark.sql.types`.
            nullable: Whether it can be null.
            generatedAlwaysAs: An SQL expression of other columns, or how the values of an identity are made; writes
                then must not bring values of their own, or only equal ones.
            generatedByDefaultAs: How the values of an identity are made where a write brings none.
            comment: Describes the column.

        Raises:
            TypeError, InvalidArgumentError: an argument that makes no sense.
            InvalidSchemaError: this is no type.
        """
        field = columns.column(
            colName,
            dataType,
            nullable=nullable,
            always=generatedAlwaysAs,
            by_default=generatedByDefaultAs,
            comment=comment,
        )
        self._columns.append(field)
        return self

    def addColumns(self, cols: StructType | list[StructField]) -> Self:  # noqa: N802
        """Adds the columns of a schema after the others, such as `df.schema`."""
        self._columns += columns.columns(cols)
        return self

    def partitionedBy(self, *cols: str | list[str] | tuple[str, ...]) -> Self:  # noqa: N802
        """Sets the partition columns, one by one or in one list."""
        self._partition_by = names_of(cols, "Partitioning column")
        return self

    def clusterBy(self, *cols: str | list[str] | tuple[str, ...]) -> Self:  # noqa: N802
        """Sets the clustering columns, one by one or in one list; fields of structs as `s.a`."""
        self._cluster_by = names_of(cols, "Clustering column")
        return self

    def property(self, key: str, value: str) -> Self:
        """Sets a table property."""
        given: tuple[object, ...] = (key, value)
        if not all(isinstance(text, str) for text in given):
            found = " ".join(f"Found {text} with type {type(text)}" for text in given)
            raise TypeError(f"Key and value of property must be string. {found}")
        self._properties[key] = value
        return self

    @carried_out_by_server
    def execute(self) -> Made:
        """Makes or replaces the table, in one commit or not at all, and returns it.

        A name without a location gets a folder where the catalog puts tables, which the catalog owns: `DROP TABLE`
        removes the files, too, unless this is a client of Spark Connect alone. A name for a location with a table, by
        `create` and `createIfNotExists`, is registered in the catalog if the given columns and partitioning are the
        table's, and owns nothing.

        Raises:
            InvalidArgumentError: neither name nor location is given, or both, and they contradict each other; or the
                place is not empty, and no Delta table.
            TableAlreadyExistsError: there is a table, and this is `create`; or, without a location, one that the
                catalog does not know in the folder of the name.
            TableNotFoundError: there is none, and this is `replace`, or the place has other files and no columns are
                given; or the name is that of a view or of a table of another format.
            SchemaMismatchError: the location has a table of other columns.
            InvalidSchemaError, InvalidColumnChangeError, InvalidFeatureChangeError: something that a table cannot be.
            AppendOnlyError: the table to be replaced loses no rows.
            UnsupportedError: the catalog refuses the name. The table exists, by its path.
            CommitConflictError, CommitStateUnknownError: as every commit.
        """
        if self._partition_by and self._cluster_by:
            error = InvalidArgumentError.of(
                "clusterBy", "a table is either partitioned or clustered: give one"
            )
            raise error.named("DELTA_CLUSTER_BY_WITH_PARTITIONED_BY")
        path = self._location
        if self._name is not None and (named := identifiers.path_of(self._name)) is not None:
            if path is not None and path.rstrip("/") != named.rstrip("/"):
                raise self._two_places(named)
            path = named
        elif self._name is not None:
            return self._made(self._execute_by_name(self._name))
        if path is None:
            reason = "the table needs a name or a location: tableName(…) or location(…)"
            error = InvalidArgumentError.of("tableName", reason)
            raise error.named("DELTA_CREATE_TABLE_MISSING_TABLE_NAME_OR_LOCATION")
        self._define(path, self._mode, managed=False)
        return self._made(TableRef(self._spark, path))

    def _execute_by_name(self, name: list[str]) -> TableRef:
        found = names.find(self._spark, name)
        if found is not None:
            if self._location is not None and self._location.rstrip("/") != found.path.rstrip("/"):
                raise self._two_places(found.path)
            if self._mode == "create":
                version = self._table(found.path).version
                message = f"the table {found.name} already exists: `{found.path}`, version {version}"
                error = TableAlreadyExistsError(message, path=found.path, version=version)
                raise error.named("TABLE_OR_VIEW_ALREADY_EXISTS", relationName=identifiers.sql(name))
            self._define(found.path, self._mode, managed=found.managed)
            return TableRef(self._spark, found.path, name=found.name)
        if self._mode == "replace":
            text = ".".join(name)
            message = f"the table {text} cannot be found in the catalog: createOrReplace makes one"
            missing = TableNotFoundError(message, path=text)
            raise missing.named("TABLE_OR_VIEW_NOT_FOUND", relationName=identifiers.sql(name))
        path = self._location or names.default_path(self._spark, name)
        managed = self._location is None and names.in_metastore(self._spark, name)
        if self._location is None:
            names.check_unoccupied(path, identifiers.sql(name), storage(self._spark, {}))
        there = self._there(path) if self._mode != "create_or_replace" and self._rows is None else None
        if there is None:
            self._define(path, self._mode, managed=managed)
        named = names.register(self._spark, name, self._table(path).uri, managed=managed)
        return TableRef(self._spark, path, name=named.name)

    def _table(self, path: str) -> Table:
        return Table(path, storage_options=storage(self._spark, {}))

    def _there(self, path: str) -> Table | None:
        """The table at a given location, if it is the one that the builder describes."""
        if self._location is None:
            return None
        try:
            table = self._table(path)
        except TableNotFoundError:
            return None
        facts = (GENERATION, *COMPARED)
        own = [(f.name, f.type, f.nullable, *map(f.metadata.get, facts)) for f in table.schema]
        given = [(f["name"], f["type"], f["nullable"], *map(f["metadata"].get, facts)) for f in self._columns]
        if given and given != own:
            error = SchemaMismatchError.of(
                path, f"the builder gives the columns {given}, the table has {own}"
            )
            raise error.named("DELTA_CREATE_TABLE_SCHEME_MISMATCH")
        parts, own_parts = self._partition_by, table.partition_columns
        if (given or parts) and parts != own_parts:
            error = SchemaMismatchError.of(
                path, f"the builder partitions by {parts}, the table by {own_parts}"
            )
            shown = {"specifiedColumns": ", ".join(parts), "existingColumns": ", ".join(own_parts)}
            raise error.named("DELTA_CREATE_TABLE_WITH_DIFFERENT_PARTITIONING", **shown)
        return table

    def _define(self, path: str, mode: str, *, managed: bool) -> None:
        if self._rows is not None:
            self._define_as(self._rows, path, mode, managed=managed)
            return
        settings = Settings.of(self._spark, "create")
        if not self._columns and mode in ("create", "create_if_not_exists"):
            name = f"delta.`{path}`" if self._name is None else identifiers.sql(self._name)
            names.check_empty(path, name, settings.storage(None))
        with names.location_errors(self._name, path, mode):
            defined = _core.create(
                path,
                json.dumps({"type": "struct", "fields": self._columns}),
                settings.storage(None),
                mode,
                {
                    "partition_by": self._partition_by,
                    "cluster_by": self._clustering(),
                    "configuration": self._properties,
                    "defaults": settings.defaults,
                    "arbitrary_properties": settings.arbitrary_properties,
                    "name": None,
                    "description": self._comment,
                    "user_metadata": settings.user_metadata,
                    "managed": managed,
                    "engine": f"Apache-Spark/{self._spark.version}",
                },
            )
        committed_at(self._spark, path, defined["version"])

    def _define_as(self, rows: DataFrame, path: str, mode: str, *, managed: bool) -> None:
        definition = Definition(
            mode="create" if mode == "create_if_not_exists" else mode,
            partition_by=self._partition_by,
            cluster_by=self._clustering(),
            properties=self._properties,
            description=self._comment,
            managed=managed,
        )
        with names.location_errors(self._name, path, mode):
            save(self._spark, rows, path, None, None, {}, definition=definition)

    def _clustering(self) -> list[list[str]]:
        return [identifiers.parts(column) for column in self._cluster_by]

    def _two_places(self, path: str) -> InvalidArgumentError:
        reason = f"`{self._location}`, but the name is the table at `{path}`"
        error = InvalidArgumentError.of("location", reason)
        if self._name is None or identifiers.path_of(self._name) is None:
            return error
        paths = {"identifier": path, "location": self._location}
        return error.named("DELTA_AMBIGUOUS_PATHS_IN_CREATE_TABLE", **paths)


def execute_as(builder: DeltaTableBuilder[Made], rows: DataFrame) -> Made:
    """Makes or replaces the table with these rows, of whose columns it is, in one commit or not at all.

    Raises:
        DeltaError: as `DeltaTableBuilder.execute` and `deltaic.spark.save.save`.
    """
    builder._rows = rows
    return builder.execute()
