"""A table as a dataset of pyarrow, for DuckDB and others that push filters into one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltaic.frames.opened import opened

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping
    from datetime import date, datetime

    import pyarrow.dataset

    from deltaic.credentials import Credentials
    from deltaic.table import Table


def dataset(
    table: Table | str | os.PathLike[str],
    *,
    version: int | None = None,
    timestamp: str | datetime | date | None = None,
    storage_options: Mapping[str, str] | None = None,
    credentials: Credentials | None = None,
) -> pyarrow.dataset.Dataset:
    """One version of a table as a dataset of pyarrow: DuckDB queries it like a view, with its filters pushed into it.

    The log is read now, the data at each scan; the version stays the same. A scan reads the columns that it names.
    Filters that compare a column with constants (whole numbers, text, dates) or ask for nulls, joined by AND and OR,
    leave out files, row groups and pages; pyarrow applies every filter exactly. Deletion vectors, column mapping and
    all features that `Table` reads are read. `to_table`, `to_batches`, `head`, `take`, `count_rows` and `scanner` work;
    what asks for fragments is refused.

    Memory: a few batches.

    Args:
        table: A table that is open, of which its version is read; or a path, or a URL such as `s3://bucket/table`.
        version: Version of a table that is given by its path; the newest by default.
        timestamp: Instead of `version`, as of `deltaic.Table`.
        storage_options: Credentials, region, endpoint … of the store.
        credentials: A function that gives the credentials of the store, instead of options: see `deltaic.Table`.

    Raises:
        InvalidArgumentError: something else is given beside an open table.
        ModuleNotFoundError: the extra `deltaic[dataset]` is not installed.
        DeltaError: as of `deltaic.Table`; and when it is read, as of `Table.to_arrow`.

    Example:
        >>> events = deltaic.dataset("events")  # doctest: +SKIP
        >>> duckdb.sql("SELECT count(*) FROM events WHERE day = DATE '2026-01-01'")  # doctest: +SKIP
    """
    from deltaic.frames.arrow_dataset import TableDataset

    return TableDataset(opened(table, version, timestamp, storage_options, credentials))
