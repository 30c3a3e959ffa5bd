"""Scans that the core does in Python workers, where Hadoop has no file system for the files: see CoreScan.java."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any

from deltaic.spark.bridge import tables
from deltaic.spark.read.group_reader import GroupReader
from deltaic.spark.read.options import split_storage
from deltaic.spark.read.split_read import BYTES_PER_PARTITION
from deltaic.spark.session.jvm import session_of

if TYPE_CHECKING:
    from collections.abc import Iterable

_LENGTH = 4


def groups(asked: dict[str, Any]) -> bytes:
    """The files that may hold a row for which `predicate` is true, in groups with all that a task needs to read one.

    Each comes after its length. They have the settings of the store.
    """
    _, storage = split_storage(asked["options"])
    plan = tables.again(asked).scan(storage, asked["predicate"], asked["rowIds"])
    return b"".join(_framed(zlib.compress(group) for group in plan.splits(BYTES_PER_PARTITION)))


def _framed(parts: Iterable[bytes]) -> Iterable[bytes]:
    for part in parts:
        yield len(part).to_bytes(_LENGTH, "big")
        yield part


def read_groups(asked: dict[str, Any], data: Any) -> Any:
    """The rows of groups of files, which a Java Dataset has; a Java Dataset."""
    from pyspark.sql.classic.dataframe import DataFrame
    from pyspark.sql.types import StructType

    files = DataFrame(data, session_of({"session": data.sparkSession()}))
    schema = StructType.fromJson(json.loads(asked["schema"]))
    return files.mapInArrow(GroupReader(asked["schema"], asked["columns"]), schema)._jdf
