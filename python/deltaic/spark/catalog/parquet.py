"""Tables of other formats, of Parquet above all, that the catalog of the session knows."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from deltaic import identifiers
from deltaic.exceptions import InvalidArgumentError
from deltaic.spark.catalog.names import in_schema
from deltaic.spark.session.jvm import java_method

# what Hive keeps among the properties of a table, and is none
_HIVES = "transient_lastDdlTime"
# folders that an error names
_SHOWN = 3


@dataclass(frozen=True)
class Entry:
    """What the catalog says of a table."""

    name: str
    """Empty for files that the catalog does not know."""
    format: str
    """`view` for a view."""
    path: str = ""
    partitions: str = '{"fields": []}'
    """Partition columns, as JSON."""
    properties: dict[str, str] = field(default_factory=dict)
    comment: str = ""
    created: int = 0
    """In milliseconds since 1970-01-01 UTC."""

    @property
    def plain_name(self) -> str:
        """The name without backticks, as histories show it."""
        return ".".join(identifiers.parts(self.name))

    @property
    def partition_by(self) -> dict[str, Any]:
        """The types of the partition columns, by their names."""
        return {field["name"]: field["type"] for field in json.loads(self.partitions)["fields"]}

    @property
    def own_properties(self) -> dict[str, str]:
        """Those of the table, without what the catalog keeps for itself."""
        return {key: value for key, value in self.properties.items() if key != _HIVES}


def entry(spark: Any, name: list[str]) -> Entry | None:
    """What the catalog says of a name; None where it has none, or the name is that of a temporary view."""
    said = java_method(spark, "ParquetEntry", "of")(*in_schema(name))
    return None if said is None else Entry(**json.loads(said))


def check_folders(spark: Any, name: list[str], text: str) -> None:
    """Refuses a table whose rows are not those of all folders, as a query shows the partitions that the catalog knows.

    Raises:
        InvalidArgumentError: there are partitions that the catalog or the file system has alone, or that are elsewhere.
    """
    found = sorted(java_method(spark, "ParquetEntry", "strangers")(*in_schema(name)))
    if found:
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        where = f"{', '.join(found[:_SHOWN])}{more}"
        reason = f"partitions are in the catalog or in the folder of the table alone, or elsewhere: {where}; "
        reason += f"remove them, or run MSCK REPAIR TABLE {text}"
        raise InvalidArgumentError.of("name", reason)


def converted(spark: Any, name: list[str]) -> None:
    """Tells the catalog that the table is one of ours now."""
    java_method(spark, "ParquetEntry", "converted")(*in_schema(name))
