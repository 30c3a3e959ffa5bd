"""Columns of the frames that a `DeltaTable` gave: maps them to those of an operation, which reads the table again."""

from __future__ import annotations

from typing import Any

from deltaic.spark.session.jvm import PACKAGE, java_class
from deltaic.spark.session.kind import is_connect


class FrameColumns:
    """The columns of the frames of one `DeltaTable`.

    Frames have the same ones while the columns of the table stay.
    """

    def __init__(self) -> None:
        self._known: Any = None

    def frame(self, fresh: Any) -> Any:
        """A frame of the table, just made, as the user gets it."""
        if is_connect(fresh):
            return fresh
        from pyspark.sql.classic.dataframe import DataFrame

        spark = fresh.sparkSession
        if self._known is None:
            self._known = java_class(spark.sparkContext._gateway, f"{PACKAGE}.FrameColumns")(
                spark._jsparkSession
            )
        return DataFrame(self._known.frame(fresh._jdf), spark)

    def bound(self, given: Any, alias: str | None, source: Any = None) -> Any:
        """A Column of the user for the rows of the table, which are under an alias, and for those of a source.

        Columns of the frames are those of the table. A column that the source, made from such a frame, has too belongs
        to the side of its alias; without one Spark finds it ambiguous.
        """
        if self._known is None or is_connect(given):
            return given
        from pyspark.sql.classic.column import Column

        return Column(self._known.bound(given._jc, alias, None if source is None else source._jdf))
