"""Reading by the core in Spark's Python workers, where Spark's own Parquet reader would not be right or quick.

Planning is done here: each task gets groups of files with all that is needed to read them, and opens no log.
"""

from __future__ import annotations

import json
import zlib
from inspect import signature
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import LongType, StringType, StructField, StructType

from deltaic import _core
from deltaic.exceptions import DeltaError
from deltaic.spark.read.change_data_feed import COLUMNS
from deltaic.spark.read.native_read import FILE, ROW, native_read, spelled
from deltaic.spark.session.worker_errors import with_facts_in_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

# a group of files for one task, as Spark's own maxPartitionBytes
BYTES_PER_PARTITION = 128 << 20
# instants are UTC in Arrow; PySpark 4.2 and later need the name of the zone, earlier ones assume it
_ZONE = {"timezone": "UTC"} if "timezone" in signature(to_arrow_schema).parameters else {}


def planned_rows(spark: Any, scan: Any, *, located: bool = False) -> Any:
    """The rows of a planned version in a session of Spark Connect; with `located`, each has its position.

    Spark's own Parquet reader reads them, several times faster than Python workers, wherever that is right and
    quick.
    """
    rows = native_read(spark, scan, located=located)
    return _split_rows(spark, scan, located=located) if rows is None else rows


def _split_rows(spark: Any, scan: Any, *, located: bool) -> Any:
    table = StructType.fromJson(json.loads(scan.schema))
    fields = [StructField(f.name, f.dataType, f.nullable) for f in table.fields]
    if located:
        fields += [StructField(FILE, StringType()), StructField(ROW, LongType())]
    schema = StructType(fields)
    groups = [zlib.compress(group) for group in scan.splits(BYTES_PER_PARTITION)]
    splits = spark.createDataFrame(pa.table({"split": pa.array(groups, pa.binary())}))
    # a local frame has no more partitions than the cluster has cores at the moment
    return splits.repartition(len(groups)).mapInArrow(_Reader(schema.json(), located=located), schema)


class _Reader:
    """What one task does with its groups of files; pickled to the executors."""

    def __init__(self, schema: str, *, located: bool) -> None:
        self.schema, self.located = schema, located

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        schema = StructType.fromJson(json.loads(self.schema))
        try:
            for batch in batches:
                for group in batch.column(0):
                    yield from read_group(zlib.decompress(group.as_py()), schema, located=self.located)
        except DeltaError as error:
            raise with_facts_in_text(error) from None


def read_group(
    group: bytes, schema: StructType, *, located: bool = False, inserted: tuple[int, int] | None = None
) -> Iterator[pa.RecordBatch]:
    """The rows of a group of files in columns of `schema`; with `located` the last two are `FILE` and `ROW`.

    With `inserted`, the version and time of a commit, the last three are those of changes.
    """
    wanted = to_arrow(schema)
    made = 2 if located else len(COLUMNS) if inserted else 0
    columns = wanted.names[: len(wanted.names) - made]
    batches = pa.RecordBatchReader.from_stream(
        _core.read_split(group, columns, (FILE, ROW) if located else None)
    )
    if located:
        batches = map(_spelled, batches)
    elif inserted:
        batches = (_with_commit(batch, *inserted) for batch in batches)
    for batch in batches:
        yield fitted(batch.columns, wanted)


def _with_commit(batch: pa.RecordBatch, version: int, millis: int) -> pa.RecordBatch:
    """With the commit that inserted the rows."""
    at = pa.scalar(millis * 1000, pa.timestamp("us", "UTC"))
    for (name, _), value in zip(COLUMNS, ("insert", version, at), strict=True):
        batch = batch.append_column(name, pa.repeat(value, batch.num_rows))
    return batch


def _spelled(batch: pa.RecordBatch) -> pa.RecordBatch:
    """With the file as Spark spells it. A batch is of one file."""
    if not batch.num_rows:
        return batch
    at = batch.schema.get_field_index(FILE)
    file = spelled(batch.column(at)[0].as_py())
    return batch.set_column(at, FILE, pa.repeat(pa.scalar(file), batch.num_rows))


def to_arrow(schema: StructType) -> pa.Schema:
    """The schema of the batches that Spark takes for rows of a schema."""
    wanted: pa.Schema = to_arrow_schema(schema, **_ZONE)
    return wanted


def fitted(columns: Sequence[pa.Array], wanted: pa.Schema) -> pa.RecordBatch:
    """A batch of columns in the types that Spark takes."""
    cast = [
        column if column.type.equals(field.type) else column.cast(field.type)
        for column, field in zip(columns, wanted, strict=True)
    ]
    return pa.RecordBatch.from_arrays(cast, schema=wanted)
