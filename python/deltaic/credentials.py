"""Functions that give credentials, which the core calls when it needs some and again before they expire."""

from __future__ import annotations

import threading
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from deltaic import _core
from deltaic.exceptions import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeAlias

    Credentials: TypeAlias = Callable[[], Mapping[str, Any]]

EXPIRES = "expires_at"

_lock = threading.Lock()
# by the function: tables that get the same one share its credentials
_names: dict[Any, str] = {}


def with_credentials(
    storage_options: Mapping[str, str] | None, credentials: Credentials | None
) -> dict[str, str]:
    """The options of a store, with the function that gives its credentials, if there is one.

    Raises:
        InvalidArgumentError: it is not a function.
    """
    options = dict(storage_options or {})
    if credentials is not None:
        options[_core.CREDENTIALS] = _name_of(credentials)
    return options


def _name_of(credentials: object) -> str:
    """The name by which the core knows the function."""
    if not callable(credentials):
        reason = f"a {type(credentials).__name__} is no function: give one without arguments, which returns a mapping"
        raise InvalidArgumentError.of("credentials", reason)
    try:
        key: Any = credentials
        hash(key)
    except TypeError:
        key = id(credentials)
    with _lock:
        name = _names.get(key)
        if name is None:
            import uuid  # with `platform`, which most programs do without

            name = _names[key] = f"function-{uuid.uuid4()}"
            _core.register_credentials(name, _asked(credentials))
        return name


def _asked(credentials: Credentials) -> Callable[[str, dict[str, str]], tuple[dict[str, str], float | None]]:
    shown = getattr(credentials, "__qualname__", type(credentials).__qualname__)

    def ask(store: str, settings: dict[str, str]) -> tuple[dict[str, str], float | None]:
        del store, settings
        try:
            given = dict(credentials())
        except Exception as error:
            raise RuntimeError(f"`{shown}` raised {type(error).__name__}: {error}") from error
        return as_given(given)

    return ask


def as_given(given: Mapping[str, Any]) -> tuple[dict[str, str], float | None]:
    """The options among what a function gave, and when they expire, in seconds since the Unix epoch.

    Raises:
        TypeError: a value is of another type.
    """
    options = {}
    for name, value in given.items():
        if name == EXPIRES or value is None:
            continue
        if not isinstance(value, str):
            raise TypeError(f"`{name}` is a {type(value).__name__}, and must be a text")
        options[name] = value
    expires = given.get(EXPIRES)
    if expires is None:
        return options, None
    if isinstance(expires, datetime):
        # as everywhere, a time without a zone is UTC
        moment = expires if expires.tzinfo is not None else expires.replace(tzinfo=timezone.utc)
        return options, moment.timestamp()
    if isinstance(expires, bool) or not isinstance(expires, (int, float)):
        reason = "must be a datetime or seconds since the Unix epoch"
        raise TypeError(f"`{EXPIRES}` is a {type(expires).__name__}, and {reason}")
    return options, float(expires)
