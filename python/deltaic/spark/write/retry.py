"""Retries commands that lost a race, on what the winner left."""

from __future__ import annotations

import functools
import random
import time
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from deltaic.exceptions import (
    ConcurrentAppendError,
    ConcurrentDeleteDeleteError,
    ConcurrentDeleteReadError,
    InvalidArgumentError,
)

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_REPLAYS = "spark.deltaic.maxReplays"
"""How often a command that lost a race is played again. 0: the first lost race is an error."""
_DEFAULT = "10"
# rows changed during the command: repeated on the current rows, it does what was asked. It may not be repeated after a
# change of the schema or the protocol, or of an application's version.
_ROWS_CHANGED = (ConcurrentAppendError, ConcurrentDeleteDeleteError, ConcurrentDeleteReadError)
# seconds for each race that was lost
_PAUSE = 0.05

Given = ParamSpec("Given")
Result = TypeVar("Result")
Of = TypeVar("Of")


def retried(
    function: Callable[Concatenate[Of, Given], Result],
) -> Callable[Concatenate[Of, Given], Result]:
    """The command, which is played again where others changed the rows that it read or changes.

    Its first argument is the session, or knows it as `spark`. Nothing of a command that lost is in the table, so that
    it is retried: it reads the newest version, and its query and source are computed again.

    Raises:
        CommitConflictError: as the command, once it has lost more often than `MAX_REPLAYS`.
        InvalidArgumentError: for a setting that is not a whole number.
    """

    @functools.wraps(function)
    def wrapper(first: Of, /, *args: Given.args, **kwargs: Given.kwargs) -> Result:
        lost = 0
        while True:
            try:
                return function(first, *args, **kwargs)
            except _ROWS_CHANGED:
                if lost >= _most(getattr(first, "spark", first)):
                    raise
            lost += 1
            # writers that lost against each other do not meet again at once
            time.sleep(random.uniform(0, _PAUSE * lost))  # noqa: S311 (no secret)

    return wrapper


def _most(spark: Any) -> int:
    text = spark.conf.get(MAX_REPLAYS, _DEFAULT)
    try:
        return max(0, int(text))
    except ValueError:
        raise InvalidArgumentError.of(MAX_REPLAYS, f"`{text}` is not a whole number") from None
