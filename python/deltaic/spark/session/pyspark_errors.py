"""Errors as users of delta-spark catch them: what PySpark would raise for one of its errors is that class here, too."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from pyspark import errors
from pyspark.errors import (
    AnalysisException,
    IllegalArgumentException,
    PySparkException,
    StreamingQueryException,
)

from deltaic import exceptions
from deltaic.error_conditions import conditions
from deltaic.exceptions import DeltaError

if TYPE_CHECKING:
    from collections.abc import Callable

# of errors that delta-spark has no condition for, by the kind of the error or of one that it is of
_CLASSES: dict[type[DeltaError], tuple[type[PySparkException], ...]] = {
    # a setting and an option of a wrong value are the one, a missing column the other
    exceptions.InvalidArgumentError: (AnalysisException, IllegalArgumentException),
    exceptions.InvalidTimeTravelError: (AnalysisException,),
    exceptions.InvalidPredicateError: (AnalysisException,),
    exceptions.InvalidExpressionError: (AnalysisException,),
    exceptions.InvalidColumnChangeError: (AnalysisException,),
    exceptions.InvalidSchemaError: (AnalysisException,),
}

Given = ParamSpec("Given")
Result = TypeVar("Result")
Made = TypeVar("Made", bound=type)


class PySparkError(DeltaError, PySparkException):  # type: ignore[misc]  # pyspark has no types
    """What an error of deltaic that is one of PySpark has of that."""

    def __init__(self, message: str = "", /, **facts: object) -> None:
        super().__init__(message, **facts)
        # those of some classes never become PySpark's own
        self._message, self._errorClass = message, None
        self._messageParameters = None
        self._contexts: list[Any] = []

    def __str__(self) -> str:
        text = str(self.args[0]) if self.args else ""
        if self.condition is None:
            return text
        # texts of delta-spark end without it, those of Spark with it
        state = "" if "DELTA" in self.condition else f" SQLSTATE: {self.sql_state}"
        return f"[{self.condition}] {text}{state}"

    def getCondition(self) -> str | None:  # noqa: N802 (the name of PySpark)
        """The condition."""
        return self.condition

    def getErrorClass(self) -> str | None:  # noqa: N802 (the name of PySpark)
        """The condition, by its older name."""
        return self.condition

    def getMessage(self) -> str:  # noqa: N802 (the name of PySpark)
        """The message."""
        return str(self)

    def getMessageParameters(self) -> dict[str, str]:  # noqa: N802 (the name of PySpark)
        """The known parameters of the condition, by name."""
        return self.message_parameters

    def getSqlState(self) -> str | None:  # noqa: N802 (the name of PySpark)
        """The SQLSTATE."""
        return self.sql_state

    def __reduce__(self) -> Any:
        return _again, (type(self).__mro__[2], self.args, self.facts, self._condition, self._parameters)


_classes: dict[tuple[type[DeltaError], tuple[type[PySparkException], ...]], type[DeltaError]] = {}


def _class(error: DeltaError) -> type[DeltaError]:
    """The class that is of PySpark's, too; the same where there is none."""
    of = type(error)
    if isinstance(error, PySparkException):
        return of
    sparks: tuple[type[PySparkException], ...] | None
    if error.condition is not None:
        sparks = (getattr(errors, conditions()[error.condition].spark_class),)
    else:
        sparks = next((_CLASSES[k] for k in _CLASSES if issubclass(of, k)), None)
    if sparks is None:
        return of
    return _joined(of, sparks)


def _joined(of: type[DeltaError], sparks: tuple[type[PySparkException], ...]) -> type[DeltaError]:
    if (of, sparks) not in _classes:
        # PySparkError is the plain one
        more = [c for c in sparks if c is not PySparkException]
        _classes[of, sparks] = type(of.__name__, (PySparkError, of, *more), {"__doc__": of.__doc__})
    return _classes[of, sparks]


def _made(error: DeltaError) -> DeltaError:
    same = _class(error)(*error.args, **error.facts)
    same._condition, same._parameters = error._condition, error._parameters
    return same


def _again(
    of: type[DeltaError],
    args: tuple[Any, ...],
    facts: dict[str, Any],
    condition: str | None,
    parameters: dict[str, str],
) -> DeltaError:
    error = of(*args, **facts)
    error._condition, error._parameters = condition, parameters
    return _made(error)


def of_query(error: BaseException) -> BaseException:
    """The error that ended a streaming query; of deltaic, it is a `StreamingQueryException` of PySpark, too."""
    if not isinstance(error, DeltaError) or isinstance(error, StreamingQueryException):
        return error
    of = next(c for c in type(error).__mro__ if issubclass(c, DeltaError) and not issubclass(c, PySparkError))
    same = _joined(of, (StreamingQueryException,))(*error.args, **error.facts)
    same._condition, same._parameters = error._condition, error._parameters
    return same.with_traceback(error.__traceback__)


def as_pyspark_error(error: BaseException) -> BaseException:
    """The error, that is of PySpark's class, too, where delta-spark's would be; other errors as they are."""
    if not isinstance(error, DeltaError) or _class(error) is type(error):
        return error
    same = _made(error)
    same.__cause__, same.__suppress_context__ = error.__cause__, error.__suppress_context__
    return same.with_traceback(error.__traceback__)


def raises_pyspark_errors(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """The function, whose errors are `as_pyspark_error`."""

    @functools.wraps(function)
    def wrapper(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        try:
            return function(*args, **kwargs)
        except DeltaError as error:
            same = as_pyspark_error(error)
            if same is error:
                raise
            raise same from same.__cause__

    return wrapper


def all_raise_pyspark_errors(of: Made) -> Made:
    """The class, of whose public methods the errors are `as_pyspark_error`."""
    for name, value in [*vars(of).items()]:
        if name.startswith("_"):
            continue
        if isinstance(value, classmethod):
            setattr(of, name, classmethod(raises_pyspark_errors(value.__func__)))
        elif callable(value):
            setattr(of, name, raises_pyspark_errors(value))
    return of
