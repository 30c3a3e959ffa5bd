"""Errors as users of delta-spark catch them: what PySpark would raise for one of its errors is that class here, too."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from pyspark.errors import (
    AnalysisException,
    IllegalArgumentException,
    PySparkException,
    UnsupportedOperationException,
)

from deltaic import exceptions
from deltaic.exceptions import DeltaError

if TYPE_CHECKING:
    from collections.abc import Callable

# by the kind of the error or of one that it is of, in order
_CLASSES: dict[type[DeltaError], tuple[type[PySparkException], ...]] = {
    exceptions.DeltaConcurrentModificationException: (PySparkException,),
    exceptions.MultipleMatchesError: (UnsupportedOperationException,),
    exceptions.AppendOnlyError: (UnsupportedOperationException,),
    # a setting and an option of a wrong value are the one, a column that is not there the other
    exceptions.InvalidArgumentError: (AnalysisException, IllegalArgumentException),
    exceptions.TableNotFoundError: (AnalysisException,),
    exceptions.TableAlreadyExistsError: (AnalysisException,),
    exceptions.VersionNotFoundError: (AnalysisException,),
    exceptions.TimestampOutOfRangeError: (AnalysisException,),
    exceptions.InvalidTimeTravelError: (AnalysisException,),
    exceptions.SchemaMismatchError: (AnalysisException,),
    exceptions.SchemaChangedError: (AnalysisException,),
    exceptions.ReplaceWhereMismatchError: (AnalysisException,),
    exceptions.InvalidPredicateError: (AnalysisException,),
    exceptions.InvalidExpressionError: (AnalysisException,),
    exceptions.InvalidColumnChangeError: (AnalysisException,),
    exceptions.InvalidSchemaError: (AnalysisException,),
}

Given = ParamSpec("Given")
Result = TypeVar("Result")
Made = TypeVar("Made", bound=type)


class SparksError(DeltaError, PySparkException):  # type: ignore[misc]  # pyspark has no types
    """What an error of deltaic that is one of PySpark has of that."""

    def __init__(self, message: str = "", /, **facts: object) -> None:
        super().__init__(message, **facts)
        # those of some classes never come to PySpark's own
        self._message, self._errorClass = message, None
        self._messageParameters = None
        self._contexts: list[Any] = []

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""

    def getMessage(self) -> str:  # noqa: N802 (the name of PySpark)
        """The message."""
        return str(self)

    def getSqlState(self) -> None:  # noqa: N802 (the name of PySpark)
        """None."""

    def __reduce__(self) -> Any:
        return _made, (type(self).__mro__[2], self.args, self.facts)


_classes: dict[type[DeltaError], type[DeltaError]] = {}


def _class(of: type[DeltaError]) -> type[DeltaError]:
    """The class that is of PySpark's, too; the same where there is none."""
    if of not in _classes:
        kind = next((k for k in _CLASSES if issubclass(of, k)), None)
        if kind is None or issubclass(of, PySparkException):
            return of
        _classes[of] = type(of.__name__, (SparksError, of, *_CLASSES[kind]), {"__doc__": of.__doc__})
    return _classes[of]


def _made(of: type[DeltaError], args: tuple[Any, ...], facts: dict[str, Any]) -> DeltaError:
    return _class(of)(*args, **facts)


def as_sparks(error: BaseException) -> BaseException:
    """The error, that is of PySpark's class, too, where delta-spark's would be; other errors as they are."""
    if not isinstance(error, DeltaError) or _class(type(error)) is type(error):
        return error
    same = _made(type(error), error.args, error.facts)
    same.__cause__, same.__suppress_context__ = error.__cause__, error.__suppress_context__
    return same.with_traceback(error.__traceback__)


def raises_sparks(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """The function, whose errors are `as_sparks`."""

    @functools.wraps(function)
    def wrapper(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        try:
            return function(*args, **kwargs)
        except DeltaError as error:
            same = as_sparks(error)
            if same is error:
                raise
            raise same from same.__cause__

    return wrapper


def all_raise_sparks(of: Made) -> Made:
    """The class, of whose public methods the errors are `as_sparks`."""
    for name, value in [*vars(of).items()]:
        if name.startswith("_"):
            continue
        if isinstance(value, classmethod):
            setattr(of, name, classmethod(raises_sparks(value.__func__)))
        elif callable(value):
            setattr(of, name, raises_sparks(value))
    return of
