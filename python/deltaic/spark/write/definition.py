"""The definition of a table in a statement that creates or replaces it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Definition:
    """Beside the columns."""

    mode: str
    """`create`, `replace`, `create_or_replace`; or `overwrite`, which keeps the definition of the table."""
    partition_by: list[str]
    cluster_by: list[list[str]]
    properties: dict[str, str]
    description: str | None
    managed: bool
    """Whether a catalog owns the files."""
