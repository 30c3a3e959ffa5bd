"""Columns of the frames that a `DeltaTable` gave: maps them to those of an operation, which reads the table again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from deltaic.spark.session.jvm import PACKAGE, java_class, static_method
from deltaic.spark.session.kind import is_connect

# of which a client tells the server the numbers
_FRAMES = 64


@dataclass
class FrameColumns:
    """The columns of the frames of one `DeltaTable`.

    Frames of a classic session have the same ones while the columns of the table stay. A column of Spark Connect has
    the number of its frame's plan; those of the last frames are known.
    """

    plans: list[int] = field(default_factory=list)
    _known: Any = field(default=None, metadata={"travels": False})

    def frame(self, fresh: Any, alias: str | None) -> Any:
        """A frame of the table, just made, as the user gets it: under an alias, if any."""
        if is_connect(fresh):
            df = fresh if alias is None else fresh.alias(alias)
            self.plans = [*self.plans[1 - _FRAMES :], df._plan._plan_id]
            return df
        from pyspark.sql.classic.dataframe import DataFrame

        spark = fresh.sparkSession
        if self._known is None:
            self._known = java_class(spark.sparkContext._gateway, f"{PACKAGE}.FrameColumns")(
                spark._jsparkSession
            )
        df = DataFrame(self._known.frame(fresh._jdf), spark)
        return df if alias is None else df.alias(alias)

    def bound(self, given: Any, alias: str | None, source: Any = None) -> Any:
        """A Column of the user for the rows of the table, which are under an alias, and for those of a source.

        Columns of the frames are those of the table. A column that the source, made from such a frame, has too belongs
        to the side of its alias; without one Spark finds it ambiguous.
        """
        if is_connect(given) or (self._known is None and not self.plans):
            return given
        from pyspark import SparkContext
        from pyspark.sql.classic.column import Column

        if self.plans:
            gateway = SparkContext._active_spark_context._gateway
            named = static_method(gateway, f"{PACKAGE}.ClientColumns", "named")
            given = Column(named(given._jc, ",".join(map(str, self.plans)), alias))
        if self._known is None:
            return given
        return Column(self._known.bound(given._jc, alias, None if source is None else source._jdf))
