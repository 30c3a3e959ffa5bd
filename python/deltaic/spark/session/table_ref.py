"""What an operation is done to: a table, as a session sees it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from deltaic.exceptions import UnsupportedError
from deltaic.spark.session.frame_columns import FrameColumns

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class TableRef:
    """A table at a path, in a session of either kind."""

    spark: Any
    path: str
    alias: str | None = None
    """Name by which conditions and values may call the table's columns."""
    storage_options: Mapping[str, str] = field(default_factory=dict, repr=False)
    name: str | None = None
    """Qualified name by which a catalog knows it."""
    folder: str | None = None
    """The folder of a partition by which it was asked for: its rows alone are read, and none are changed."""

    frames: FrameColumns = field(default_factory=FrameColumns, repr=False, compare=False)
    """The columns of the frames that were given to the user; another alias has the same."""

    def check_whole(self) -> None:
        """Checks that rows may be changed.

        Raises:
            UnsupportedError: the table was asked for by the folder of a partition.
        """
        if self.folder is not None:
            what = "a change of rows by the folder of a partition"
            message = f"`{self.folder}`: {what} is not supported; open the table `{self.path}`"
            error = UnsupportedError(message, path=self.path, what=what)
            raise error.named("DELTA_UNEXPECTED_PARTIAL_SCAN")
