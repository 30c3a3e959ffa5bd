"""Errors of Python workers: what one raised, or that it cannot import deltaic, as errors of deltaic."""

from __future__ import annotations

import json
import re
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from deltaic import exceptions
from deltaic.exceptions import DeltaError

if TYPE_CHECKING:
    from collections.abc import Iterator

MISSING = (
    "the deltaic package is missing on the Spark server: a Python worker cannot import it; install the same "
    "version into the Python that the server and its executors run (PYSPARK_PYTHON), or put it on their "
    "PYTHONPATH"
)

_UNFIT = re.compile(
    r"No module named '(?:deltaic|pyarrow|pandas)[^']*'|\[PYTHON_VERSION_MISMATCH\][^\n]*"
    r"|\[(?:PACKAGE_NOT_INSTALLED|UNSUPPORTED_PACKAGE_VERSION)\][^\n]*"
)
_FACTS = "facts of deltaic: "
OF_SCAN = "in a scan of deltaic"
_UNKNOWN = "No module named 'deltaic"
# the last lines of a traceback in the error of a task, or what the bridge of a server threw
_OF_WORKER = re.compile(
    r"^(?:.*deltaic\.spark\.(?:Python|Condition)Error[):] ?)?"
    r"deltaic\.exceptions\.(?P<kind>\w+): (?P<message>(?s:.+?))\n" + _FACTS + r"(?P<facts>\[.*\])$",
    re.MULTILINE,
)


class PackageNotOnServerError(DeltaError, ImportError):
    """The Python of the Spark server, or of the workers of a session, cannot import deltaic."""

    reason: str


def with_facts_in_text(error: DeltaError) -> DeltaError:
    """The same error with its facts in its text, which is all that Spark hands over of what ends a worker."""
    facts = [error.facts, error._condition, error._parameters]
    # one that is of PySpark's class, too, would put its condition before a text that has it
    kind: type[DeltaError] = next(c for c in type(error).__mro__ if c.__module__ == DeltaError.__module__)
    return kind(f"{error}\n{_FACTS}{json.dumps(facts, default=str)}", **error.facts)


@contextmanager
def errors_of_workers() -> Iterator[None]:
    """Within it, an error of Spark because a read of deltaic failed in a Python worker is the error of that read.

    Raises:
        DeltaError: what the worker raised, with its facts.
        PackageNotOnServerError: when a worker cannot import deltaic.
    """
    try:
        yield
    except DeltaError:
        raise
    except Exception as error:
        if (of_worker := error_of_worker(str(error))) is not None:
            raise of_worker from error
        explain_missing_import(error)
        raise


def with_facts_of_scan(error: DeltaError) -> DeltaError:
    """As `with_facts_in_text`, for `error_of_scan`."""
    marked = with_facts_in_text(error)
    return type(error)(f"{marked.args[0]}\n{OF_SCAN}", **error.facts)


def error_of_scan(error: BaseException, python: str | None) -> BaseException:
    """What a scan by the core in Python workers raised, from an error of Spark; any other one as it is."""
    text = str(error)
    if OF_SCAN in text:
        return error_of_worker(text) or error
    if _UNKNOWN not in text:
        return error
    try:
        explain_missing_import(error, python)
    except PackageNotOnServerError as missing:
        return missing
    return error


def error_of_worker(text: str) -> DeltaError | None:
    """The error of `with_facts_in_text` that a text holds."""
    found = _OF_WORKER.search(text)
    kind = None if found is None else getattr(exceptions, found["kind"], None)
    if found is None or not (isinstance(kind, type) and issubclass(kind, DeltaError)):
        return None
    facts, condition, parameters = json.loads(found["facts"])
    same = kind(found["message"], **facts)
    return same if condition is None else same.named(condition, **parameters)


def explain_missing_import(error: BaseException, python: str | None = None) -> None:
    """Raises a `PackageNotOnServerError` from an error of Spark about deltaic missing there.

    The classes and functions that run there are pickled by reference, so the package must be installed there.
    `python` is what starts the workers of a classic session, which need a Python like that of this process, too.
    """
    text = str(error)
    if python is None:
        if _UNKNOWN in text:
            raise PackageNotOnServerError(MISSING, reason=MISSING) from error
    elif (found := _UNFIT.search(text)) is not None:
        reason = (
            f"Spark's Python workers run `{python}`, which cannot run what deltaic gives them ({found[0]}): set "
            f"PYSPARK_PYTHON to `{sys.executable}` before the session is made, or install there the same version of "
            "deltaic for the same version of Python"
        )
        raise PackageNotOnServerError(reason, reason=reason) from error
