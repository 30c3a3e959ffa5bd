"""Runs a check of the sources of the core on a small core that a test has made."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def checked(tree: Path, script: str) -> tuple[int, str]:
    """The exit code of a script of `.ci`, and what it said."""
    command = [sys.executable, tree / ".ci" / script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout
