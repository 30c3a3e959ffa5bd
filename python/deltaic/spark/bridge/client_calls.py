"""Functions of deltaic that clients of Spark Connect call: see `deltaic.spark.session.on_server`."""

from __future__ import annotations

import base64
from functools import cached_property
from typing import Any

from deltaic.exceptions import InvalidArgumentError
from deltaic.spark.session.jvm import PACKAGE, java_class, session_of, static_method
from deltaic.spark.session.on_server import Decoder, answer_to

_SERVICE = "org.apache.spark.sql.connect.service.SparkConnectService"
_PLANNER = "org.apache.spark.sql.connect.planner.SparkConnectPlanner"
_PROTO = "org.apache.spark.connect.proto."


def call(asked: dict[str, Any], data: Any) -> Any:
    """Carries a call out; a Java Dataset with the answer in its only row."""
    spark = session_of(data)
    answer = answer_to(asked["call"], _OfClient(spark))
    return spark.createDataFrame([(answer,)], "answer string")._jdf


class _OfClient(Decoder):
    """Columns and frames as the server's planner reads them, which knows the client's UDFs and cached rows.

    A frame goes before the columns of it (`df["id"]`), as in the arguments of a merge.
    """

    def __init__(self, spark: Any) -> None:
        super().__init__(spark)
        self._frames: list[Any] = []

    def _column(self, value: str) -> Any:
        from pyspark.sql.classic.column import Column

        expression = self._planner.transformExpression(self._parsed("Expression", value))
        for frame in self._frames:
            expression = static_method(self._gateway, f"{PACKAGE}.ClientColumns", "of")(expression, frame)
        of = static_method(self._gateway, "org.apache.spark.sql.classic.ExpressionUtils", "column")
        return Column(of(expression))

    def _frame(self, value: str) -> Any:
        from pyspark.sql.classic.dataframe import DataFrame

        plan = self._planner.transformRelation(self._parsed("Relation", value))
        of = static_method(self._gateway, "org.apache.spark.sql.classic.Dataset", "ofRows")
        frame = of(self.spark._jsparkSession, plan)
        self._frames.append(frame)
        return DataFrame(frame, self.spark)

    def _parsed(self, kind: str, value: str) -> Any:
        return static_method(self._gateway, f"{_PROTO}{kind}", "parseFrom")(base64.b64decode(value))

    @property
    def _gateway(self) -> Any:
        return self.spark.sparkContext._gateway

    @cached_property
    def _planner(self) -> Any:
        """That of the client's session.

        Raises:
            InvalidArgumentError: the session is another one's.
        """
        user, session = self.client or ("", "")
        nothing = static_method(self._gateway, "scala.Option", "empty")()
        holder = static_method(self._gateway, _SERVICE, "getOrCreateIsolatedSession")(user, session, nothing)
        if not holder.session().equals(self.spark._jsparkSession):
            raise InvalidArgumentError.of("session", f"{session} is not the session of this call")
        return java_class(self._gateway, _PLANNER)(holder, nothing)
