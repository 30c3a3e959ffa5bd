"""Delta Lake for PySpark and Python: the transaction log in a small Rust core.

`Table` opens a table without an engine, `create` makes one, `convert` makes one of Parquet files, `write` writes Arrow
data to one, and `scan_polars` and `dataset` are one for Polars, DuckDB and pyarrow. `enable` teaches a Spark session
the format `delta`; `read`, `table_changes` and `save` are for DataFrames, the same on classic sessions and on Spark
Connect, and so are the merges that are often needed: `upsert`, `upsert_batch` for streams, `scd2` and `deduplicate`.
Errors are the classes of `deltaic.exceptions`.
"""

from deltaic import exceptions, logs
from deltaic._core import __version__
from deltaic.frames.dataset import dataset
from deltaic.frames.scan_polars import scan_polars
from deltaic.spark.api import enable, read, save, sql, table_changes, verify
from deltaic.spark.recipes.deduplicate import DeduplicateResult, deduplicate
from deltaic.spark.recipes.scd2 import Scd2Result, scd2
from deltaic.spark.recipes.upsert import UpsertResult, upsert, upsert_batch
from deltaic.table import Table
from deltaic.table.maintain import ConvertResult, convert
from deltaic.table.verify import Finding, VerifyReport
from deltaic.table.write import CreateResult, WriteResult, create, write

__all__ = [
    "ConvertResult",
    "CreateResult",
    "DeduplicateResult",
    "Finding",
    "Scd2Result",
    "Table",
    "UpsertResult",
    "VerifyReport",
    "WriteResult",
    "__version__",
    "convert",
    "create",
    "dataset",
    "deduplicate",
    "enable",
    "exceptions",
    "logs",
    "read",
    "save",
    "scan_polars",
    "scd2",
    "sql",
    "table_changes",
    "upsert",
    "upsert_batch",
    "verify",
    "write",
]
