"""The mutant that is on: a file names it, because Spark's workers are other processes."""

import os
from pathlib import Path

_PLACE = Path(os.environ["DELTAIC_MUTANT_FILE"])
_SEEN = Path(os.environ["DELTAIC_MUTANTS_SEEN"])
_DRIVER = os.environ.setdefault("DELTAIC_MUTANT_DRIVER", str(os.getpid())) == str(os.getpid())
_known: set[int] = set()
active = -1
"""Of this process, where it is the driver; -2 records."""


def on(number: int) -> bool:
    """Whether a mutant is on."""
    now = active if _DRIVER else int(_PLACE.read_text() or -1)
    if now == -2 and number not in _known:
        if _DRIVER:
            _known.add(number)
        with _SEEN.open("a") as seen:
            seen.write(f"{number}\n")
    return now == number


def turn(number: int) -> None:
    """Turns a mutant on, in all processes."""
    global active
    _known.clear()
    active = number
    _PLACE.write_text(str(number))
