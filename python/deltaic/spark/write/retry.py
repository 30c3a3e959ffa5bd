"""Retries commands that lost a race, on what the winner left, and those that lost rows with an executor."""

from __future__ import annotations

import functools
import logging
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

_LOG = logging.getLogger("deltaic.retry")
MAX_REPLAYS = "spark.deltaic.maxReplays"
"""How often a command that lost a race is played again. 0: the first lost race is an error."""
_DEFAULT = "10"
# rows changed during the command: repeated on the current rows, it does what was asked. It may not be repeated after a
# change of the schema or the protocol, or of an application's version.
_ROWS_CHANGED = (ConcurrentAppendError, ConcurrentDeleteDeleteError, ConcurrentDeleteReadError)
# seconds for each race that was lost
_PAUSE = 0.05
# Spark's condition for rows of a `localCheckpoint` whose executor has ended: they cannot be computed again alone
_LOST_ROWS = "CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND"
# how often a command may lose rows, as delta-spark materializes the source of a merge at most four times
_MOST_LOST_ROWS = 3

Given = ParamSpec("Given")
Result = TypeVar("Result")
Of = TypeVar("Of")


def retried(
    function: Callable[Concatenate[Of, Given], Result],
) -> Callable[Concatenate[Of, Given], Result]:
    """The command, which is played again where others changed the rows that it read or changes.

    Also where an executor ended that held rows which the command had computed, as the source of a merge. Its first
    argument is the session, or knows it as `spark`. Nothing of a command that lost is in the table, so that it is
    retried: it reads the newest version, and its query and source are computed again.

    Raises:
        CommitConflictError: as the command, once it has lost more often than `MAX_REPLAYS`.
        InvalidArgumentError: for a setting that is not a whole number.
    """

    @functools.wraps(function)
    def wrapper(first: Of, /, *args: Given.args, **kwargs: Given.kwargs) -> Result:
        lost = lost_rows = 0
        while True:
            try:
                return function(first, *args, **kwargs)
            except _ROWS_CHANGED:
                if lost >= _most(getattr(first, "spark", first)):
                    raise
            except Exception as error:
                if lost_rows >= _MOST_LOST_ROWS or _LOST_ROWS not in str(error):
                    raise
                lost_rows += 1
                _LOG.info("runs again: an executor ended that held rows which it had computed")
                continue
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
