"""Prints what extras of pyproject.toml need, a line each, without the project itself: `.ci/requirements.py docs`.

Without a name: what the project needs, with all of its extras. Python 3.11 or later.
"""

from __future__ import annotations

import sys
from pathlib import Path

import tomllib

PROJECT = tomllib.loads((Path(__file__).resolve().parent.parent / "pyproject.toml").read_text())["project"]


def main() -> None:
    extras = PROJECT["optional-dependencies"]
    needed = [] if sys.argv[1:] else list(PROJECT["dependencies"])
    for name in sys.argv[1:] or extras:
        needed += extras[name]
    # an extra of the project itself is only a name for others
    print("\n".join(line for line in needed if not line.startswith(PROJECT["name"] + "[")))


if __name__ == "__main__":
    main()
