"""Since which version a public name is there: .ci/since.txt says it, and the reference shows it beside the name.

Griffe, which reads the docstrings for the site, calls `Since` (`mkdocs.yml` names this file).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import griffe

SINCE = Path(__file__).with_suffix(".txt")


def versions() -> dict[str, str]:
    """The version of each public name."""
    lines = SINCE.read_text(encoding="utf-8").splitlines()
    return dict(line.split() for line in lines if not line.startswith("#"))


class Since(griffe.Extension):
    """A label at each public name."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        if pkg.path != "deltaic":
            return
        for name, version in versions().items():
            found: Any = pkg
            for part in name.split(".")[1:]:
                found = found.all_members[part]
                found = found.final_target if found.is_alias else found
            found.labels.add("unreleased" if version == "Unreleased" else f"since {version}")
