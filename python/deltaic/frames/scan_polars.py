"""A table as a lazy frame of Polars, which reads what a query needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltaic.frames.opened import opened
from deltaic.frames.polars_filter import pushed

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping
    from datetime import date, datetime

    import polars

    from deltaic.credentials import Credentials
    from deltaic.table import Table

# rows of a batch, where Polars asks for no other number
_ROWS_AT_ONCE = 64 << 10


def scan_polars(
    table: Table | str | os.PathLike[str],
    *,
    version: int | None = None,
    timestamp: str | datetime | date | None = None,
    storage_options: Mapping[str, str] | None = None,
    credentials: Credentials | None = None,
) -> polars.LazyFrame:
    """The rows of one version of a table as a lazy frame: a query reads the columns and files that it needs.

    The log is read now, the data when the frame is collected, each time anew; the version stays the same. Columns that
    a query does not use are not read. Filters that compare a column with constants (whole numbers, text, dates, times)
    or ask for nulls, joined by `&` and `|`, leave out files, row groups and pages; Polars applies every filter exactly.
    Deletion vectors, column mapping and all features that `Table` reads are read.

    Memory: batches of 65,536 rows, or as many as Polars asks for.

    Args:
        table: A table that is open, of which its version is read; or a path, or a URL such as `s3://bucket/table`.
        version: Version of a table that is given by its path; the newest by default.
        timestamp: Instead of `version`, as of `deltaic.Table`.
        storage_options: Credentials, region, endpoint … of the store.
        credentials: A function that gives the credentials of the store, instead of options: see `deltaic.Table`.

    Raises:
        InvalidArgumentError: something else is given beside an open table.
        ModuleNotFoundError: Polars or pyarrow is not installed.
        DeltaError: as of `deltaic.Table`; and when the frame is collected, as of `Table.to_arrow`.

    Example:
        >>> frame = deltaic.scan_polars("events")  # doctest: +SKIP
        >>> frame.filter(polars.col("day") == date(2026, 1, 1)).select("id").collect()  # doctest: +SKIP
    """
    import polars
    import pyarrow
    from polars.io.plugins import register_io_source

    source = opened(table, version, timestamp, storage_options, credentials)
    types = {field.name: field.type for field in source.schema.fields}

    def rows(
        with_columns: list[str] | None, predicate: Any, n_rows: int | None, batch_size: int | None
    ) -> Iterator[polars.DataFrame]:
        read = None
        if with_columns is not None:
            read = with_columns + [
                name
                for name in ([] if predicate is None else predicate.meta.root_names())
                if name not in with_columns
            ]
        # rows are counted before they are filtered
        where = None if predicate is None or n_rows is not None else pushed(predicate, types)
        left = n_rows
        for batch in pyarrow.RecordBatchReader.from_stream(source.to_arrow(read, where)):
            for at in range(0, batch.num_rows, batch_size or _ROWS_AT_ONCE):
                if left == 0:
                    return
                part = batch.slice(
                    at, min(batch_size or _ROWS_AT_ONCE, batch.num_rows - at if left is None else left)
                )
                left = None if left is None else left - part.num_rows
                frame = polars.DataFrame(part)
                if predicate is not None:
                    frame = frame.filter(predicate)
                yield frame if with_columns is None else frame.select(with_columns)

    empty = polars.DataFrame(pyarrow.schema(source.schema).empty_table())
    return register_io_source(rows, schema=empty.schema, is_pure=True)
