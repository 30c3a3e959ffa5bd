"""Queries of Delta tables for sessions whose server does not know where these are: those of Spark Connect."""

from __future__ import annotations

import uuid
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from deltaic.spark.catalog import names
from deltaic.spark.read.rows import changes, read
from deltaic.statements.references import Reference, references

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame


def query(spark: Any, text: str) -> DataFrame:
    """The rows of a query: the Delta tables in it, by name and by path, are read as `deltaic.read` reads them.

    What is not a query, or has no such table, is sent to the server as it is.

    Raises:
        VersionNotFoundError, TimestampOutOfRangeError: with the range that is available.
        DeltaError: as `deltaic.read` and `deltaic.table_changes`.
    """
    frames: dict[str, Any] = {}

    def argument(frame: Any) -> str:
        name = f"table_{len(frames)}"
        frames[name] = frame
        return f"{{{name}}}"

    replaced = _replaced(spark, text, 0, argument, _plain)
    result: DataFrame = spark.sql(replaced, **frames) if frames else spark.sql(text)
    return result


@contextmanager
def views(spark: Any) -> Iterator[Callable[[str], str]]:
    """Takes the Delta tables in the subqueries of expressions to views of the session, which go again at the end.

    Raises:
        DeltaError: as `query`.
    """
    made: list[str] = []

    def view(frame: Any) -> str:
        made.append(f"deltaic_{uuid.uuid4().hex}")
        frame.createOrReplaceTempView(made[-1])
        return made[-1]

    def viewed(expression: str) -> str:
        # only a query has tables
        before = "SELECT "
        return _replaced(spark, before + expression, len(before), view, str)

    try:
        yield viewed
    finally:
        for name in made:
            spark.catalog.dropTempView(name)


def _replaced(
    spark: Any, text: str, at: int, stand_in: Callable[[Any], str], around: Callable[[str], str]
) -> str:
    """The text from a position on, with a placeholder for the rows of each Delta table in it."""
    out = []
    for found in references(text):
        frame = _frame(spark, found)
        if frame is not None:
            out += [around(text[at : found.start]), stand_in(frame), around(found.alias)]
            at = found.end
    return "".join([*out, around(text[at:])])


def _frame(spark: Any, found: Reference) -> Any:
    """The rows of a table; none where it is none of ours, which the server knows."""
    known = names.ours(spark, found.name)
    if known is None:
        return None
    if found.changes:
        return changes(spark, known.path, *found.changes)
    timestamp = found.timestamp
    if timestamp is not None and timestamp.startswith("("):
        # the text is the user's own statement
        timestamp = spark.sql(f"SELECT CAST({timestamp} AS STRING)").first()[0]
    return read(spark, known.path, found.version, timestamp)


def _plain(text: str) -> str:
    """Text that `spark.sql` leaves unchanged beside its arguments."""
    return text.replace("{", "{{").replace("}", "}}")
