"""The location of a table, as users give it."""

from __future__ import annotations

import os


def place(uri: str | os.PathLike[str]) -> str:
    """The path or URL; a leading `~` is the home folder, never a folder of that name."""
    return os.path.expanduser(os.fspath(uri))  # noqa: PTH111 a URL is no path
