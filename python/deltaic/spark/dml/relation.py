"""Files of one version, as the bridge asks for them: see `SparkTable` in the core."""

from __future__ import annotations

import uuid
from typing import Any

from deltaic.spark.read import opened


class Relation:
    """Some files of the version that an operation works on."""

    def __init__(self, dml: Any, part: str, *, row_ids: bool) -> None:
        self.identity = f"deltaic-{uuid.uuid4()}"
        self.part = part
        self._dml = dml
        self._row_ids = row_ids
        opened.lend(self.identity, self)

    def describe(self) -> str:
        """Schema, partitioning and properties as JSON."""
        return str(self._dml.describe(self.part, self.identity, self._row_ids))

    def files(self, predicate: str | None) -> bytes:
        """The files that may hold a row for which the predicate is true."""
        return bytes(self._dml.files(self.part, predicate))

    def size(self) -> int:
        """Bytes of all files."""
        return int(self._dml.size())

    def close(self) -> None:
        """No plan may ask any more."""
        opened.take_back(self.identity)
