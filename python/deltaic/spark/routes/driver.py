"""The driver route: a small result comes to the driver as Arrow, and the core writes it there."""

from __future__ import annotations

from typing import Any


def write(df: Any, plan: Any, folder: str) -> list[str]:
    """Writes the rows of a small DataFrame below `folder`; the `add` actions of the files, with statistics."""
    # the core finds columns by name: a projection would only cost
    adds: list[str] = plan.write(df.toArrow(), folder)
    return adds
