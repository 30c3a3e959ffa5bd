"""What a version of a table is, in one dictionary."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deltaic.table import Table


def detail(table: Table, features: list[str], clustering: list[list[str]]) -> dict[str, Any]:
    """The columns of `DESCRIBE DETAIL`, from the table and what the core says of its features and clustering."""
    metadata, protocol, totals = table.metadata, table.protocol, table.totals()
    return {
        "format": "delta",
        "id": metadata.id,
        "name": metadata.name,
        "description": metadata.description,
        "location": table.uri,
        "createdAt": metadata.created_time,
        "lastModified": table.timestamp,
        "partitionColumns": list(metadata.partition_columns),
        "clusteringColumns": [".".join(map(_quoted, path)) for path in clustering],
        "numFiles": totals.files,
        "sizeInBytes": totals.bytes,
        "properties": metadata.configuration,
        "minReaderVersion": protocol.min_reader_version,
        "minWriterVersion": protocol.min_writer_version,
        "tableFeatures": features,
    }


def _quoted(part: str) -> str:
    """A part of a column's name as Spark shows it."""
    plain = re.fullmatch(r"[A-Za-z0-9_]+", part) and not part.isdigit()
    return part if plain else "`" + part.replace("`", "``") + "`"
