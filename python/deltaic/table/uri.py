"""Where a table is, as the functions of the package are told."""

from __future__ import annotations

import os


def place(uri: str | os.PathLike[str]) -> str:
    """The path or URL; `~` in front is the home folder: a folder of that name is never what is meant."""
    return os.path.expanduser(os.fspath(uri))  # noqa: PTH111 a URL is no path
