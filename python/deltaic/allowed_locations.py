"""Where a log may name files that are read: an option of the store, which applies wherever the table is opened."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from deltaic.exceptions import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

OPTION = "allowed_locations"
"""The storage option. The core defines its values."""


def with_allowed(
    storage_options: Mapping[str, str] | None, allowed: str | Iterable[str | os.PathLike[str]] | None
) -> dict[str, str]:
    """The options of a store, with the locations that are allowed, if any are given.

    Raises:
        InvalidArgumentError: a path with a comma, which separates locations.
    """
    options = dict(storage_options or {})
    if allowed is not None:
        options[OPTION] = allowed if isinstance(allowed, str) else _joined(allowed)
    return options


def _joined(allowed: Iterable[str | os.PathLike[str]]) -> str:
    locations = [os.fspath(location) for location in allowed]
    for location in locations:
        if "," in location:
            reason = f"`{location}` has a comma, which stands between locations: give a URL, where it is %2C"
            raise InvalidArgumentError.of(OPTION, reason)
    return ",".join(locations) or "table-only"
