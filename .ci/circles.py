"""Checks that no files of rust/core/src use each other in a circle: each can be read after those that it uses.

Comments, tests and the files that only list a folder (`mod.rs`, `lib.rs`) are left out; what these give names to is
followed to the file that has it.
"""

from __future__ import annotations

import re
import sys
from graphlib import CycleError, TopologicalSorter

from layers import ROOT, SOURCES, Module, leaves, library_code, module_of, paths, without_literals

PUBLIC_USE = re.compile(r"\bpub(?:\s*\([^)]*\))?\s+use\s+(?=\w)")


def given_names(module: Module, code: str) -> dict[str, Module]:
    """What a file that lists a folder gives names to, as paths from the root of the crate."""
    given = {}
    for use in PUBLIC_USE.finditer(code):
        for path, name in leaves(code, use.end()):
            given[name] = path[1:] if path[0] == "crate" else (*module, *path)
    return given


def uses() -> dict[Module, set[Module]]:
    """The files that each file uses."""
    code = {module_of(path): text for path, text in library_code(without_literals).items()}
    lists = {module_of(path) for path in SOURCES.rglob("*.rs") if path.stem in ("mod", "lib")}
    given = {module: given_names(module, code[module]) for module in lists & code.keys()}

    def home(path: Module, follows: int = 8) -> Module:
        """The file that has what a path names."""
        at = next(at for at in range(len(path), -1, -1) if path[:at] in code)
        name = path[at] if at < len(path) else None
        other = given.get(path[:at], {}).get(name or "")
        return path[:at] if other is None or not follows else home(other, follows - 1)

    graph: dict[Module, set[Module]] = {}
    for module, text in code.items():
        if module not in lists:
            found = {
                home((*module[:kept], *names))
                for path, kept in paths(module, text)
                for names, _ in leaves(text, path.end())
            }
            graph[module] = found - lists - {module}
    return graph


if __name__ == "__main__":
    try:
        TopologicalSorter(uses()).prepare()
    except CycleError as circle:
        print(f"in {SOURCES.relative_to(ROOT)}, files use each other in a circle; each uses the next:")
        print(" -> ".join("/".join(module) for module in reversed(circle.args[1])))
        sys.exit(1)
    print("no files use each other in a circle")
