"""Dates and times as Spark SQL writes them in text."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta, timezone, tzinfo

_WHEN = re.compile(
    r"(?P<year>\d{4})(?:-(?P<month>\d{1,2})(?:-(?P<day>\d{1,2})"
    r"(?:[ T](?P<hour>\d{1,2}):(?P<minute>\d{1,2})(?::(?P<second>\d{1,2})(?:\.(?P<fraction>\d{1,9}))?)?"
    r"\s*(?P<zone>\S+)?)?)?)?",
    re.ASCII,
)
_OFFSET = re.compile(
    r"(?:UTC|GMT)?(?P<sign>[+-])(?P<hours>\d{1,2})(?::?(?P<minutes>\d{2}))?(?::?(?P<seconds>\d{2}))?",
    re.ASCII,
)
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def days(text: str) -> int:
    """Days since 1970-01-01 of `yyyy[-MM[-dd]]`; a time after it is ignored.

    Raises:
        ValueError: there is no such date.
    """
    found = _WHEN.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"`{text}` is not a date")
    try:
        day = date(int(found["year"]), int(found["month"] or 1), int(found["day"] or 1))
    except ValueError:
        raise ValueError(f"`{text}` is not a date") from None
    return (day - date(1970, 1, 1)).days


def micros(text: str, zone: tzinfo = timezone.utc) -> int:
    """Microseconds since the Unix epoch of `yyyy[-MM[-dd[ HH:mm[:ss[.fraction]]]]][zone]`.

    `zone` holds where the text names none. What is finer than a microsecond is cut, as Spark does it.

    Raises:
        ValueError: there is no such time.
    """
    local, named = _parse(text)
    try:
        return since_epoch(local.replace(tzinfo=zone_of(named) if named else zone))
    except (ValueError, OverflowError):
        raise ValueError(f"`{text}` is not a timestamp") from None


def local_micros(text: str) -> int:
    """Microseconds since 1970-01-01 00:00:00 of a time without a zone. One in the text is left out.

    Raises:
        ValueError: there is no such time.
    """
    return since_epoch(_parse(text)[0].replace(tzinfo=timezone.utc))


def _parse(text: str) -> tuple[datetime, str | None]:
    found = _WHEN.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"`{text}` is not a timestamp")
    year, month, day = int(found["year"]), int(found["month"] or 1), int(found["day"] or 1)
    hour, minute, second = (int(found[part] or 0) for part in ("hour", "minute", "second"))
    fraction = int((found["fraction"] or "").ljust(6, "0")[:6])
    try:
        return datetime(year, month, day, hour, minute, second, fraction), found["zone"]
    except ValueError:
        raise ValueError(f"`{text}` is not a timestamp") from None


def since_epoch(when: datetime) -> int:
    """Microseconds since the Unix epoch of an aware time."""
    return (when - _EPOCH) // timedelta(microseconds=1)


def from_millis(millis: int) -> datetime:
    """The aware time of milliseconds since the Unix epoch."""
    return _EPOCH + timedelta(milliseconds=millis)


def zone_of(name: str) -> tzinfo:
    """The time zone of a name or an offset such as `+02:00`.

    Raises:
        ValueError: there is none.
    """
    if name in {"Z", "UTC", "GMT"}:
        return timezone.utc
    found = _OFFSET.fullmatch(name)
    if found is None:
        from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

        try:
            return ZoneInfo(name)
        except ZoneInfoNotFoundError:
            raise ValueError(f"`{name}` is not a time zone") from None
    offset = timedelta(
        hours=int(found["hours"]), minutes=int(found["minutes"] or 0), seconds=int(found["seconds"] or 0)
    )
    return timezone(-offset if found["sign"] == "-" else offset)
