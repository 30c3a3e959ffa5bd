"""CREATE, REPLACE and ALTER TABLE and COMMENT ON TABLE for sessions of Spark Connect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql.types import StructType

from deltaic import identifiers
from deltaic.spark.catalog import names
from deltaic.spark.catalog.alterations import alter
from deltaic.spark.catalog.table_builder import DeltaTableBuilder, execute_as
from deltaic.spark.maintenance import result_frames
from deltaic.spark.session import local_frames
from deltaic.spark.session.after_commit import altered
from deltaic.spark.session.pyspark_errors import raises_pyspark_errors
from deltaic.spark.session.settings import allows_arbitrary, storage, user_metadata
from deltaic.spark.statements.queries import query
from deltaic.statements.ddl import NewTable, Subject, parse_changes, parse_new_table, subject
from deltaic.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@raises_pyspark_errors
def run_definition(spark: Any, text: str) -> DataFrame | None:
    """Carries it out, once; None for other statements and tables of other formats, which the server knows.

    Raises:
        InvalidArgumentError: a mistake in it; the error names the word and its place.
        UnsupportedError: a change that tables of ours do not have, by its name.
        DeltaError: as the methods of `DeltaTableBuilder` and `deltaic.Table` that do the same.
    """
    about = subject(text)
    if about is None:
        return None
    if about.makes:
        if not _makes_ours(spark, about):
            return None
        _make(spark, parse_new_table(text))
    else:
        known = names.ours(spark, about.name)
        changes = None if known is None else parse_changes(text)
        if known is None or changes is None:
            return None
        _check_defaults(spark, [change["default"] for change in changes if change.get("default")])
        table = Table(known.path, storage_options=storage(spark, {}))
        said = user_metadata(spark, "alter")
        altered(spark, table, alter(table, changes, said, allow_arbitrary=allows_arbitrary(spark)))
    nothing: DataFrame = local_frames.frame(spark, result_frames.NOTHING, [])
    return nothing


def _makes_ours(spark: Any, about: Subject) -> bool:
    if identifiers.path_of(about.name) is not None:
        return True
    said = spark.conf.get("spark.sql.sources.default", "") if about.format is None else about.format
    return said.lower() in identifiers.FORMATS


def _make(spark: Any, wanted: NewTable) -> None:
    if wanted.mode == "create_if_not_exists" and _exists(spark, wanted.name):
        return
    builder = DeltaTableBuilder(spark, wanted.mode, lambda ref: ref).tableName(identifiers.sql(wanted.name))
    if wanted.location is not None:
        builder.location(wanted.location)
    if wanted.comment is not None:
        builder.comment(wanted.comment)
    for key, value in wanted.properties.items():
        builder.property(key, value)
    builder.partitionedBy(*wanted.partition_by).clusterBy(*map(identifiers.sql, wanted.cluster_by))
    if wanted.query is not None:
        execute_as(builder, query(spark, wanted.query))
        return
    said = [column["metadata"].get("CURRENT_DEFAULT") for column in wanted.columns]
    _check_defaults(spark, [default for default in said if default is not None])
    columns = {"type": "struct", "fields": wanted.columns}
    builder.addColumns(StructType.fromJson(columns)).execute()


def _check_defaults(spark: Any, defaults: list[str]) -> None:
    """Spark reports what is wrong with a default, such as a column in it: a default may not depend on the row."""
    if defaults:
        _ = spark.sql(f"SELECT {', '.join(f'({default})' for default in defaults)}").schema


def _exists(spark: Any, name: list[str]) -> bool:
    path = identifiers.path_of(name)
    if path is None:
        return bool(spark.catalog.tableExists(identifiers.sql(name)))
    return names.is_table(path, storage(spark, {}))
