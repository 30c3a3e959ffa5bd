"""Delta Lake for PySpark and Python: the transaction log in a small Rust core.

`Table` opens a table without an engine, `create` makes one, `convert` makes one of Parquet files, `write` writes Arrow
data to one, and `enable` teaches a Spark session the format `delta`; `read` and `save` are for DataFrames, the same on
classic sessions and on Spark Connect. Errors are the classes of `deltaic.exceptions`.
"""

from deltaic import exceptions
from deltaic._core import __version__
from deltaic.maintain import ConvertResult, convert
from deltaic.spark.doors import read, save
from deltaic.spark.session import enable
from deltaic.table import Table
from deltaic.verify import Finding, VerifyReport, verify
from deltaic.write import CreateResult, WriteResult, create, write

__all__ = [
    "ConvertResult",
    "CreateResult",
    "Finding",
    "Table",
    "VerifyReport",
    "WriteResult",
    "__version__",
    "convert",
    "create",
    "enable",
    "exceptions",
    "read",
    "save",
    "verify",
    "write",
]
