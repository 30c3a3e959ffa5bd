"""Versions that are open, so that a plan does not open what its analysis opened."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

# opened versions that are kept
_KEPT = 32

_lock = threading.Lock()
_opened: OrderedDict[str, Any] = OrderedDict()


def keep(table: Any) -> Any:
    """The table, or the same version as it was opened before, with what that one has loaded since."""
    with _lock:
        known = _opened.setdefault(table.identity, table)
        _opened.move_to_end(table.identity)
        while len(_opened) > _KEPT:
            _opened.popitem(last=False)
    return known


def kept(identity: str) -> Any:
    """The version that is kept by this identity, if any."""
    with _lock:
        return _opened.get(identity)
