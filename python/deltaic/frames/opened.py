"""The table that a frame is of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltaic.exceptions import InvalidArgumentError
from deltaic.table import Table

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping
    from datetime import date, datetime

    from deltaic.credentials import Credentials


def opened(
    table: Table | str | os.PathLike[str],
    version: int | None,
    timestamp: str | datetime | date | None,
    storage_options: Mapping[str, str] | None,
    credentials: Credentials | None,
) -> Table:
    """The table that is given, or the one at a path.

    Raises:
        InvalidArgumentError: something else is given beside an open table.
        DeltaError: as of `Table`.
    """
    if not isinstance(table, Table):
        return Table(
            table,
            version=version,
            timestamp=timestamp,
            storage_options=storage_options,
            credentials=credentials,
        )
    if any(given is not None for given in (version, timestamp, storage_options, credentials)):
        raise InvalidArgumentError.of("table", "an open table has its version and store: give a path instead")
    return table
