"""The options of a read, as the JVM hands them over: names in lower case, values as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltaic._core import CREDENTIALS, SESSION_CREDENTIALS
from deltaic.allowed_locations import OPTION as ALLOWED_LOCATIONS
from deltaic.table.verify import LEVELS
from deltaic.time_travel import invalid_timestamp, refusal, version_of

if TYPE_CHECKING:
    from collections.abc import Mapping

# names that object stores understand start like this; they go to the core
_ALLOWED = "allowedlocations"
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
    "max_page_bytes",
)
_HADOOP = ("fs.", "dfs.")


def split_storage(given: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """The options for us and the options for the object store."""
    rest, storage = {}, {}
    for name, value in given.items():
        lower = name.lower()
        if lower == _ALLOWED:
            storage[ALLOWED_LOCATIONS] = value
        elif lower.startswith(_HADOOP) or lower in (CREDENTIALS, SESSION_CREDENTIALS):
            storage[name] = value
        elif lower.startswith(_STORAGE):
            storage[lower] = value
        else:
            rest[name] = value
    return rest, storage


def verify_level(given: Mapping[str, str]) -> str | None:
    """The level at which a table is read; none where the option is not given.

    `true` is `full`, and `false` is `fast`. The core refuses what is no level.
    """
    value = given.get("verify", "").lower()
    return LEVELS[value == "true"] if value in ("true", "false") else value or None


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
