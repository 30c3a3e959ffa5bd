"""What a Python worker does with groups of files for a scan of a classic session: see CoreScan.java."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.types import StructType

from deltaic import _core
from deltaic.exceptions import DeltaError
from deltaic.spark.read.native_read import FILE, ROW, spelled
from deltaic.spark.read.split_read import fitted, to_arrow
from deltaic.spark.session.worker_errors import with_facts_of_scan

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

# fields of `_metadata` that follow from the action of a file
_OF_ACTION = {
    "file_size": "size",
    "file_block_length": "size",
    "file_modification_time": "modificationTime",
    "base_row_id": "baseRowId",
    "default_row_commit_version": "defaultRowCommitVersion",
}
_NOTHING = {"file_path": "", "file_name": ""}
_MICROS = 1000


class GroupReader:
    """Reads groups of files; pickled to the executors.

    Args:
        schema: The JSON of the columns that the scan gives.
        columns: For each one the name of a column of the table; or, of `_metadata`, the fields that are read, each with
            the column in which files keep it, or none.
    """

    def __init__(self, schema: str, columns: Sequence[str | Mapping[str, str | None]]) -> None:
        self.schema, self.columns = schema, columns

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows of the groups, which are the first column of the batches."""
        wanted = to_arrow(StructType.fromJson(json.loads(self.schema)))
        try:
            for batch in batches:
                for group in batch.column(0):
                    yield from self._rows(zlib.decompress(group.as_py()), wanted)
        except DeltaError as error:
            raise with_facts_of_scan(error) from None

    def _rows(self, group: bytes, wanted: pa.Schema) -> Iterator[pa.RecordBatch]:
        metadata: Mapping[str, str | None] = next((c for c in self.columns if not isinstance(c, str)), {})
        names = [c for c in self.columns if isinstance(c, str)]
        names += [kept for kept in metadata.values() if kept is not None and kept not in names]
        places = (FILE, ROW) if metadata else None
        for part, action in _files(group) if _OF_ACTION.keys() & metadata.keys() else [(group, {})]:
            for batch in pa.RecordBatchReader.from_stream(_core.read_split(part, names, places)):
                columns = [
                    batch.column(c) if isinstance(c, str) else _metadata(batch, field.type, c, action)
                    for c, field in zip(self.columns, wanted, strict=True)
                ]
                yield fitted(columns, wanted)


def _files(group: bytes) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """Each file of a group as a group of its own, and its action."""
    whole = json.loads(group)
    for action in whole["files"]:
        yield json.dumps({**whole, "files": [action]}).encode(), action


def _metadata(
    batch: pa.RecordBatch, kind: pa.StructType, fields: Mapping[str, str | None], action: dict[str, Any]
) -> pa.StructArray:
    """`_metadata` of the rows of a batch, which are of one file."""
    uri = batch.column(FILE)[0].as_py() if batch.num_rows else ""
    made = []
    for field in kind:
        if (kept := fields.get(field.name)) is not None:
            made.append(batch.column(kept))
        elif field.name == "row_index":
            made.append(batch.column(ROW))
        else:
            # nobody reads the others
            value = _value(field.name, uri, action) if field.name in fields else _NOTHING.get(field.name, 0)
            made.append(pa.repeat(pa.scalar(value, field.type), batch.num_rows))
    return pa.StructArray.from_arrays(made, fields=list(kind))


def _value(name: str, uri: str, action: dict[str, Any]) -> str | int | None:
    if name == "file_path":
        return spelled(uri)
    if name == "file_name":
        return uri.rpartition("/")[2]
    if name == "file_block_start":
        return 0
    value: int | None = action.get(_OF_ACTION[name])
    return value * _MICROS if name == "file_modification_time" and value is not None else value
