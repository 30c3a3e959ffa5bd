"""One engine of `warehouse.py` in a process of its own: deltaic, delta-spark with its JARs, or plain Parquet.

Arguments: the engine, a folder of its own, the memory of its JVM, its JARs. One request a line on stdin, one answer a
line on stdout, both JSON: `{work: arguments}`, answered with the seconds that it took and what it found.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

from spark_engine import serve, session

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame

KEYS = ("ss_item_sk", "ss_ticket_number")


class Warehouse:
    """The tables of a warehouse, by one engine. A method that is asked for gives the seconds, and what it found."""

    def __init__(self, engine: str, folder: Path, memory: str, jars: str) -> None:
        self.spark = session(engine, memory, jars)
        self.root = self.folder = folder
        self.format = "parquet" if engine == "parquet" else "delta"
        self.schemas: dict[str, Any] = {}
        if engine == "deltaic":
            from deltaic.tables import DeltaTable
        elif engine == "delta-spark":
            from delta.tables import DeltaTable
        self._table: Callable[[str], Any] = lambda name: DeltaTable.forPath(
            self.spark, str(self.folder / name)
        )

    def begin(self, name: str) -> tuple[float, Any]:
        """Another warehouse, of this name."""
        self.folder, self.schemas = self.root / name, {}
        self.folder.mkdir()
        return 0, None

    def source(self, file: str) -> DataFrame:
        return self.spark.read.parquet(file)

    def read(self, name: str) -> DataFrame:
        reader = self.spark.read
        # so that Parquet reads no footer to be planned
        if self.format == "parquet":
            reader = reader.schema(self.schemas[name])
        return reader.format(self.format).load(str(self.folder / name))

    def load(self, name: str, file: str) -> tuple[float, Any]:
        """One table from the file of a generator."""
        rows = self.source(file)
        self.schemas[name] = rows.schema
        begin = time.perf_counter()
        writer = rows.write.format(self.format)
        if self.format == "delta":
            writer = writer.option("delta.enableDeletionVectors", "true")
        writer.save(str(self.folder / name))
        return time.perf_counter() - begin, None

    def query(self, text: str) -> tuple[float, Any]:
        """From opening the tables to the last row."""
        begin = time.perf_counter()
        for name in self.schemas:
            if re.search(rf"\b{name}\b", text):
                self.read(name).createOrReplaceTempView(name)
        rows = self.spark.sql(text).collect()
        return time.perf_counter() - begin, sorted(str(row) for row in rows)

    def merge(self, file: str, turn: int) -> tuple[float, Any]:
        """One sale of two hundred is corrected, and as many are added."""
        sales = self.source(file).where(f"pmod(hash({', '.join(KEYS)}, {turn}), 200) = 0")
        changed = sales.selectExpr(
            *(f"{name} + 1 AS {name}" if name == "ss_quantity" else name for name in sales.columns)
        )
        added = sales.selectExpr(
            *(f"{name} + {turn}000000000 AS {name}" if name == KEYS[1] else name for name in sales.columns)
        )
        begin = time.perf_counter()
        on = " AND ".join(f"t.{key} = s.{key}" for key in KEYS)
        builder = self._table("store_sales").alias("t").merge(changed.unionByName(added).alias("s"), on)
        builder.whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()
        return time.perf_counter() - begin, None

    def delete(self, turn: int) -> tuple[float, Any]:
        """A week of sales."""
        first = 2450816 + 100 * turn
        begin = time.perf_counter()
        self._table("store_sales").delete(f"ss_sold_date_sk BETWEEN {first} AND {first + 6}")
        return time.perf_counter() - begin, None

    def optimize(self) -> tuple[float, Any]:
        begin = time.perf_counter()
        self._table("store_sales").optimize().executeCompaction()
        return time.perf_counter() - begin, None

    def files(self, name: str, text: str) -> tuple[float, Any]:
        """A query of the table of many small files."""
        begin = time.perf_counter()
        self.spark.read.format("delta").load(str(self.folder / name)).createOrReplaceTempView("files")
        rows = self.spark.sql(text).collect()
        return time.perf_counter() - begin, sorted(str(row) for row in rows)

    def merges(self, first: int, count: int) -> tuple[float, Any]:
        """So many merges of a hundred customers each, half of them new; the seconds of each."""
        customers = self.read("customer").count()
        took = []
        for turn in range(first, first + count):
            rows = self.spark.range(100).selectExpr(
                f"CAST(IF(id < 50, pmod(hash(id, {turn}), {customers}) + 1, 10000000 + {turn} * 100 + id) AS INT)"
                " AS c_customer_sk",
                f"concat('n', {turn}) AS c_first_name",
            )
            source = rows.dropDuplicates(["c_customer_sk"])
            begin = time.perf_counter()
            builder = (
                self._table("customer")
                .alias("t")
                .merge(source.alias("s"), "t.c_customer_sk = s.c_customer_sk")
            )
            builder = builder.whenMatchedUpdate(set={"c_first_name": "s.c_first_name"})
            builder.whenNotMatchedInsert(
                values={"c_customer_sk": "s.c_customer_sk", "c_first_name": "s.c_first_name"}
            ).execute()
            took.append(time.perf_counter() - begin)
        return sum(took), took

    def facts(self, name: str) -> tuple[float, Any]:
        """What a table holds: its number of rows, and a sum of all of them in any order."""
        begin = time.perf_counter()
        df = self.read(name)
        found = df.selectExpr("count(*)", f"bit_xor(xxhash64({', '.join(df.columns)}))").collect()
        return time.perf_counter() - begin, str(found)


def answer(warehouse: Warehouse, work: str, arguments: list[Any]) -> dict[str, Any]:
    seconds, found = getattr(warehouse, work)(*arguments)
    return {"seconds": seconds, "found": found}


if __name__ == "__main__":
    serve(Warehouse, answer)
