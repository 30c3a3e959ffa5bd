"""The options of a read, as the JVM hands them over: names in lower case, values as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltaic.exceptions import InvalidArgumentError
from deltaic.time_travel import invalid_timestamp, refusal, version_of

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


def verified(given: Mapping[str, str]) -> bool:
    """Whether the table is verified before it is read.

    Raises:
        InvalidArgumentError: for a value that is neither `true` nor `false`.
    """
    value = given.get("verify", "false").lower()
    if value not in ("true", "false"):
        raise InvalidArgumentError.of("verify", f"`{value}` is neither `true` nor `false`")
    return value == "true"


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
        raise refusal(path, "give one version or one timestamp, not both").named("DELTA_ONEOF_IN_TIMETRAVEL")
    if versions:
        return version_of(path, str(versions[0])), None
    if "timestampasof" in given:
        if asked.get("timestampOption") is None:
            raise invalid_timestamp(path, given["timestampasof"])
        return None, int(asked["timestampOption"])
    return None, asked.get("timestamp")
