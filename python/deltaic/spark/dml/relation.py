"""Files of one version, as the bridge asks for them: see `SparkTable` in the core."""

from __future__ import annotations

from typing import Any


class Relation:
    """Some files of the version that an operation works on."""

    def __init__(self, dml: Any, part: str, *, row_ids: bool) -> None:
        self._dml = dml
        self._part = part
        self._row_ids = row_ids

    def describe(self, identity: str) -> str:
        """Schema, partitioning and properties as JSON."""
        return str(self._dml.describe(self._part, identity, self._row_ids))

    def files(self, predicate: str | None) -> bytes:
        """The files that may hold a row for which the predicate is true."""
        return bytes(self._dml.files(self._part, predicate))

    def scan(self, storage: dict[str, str], predicate: str | None, row_ids: bool) -> Any:  # noqa: FBT001
        """The plan of a read of these files by the core, with the settings of the operation."""
        del storage, row_ids
        return self._dml.scan(self._part, self._row_ids, predicate)

    def size(self) -> int:
        """Bytes of all files."""
        return int(self._dml.size())
