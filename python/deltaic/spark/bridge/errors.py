"""Lets an exception that was raised in a callback reach the user as it was, and not as a `Py4JJavaError`."""

from __future__ import annotations

import itertools
import json
import threading
from collections import OrderedDict
from typing import Any

from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.errors.exceptions import captured

from deltaic.exceptions import DeltaError
from deltaic.spark.session.jvm import PACKAGE, static_method
from deltaic.spark.session.pyspark_errors import as_pyspark_error, of_query
from deltaic.spark.session.worker_errors import error_of_scan, with_facts_in_text

# how a failed call answers: see Python.java
_FAILED = "\0failed\0"
# an exception is dropped once this many newer ones are kept: Spark swallows some, and keeps others to throw them again
_KEPT = 64
_OF_QUERY = "org.apache.spark.sql.streaming.StreamingQueryException"
_UNDECLARED = "java.lang.reflect.UndeclaredThrowableException"

_lock = threading.Lock()
_numbers = itertools.count()
_kept: OrderedDict[str, BaseException] = OrderedDict()
# whether who reads the answers is in another process
_clients: list[bool] = []


def keep(error: BaseException) -> Any:
    """Keeps an exception for `converting`, and returns the answer that makes the JVM throw in its place."""
    with _lock:
        number = str(next(_numbers))
        _kept[number] = raised = as_pyspark_error(error)
        while len(_kept) > _KEPT:
            _kept.popitem(last=False)
    failed = f"{_FAILED}{number}\0{json.dumps(_condition(raised))}\0"
    if not _clients:
        return f"{failed}{type(error).__name__}: {error}"
    # one of Spark's own was raised in the JVM and goes on there
    origin = getattr(error, "_origin", None)
    return f"{failed}{_as_text(error)}" if origin is None else origin


def _condition(error: BaseException) -> dict[str, Any]:
    """What SQL scripts and JDBC clients ask of an error, for ConditionError.java; nothing without a condition."""
    if not isinstance(error, PySparkException) or not error.getCondition():
        return {}
    return {
        "condition": error.getCondition(),
        "sqlState": error.getSqlState(),
        "parameters": dict(error.getMessageParameters() or {}),
    }


def keep_for_clients() -> None:
    """From now on the text of an exception has all that a client in another process needs to raise it again."""
    _clients.append(True)


def _as_text(error: BaseException) -> str:
    if not isinstance(error, DeltaError):
        return f"{type(error).__name__}: {error}"
    carrying = with_facts_in_text(error)
    return f"{type(carrying).__module__}.{type(carrying).__name__}: {carrying}"


def convert_from(gateway: Any) -> None:
    """Makes PySpark's conversion of JVM exceptions find the kept ones. Idempotent."""
    if isinstance(captured.convert_exception, _Converter):
        return
    captured.convert_exception = _Converter(captured.convert_exception, gateway)


def _fetch(number: str) -> BaseException | None:
    """The exception of a number. For the next time another one is kept, without the frames that the first will hold."""
    with _lock:
        found = _kept.get(number)
        if found is not None:
            # not by `copy`: classes of PySpark take what is no argument
            _kept[number] = again = type(found).__new__(type(found), *found.args)
            # one of the system takes its arguments when it is made by the class
            again.args = found.args
            again.__dict__.update(found.__dict__)
        return found


class _Converter:
    def __init__(self, otherwise: Any, gateway: Any) -> None:
        self._otherwise = otherwise
        self._gateway = gateway

    def __call__(self, error: Any) -> BaseException:
        number = static_method(self._gateway, f"{PACKAGE}.PythonError", "idOf")(error)
        kept = None if number is None else _fetch(number)
        if kept is not None:
            return of_query(kept) if error.getClass().getName() == _OF_QUERY else kept
        # the parser's proxy wraps what Spark's interface of parsers does not declare, such as AnalysisException
        if error.getClass().getName() == _UNDECLARED:
            error = error.getCause()
        converted: BaseException = self._otherwise(error)
        context = SparkContext._active_spark_context
        python = None if context is None else context.pythonExec
        found = as_pyspark_error(error_of_scan(converted, python))
        return found if found is converted or error.getClass().getName() != _OF_QUERY else of_query(found)
