"""Places of tables as a session understands them."""

from __future__ import annotations

from typing import Any

from deltaic import identifiers
from deltaic.spark.session.jvm import java_method
from deltaic.spark.session.kind import is_connect


def placed(spark: Any, location: str) -> str:
    """A location as the core takes it.

    As `identifiers.local`; but where Hadoop's default file system is another, so that paths without a
    scheme are not local, a local one stays a URI.
    """
    path = identifiers.local(location)
    if path == location or is_connect(spark):
        return path
    is_local = java_method(spark, "StoreSettings", "defaultIsLocal")(spark._jsparkSession)
    return path if is_local else location
