"""The public interface of the crate `deltaic`, in rust/deltaic/public-api.txt: its items with their signatures.

`python .ci/public_api.py` writes it, `--check` compares it. Both read what `cargo doc --no-deps -p deltaic` made, so
that items of deltaic-core that the façade hands on are in it, too. `--count CRATE` counts what the pages have.
"""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOC = ROOT / "target" / "doc"
SNAPSHOT = ROOT / "rust" / "deltaic" / "public-api.txt"
# of a page: what the compiler gives to every type says nothing
EVERY_TYPE = ("synthetic-implementations-list", "blanket-implementations-list")
PAGE = re.compile(r"(struct|enum|trait|fn|type|constant|static|macro|union)\.(\w+)\.html")
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}


class Page(HTMLParser):
    """Declarations of an item and headers of its methods and implementations."""

    def __init__(self) -> None:
        super().__init__()
        self.stack: list[tuple[str, str, str]] = []
        self.found: list[str] = []
        self.text: list[str] | None = None
        self.end = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        classes = given.get("class", "").split()
        if tag in VOID:
            return
        self.stack.append((tag, given.get("class", ""), given.get("id", "")))
        everywhere = any(part[2] in EVERY_TYPE for part in self.stack)
        if self.text is None and not everywhere and ("item-decl" in classes or "code-header" in classes):
            self.text, self.end = [], len(self.stack)

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID or not any(part[0] == tag for part in self.stack):
            return
        while self.stack and self.stack.pop()[0] != tag:
            pass
        if self.text is not None and len(self.stack) < self.end:
            text = " ".join("".join(self.text).split())
            if text not in self.found:
                self.found.append(text)
            self.text = None

    def handle_data(self, data: str) -> None:
        # the label of a fold ("Show 12 fields") is no code
        if self.text is not None and not any(part[0] == "summary" for part in self.stack[self.end :]):
            self.text.append(data)


def pages(crate: str) -> list[Path]:
    found = [path for path in (DOC / crate).rglob("*.html") if PAGE.fullmatch(path.name)]
    if not found:
        sys.exit(f"no pages of {crate}: cargo doc --no-deps -p {crate.replace('_', '-')}")
    return sorted(found, key=lambda path: str(path.relative_to(DOC)))


def interface(crate: str) -> list[str]:
    lines: list[str] = []
    for path in pages(crate):
        page = Page()
        page.feed(path.read_text())
        if not page.found:  # the page of a private module leads to that of the item
            continue
        item, *members = page.found
        module = "::".join(path.relative_to(DOC).parent.parts)
        lines += [f"{module}: {item}", *(f"    {member}" for member in sorted(members)), ""]
    if not lines:
        sys.exit(f"the pages of {crate} have no declarations: rustdoc writes them in another way now")
    return lines


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--check", action="store_true")
    arguments.add_argument("--count", metavar="CRATE")
    given = arguments.parse_args()
    if given.count:
        lines = interface(given.count)
        items = sum(not line.startswith(" ") and line != "" for line in lines)
        functions = sum(bool(re.search(r"^    (pub )?(const )?(unsafe )?fn ", line)) for line in lines)
        print(f"{given.count}: {items} items, {functions} methods")
        return
    now = "\n".join(interface("deltaic"))
    if not given.check:
        SNAPSHOT.write_text(now)
        return
    before = SNAPSHOT.read_text() if SNAPSHOT.is_file() else ""
    if now != before:
        names = (str(SNAPSHOT.relative_to(ROOT)), "cargo doc")
        sys.stdout.writelines(
            line + "\n"
            for line in difflib.unified_diff(before.split("\n"), now.split("\n"), *names, lineterm="")
        )
        sys.exit(
            "\nthe public interface of the crate deltaic has changed: if it is to, `python .ci/public_api.py` writes it"
        )


if __name__ == "__main__":
    main()
