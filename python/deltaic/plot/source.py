"""What charts ask of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deltaic.schema import Schema


class Source(Protocol):
    """A version of a table, as `deltaic.Table`."""

    @property
    def version(self) -> int:
        """The version."""

    @property
    def partition_columns(self) -> list[str]:
        """Partition columns in order."""

    @property
    def schema(self) -> Schema:
        """The columns."""

    def file_list(self, where: str | None = None, *, stats: bool = False) -> Iterator[dict[str, Any]]:
        """The files."""

    def history(self, limit: int | None = None) -> list[dict[str, Any]]:
        """The commits, newest first."""

    def commit(self, version: int) -> dict[str, Any]:
        """What a commit did."""

    def explain(self, where: str, *, limit: int | None = None, kept: bool | None = None) -> dict[str, Any]:
        """Why a scan opens or skips each file."""
