"""The kind of a session, classic or Spark Connect, and the functions that fit it."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

# sessions of Spark Connect whose server has the bridge, with the name of the format there
_served: WeakKeyDictionary[Any, str] = WeakKeyDictionary()


def is_connect(of: Any) -> bool:
    """Whether a session or DataFrame is one of Spark Connect."""
    return type(of).__module__.startswith("pyspark.sql.connect")


def served_name(spark: Any) -> str | None:
    """The name of the format in a session of Spark Connect whose server has the bridge, and None in others.

    No request; a session that is not enabled is not known yet.
    """
    return _served.get(spark)


def note_served(spark: Any, name: str) -> None:
    """Notes the name of the format in such a session."""
    _served[spark] = name


def is_local(of: Any) -> bool:
    """Whether the tasks of a classic session or DataFrame run in its own process."""
    session = getattr(of, "sparkSession", of)
    return bool(session.sparkContext._jsc.sc().isLocal())


def has_one_process(session: Any) -> bool:
    """Whether the tasks of a session run in the process of its driver: none of what they hold is lost alone."""
    if not is_connect(session):
        return is_local(session)
    master = str(session.conf.get("spark.master", ""))
    return master == "local" or master.startswith("local[")


def functions(of: Any) -> Any:
    """The functions whose columns fit a session or DataFrame: one process can have both kinds."""
    if is_connect(of):
        import pyspark.sql.connect.functions as connect_functions

        return connect_functions
    import pyspark.sql.functions

    return pyspark.sql.functions
