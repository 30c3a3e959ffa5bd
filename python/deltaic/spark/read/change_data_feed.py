"""The options of a read of row-level changes, with the names of delta-spark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deltaic import time_travel
from deltaic.exceptions import InvalidArgumentError
from deltaic.spark.session.switches import switch

if TYPE_CHECKING:
    from collections.abc import Mapping

_SWITCHES = ("readchangefeed", "readchangedata")
OPTIONS = frozenset({*_SWITCHES, "startingversion", "startingtimestamp", "endingversion", "endingtimestamp"})
"""Names of the options, in lower case."""
COLUMNS = [("_change_type", "string"), ("_commit_version", "long"), ("_commit_timestamp", "timestamp")]
"""The columns of the rows after those of the table, as names and types of Spark."""
# after every version that a log may have
_NO_END = 2**63 - 1


def wanted(options: Mapping[str, str]) -> bool:
    """Whether the options, with names in lower case, ask for changes.

    Raises:
        InvalidArgumentError: for a switch that is neither true nor false.
    """
    asked = [switch("readChangeFeed", options.get(name)) for name in _SWITCHES]
    return any(asked)


@dataclass(frozen=True)
class Feed:
    """A range of versions; each end is a version or a time in milliseconds since the Unix epoch."""

    start: int | None
    start_millis: int | None
    end: int | None
    end_millis: int | None
    allow_out_of_range: bool = False

    @classmethod
    def parse(
        cls,
        path: str,
        options: Mapping[str, str],
        millis: tuple[int | None, int | None],
        *,
        allow_out_of_range: bool = False,
    ) -> Feed:
        """The range that the options, with names in lower case, ask for. `millis` are the times of the two timestamps.

        A version takes precedence over a time, as in delta-spark.

        Raises:
            InvalidArgumentError: without a start.
            InvalidTimeTravelError: for what is not a version or time, and with `versionAsOf` or `timestampAsOf`.
        """
        if "versionasof" in options or "timestampasof" in options:
            reason = "changes belong to a range of versions: versionAsOf and timestampAsOf contradict that"
            raise time_travel.refusal(path, reason).named("DELTA_UNSUPPORTED_TIME_TRAVEL_VIEWS")
        ends: list[tuple[int | None, int | None]] = []
        for name, at in zip(("starting", "ending"), millis, strict=True):
            version, timestamp = options.get(f"{name}version"), options.get(f"{name}timestamp")
            if version is not None:
                ends.append((time_travel.version_of(path, version, of_changes=True), None))
            elif timestamp is None:
                ends.append((None, None))
            elif at is None:
                raise time_travel.invalid_timestamp(path, timestamp)
            else:
                ends.append((None, at))
        if ends[0] == (None, None):
            reason = "missing; give startingVersion or startingTimestamp"
            raise InvalidArgumentError.of("startingVersion", reason).named("DELTA_NO_START_FOR_CDC_READ")
        return cls(*ends[0], *ends[1], allow_out_of_range)

    @property
    def last(self) -> int | None:
        """The last version that may be included in the range; None if a time has fixed it."""
        if self.end_millis is not None:
            return None
        return _NO_END if self.end is None else self.end

    def plan(self, table: Any) -> Any:
        """The plan of the changes up to the version of a `_core.Table`."""
        return table.changes(
            self.start,
            self.start_millis,
            self.end,
            self.end_millis,
            allow_out_of_range=self.allow_out_of_range,
        )
