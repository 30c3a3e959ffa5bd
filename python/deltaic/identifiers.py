"""Names and paths as SQL writes them: `a.b`, `` `a b` ``, delta.`/path`."""

from __future__ import annotations

import re

from deltaic.exceptions import InvalidArgumentError, UnsupportedError

_PART = re.compile(r"`((?:[^`]|``)+)`|([^.`\s]+)")
_URL = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:/")
FORMATS = ("delta", "deltaic")
"""What a catalog calls tables of ours."""
IN_QUOTES = "'"
"""What a path that a statement has in quotes has before it, where a name has its schema; no schema is called so."""


def parts(name: str) -> list[str]:
    """The parts of a name: `a.b` has two, and what is between backticks is one.

    Raises:
        InvalidArgumentError: this is not a name.
    """
    found, at = [], 0
    text = name.strip()
    while (part := _PART.match(text, at)) is not None:
        found.append(part[2] if part[1] is None else part[1].replace("``", "`"))
        at = part.end()
        if at == len(text):
            return found
        if text[at] != ".":
            break
        at += 1
    reason = f"`{name}` is not a name, such as `table`, `schema.table` or delta.`/path`"
    raise InvalidArgumentError.of("name", reason)


def path_of(name: list[str]) -> str | None:
    """The path that a name is, if it is absolute: delta.`/path`, '/path'. Others, such as delta.t, have a schema."""
    if len(name) == 2 and name[0].lower() in (*FORMATS, IN_QUOTES) and is_absolute(name[1]):
        return local(name[1])
    return None


def is_absolute(text: str) -> bool:
    """Whether this is an absolute path or a URL, not a name."""
    return text.startswith("/") or is_url(text)


def is_url(text: str) -> bool:
    """Whether this is a URL, and no path of the local file system."""
    return _URL.match(text) is not None


def local(location: str) -> str:
    """A location as the core takes it: one that Hadoop writes as `file:/…`, with nothing escaped, as a path."""
    is_path = location.startswith("file:/") and not location.startswith("file://")
    return location.removeprefix("file:") if is_path else location


def sql(name: list[str]) -> str:
    """A name as SQL writes it."""
    return ".".join(quoted(part) for part in name)


def quoted(name: str) -> str:
    """A column name that Spark does not take apart."""
    return "`" + name.replace("`", "``") + "`"


def in_sql(name: str) -> str:
    """A column name within SQL text.

    Raises:
        UnsupportedError: Spark puts a variable of the session or the environment into texts, in names too.
    """
    if "${" in name:
        what = f"SQL with the column `{name}`, in which Spark looks for a variable,"
        raise UnsupportedError(f"{what} is not supported: rename the column", path="", what=what)
    return quoted(name)
