"""What a version of a table is, in one dictionary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deltaic.table import Table


def detail(table: Table, features: list[str], clustering: list[str]) -> dict[str, Any]:
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
        "clusteringColumns": clustering,
        "numFiles": totals.files,
        "sizeInBytes": totals.bytes,
        "properties": metadata.configuration,
        "minReaderVersion": protocol.min_reader_version,
        "minWriterVersion": protocol.min_writer_version,
        "tableFeatures": features,
    }
