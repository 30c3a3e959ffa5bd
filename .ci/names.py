"""Checks that names of the protocol are in one place of rust/core/src each: properties, keys of columns, operations.

Comments and tests are left out, as by `layers.py`, and so are messages that have a name among other words.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from layers import NO_CODE, ROOT, SOURCES, library_code

if TYPE_CHECKING:
    from collections.abc import Iterator

# stands for a literal, so that what is a test can be told from what is not
LITERAL = "\0"
DELTA = re.compile(r'b?r?\#*"delta\.(?!`)')
OPERATION = re.compile(r"\bOperation\s*::\s*new\(\s*$")
PLACES = {
    "properties/prefixes.rs",
    "properties/table_property.rs",
    "schema/metadata_keys.rs",
    # tags of commits
    "actions/commit_info.rs",
    # domains
    "features/clustering.rs",
    "features/row_tracking.rs",
}


def marked(text: str) -> str:
    """The code with blanks for comments, and marks for literals."""

    def mark(found: re.Match[str]) -> str:
        blank = " " if found.group().startswith(("//", "/*")) else LITERAL
        return re.sub(r"[^\n]", blank, found.group())

    return NO_CODE.sub(mark, text)


def violations() -> Iterator[str]:
    """What is wrong, a line each."""
    for path, code in library_code(marked).items():
        text = path.read_text()
        for found in NO_CODE.finditer(text):
            if code[found.start()] != LITERAL:
                continue
            line = f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, found.start()) + 1}"
            if DELTA.match(found.group()) and path.relative_to(SOURCES).as_posix() not in PLACES:
                yield f"{line}: {found.group()} is a name that belongs into properties/ or schema/metadata_keys.rs"
            elif OPERATION.search(code[: found.start()]):
                yield f"{line}: {found.group()} is a name that belongs into actions/operation_name.rs"


if __name__ == "__main__":
    wrong = list(violations())
    print("\n".join(wrong) or "every name of the protocol is in its place")
    sys.exit(bool(wrong))
