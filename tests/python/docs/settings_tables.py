"""The tables of `docs/settings.md`, made from those in the code; run as a script it writes them again."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from deltaic.spark.session import known_options as options
from deltaic.spark.session import known_settings as known

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

DOCUMENT = Path(__file__).parents[3] / "docs" / "settings.md"
_BLOCK = re.compile(r"<!-- table: (\w+) -->\n.*?<!-- end -->", re.DOTALL)


def with_tables(text: str) -> str:
    """The document with its tables as they are to be."""
    return _BLOCK.sub(lambda block: f"<!-- table: {block[1]} -->\n{_TABLES[block[1]]()}\n<!-- end -->", text)


def _reported(table: Mapping[str, str], head: str) -> str:
    rows = [f"| `{name}` | {text} |" for name, text in table.items()]
    return "\n".join([f"| {head} | what it does |", "|---|---|", *rows])


def _refused(table: Mapping[str, known.Refused], head: str) -> str:
    def each() -> Iterator[str]:
        for name, refused in table.items():
            allowed = ", ".join(f"`{value}`" for value in refused.default.split()) or "not given"
            yield f"| `{name}` | {allowed} | {refused.on.replace(' ', ', ')} | {refused.why} |"

    return "\n".join([f"| {head} | allowed | raised by | why |", "|---|---|---|---|", *each()])


def _reasons(table: Mapping[str, str]) -> str:
    by_reason: dict[str, list[str]] = {}
    for name, why in table.items():
        by_reason.setdefault(why, []).append(f"`{name}`")
    return "\n".join(f"- {why} {', '.join(names)}." for why, names in by_reason.items())


_TABLES = {
    "followed": lambda: _reported(known.FOLLOWED, "setting"),
    "refused": lambda: _refused(known.REFUSED, "setting"),
    "without": lambda: _reasons(known.WITHOUT_EFFECT),
    "sparks_followed": lambda: _reported(known.SPARKS_FOLLOWED, "setting"),
    "sparks_refused": lambda: _refused(known.SPARKS_REFUSED, "setting"),
    "sparks_without": lambda: _reasons(known.SPARKS_WITHOUT_EFFECT),
    "options_followed": lambda: _reported(options.OPTIONS_FOLLOWED, "option"),
    "options_refused": lambda: _refused(options.OPTIONS_REFUSED, "option"),
    "options_without": lambda: _reasons(options.OPTIONS_WITHOUT_EFFECT),
    "properties_refused": lambda: _reasons(options.PROPERTIES_REFUSED),
    "properties_without": lambda: _reasons(options.PROPERTIES_WITHOUT_EFFECT),
}

if __name__ == "__main__":
    DOCUMENT.write_text(with_tables(DOCUMENT.read_text()))
