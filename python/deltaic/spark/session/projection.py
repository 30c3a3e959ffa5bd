"""Projections of frames: in a classic session one request of the JVM, and not some for each column."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql.types import StructType

from deltaic.identifiers import quoted
from deltaic.spark.session.jvm import java_method
from deltaic.spark.session.kind import functions, is_connect

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Taken:
    """A column of a frame, by a name."""

    source: str
    """Its name in the frame."""
    name: str
    type: Any = None
    """The type that it is cast to, as its JSON value, if any."""
    metadata: dict[str, Any] | None = None
    """Its metadata, if they are others than those of the source."""

    def column(self, F: Any) -> Any:  # noqa: N803
        """The same as a Column."""
        value = F.col(quoted(self.source))
        if self.type is not None:
            value = value.cast(type_of(self.type))
        return (
            value.alias(self.name)
            if self.metadata is None
            else value.alias(self.name, metadata=self.metadata)
        )

    def described(self) -> dict[str, Any]:
        """For Projection.java."""
        found: dict[str, Any] = {"source": quoted(self.source), "name": self.name}
        if self.type is not None:
            found["type"] = self.type
        if self.metadata is not None:
            found["metadata"] = self.metadata
        return found


def select(df: Any, columns: Sequence[Any]) -> Any:
    """The rows with these columns: each is `Taken`, or a Column."""
    if is_connect(df):
        F = functions(df)  # noqa: N806 (its usual name)
        return df.select(*(c.column(F) if isinstance(c, Taken) else c for c in columns))
    from pyspark.sql.classic.dataframe import DataFrame

    return DataFrame(select_java(df.sparkSession, df._jdf, columns), df.sparkSession)


def select_java(spark: Any, rows: Any, columns: Sequence[Any]) -> Any:
    """`select` of a Dataset of Java, in whichever session of the application of `spark`."""
    described = [c.described() if isinstance(c, Taken) else None for c in columns]
    others = [c._jc for c in columns if not isinstance(c, Taken)]
    return java_method(spark, "Projection", "select")(rows, json.dumps(described), others)


def type_of(value: Any) -> Any:
    """The type that a JSON value of a schema describes."""
    field = {"name": "c", "type": value, "nullable": True, "metadata": {}}
    return StructType.fromJson({"type": "struct", "fields": [field]}).fields[0].dataType
