"""What the core reports of its work, by Python's `logging`.

The loggers are `deltaic.open`, `deltaic.fallback`, `deltaic.commit`, `deltaic.retry`, `deltaic.route` and
`deltaic.after_commit`.
Without a handler nothing is shown. The environment variable `DELTAIC_LOG` (`debug`, `info`, `warning` or `error`) shows
them on standard error, from the import of deltaic on. No record has a value of a row, a credential or an option of a
store.
"""

from __future__ import annotations

import logging
import os
import sys
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

VARIABLE = "DELTAIC_LOG"
_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}


def emit(events: Sequence[tuple[str, int, float, str]], dropped: int) -> None:
    """Hands events of the core to their loggers.

    Args:
        events: Name of the logger, level of `logging`, seconds since the Unix epoch and text of each, oldest first.
        dropped: How many events were dropped, because too many waited.
    """
    for name, level, created, text in events:
        logger = logging.getLogger(name)
        if logger.isEnabledFor(level):
            record = logger.makeRecord(name, level, "deltaic", 0, text, (), None)
            record.created, record.msecs = created, created % 1 * 1000
            logger.handle(record)
    if dropped:
        logging.getLogger("deltaic").warning("%d events were dropped: too many waited", dropped)


def show(level: str) -> None:
    """Shows events of a level and above on standard error.

    Args:
        level: `debug`, `info`, `warning` or `error`, in any case. Any other is a warning, and nothing is shown.
    """
    if level.lower() not in _LEVELS:
        warnings.warn(f"{VARIABLE}={level!r} is ignored: set {', '.join(_LEVELS)}", stacklevel=2)
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)-7s %(name)s: %(message)s"))
    logger = logging.getLogger("deltaic")
    logger.addHandler(handler)
    logger.setLevel(_LEVELS[level.lower()])


# without it `logging` shows warnings on standard error by default
logging.getLogger("deltaic").addHandler(logging.NullHandler())
if level := os.environ.get(VARIABLE):
    show(level)
