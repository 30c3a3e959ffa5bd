"""Reading at the speed of Spark's own Parquet reader where there is no bridge.

Exactly the files of the version are read; partition values and deletion vectors are joined on the path.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.types import (
    DoubleType,
    FloatType,
    LongType,
    NullType,
    StringType,
    StructField,
    StructType,
)

from deltaic.identifiers import quoted
from deltaic.spark.session.kind import functions
from deltaic.spark.session.types import has

if TYPE_CHECKING:
    from collections.abc import Sequence

# Spark checks every path, again for each action: 10,000 take seconds
MOST_FILES = 10_000
_GLOB = re.compile(r"([\\{}\[\]*?])")
# Spark's reader takes the two zeros for different numbers, and NaN for none, when it skips parts of files. The bridge
# pushes down only what it does right (FilterPushDown.java); here it is all or nothing.
_NO_SKIPPING = {
    f"parquet.filter.{by}.enabled": "false" for by in ("stats", "dictionary", "columnindex", "bloom")
}
_FOUND, _DELETED = "__deltaic_found", "__deltaic_deleted"
_BASE, _VERSION = "__deltaic_base_row_id", "__deltaic_row_commit_version"
FILE, ROW = "__deltaic_file", "__deltaic_row"
"""Columns of the position of rows: the URI of the file, and the position in it."""


def native_read(spark: Any, scan: Any, *, located: bool = False) -> Any:
    """The rows of a planned version on Spark's Parquet reader, or `None` where that cannot be right or quick.

    That is: column mapping by id, void fields, files whose names Spark hides, more than `MOST_FILES` files, deletion
    vectors that take too much memory as bits. With `located`, each row also has its position: `FILE` and `ROW`.
    """
    if not scan.by_name or scan.num_files > MOST_FILES:
        return None
    schema = StructType.fromJson(json.loads(scan.schema))
    facts = scan.files()
    if facts is None:
        return None
    files = pa.table(pa.RecordBatchReader.from_stream(facts))
    paths: list[str] = files.column("path").to_pylist()
    if not paths:
        where = [StructField(FILE, StringType()), StructField(ROW, LongType())] if located else []
        return spark.createDataFrame([], StructType([*schema.fields, *where]))
    if any(p.rpartition("/")[2].startswith(("_", ".")) for p in paths):
        return None
    columns = json.loads(scan.columns)
    stored = StructType.fromJson(json.loads(scan.stored_schema))
    # files have no void columns; what is void within others only the core reads
    stored = StructType([f for f in stored.fields if not isinstance(f.dataType, NullType)])
    if any(has(f.dataType, NullType) for f in stored.fields):
        return None
    partitions = [c["name"] for c in columns if c["partition"]]
    deleted = files.column("deleted").null_count < len(files)
    skips = _NO_SKIPPING if _has_fractional(stored) else {}
    df = spark.read.schema(stored).options(**skips).parquet(*(_GLOB.sub(r"\\\1", p) for p in paths))
    if located or partitions or deleted:
        df = with_places(df)
    if partitions or deleted:
        df = _joined(spark, df, files, deleted=deleted)
    types = {f.name: f.dataType for f in schema.fields}
    place = (FILE, ROW) if located else ()
    return df.select(*(_column(functions(spark), c, types[c["name"]]) for c in columns), *place)


def _has_fractional(data_type: Any) -> bool:
    """Whether it has floats or doubles where filters reach."""
    if isinstance(data_type, StructType):
        return any(_has_fractional(field.dataType) for field in data_type.fields)
    return isinstance(data_type, (FloatType, DoubleType))


def with_places(df: Any) -> Any:
    """The rows of a scan with `FILE` and `ROW`."""
    place = df.metadataColumn("_metadata")  # the table may have a column of this name
    return df.select("*", place.getField("file_path").alias(FILE), place.getField("row_index").alias(ROW))


def with_row_ids(spark: Any, df: Any, bases: Any, columns: Sequence[str]) -> Any:
    """Rows with their positions, and in these two columns their row ids and row commit versions.

    Ids stored in files take precedence over those computed from the position and the `bases` of the files
    (PROTOCOL.md, "Row Tracking").
    """
    F = functions(spark)  # noqa: N806 (its usual name)
    others = [F.col(quoted(c)) for c in df.columns if c not in columns]
    facts = by_spelling(pa.table(pa.RecordBatchReader.from_stream(bases)))
    facts = facts.rename_columns({"base_row_id": _BASE, "default_row_commit_version": _VERSION})
    df = df.join(F.broadcast(spark.createDataFrame(facts)), FILE, "left")
    row_id, version = columns
    fresh = {row_id: F.col(_BASE) + F.col(ROW), version: F.col(_VERSION)}
    kept = (F.coalesce(F.col(quoted(name)), fresh[name]).alias(name) for name in columns)
    return df.select(*others, *kept)


def by_spelling(files: pa.Table) -> pa.Table:
    """Facts of files with their `path` as `FILE`, once in each way in which Spark may spell it."""
    spellings = [_spellings(p) for p in files.column("path").to_pylist()]
    rows = pa.array([i for i, s in enumerate(spellings) for _ in s], pa.int64())
    names = pa.array([s for all_of_one in spellings for s in all_of_one], pa.string())
    return files.drop_columns(["path"]).take(rows).append_column(FILE, names)


def _column(F: Any, column: dict[str, Any], data_type: Any) -> Any:  # noqa: N803 (its usual name)
    name = column["name"]
    if column["partition"]:
        return F.col(quoted(column["values"])).alias(name)
    if isinstance(data_type, NullType):
        return F.lit(None).alias(name)
    value = F.col(quoted(column["stored"]))
    # nested fields of data files have other names: a cast between structs is by position
    return (value.cast(data_type) if column["renamed"] else value).alias(name)


def _joined(spark: Any, df: Any, files: pa.Table, *, deleted: bool) -> Any:
    """The rows with the facts of their file. A file that is not found is an error, never a bare row."""
    facts = by_spelling(files if deleted else files.drop_columns(["deleted"]))
    facts = facts.append_column(_FOUND, pa.array([True] * len(facts), pa.bool_()))
    if deleted:
        facts = facts.rename_columns([_DELETED if n == "deleted" else n for n in facts.column_names])
    F = functions(spark)  # noqa: N806 (its usual name)
    side = F.broadcast(spark.createDataFrame(facts))
    unknown = F.raise_error(F.concat(F.lit("deltaic: no file of the table has the path "), F.col(FILE)))
    df = df.join(side, FILE, "left").where(F.coalesce(F.col(_FOUND), unknown.cast("boolean")))
    if not deleted:
        return df
    bits = f"bit_get(get({_DELETED}, int({ROW} div 64)), int({ROW} % 64))"
    return df.where(F.coalesce(F.expr(bits), F.lit(0)) == F.lit(0))


def spelled(path: str) -> str:
    """A decoded URI as `_metadata.file_path` may write it."""
    return _spellings(path)[0]


def _spellings(path: str) -> list[str]:
    """How `_metadata.file_path` may write a URI: one slash or three, non-ASCII letters escaped or not."""
    scheme, _, rest = path.partition("://")
    plain = "".join(_escaped(c) for c in rest)
    full = "".join(c if c.isascii() else "".join(f"%{b:02X}" for b in c.encode()) for c in plain)
    heads = [f"{scheme}://", f"{scheme}:"] if scheme == "file" else [f"{scheme}://"]
    return sorted({head + text for head in heads for text in (plain, full)})


def _escaped(character: str) -> str:
    """As `java.net.URI` escapes a character of a path."""
    illegal = not character.isascii() and (character.isspace() or not character.isprintable())
    if illegal or character in ' "#%<>?[\\]^`{|}' or ord(character) < 0x20 or character == "\x7f":
        return "".join(f"%{b:02X}" for b in character.encode())
    return character
