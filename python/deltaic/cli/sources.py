"""Data files that a command is given, as Arrow batches. Reading them is pyarrow's work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from deltaic.table import Table

FORMATS = ("parquet", "arrow", "csv", "json")
_BY_ENDING = {
    "arrow": "arrow",
    "csv": "csv",
    "feather": "arrow",
    "ipc": "arrow",
    "json": "json",
    "jsonl": "json",
    "ndjson": "json",
    "parquet": "parquet",
    "tsv": "csv",
}


def batches(files: Sequence[str], file_format: str | None, table: Table | None) -> Any:
    """The rows of the files, batch by batch. Text of CSV and JSON has the types that it has in the table.

    Raises:
        click.ClickException: pyarrow is missing, or cannot read a file.
    """
    arrow = _pyarrow()
    try:
        types = {} if table is None else {field.name: field.type for field in arrow.schema(table.schema)}
        found = _dataset(files, file_format, types)
        # JSON has no dates: they are read as the timestamps that they look like, and are dates again here
        columns = [
            field.with_type(types[field.name]) if _is_time(field, types) else field for field in found.schema
        ]
        return found.scanner().to_reader().cast(arrow.schema(columns))
    except (arrow.ArrowException, OSError, ValueError) as error:
        raise click.ClickException(f"the data files cannot be read: {error}") from error


def counted(rows: Any, advance: Callable[[int], None]) -> Any:
    """The same batches; `advance` is told the rows of each when it is asked for."""

    def each() -> Iterator[Any]:
        for batch in rows:
            advance(batch.num_rows)
            yield batch

    return _pyarrow().RecordBatchReader.from_batches(rows.schema, each())


def no_rows(file: str) -> Any:
    """The columns of a file, without its rows.

    Raises:
        click.ClickException: as for `batches`.
    """
    arrow = _pyarrow()
    try:
        return _dataset([file], None, {}).schema.empty_table()
    except (arrow.ArrowException, OSError, ValueError) as error:
        raise click.ClickException(f"the data files cannot be read: {error}") from error


def _pyarrow() -> Any:
    try:
        import pyarrow.dataset
    except ImportError:
        raise click.ClickException("reading data files needs pyarrow: pip install pyarrow") from None
    return pyarrow


def _dataset(files: Sequence[str], file_format: str | None, types: dict[str, Any]) -> Any:
    import pyarrow as pa
    from pyarrow import dataset

    name = file_format or _format_of(files)
    reader = _reader(name, types, tabs=all(file.endswith(".tsv") for file in files))
    # the columns of all files, where a dataset takes those of the first and drops the others without a word
    schema = pa.unify_schemas([dataset.dataset(file, format=reader).schema for file in files])
    if name == "json":
        columns = [f if _is_time(f, types) else f.with_type(types.get(f.name, f.type)) for f in schema]
        schema = pa.schema(columns)
    return dataset.dataset(list(files), format=reader, schema=schema)


def _is_time(field: Any, types: dict[str, Any]) -> bool:
    from pyarrow.types import is_temporal

    return field.name in types and is_temporal(field.type) and is_temporal(types[field.name])


def _format_of(files: Sequence[str]) -> str:
    found = {_BY_ENDING.get(file.rpartition(".")[2].lower()) for file in files}
    name = found.pop() if len(found) == 1 else None
    if name is None:
        raise click.UsageError(f"the names do not show the format: give --format {'|'.join(FORMATS)}")
    return name


def _reader(name: str, types: dict[str, Any], *, tabs: bool) -> Any:
    from pyarrow import csv, dataset

    if name == "csv":
        convert = csv.ConvertOptions(
            column_types=types,
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        )
        parse = csv.ParseOptions(delimiter="\t" if tabs else ",")
        return dataset.CsvFileFormat(parse_options=parse, convert_options=convert)
    return name
