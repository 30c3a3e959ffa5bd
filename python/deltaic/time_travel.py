"""The version or time that is asked for."""

from __future__ import annotations

import re
from datetime import date, datetime, timezone
from typing import TYPE_CHECKING, NoReturn, overload

from deltaic import _core, times
from deltaic.exceptions import InvalidTimeTravelError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import tzinfo

_TIME_IN_PATH = re.compile(r"@[0-9]{17}$")


def check_version(path: str, version: int | None) -> None:
    """Refuses a version that no table can have.

    Raises:
        InvalidTimeTravelError: it is below 0.
    """
    if version is not None and version < 0:
        refuse(path, f"version {version} is below 0")


def version_of(path: str, text: str, *, of_changes: bool = False) -> int:
    """The version of a text, as the value of `versionAsOf`, or of an end of a range of changes.

    Raises:
        InvalidTimeTravelError: it has none.
    """
    text = text.strip()
    if text.isascii() and text.isdigit():
        return int(text)
    error = refusal(path, f"`{text}` is not a version: a whole number from 0")
    if of_changes:
        raise error.named("DELTA_VERSION_INVALID", version=text)
    raise error.named("DELTA_TIME_TRAVEL_INVALID_BEGIN_VALUE", timeTravelKey="versionAsOf")


def may_name_a_time(path: str) -> bool:
    """Whether a path ends as `path@20260101000000000` does."""
    return _TIME_IN_PATH.search(path) is not None


def of_path(path: str, zone: str, storage: Mapping[str, str]) -> tuple[str, int | None]:
    """The path, and in milliseconds since the Unix epoch the time that `path@20260101000000000` names in a time zone.

    A path that is the whole name of a table is unchanged, and has no time here.

    Raises:
        InvalidTimeTravelError: the digits are no time.
    """
    found = _core.time_in_path(path, dict(storage))
    if found is None:
        return path, None
    local = times.from_millis(found["millis"]).replace(tzinfo=times.zone_of(zone))
    return found["path"], times.since_epoch(local) // 1000


@overload
def millis(path: str, when: str | datetime | date, zone: tzinfo = ...) -> int: ...
@overload
def millis(path: str, when: str | datetime | date | None, zone: tzinfo = ...) -> int | None: ...
def millis(path: str, when: str | datetime | date | None, zone: tzinfo = timezone.utc) -> int | None:
    """Milliseconds since the Unix epoch. Without a time zone it is in `zone`, and a date is its midnight.

    Raises:
        InvalidTimeTravelError: the text is no time.
    """
    if when is None:
        return None
    if isinstance(when, str):
        try:
            return times.micros(when, zone) // 1000
        except ValueError as error:
            raise invalid_timestamp(path, when) from error
    if not isinstance(when, datetime):
        when = datetime(when.year, when.month, when.day, tzinfo=zone)
    if when.tzinfo is None:
        when = when.replace(tzinfo=zone)
    return times.since_epoch(when) // 1000


def invalid_timestamp(path: str, text: str) -> InvalidTimeTravelError:
    """The error of a text that is not a timestamp."""
    reason = f"The provided timestamp ('{text}') cannot be converted to a valid timestamp"
    error = refusal(path, f"{reason}: write 2026-01-31 or 2026-01-31 12:30:00")
    return error.named("DELTA_TIMESTAMP_INVALID", expr=f"'{text}'")


def refuse(path: str, reason: str) -> NoReturn:
    """Raises the `InvalidTimeTravelError` of a table."""
    raise refusal(path, reason)


def refusal(path: str, reason: str) -> InvalidTimeTravelError:
    """The `InvalidTimeTravelError` of a table."""
    return InvalidTimeTravelError(f"time travel of `{path}`: {reason}", path=path, reason=reason)
