"""What a failed job of Spark says about the data or about the machines, as errors of deltaic."""

from __future__ import annotations

import json
import re
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyspark.errors import PySparkException

from deltaic import exceptions
from deltaic.exceptions import (
    DeltaError,
    InvariantViolationError,
    ReplaceWhereMismatchError,
    SchemaMismatchError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deltaic.spark.frame import WriteColumn
    from deltaic.spark.rules import RowRules

MISSING = (
    "the deltaic package is missing on the Spark server: a Python worker cannot import it; install the same "
    "version into the Python that the server and its executors run (PYSPARK_PYTHON), or put it on their "
    "PYTHONPATH"
)
NULL, LENGTH = "null", "length"
_GUARD = re.compile(r"\[USER_RAISED_EXCEPTION\] deltaic\.refused\((\d+),(\w+),([0-9A-F]*)\)")
_NOT_REPLACED_TEXT = (
    "a row of the data for `{path}` does not match `{predicate}`, which the overwrite replaces: {row}"
)
OUTSIDE = "deltaic.outside(("
_RULE = re.compile(r"\[USER_RAISED_EXCEPTION\] deltaic\.broken\((\d+),([0-9A-F]*)\)")
# Spark shows the text that it could not compute a value of
_COMPUTING = re.compile(
    r"\[[A-Z_.]+\] (?P<reason>[^\n]+?) SQLSTATE: \w+\n== SQL [^\n]*==\n(?P<sql>.*?)\n\s*\^+", re.DOTALL
)
_OUTSIDE = re.compile(r"\[USER_RAISED_EXCEPTION\] deltaic\.outside\(\(([0-9A-F]*)\)")
_NOT_REPLACED = re.compile(
    r"^deltaic\.exceptions\.ReplaceWhereMismatchError: (.+): (?P<row>.*)$", re.MULTILINE
)

_UNFIT = re.compile(
    r"No module named '(?:deltaic|pyarrow|pandas)[^']*'|\[PYTHON_VERSION_MISMATCH\][^\n]*"
    r"|\[(?:PACKAGE_NOT_INSTALLED|UNSUPPORTED_PACKAGE_VERSION)\][^\n]*"
)
_FACTS = "facts of deltaic: "
# the last lines of a traceback in the error of a task
_OF_WORKER = re.compile(
    r"^deltaic\.exceptions\.(?P<kind>\w+): (?P<message>(?s:.+?))\n" + _FACTS + r"(?P<facts>\[.*\])$",
    re.MULTILINE,
)


class PackageNotOnServerError(DeltaError, ImportError):
    """The Python of the Spark server, or of the workers of a session, cannot import deltaic."""

    reason: str


def guard(column: int, why: str) -> str:
    """The beginning of the text with which a job fails on a value that a column must not have (`NULL`, `LENGTH`).

    The values of the row follow, as hexadecimal digits, and `)`.
    """
    return f"deltaic.refused({column},{why},"


def broken(check: int) -> str:
    """The beginning of the text with which a job fails on a row that breaks a rule.

    The values of the row follow, as hexadecimal digits, and `)`.
    """
    return f"deltaic.broken({check},"


def raise_known(
    error: Exception,
    path: str,
    columns: Sequence[WriteColumn],
    rules: RowRules,
    replaced: str | None = None,
) -> None:
    """Raises what a failed write means, from the error of Spark; returns where that is not known.

    `replaced` is the condition of an overwrite of some rows.

    Raises:
        SchemaMismatchError: when the data has a null or a text that the table must not have.
        InvariantViolationError: when a row breaks a rule of the table.
        ReplaceWhereMismatchError: when a row is not among those that the overwrite replaces.
        InvalidExpressionError: when a rule has no value for a row.
        PackageNotOnServerError: when a worker cannot import deltaic.
    """
    text = str(error)
    _raise_sparks_checks(error, path)
    if (found := _GUARD.search(text)) is not None:
        column, row = columns[int(found[1])], _from_hex(found[3])
        refusal = SchemaMismatchError.of(path, f"{_reason(column, found[2])}: {row}")
        if found[2] == NULL or column.text_limit is None:
            raise refusal.named("DELTA_NOT_NULL_CONSTRAINT_VIOLATED", columnName=column.name) from error
        raise refusal.named("DELTA_EXCEED_CHAR_VARCHAR_LIMIT") from error
    if (found := _RULE.search(text)) is not None:
        check, row = rules.checks[int(found[1])], _from_hex(found[2])
        message = f"a row breaks the {check.rule} of `{path}`: `{check.expression}` does not hold for {row}"
        facts = {"path": path, "rule": check.rule, "expression": check.expression, "row": row}
        raise InvariantViolationError(message, **facts) from error
    if (found := _COMPUTING.search(text)) is not None:
        for rule in rules.all():
            if (rule.sql or rule.expression) in found["sql"]:
                raise rule.refused(None, f"{found['reason']} (a rule of the table `{path}`)") from error
    if (found := _OUTSIDE.search(text) or _NOT_REPLACED.search(text)) is not None:
        row = _from_hex(found[1]) if found.re is _OUTSIDE else found["row"]
        facts = {"path": path, "predicate": replaced or "", "row": row}
        message = _NOT_REPLACED_TEXT.format(**facts)
        raise ReplaceWhereMismatchError(message, **facts) from error
    if (of_worker := _told(text)) is not None:
        raise of_worker from error
    explain_missing_import(error)


def _raise_sparks_checks(error: Exception, path: str) -> None:
    """Raises what Spark's own checks of an INSERT mean, which come before those of the table."""
    if not isinstance(error, PySparkException):
        return
    condition, facts = error.getCondition(), error.getMessageParameters() or {}
    if condition == "NOT_NULL_ASSERT_VIOLATION":
        column = facts["walkedTypePath"].strip()
        refusal = SchemaMismatchError.of(path, f"`{column}` must not be null, and the data holds a null")
        raise refusal.named("DELTA_NOT_NULL_CONSTRAINT_VIOLATED", columnName=column) from error
    if condition == "EXCEED_LIMIT_LENGTH":
        reason = (
            f"a char or varchar column is of {facts['limit']} characters, and the data holds a longer text"
        )
        raise SchemaMismatchError.of(path, reason).named("DELTA_EXCEED_CHAR_VARCHAR_LIMIT") from error


def telling(error: DeltaError) -> DeltaError:
    """The same error with its facts in its text, which is all that Spark hands over of what ends a worker."""
    told = [error.facts, error._condition, error._parameters]
    return type(error)(f"{error}\n{_FACTS}{json.dumps(told, default=str)}", **error.facts)


@contextmanager
def errors_of_workers() -> Iterator[None]:
    """Within it, an error of Spark because a read of deltaic failed in a Python worker is the error of that read.

    Raises:
        DeltaError: what the worker raised, with its facts.
        PackageNotOnServerError: when a worker cannot import deltaic.
    """
    try:
        yield
    except Exception as error:
        if (of_worker := _told(str(error))) is not None:
            raise of_worker from error
        explain_missing_import(error)
        raise


def _told(text: str) -> DeltaError | None:
    """The error of `telling` that a text holds."""
    found = _OF_WORKER.search(text)
    kind = None if found is None else getattr(exceptions, found["kind"], None)
    if found is None or not (isinstance(kind, type) and issubclass(kind, DeltaError)):
        return None
    facts, condition, parameters = json.loads(found["facts"])
    same = kind(found["message"], **facts)
    return same if condition is None else same.named(condition, **parameters)


def _from_hex(digits: str) -> str:
    return bytes.fromhex(digits).decode(errors="replace")


def _reason(column: WriteColumn, why: str) -> str:
    if why == NULL or column.text_limit is None:
        return f"`{column.name}` must not be null, and the data holds a null"
    kind = "char" if column.text_limit["padded"] else "varchar"
    return f"`{column.name}` is {kind}({column.text_limit['length']}), and the data holds a longer text"


def explain_missing_import(error: BaseException, python: str | None = None) -> None:
    """Raises a `PackageNotOnServerError` from an error of Spark that says that deltaic is missing there.

    The classes and functions that run there are pickled by reference, so the package must be installed there.
    `python` is what starts the workers of a classic session, which need a Python like that of this process, too.
    """
    text = str(error)
    if python is None:
        if "No module named 'deltaic" in text:
            raise PackageNotOnServerError(MISSING, reason=MISSING) from error
    elif (found := _UNFIT.search(text)) is not None:
        reason = (
            f"Spark's Python workers run `{python}`, which cannot run what deltaic gives them ({found[0]}): set "
            f"PYSPARK_PYTHON to `{sys.executable}` before the session is made, or install there the same version of "
            "deltaic for the same version of Python"
        )
        raise PackageNotOnServerError(reason, reason=reason) from error
