"""Errors of the bridge on a server, in the client: the class, the facts and the condition that they have there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltaic.spark.session.jvm import PACKAGE
from deltaic.spark.session.pyspark_errors import as_pyspark_error, of_query
from deltaic.spark.session.worker_errors import OF_SCAN, error_of_worker

if TYPE_CHECKING:
    from collections.abc import Callable

_OURS = f"{PACKAGE}.PythonError"
_OF_QUERY = "org.apache.spark.sql.streaming.StreamingQueryException"


def convert() -> None:
    """Makes PySpark's conversion of a server's errors find those of deltaic. Idempotent."""
    from pyspark.sql.connect.client import core

    if not isinstance(core.convert_exception, _Converter):
        core.convert_exception = _Converter(core.convert_exception)


class _Converter:
    def __init__(self, otherwise: Callable[..., BaseException]) -> None:
        self._otherwise = otherwise

    def __call__(self, info: Any, *more: Any, **named: Any) -> BaseException:
        converted = self._otherwise(info, *more, **named)
        text = str(converted)
        # of the bridge, or of the core in a Python worker
        said = [text] if _OURS in text or OF_SCAN in text else []
        # what the server says of each cause, where it was asked for more than the first lines
        for answer in more:
            if answer is not None and hasattr(answer, "errors"):
                said += [e.message for e in answer.errors if _OURS in e.error_type_hierarchy]
        found = next((e for one in said if (e := error_of_worker(one)) is not None), None)
        if found is None:
            return converted
        error: BaseException = as_pyspark_error(found)
        if _OF_QUERY in info.metadata.get("classes", ""):
            error = of_query(error)
        error.__cause__ = converted
        return error
