"""What to say when a Spark server or executor cannot import deltaic."""

from __future__ import annotations

from deltaic.exceptions import DeltaError


class PackageNotOnServerError(DeltaError, ImportError):
    """The Python of the Spark server or of its executors cannot import deltaic."""

    reason: str


def explain_missing_import(error: BaseException) -> None:
    """Raises a `PackageNotOnServerError` from an error of Spark that says that deltaic is missing there.

    The classes and functions that run there are pickled by reference, so the package must be installed there.
    """
    if "No module named 'deltaic" in str(error):
        reason = (
            "a Python worker of Spark cannot import deltaic: install the same version into the Python that the "
            "Spark server and its executors run (PYSPARK_PYTHON), or put it on their PYTHONPATH"
        )
        raise PackageNotOnServerError(reason, reason=reason) from error
