"""Options that are on or off."""

from __future__ import annotations

from deltaic.exceptions import InvalidArgumentError


def switch(name: str, text: str | None) -> bool | None:
    """Whether an option is on; None where it is not given.

    Args:
        name: Its name in an error.
        text: Its value.

    Raises:
        InvalidArgumentError: if it is neither true nor false (`DELTA_ILLEGAL_OPTION`).
    """
    if text is None:
        return None
    if text.lower() not in ("true", "false"):
        error = InvalidArgumentError.of(name, f"`{text}` is neither true nor false")
        raise error.named("DELTA_ILLEGAL_OPTION", input=text, explain="must be 'true' or 'false'")
    return text.lower() == "true"
