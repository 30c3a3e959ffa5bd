"""Checks that each folder of rust/core/src uses only those below it, by the list in rust/core/layers.txt.

Comments and tests are left out: documentation may point up, and tests may use everything.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Module = tuple[str, ...]
ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "rust/core/src"
LAYERS = ROOT / "rust/core/layers.txt"
CLOSES = {"{": "}", "(": ")", "[": "]"}
# what is no code: comments, strings, characters (and no lifetimes)
NO_CODE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|\bb?r(?P<hashes>\#*)".*?"(?P=hashes)"""
    r"""|b?"(?:\\.|[^"\\])*"|b?'(?:\\[^\n]+?|[^\\'])'""",
    re.DOTALL,
)
TEST_ONLY = re.compile(r"#\[cfg\((?:all\()?test\b")
ATTRIBUTE = re.compile(r"\s*#\[")
MODULE = re.compile(r"\bmod\s+(\w+)\s*([;{])")
SEGMENT = re.compile(r"\s*([\w*]+)\s*(::)?")
RENAMED = re.compile(r"as\s+(\w+)")
PATH = re.compile(r"(?<![\w:$])(crate|self|super)((?:\s*::\s*super)*)\s*::\s*(?=([\w*]+|\{))")


def without_literals(text: str) -> str:
    """The code with blanks for comments and literals."""
    return NO_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def closed(code: str, at: int) -> int:
    """The place after the bracket that closes the one at `at`."""
    open_brackets = []
    for place in range(at, len(code)):
        if code[place] in CLOSES:
            open_brackets.append(CLOSES[code[place]])
        elif open_brackets and code[place] == open_brackets[-1]:
            open_brackets.pop()
            if not open_brackets:
                return place + 1
    return len(code)


def item_end(code: str, at: int) -> int:
    """The place after the item that begins at `at`: its block or its semicolon."""
    while at < len(code):
        if code[at] in "([":
            at = closed(code, at)
        elif code[at] == "{":
            return closed(code, at)
        elif code[at] == ";":
            return at + 1
        else:
            at += 1
    return at


def without_tests(code: str) -> tuple[str, set[str]]:
    """The code without items that only tests have, and the names of the modules among them."""
    modules = set()
    while found := TEST_ONLY.search(code):
        after = closed(code, found.start() + 1)
        while attribute := ATTRIBUTE.match(code, after):
            after = closed(code, attribute.end() - 1)
        end = item_end(code, after)
        if module := MODULE.search(code, after, end):
            modules.add(module.group(1))
        code = code[: found.start()] + re.sub(r"[^\n]", " ", code[found.start() : end]) + code[end:]
    return code, modules


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
            renamed = RENAMED.match(code, at)
            yield tuple(before), renamed.group(1) if renamed else before[-1]
            return


def _after_comma(code: str, at: int, end: int) -> int:
    while at < end and code[at] != ",":
        at = closed(code, at) if code[at] == "{" else at + 1
    at += 1
    while at < end and code[at].isspace():
        at += 1
    return at


def exported(code: str) -> dict[str, str]:
    """The modules of what the root of the crate gives names to."""
    found = re.finditer(r"\buse\s+(\w+)\s*::\s*(\w+|\{[^}]*\})\s*;", code)
    return {name: use.group(1) for use in found for name in re.findall(r"\w+", use.group(2))}


def paths(module: Module, code: str) -> Iterator[tuple[re.Match[str], int]]:
    """Where a path begins, and with how many of the names that lead to its file: none at the root of the crate."""
    inline = [(m.end() - 1, closed(code, m.end() - 1)) for m in MODULE.finditer(code) if m.group(2) == "{"]
    for found in PATH.finditer(code):
        depth = len(module) + sum(start < found.start() < end for start, end in inline)
        ups = (found.group(1) == "super") + found.group(2).count("super")
        yield found, 0 if found.group(1) == "crate" else max(depth - ups, 0)


def used(path: Path, code: str, at_root: dict[str, str]) -> Iterator[tuple[int, str]]:
    """Each line and the folder or file at the root that it uses."""
    for found, kept in paths(module_of(path), code):
        if kept:
            continue
        for name in dict.fromkeys(names[0] for names, _ in leaves(code, found.end())):
            yield code.count("\n", 0, found.start()) + 1, at_root.get(name, name)


def library_code(read: Callable[[str], str]) -> dict[Path, str]:
    """What `read` makes of each file, without tests."""
    sources = {}
    tests = set()
    for path in sorted(SOURCES.rglob("*.rs")):
        sources[path], modules = without_tests(read(path.read_text()))
        folder = path.parent if path.stem in ("mod", "lib") else path.with_suffix("")
        tests |= {folder / module for module in modules}
    return {
        path: code
        for path, code in sources.items()
        if path.with_suffix("") not in tests and not tests & set(path.parents)
    }


def violations() -> Iterator[str]:
    """What is wrong, a line each."""
    lines = (line.split("#")[0].strip() for line in LAYERS.read_text().splitlines())
    layers = [line.split() for line in lines if line]
    height = {name: at for at, layer in enumerate(layers) for name in layer}
    entries = {path.stem for path in SOURCES.iterdir()} - {"lib"}
    yield from (
        f"{name} is in rust/core/src and not in {LAYERS.name}" for name in sorted(entries - height.keys())
    )
    yield from (
        f"{name} is in {LAYERS.name} and not in rust/core/src" for name in sorted(height.keys() - entries)
    )
    at_root = exported(without_literals((SOURCES / "lib.rs").read_text()))
    for path, code in library_code(without_literals).items():
        own = path.relative_to(SOURCES).parts[0].removesuffix(".rs")
        if own == "lib":
            continue
        for line, other in used(path, code, at_root):
            if other != own and height.get(other, len(layers)) >= height.get(own, -1):
                yield f"{path.relative_to(ROOT)}:{line}: `{own}` uses `{other}`, which is not below it"


if __name__ == "__main__":
    wrong = list(violations())
    print("\n".join(wrong) or "every folder uses only those below it")
    sys.exit(bool(wrong))
