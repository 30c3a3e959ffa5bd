"""Checks that no files of rust/core/src use each other in a circle: each can be read after those that it uses.

Comments, tests and the files that only list a folder (`mod.rs`, `lib.rs`) are left out; what these give names to is
followed to the file that has it.
"""

from __future__ import annotations

import re
import sys
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from layers import MODULE, PATH, ROOT, SOURCES, closed, library_code, without_literals

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

Module = tuple[str, ...]
SEGMENT = re.compile(r"\s*([\w*]+)\s*(::)?")
PUBLIC_USE = re.compile(r"\bpub(?:\s*\([^)]*\))?\s+use\s+(?=\w)")


def module_of(path: Path) -> Module:
    """The names that lead to a file."""
    parts = path.relative_to(SOURCES).with_suffix("").parts
    return parts[:-1] if parts[-1] in ("mod", "lib") else parts


def leaves(code: str, at: int) -> Iterator[tuple[Module, str]]:
    """Each path that begins at `at`, with the name that it gets: `a::{b, c::d as e}` are two."""
    before: list[str] = []
    while True:
        if code[at : at + 1] == "{":
            end = closed(code, at) - 1
            at += 1
            while at < end:
                yield from (((*before, *path), name) for path, name in leaves(code, at))
                at = _after_comma(code, at, end)
            return
        found = SEGMENT.match(code, at)
        if found is None:
            return
        before.append(found.group(1))
        at = found.end()
        if found.group(2) is None:
            renamed = re.compile(r"as\s+(\w+)").match(code, at)
            yield tuple(before), renamed.group(1) if renamed else before[-1]
            return


def _after_comma(code: str, at: int, end: int) -> int:
    while at < end and code[at] != ",":
        at = closed(code, at) if code[at] == "{" else at + 1
    at += 1
    while at < end and code[at].isspace():
        at += 1
    return at


def given_names(module: Module, code: str) -> dict[str, Module]:
    """What a file that lists a folder gives names to, as paths from the root of the crate."""
    given = {}
    for use in PUBLIC_USE.finditer(code):
        for path, name in leaves(code, use.end()):
            given[name] = path[1:] if path[0] == "crate" else (*module, *path)
    return given


def used(module: Module, code: str) -> Iterator[Module]:
    """Each path from the root of the crate that a file uses."""
    inline = [(m.end() - 1, closed(code, m.end() - 1)) for m in MODULE.finditer(code) if m.group(2) == "{"]
    for found in PATH.finditer(code):
        depth = len(module) + sum(start < found.start() < end for start, end in inline)
        ups = (found.group(1) == "super") + found.group(2).count("super")
        base = () if found.group(1) == "crate" else module[: max(depth - ups, 0)]
        yield from ((*base, *path) for path, _ in leaves(code, found.end()))


def uses() -> dict[Module, set[Module]]:
    """The files that each file uses."""
    code = {module_of(path): text for path, text in library_code(without_literals).items()}
    lists = {module_of(path) for path in SOURCES.rglob("*.rs") if path.stem in ("mod", "lib")}
    given = {module: given_names(module, code[module]) for module in lists & code.keys()}

    def home(path: Module, given: Mapping[Module, Mapping[str, Module]], follows: int = 8) -> Module:
        """The file that has what a path names."""
        at = next(at for at in range(len(path), -1, -1) if path[:at] in code)
        name = path[at] if at < len(path) else None
        other = given.get(path[:at], {}).get(name or "")
        return path[:at] if other is None or not follows else home(other, given, follows - 1)

    graph: dict[Module, set[Module]] = {}
    for module, text in code.items():
        if module not in lists:
            found = {home(path, given) for path in used(module, text)}
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
