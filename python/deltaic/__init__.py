"""Delta Lake for PySpark and Python: the transaction log in a small Rust core.

`Table` opens a table without an engine, `write` creates or appends to one from Arrow data, and `enable`
teaches a Spark session the format `delta`. Errors are the classes of `deltaic.exceptions`.
"""

from deltaic import exceptions
from deltaic._core import __version__

__all__ = ["__version__", "exceptions"]
