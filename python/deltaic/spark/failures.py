"""What a failed job of Spark says about the data or about the machines, as errors of deltaic."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from deltaic.exceptions import (
    DeltaError,
    InvalidExpressionError,
    InvariantViolationError,
    SchemaMismatchError,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deltaic.spark.frame import WriteColumn

MISSING = (
    "the deltaic package is missing on the Spark server: a Python worker cannot import it; install the same "
    "version into the Python that the server and its executors run (PYSPARK_PYTHON), or put it on their "
    "PYTHONPATH"
)
NULL, LENGTH = "null", "length"
_GUARD = re.compile(r"\[USER_RAISED_EXCEPTION\] deltaic\.refused\((\d+),(\w+)\)")
# the last line of a traceback in the error of a task
_IN_TASK = re.compile(r"^deltaic\.exceptions\.SchemaMismatchError: (.+)$", re.MULTILINE)
_BROKEN_RULE = re.compile(
    r"^deltaic\.exceptions\.InvariantViolationError: "
    r"(a row breaks the (?P<rule>.+?) of `(?P<path>.+?)`: `(?P<expression>.*)` does not hold for (?P<row>.*))$",
    re.MULTILINE,
)
_NO_VALUE = re.compile(
    r"^deltaic\.exceptions\.InvalidExpressionError: (expression `(?P<expression>.*)`: (?P<reason>.*))$",
    re.MULTILINE,
)


class PackageNotOnServerError(DeltaError, ImportError):
    """The Python of the Spark server or of its executors cannot import deltaic."""

    reason: str


def guard(column: int, why: str) -> str:
    """The text with which a job fails on a value that a column must not have (`NULL`, `LENGTH`)."""
    return f"deltaic.refused({column},{why})"


def raise_known(error: Exception, path: str, columns: Sequence[WriteColumn]) -> None:
    """Raises what a failed write means, from the error of Spark; returns where that is not known.

    Raises:
        SchemaMismatchError: when the data has a null or a text that the table must not have.
        InvariantViolationError: when a row breaks a rule of the table.
        InvalidExpressionError: when a rule has no value for a row.
        PackageNotOnServerError: when a worker cannot import deltaic.
    """
    text = str(error)
    if (found := _GUARD.search(text)) is not None:
        reason = _reason(columns[int(found[1])], found[2])
        message = f"the data does not fit the table `{path}`: {reason}"
        raise SchemaMismatchError(message, path=path, reason=reason) from error
    if (found := _IN_TASK.search(text)) is not None:
        message = found[1]
        raise SchemaMismatchError(message, path=path, reason=message.partition("`: ")[2]) from error
    if (found := _BROKEN_RULE.search(text)) is not None:
        raise InvariantViolationError(found[1], **found.groupdict()) from error
    if (found := _NO_VALUE.search(text)) is not None:
        raise InvalidExpressionError(found[1], **found.groupdict()) from error
    explain_missing_import(error)


def _reason(column: WriteColumn, why: str) -> str:
    if why == NULL or column.text_limit is None:
        return f"`{column.name}` must not be null, and the data holds a null"
    kind = "char" if column.text_limit["padded"] else "varchar"
    return f"`{column.name}` is {kind}({column.text_limit['length']}), and the data holds a longer text"


def explain_missing_import(error: BaseException) -> None:
    """Raises a `PackageNotOnServerError` from an error of Spark that says that deltaic is missing there.

    The classes and functions that run there are pickled by reference, so the package must be installed there.
    """
    if "No module named 'deltaic" in str(error):
        raise PackageNotOnServerError(MISSING, reason=MISSING) from error
