"""The conditions by which delta-spark and Spark distinguish errors; the table is in the core."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from deltaic import _core


class Condition(NamedTuple):
    """A condition."""

    name: str
    sql_state: str
    spark_class: str
    """The class of PySpark that an error in Spark is one of, too."""
    parameters: dict[str, str | None]
    """The message parameters, each with the fact of the error that fills it."""


@cache
def conditions() -> dict[str, Condition]:
    """Every condition by its name."""
    return {
        found["name"]: Condition(
            found["name"], found["sql_state"], found["spark_class"], dict(found["parameters"])
        )
        for found in _core.error_conditions()
    }


@cache
def of_kinds() -> dict[str, str]:
    """The name of the condition of each kind of error that is always the same one."""
    return dict(_core.conditions_of_kinds())
