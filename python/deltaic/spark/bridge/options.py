"""The options of a read, as the JVM hands them over: names in lower case, values as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltaic.exceptions import InvalidTimeTravelError

if TYPE_CHECKING:
    from collections.abc import Mapping

# names that object stores understand start like this; they go to the core
_STORAGE = (
    "aws_",
    "azure_",
    "google_",
    "allow_http",
    "s3_",
    "gs_",
    "account_",
    "container_",
    "proxy_",
    "endpoint",
)


def split_storage(given: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """The options for us and the options for the object store."""
    storage = {name.lower(): value for name, value in given.items() if name.lower().startswith(_STORAGE)}
    return {n: v for n, v in given.items() if n.lower() not in storage}, storage


def time_travel(asked: dict[str, Any]) -> tuple[int | None, int | None]:
    """The version and the timestamp (milliseconds) that a request asks for; at most one of them.

    Raises:
        InvalidTimeTravelError: for a value that is no version or timestamp, and for more than one of them.
    """
    path: str = asked["path"]
    given: dict[str, str] = asked["options"]
    versions = [v for v in (asked.get("version"), given.get("versionasof")) if v is not None]
    timestamps = [t for t in (asked.get("timestamp"), given.get("timestampasof")) if t is not None]
    if len(versions) + len(timestamps) > 1:
        raise _invalid(path, "give one version or one timestamp, not both")
    if versions:
        text = str(versions[0]).strip()
        if not (text.isascii() and text.isdigit()):
            raise _invalid(path, f"`{text}` is not a version: a whole number from 0")
        return int(text), None
    if "timestampasof" in given:
        if asked.get("timestampOption") is None:
            raise _invalid(
                path,
                f"`{given['timestampasof']}` is not a timestamp: write 2026-01-31 or 2026-01-31 12:30:00",
            )
        return None, int(asked["timestampOption"])
    return None, asked.get("timestamp")


def _invalid(path: str, reason: str) -> InvalidTimeTravelError:
    return InvalidTimeTravelError(f"time travel of `{path}`: {reason}", path=path, reason=reason)
