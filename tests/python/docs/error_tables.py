"""The tables of `docs/errors.md`, made from classes and conditions of the code; run as a script it writes them again.

`error_causes.txt` has what the code does not: the cause of each condition, and what to do.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING

from deltaic import exceptions
from deltaic.error_conditions import conditions, of_kinds

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCUMENT = Path(__file__).parents[3] / "docs" / "errors.md"
_CAUSES = Path(__file__).with_name("error_causes.txt")
_BLOCK = re.compile(r"<!-- table: (\w+) -->\n.*?<!-- end -->", re.DOTALL)


def causes() -> dict[str, tuple[str, str]]:
    """Cause and cure by name."""
    lines = _CAUSES.read_text(encoding="utf-8").splitlines()[1:]
    found = {}
    for line in lines:
        name, cause, cure = (part.strip() for part in line.split("|"))
        assert name not in found, name
        found[name] = (cause, cure)
    return found


def kinds() -> dict[str, type[exceptions.DeltaError]]:
    """The classes of errors by kind, in their order in the code; the names of delta-spark are left out."""
    return {
        name.removesuffix("Error"): value
        for name, value in vars(exceptions).items()
        if inspect.isclass(value)
        and issubclass(value, exceptions.DeltaError)
        and value.__name__ == name
        and name.endswith("Error")
        and value is not exceptions.DeltaError
    }


def with_tables(text: str) -> str:
    """The document with its tables as they are to be."""
    return _BLOCK.sub(
        lambda block: "\n".join([f"<!-- table: {block[1]} -->", *_TABLES[block[1]](), "<!-- end -->"]), text
    )


def _kinds() -> Iterator[str]:
    yield "| class | what happened | what to do | facts | condition |"
    yield "|---|---|---|---|---|"
    known = causes()
    for kind, of_kind in kinds().items():
        cause = " ".join(inspect.cleandoc(of_kind.__doc__ or "").partition("\n\n")[0].split())
        # those of the base of all conflicts are theirs, too
        facts = ", ".join(f"`{name}`" for name in inspect.get_annotations(of_kind))
        condition = f"`{of_kinds()[kind]}`" if kind in of_kinds() else ""
        yield f"| `{of_kind.__name__}` | {cause} | {known[kind][1]} | {facts} | {condition} |"


def _conditions() -> Iterator[str]:
    yield "| condition | SQLSTATE | cause | cure |"
    yield "|---|---|---|---|"
    known = causes()
    for name, condition in sorted(conditions().items()):
        cause, cure = known[name]
        yield f"| `{name}` | {condition.sql_state} | {cause} | {cure} |"


_TABLES = {"kinds": _kinds, "conditions": _conditions}

if __name__ == "__main__":
    DOCUMENT.write_text(with_tables(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
