"""The folder of this user in which deltaic keeps what takes long to make."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def cache_folder() -> Path:
    """Not created. Everything in it can be deleted at any time.

    Raises:
        RuntimeError: when this user has no home folder, and `XDG_CACHE_HOME` names no other.
    """
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "deltaic"


def is_own(path: Path) -> bool:
    """Whether a file exists that only this user, or the administrator, can have written."""
    try:
        found = [path.stat(), path.parent.stat()]
    except OSError:
        return False
    if os.name == "nt":  # a profile of Windows is its user's
        return True
    return all(of.st_uid in (0, os.getuid()) and not of.st_mode & 0o022 for of in found)


def put(path: Path, content: bytes, mode: int = 0o600) -> None:
    """Writes a file whole or not at all: two processes may make the same one at once."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, draft = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(draft).chmod(mode)
        Path(draft).replace(path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise
