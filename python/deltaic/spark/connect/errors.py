"""Errors of the bridge on a server, in the client: the class, the facts and the condition that they have there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from deltaic.spark.session.jvm import PACKAGE
from deltaic.spark.session.pyspark_errors import as_pyspark_error, of_query
from deltaic.spark.session.worker_errors import OF_SCAN, error_of_worker

if TYPE_CHECKING:
    from collections.abc import Callable

_OURS = f"{PACKAGE}.PythonError"
_OF_QUERY = "org.apache.spark.sql.streaming.StreamingQueryException"
_WRAPPED = "java.lang.reflect.UndeclaredThrowableException"
"""What the parser's proxy makes of errors that Spark's interface of parsers does not declare."""


def convert() -> None:
    """Makes PySpark's conversion of a server's errors find those of deltaic. Idempotent."""
    from pyspark.sql.connect.client import core

    if not isinstance(core.convert_exception, _Converter):
        core.convert_exception = _Converter(core.convert_exception)


class _Converter:
    def __init__(self, otherwise: Callable[..., BaseException]) -> None:
        self._otherwise = otherwise

    def __call__(self, info: Any, *more: Any, **named: Any) -> BaseException:
        if _WRAPPED in info.metadata.get("classes", ""):
            info, more = _unwrapped(info, more)
        converted = self._otherwise(info, *more, **named)
        text = str(converted)
        # of the bridge, or of the core in a Python worker
        said = [text] if _OURS in info.metadata.get("classes", "") or _OURS in text or OF_SCAN in text else []
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


def _unwrapped(info: Any, more: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """The arguments for the cause of a wrapped error, where the server says it."""
    at = next((i for i, one in enumerate(more) if hasattr(one, "root_error_idx")), None)
    if at is None or not more[at].errors[more[at].root_error_idx].HasField("cause_idx"):
        return info, more
    answer, same = type(more[at])(), type(info)()
    answer.CopyFrom(more[at])
    same.CopyFrom(info)
    answer.root_error_idx = answer.errors[answer.root_error_idx].cause_idx
    cause = answer.errors[answer.root_error_idx]
    same.reason = cause.error_type_hierarchy[0]
    same.metadata["classes"] = json.dumps(list(cause.error_type_hierarchy))
    same.metadata["errorClass"] = cause.spark_throwable.error_class
    same.metadata["sqlState"] = cause.spark_throwable.sql_state
    return same, (*more[:at], answer, *more[at + 1 :])
