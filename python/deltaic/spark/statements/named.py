"""The tables that statements name, and what a name is instead of one."""

from __future__ import annotations

import dataclasses
from typing import Any

from deltaic import identifiers
from deltaic.spark.catalog import names
from deltaic.spark.read.partition_folders import table_of
from deltaic.spark.session.places import placed
from deltaic.spark.session.settings import storage
from deltaic.spark.session.table_ref import TableRef


def ref_of(spark: Any, name: list[str]) -> TableRef:
    """The table of a name, or of a path as delta.`/path`.

    Raises:
        TableNotFoundError: the catalog has no such table.
    """
    if _is_path(name):
        # one in quotes may be relative
        return TableRef(spark, identifiers.path_of(name) or placed(spark, name[1]))
    known = names.known(spark, name)
    return TableRef(spark, known.path, name=known.name)


def whole(spark: Any, name: list[str]) -> TableRef:
    """The table of a name or a path, by the folder of one of its partitions, too.

    Raises:
        TableNotFoundError: the catalog has no such table.
    """
    ref = ref_of(spark, name)
    return dataclasses.replace(ref, path=table_of(ref.path, storage(spark, {}))) if ref.name is None else ref


def instead_of_table(spark: Any, name: list[str]) -> str | None:
    """What a name is instead of a table of ours: `nothing`, a `view` or `other`; None for a path or a table."""
    if _is_path(name) or names.ours(spark, name) is not None:
        return None
    text = identifiers.sql(name)
    if not spark.catalog.tableExists(text):
        return "nothing"
    return "view" if spark.catalog.getTable(text).tableType in ("VIEW", "TEMPORARY") else "other"


def is_quoted(name: list[str]) -> bool:
    """Whether it is a path in quotes."""
    return name[0] == identifiers.IN_QUOTES


def _is_path(name: list[str]) -> bool:
    """Whether it is a path, as delta.`/path` or in quotes."""
    return identifiers.path_of(name) is not None or is_quoted(name)
