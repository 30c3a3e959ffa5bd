"""The driver route: a small result comes to the driver as Arrow, and the core writes it there."""

from __future__ import annotations

from typing import Any

from deltaic.spark.frame import WriteColumn, logical


def write(df: Any, plan: Any, columns: list[WriteColumn]) -> list[str]:
    """Writes the rows of a small DataFrame and returns the `add` actions of the files, with statistics."""
    adds: list[str] = plan.write(df.select(*logical(df, columns)).toArrow(), None)
    return adds
