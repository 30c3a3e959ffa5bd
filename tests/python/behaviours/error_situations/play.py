"""Small situations that end in an error, played by deltaic and, in its own process, by delta-spark.

A situation is a generator: what comes before its `yield` has to work, what comes after it is the attempt. It is given
the session, the class `DeltaTable` of the engine, and a folder of its own (as text), and it names tables of the
catalog after itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Play = Callable[[Any, Any, str], Iterator[None]]

SITUATIONS: dict[str, Play] = {}


def situation(play: Play) -> Play:
    SITUATIONS[play.__name__] = play
    return play


def reported(error: BaseException) -> dict[str, Any]:
    """What a program can tell of an error; of one that PySpark has no class for, what the JVM tells."""
    thrown = _thrown(error)

    def ask(method: str) -> Any:
        return getattr(thrown, method)() if hasattr(thrown, method) else None

    return {
        "error": str(error),
        "classes": [c.__name__ for c in type(error).__mro__],
        "condition": ask("getCondition"),
        "sqlState": ask("getSqlState"),
        "parameters": dict(ask("getMessageParameters") or {}),
    }


def _thrown(error: BaseException) -> Any:
    from py4j.java_gateway import is_instance_of
    from pyspark import SparkContext

    cause = getattr(error, "java_exception", None)
    while cause is not None:
        if is_instance_of(SparkContext._gateway, cause, "org.apache.spark.SparkThrowable"):
            return cause
        cause = cause.getCause()
    return error


def attempt(name: str, spark: Any, tables: Any, at: str) -> dict[str, Any] | None:
    """The error of a situation; None where there is none."""
    play = SITUATIONS[name](spark, tables, at)
    next(play)
    try:
        next(play, None)
    except Exception as error:  # noqa: BLE001 the error is the answer
        return reported(error)
    return None


def ids(spark: Any, at: str, *options: tuple[str, str], count: int = 3, by: str | None = None) -> None:
    """A table of the column `id`; with `by` of another one, too, that it is partitioned by."""
    rows = spark.range(count)
    writer = (rows.selectExpr("id", f"id % 2 AS {by}") if by else rows).write.format("delta")
    (writer.partitionBy(by) if by else writer).options(**dict(options)).save(at)


def by_sql(spark: Any, at: str, columns: str, more: str = "") -> None:
    spark.sql(f"CREATE TABLE delta.`{at}` ({columns}) USING delta {more}")
