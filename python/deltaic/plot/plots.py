"""`Table.plot`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltaic.plot import charts
from deltaic.plot.clustering import clustering
from deltaic.plot.figure import Plot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deltaic.plot.source import Source


class Plots:
    """Pictures of a version of a table, by Matplotlib (`pip install 'deltaic[plot]'`). No data file is read.

    A notebook shows what a method gives; `save("x.png")` writes it, `figure` is Matplotlib's, and `charts` has the
    numbers. Without Matplotlib the methods raise an UnsupportedError.
    """

    __slots__ = ("_table",)

    def __init__(self, table: Source) -> None:
        self._table = table

    def sizes(self, where: str | None = None) -> Plot:
        """The files by their sizes: how many there are, and how many bytes they have together.

        Args:
            where: A condition in SQL: only files in which a row may match.

        Raises:
            InvalidPredicateError: as for `Table.files`.
        """
        return Plot(charts.sizes(self._table, where))

    def partitions(self, where: str | None = None) -> Plot:
        """The bytes of the partitions by the first two partition columns as a heat map, or by the only one as bars.

        Args:
            where: A condition in SQL: only files in which a row may match.

        Raises:
            InvalidArgumentError: the table has no partition columns.
            InvalidPredicateError: as for `Table.files`.
        """
        return Plot(charts.partitions(self._table, where))

    def clustering(self, columns: Sequence[str] = (), where: str | None = None) -> Plot:
        """For each column the share of the files that a lookup of one value opens, and the ranges of the best column.

        Args:
            columns: Names of columns, fields of structs as `s.a`; by default all that have statistics.
            where: A condition in SQL: only files in which a row may match.

        Raises:
            InvalidArgumentError: a column has no minimum and maximum in any file.
            InvalidPredicateError: as for `Table.files`.
        """
        return Plot(clustering(self._table, columns, where))

    def versions(self, limit: int = 1000) -> Plot:
        """The newest versions over time, by their operations.

        Args:
            limit: At most so many; each one costs a read of its commit.
        """
        return Plot(charts.versions(self._table, limit))

    def log(self, limit: int = 200) -> Plot:
        """How the log grows: the actions of the newest versions.

        Args:
            limit: At most so many; each one costs a read of its commit.
        """
        return Plot(charts.log(self._table, limit))

    def pruning(self, where: str) -> Plot:
        """What a scan with a condition opens, and which parts of it drop the other files.

        Args:
            where: A condition in SQL.

        Raises:
            InvalidPredicateError: as for `Table.files`.
        """
        return Plot(charts.pruning(self._table, where))
