"""A table as a dataset of pyarrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import pyarrow
import pyarrow.dataset

from deltaic.frames.arrow_filter import Shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyarrow.compute import Expression

    from deltaic.table import Table


class TableDataset(pyarrow.dataset.Dataset):  # type: ignore[misc]  # it has no types
    """One version of a table. Each scan reads the columns and files that it needs.

    It has no files that pyarrow could open: what asks for fragments, and what makes another dataset of it, is refused.
    """

    def __init__(self, table: Table) -> None:  # pyarrow's own has no files to begin with
        self._table = table
        self._types = {field.name: field.type for field in table.schema.fields}

    @property
    def schema(self) -> pyarrow.Schema:
        """The columns."""
        return pyarrow.schema(self._table.schema)

    def scanner(
        self,
        columns: Iterable[str] | Mapping[str, Expression] | None = None,
        filter: Expression | None = None,  # noqa: A002 (pyarrow's name)
        **options: Any,
    ) -> pyarrow.dataset.Scanner:
        """A scan, which can be read once.

        Args:
            columns: Names of columns, or expressions by the names of the results; all columns by default.
            filter: Exactly the rows for which it is true are given.
            options: `batch_size`, `use_threads` and `memory_pool` as pyarrow has them; others are ignored.

        Raises:
            DeltaError: as `Table.to_arrow`.
        """
        names = columns if columns is None or hasattr(columns, "items") else list(columns)
        shown = None if filter is None else Shown(filter, self.schema)
        read = self._read(names, shown)
        where = None if shown is None else shown.condition(self._types)
        reader = pyarrow.RecordBatchReader.from_stream(self._table.to_arrow(read, where))
        known = {
            name: options[name] for name in ("batch_size", "use_threads", "memory_pool") if name in options
        }
        return pyarrow.dataset.Scanner.from_batches(reader, columns=names, filter=filter, **known)

    def _read(self, columns: Any, shown: Shown | None) -> list[str] | None:
        """The columns of the table that a scan needs; none where that is not known."""
        if columns is None:
            return None
        expressions = columns.values() if hasattr(columns, "items") else ()
        parts = [Shown(expression, self.schema).columns() for expression in expressions]
        parts += [] if hasattr(columns, "items") else [set(columns)]
        parts += [] if shown is None else [shown.columns()]
        needed: set[str] = set()
        for part in parts:
            if part is None or not part <= set(self._types):
                return None
            needed |= part
        return [name for name in self._types if name in needed]

    @property
    def partition_expression(self) -> NoReturn:
        """Refused."""
        self._refuse()

    def get_fragments(self, filter: Expression | None = None) -> NoReturn:  # noqa: A002
        """Refused."""
        self._refuse()

    def replace_schema(self, schema: pyarrow.Schema) -> NoReturn:
        """Refused."""
        self._refuse()

    def filter(self, expression: Expression) -> NoReturn:
        """Refused: give the filter to the scan."""
        self._refuse()

    def sort_by(self, *_: Any, **__: Any) -> NoReturn:
        """Refused: sort what `to_table` gives."""
        self._refuse()

    def join(self, *_: Any, **__: Any) -> NoReturn:
        """Refused: join what `to_table` gives."""
        self._refuse()

    def join_asof(self, *_: Any, **__: Any) -> NoReturn:
        """Refused: join what `to_table` gives."""
        self._refuse()

    def __reduce__(self) -> tuple[Any, ...]:
        return TableDataset, (self._table,)

    def _refuse(self) -> NoReturn:
        message = "a Delta table has no fragments of pyarrow: use to_table, to_batches, head or scanner"
        raise NotImplementedError(message)
