"""`enable`: teaches a Spark session the format `delta`."""

from __future__ import annotations

import warnings
from typing import TypeVar

Session = TypeVar("Session")


def enable(spark: Session) -> Session:
    """Makes `format("delta")` and Delta tables in SQL work in this session, and returns the session.

    A classic session gets the bridge, and so does every session that it makes later (`newSession`); a Spark
    Connect session gets the Python Data Source, which follows the settings that the session has at this call (see
    `docs/spark-connect.md`). Calling it again does nothing else. Where Delta's own JAR is on
    the classpath, the format is named `deltaic`, and a warning says so. A door that this Spark does not have
    is named in a warning, with what replaces it.

    The first call in a JVM compiles a few small classes, which takes about two seconds.

    Raises:
        InvalidArgumentError: when `spark` is no Spark session.
    """
    if hasattr(spark, "_jsparkSession"):
        from deltaic.spark.bridge.install import install

        for said in install(spark):
            warnings.warn(said, UserWarning, stacklevel=2)
    elif type(spark).__module__.startswith("pyspark.sql.connect"):
        from deltaic.spark.connect import enable_connect

        enable_connect(spark)
    else:
        from deltaic.exceptions import InvalidArgumentError

        reason = f"a {type(spark).__name__} is no Spark session"
        raise InvalidArgumentError.of("spark", reason)
    return spark
