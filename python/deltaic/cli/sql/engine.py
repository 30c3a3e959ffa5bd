"""DuckDB over the Arrow streams of tables: rows go from the data files through the query, never all in memory."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deltaic.cli.sql.needs import needs
from deltaic.exceptions import DeltaError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import BinaryIO

    from deltaic.cli.sql.needs import Needs
    from deltaic.table import Table

_COPY = {
    "csv": "FORMAT csv, HEADER",
    "json": "FORMAT json",
    "parquet": "FORMAT parquet, COMPRESSION zstd",
}
_ROWS_AT_ONCE = 1_000


class Query:
    """A query over tables by the names that it calls them. Times are UTC.

    Raises:
        click.UsageError: the text is not a query, or names something that does not exist; the message points at the
        word. click.ClickException: DuckDB is not installed.
    """

    def __init__(self, text: str, tables: Mapping[str, Table]) -> None:
        self._duckdb = _duckdb()
        self._text = text
        self._connection = self._duckdb.connect()
        self._connection.execute("SET TimeZone = 'UTC'")
        self._sources = [
            (name, _Rows(table, needs(text, name, table.schema))) for name, table in tables.items()
        ]
        with self._errors():
            for name, rows in self._sources:
                self._connection.register(name, rows)
            self._check()

    def rows(self, limit: int | None) -> tuple[list[str], Iterator[tuple[str | None, ...]]]:
        """The names of the columns, and the rows as text; at most `limit` rows."""
        bound = "" if limit is None else f"\nLIMIT {limit}"
        with self._errors():
            query = f"SELECT COLUMNS(*)::VARCHAR FROM ({self._text}\n){bound}"  # noqa: S608 - the user's own text
            cursor = self._connection.execute(query)
            return [column[0] for column in cursor.description], self._fetched(cursor)

    def write(self, file: Path, file_format: str) -> int:
        """Writes the result to a file of this format; the number of rows."""
        name = str(file).replace("'", "''")
        with self._errors():
            done = self._connection.execute(f"COPY ({self._text}\n) TO '{name}' ({_COPY[file_format]})")
            return int(done.fetchall()[0][0])

    def write_to(self, stream: BinaryIO, file_format: str) -> None:
        """Writes the result to a stream, by way of a temporary file: DuckDB writes to files only."""
        with tempfile.TemporaryDirectory(prefix="deltaic-") as folder:
            file = Path(folder) / "result"
            self.write(file, file_format)
            with file.open("rb") as written:
                while part := written.read(1 << 20):
                    stream.write(part)

    def _check(self) -> None:
        statements = self._connection.extract_statements(self._text)
        if len(statements) != 1:
            message = f"one query is expected, and these are {len(statements)} statements"
            raise click.BadParameter(message, param_hint="QUERY")
        self._text = statements[0].query.strip().rstrip(";")
        # bound in the words of the user, before it is wrapped: so that an error shows the place
        if self._connection.sql(self._text) is None:
            raise click.BadParameter("this is a statement and not a query", param_hint="QUERY")

    def _fetched(self, cursor: Any) -> Iterator[tuple[str | None, ...]]:
        with self._errors():
            while rows := cursor.fetchmany(_ROWS_AT_ONCE):
                yield from rows

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        """Errors of reading a table are deltaic's own; those of the query are the user's."""
        duckdb = self._duckdb
        try:
            yield
        except duckdb.Error as error:
            for _, rows in self._sources:
                if rows.error is not None:
                    raise rows.error from None
            if isinstance(error, duckdb.CatalogException):
                # whoever gives a path looks for its last name in the query
                names = ", ".join(f"`{name}`" for name, _ in self._sources)
                message = f"{error}\n\nTables in QUERY: {names} (`t` is TABLE, --with NAME=TABLE adds others)"
                raise click.BadParameter(message, param_hint="QUERY") from None
            if isinstance(error, (duckdb.ParserException, duckdb.BinderException)):
                raise click.BadParameter(str(error), param_hint="QUERY") from None
            raise click.ClickException(str(error)) from None


class _Rows:
    """The rows of a table for DuckDB, which asks for a stream at each use: `FROM t JOIN t` reads twice."""

    def __init__(self, table: Table, wanted: Needs) -> None:
        self._table = table
        self._wanted = wanted
        self.error: DeltaError | None = None

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        try:
            rows = self._table.to_arrow(self._wanted.columns, self._wanted.where)
        except DeltaError as error:
            self.error = error
            raise
        return rows.__arrow_c_stream__(requested_schema)


def _duckdb() -> Any:
    try:
        import duckdb
    except ImportError:
        raise click.ClickException("queries need DuckDB: pip install 'deltaic[sql]'") from None
    return duckdb
