"""Checks the arguments of row-level operations as delta-spark does, before anything is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import Column, DataFrame

from deltaic.exceptions import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Mapping


def check_condition(given: Any) -> Any:
    """A condition, or none.

    Raises:
        TypeError: it is neither SQL text nor a Column.
    """
    if given is not None and not isinstance(given, str | Column):
        message = "'condition' must be a Spark SQL Column or a string (expression in SQL syntax)"
        raise TypeError(f"{message}, found to be of type {type(given)}")
    return given


def check_values(argument: str, given: Any, method: str = "") -> Mapping[str, Any]:
    """Columns and their values, perhaps none; errors name the method of a merge that they are given to.

    Raises:
        InvalidArgumentError: they are None.
        TypeError: they are no dict, or in it is something else than SQL text and Columns by name.
    """
    shown = f"'{argument}' in {method}" if method else f"'{argument}'"
    if given is None:
        raise _missing(f"{shown} cannot be None", argument)
    if not isinstance(given, dict):
        raise TypeError(f"{shown} must be a dict, found to be {type(given)}")
    for name, value in given.items():
        if not isinstance(name, str):
            message = f"Keys of dict in {shown} must contain only strings with column names"
            raise TypeError(f"{message}, found '{name}' of type '{type(name)}'")
        if not isinstance(value, str | Column):
            message = f"Values of dict in {shown} must contain only Spark SQL Columns or strings"
            message = f"{message} (expressions in SQL syntax) as values"
            raise TypeError(f"{message}, found '{value}' of type '{type(value)}'")
    return given


def check_merge(source: Any, condition: Any) -> None:
    """The source and the condition of a merge.

    Raises:
        InvalidArgumentError: one of them is None.
        TypeError: the source is no DataFrame, or the condition is neither SQL text nor a Column.
    """
    if source is None:
        raise _missing("'source' in merge cannot be None", "source")
    if not isinstance(source, DataFrame):
        raise TypeError("Type of 'source' in merge must be DataFrame.")
    if condition is None:
        raise _missing("'condition' in merge cannot be None", "condition")
    check_condition(condition)


def _missing(message: str, argument: str) -> InvalidArgumentError:
    return InvalidArgumentError(message, argument=argument, reason="cannot be None")
