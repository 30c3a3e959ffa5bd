"""Operations without Spark: by `deltaic.Table` and by `deltalake`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
from operations import row
from spark_engine import lost_by_deltaic

if TYPE_CHECKING:
    from operations import Operation

TYPES = pa.schema([("p", pa.int64()), ("id", pa.int64()), ("n", pa.int64())])


def arrow(given: list[list[int]]) -> pa.Table:
    """Rows of an operation."""
    rows = [row(id_, n) for id_, n in given]
    return pa.Table.from_pylist([dict(zip(TYPES.names, one, strict=True)) for one in rows], TYPES)


class Table:
    """`deltaic.Table` and `deltaic.write`. What reads the table before it writes needs an engine for queries."""

    def __init__(self, uri: str, options: dict[str, str], retention_hours: float) -> None:
        import deltaic

        self.deltaic, self.uri, self.retention_hours = deltaic, uri, retention_hours
        self.reached = {"storage_options": options}
        self.kept = self._open()
        """A table that is opened once."""

    def _open(self) -> Any:
        return self.deltaic.Table(self.uri, **self.reached)

    def _write(self, given: dict[str, Any], document: str, **more: Any) -> None:
        self.deltaic.write(self.uri, arrow(given["rows"]), user_metadata=document, **self.reached, **more)

    def do(self, operation: Operation, document: str) -> None:
        """Does it; the commit carries the document."""
        given = operation.given
        if operation.kind == "append":
            self._write(given, document)
        elif operation.kind == "delete":
            self.kept.delete(_where(given), user_metadata=document)
        elif operation.kind == "update":
            self.kept.update_rows({"n": f"n + {given['add']}"}, _where(given), user_metadata=document)
        elif operation.kind == "replace range":
            self._write(given, document, mode="overwrite", replace_where=_where(given))
        elif operation.kind == "optimize":
            self._open().optimize(user_metadata=document)
        elif operation.kind == "vacuum":
            short = {"allow_short_retention": True, "user_metadata": document}
            self._open().vacuum(self.retention_hours, **short)
        elif operation.kind == "checkpoint":
            self._open().checkpoint()
        else:
            raise NotImplementedError(operation.kind)

    lost = staticmethod(lost_by_deltaic)


class Deltalake:
    """`deltalake`."""

    def __init__(self, uri: str, options: dict[str, str], _: float) -> None:
        import deltalake

        self.deltalake, self.uri = deltalake, uri
        self.reached = {"storage_options": options}

    def do(self, operation: Operation, document: str) -> None:
        """As of `Table`."""
        carries = self.deltalake.CommitProperties(custom_metadata={"userMetadata": document})
        given = operation.given
        if operation.kind == "append":
            rows = arrow(given["rows"])
            self.deltalake.write_deltalake(
                self.uri, rows, mode="append", commit_properties=carries, **self.reached
            )
        elif operation.kind == "delete":
            self.deltalake.DeltaTable(self.uri, **self.reached).delete(
                _where(given), commit_properties=carries
            )
        else:
            raise NotImplementedError(operation.kind)

    def lost(self, error: Exception) -> tuple[str, str | None] | None:
        """As of `Table`."""
        if isinstance(error, self.deltalake.exceptions.CommitFailedError):
            return type(error).__name__, None
        return None


def _where(given: dict[str, Any]) -> str:
    return f"id >= {given['low']} AND id < {given['high']}"
