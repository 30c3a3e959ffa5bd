"""Plans of reads without a JVM: the files of a version, or of the changes of versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltaic import _core, time_travel, times
from deltaic.exceptions import TableNotFoundError
from deltaic.spark.read.change_data_feed import Feed
from deltaic.spark.read.options import verify_level
from deltaic.spark.read.partition_folders import both, partition_folder

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Mapping


def plan_scan(
    path: str,
    version: str | int | None,
    timestamp: str | dt.datetime | None,
    where: str | None,
    time_zone: str,
    storage: Mapping[str, str],
    *,
    row_ids: bool = False,
    verify: str | None = None,
) -> Any:
    """The plan of a read of one version: the newest, or the one that an option or the path names.

    `where` is JSON, `verify` the level of the read. The path may be the folder of a partition.
    """
    if version is not None:
        version = time_travel.version_of(path, str(version))
    millis = millis_of(path, timestamp, time_zone)
    if version is None and millis is None and time_travel.may_name_a_time(path):
        path, millis = time_travel.of_path(path, time_zone, storage)
    asked: _core._ScanRequest = {
        "version": version,
        "timestamp_millis": millis,
        "predicate": where,
        "row_ids": row_ids,
        "verify": verify,
    }
    try:
        return _core.ScanPlan(path, dict(storage), asked)
    except TableNotFoundError:
        part = partition_folder(path, version, millis, storage, verify)
        if part is None:
            raise
        asked["predicate"] = both(where, part.predicate)
        return _core.ScanPlan(part.root, dict(storage), asked)


def plan_changes(
    path: str,
    options: Mapping[str, str],
    time_zone: str,
    storage: Mapping[str, str],
    *,
    allow_out_of_range: bool,
) -> Any:
    """The plan of a read of row-level changes; the names of the options are in lower case."""
    start, end = (
        millis_of(path, options.get(f"{name}timestamp"), time_zone) for name in ("starting", "ending")
    )
    feed = Feed.parse(path, options, (start, end), allow_out_of_range=allow_out_of_range)
    return feed.plan(_core.Table(path, None, None, dict(storage), verify_level(options)))


def millis_of(path: str, timestamp: str | dt.datetime | None, time_zone: str) -> int | None:
    """Milliseconds since the epoch; Spark reads a timestamp without zone in the zone of the session."""
    return time_travel.millis(path, timestamp, times.zone_of(time_zone))
