"""Versions that are open, so that a plan does not open what its analysis opened, and relations lent to reads."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

# opened versions that are kept
_KEPT = 32
LENT = "deltaicrelation"
"""Option of a read that names a relation of ours instead of the table as it is."""

_lock = threading.Lock()
_lent: dict[str, Any] = {}
_opened: OrderedDict[str, Any] = OrderedDict()


def lend(identity: str, relation: Any) -> None:
    """Makes a relation known to reads with the option `LENT`; it answers as a `SparkTable`."""
    _lent[identity] = relation


def take_back(identity: str) -> None:
    """The opposite of `lend`."""
    _lent.pop(identity, None)


def keep(table: Any) -> Any:
    """The table, or the same version as it was opened before, with what that one has loaded since."""
    with _lock:
        known = _opened.setdefault(table.identity, table)
        _opened.move_to_end(table.identity)
        while len(_opened) > _KEPT:
            _opened.popitem(last=False)
    return known


def lent(identity: str) -> Any:
    """The relation that was lent by this name, if any."""
    return _lent.get(identity)


def kept(identity: str) -> Any:
    """The version that is kept by this identity, if any."""
    with _lock:
        return _opened.get(identity)
