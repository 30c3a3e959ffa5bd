"""The engine of the tour where there is no PySpark: Arrow."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import deltaic
from deltaic.cli.tour.engine import COUNTRIES, DAYS, PROPERTIES
from deltaic.exceptions import UnsupportedError


class Arrow:
    """Orders as Arrow data; deltaic writes and reads the files itself.

    Raises:
        UnsupportedError: pyarrow is missing.
    """

    def __init__(self) -> None:
        try:
            import pyarrow
        except ImportError as error:
            raise UnsupportedError("the tour needs pyarrow. Run: pip install pyarrow") from error
        self._arrow: Any = pyarrow

    def append(self, path: str, month: str, first: int, count: int) -> None:
        """As `Engine.append`."""
        pa = self._arrow
        day = datetime.date.fromisoformat(f"{month}-01")
        ids = range(first, first + count)
        # the same orders in every run; 2654435761 spreads neighbours
        drawn = [(n * 2654435761) % 2**32 for n in ids]
        days = [day + datetime.timedelta(n * DAYS // count) for n in range(count)]
        orders = pa.table(
            {
                "order_id": pa.array(ids, pa.int64()),
                "order_date": pa.array(days, pa.date32()),
                "country": [COUNTRIES[n % len(COUNTRIES)] for n in drawn],
                "customer_id": pa.array([n // 8 % 5000 for n in drawn], pa.int64()),
                "amount": pa.array(
                    [Decimal(n // 7 % 100_000 + 100) / 100 for n in drawn], pa.decimal128(10, 2)
                ),
                "note": [None if n % 10 == 0 else f"order {n}" for n in ids],
            }
        )
        deltaic.write(path, orders, partition_by=["country"], configuration=PROPERTIES)

    def count(self, path: str, where: str | None = None, version: int | None = None) -> int:
        """As `Engine.count`."""
        rows = deltaic.Table(path, version=version).to_arrow(columns=["order_id"], where=where)
        return sum(batch.num_rows for batch in self._arrow.RecordBatchReader.from_stream(rows))
