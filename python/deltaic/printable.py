"""What is printed. Texts of a log are made safe: the writer of a table must not control the terminal of a reader."""

from __future__ import annotations

import re

# control characters but the tab and the end of a line, and those that change the direction of text or end a line unseen
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


def visible(text: str) -> str:
    r"""The text with each control character as Python writes it, such as `\x1b`; lines stay lines."""
    return _HIDDEN.sub(lambda found: _escaped(found[0]), text)


def in_one_line(text: str) -> str:
    r"""As `visible`, and the end of a line is `\n`: no value can look like a line of its own."""
    return visible(text).replace("\n", "\\n")


def in_json(text: str) -> str:
    """Equal JSON, in which these characters are escaped."""
    return _HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def counted(count: int, noun: str) -> str:
    """So many of what the noun names, whose plural ends in s: `1 file`, `2,000 files`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def size(count: int) -> str:
    """Bytes in the unit that reads best."""
    amount, units = float(count), iter(("B", "KiB", "MiB", "GiB", "TiB"))
    unit = next(units)
    while amount >= 1024 and unit != "TiB":
        amount, unit = amount / 1024, next(units)
    return f"{count} B" if unit == "B" else f"{amount:.1f} {unit}"


def _escaped(character: str) -> str:
    number = ord(character)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"
