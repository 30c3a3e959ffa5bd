"""Servers whose credentials expire: signatures of Azurite, and a gate that asks for the token of the moment."""

from __future__ import annotations

import base64
import hmac
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from relay import Answered, Asked, Upstream, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    import servers


def signature(server: servers.Azure, lives: timedelta) -> str:
    """A shared access signature of the account, which Azurite refuses after its life."""
    until = (datetime.now(timezone.utc) + lives).strftime("%Y-%m-%dT%H:%M:%SZ")
    given = {
        "sp": "rwdlacup",
        "ss": "b",
        "srt": "sco",
        "st": "",
        "se": until,
        "sip": "",
        "spr": "https,http",
        "sv": "2021-08-06",
        "ses": "",
    }
    text = "\n".join([server.account, *given.values(), ""])
    own = hmac.digest(base64.b64decode(server.key), text.encode(), "sha256")
    signed = {name: value for name, value in given.items() if value}
    return urlencode({**signed, "sig": base64.b64encode(own).decode()})


@dataclass
class Gate:
    """What may pass."""

    endpoint: str = ""
    token: str = field(default="first", repr=False)
    passed: int = 0
    refused: int = 0


@contextmanager
def gate(endpoint: str, status: int, query: str = "") -> Iterator[Gate]:
    """A server before a server: it asks for the bearer token of the moment, and answers `status` to others.

    What passes goes on without it, with more of a query.
    """
    upstream, kept = Upstream(endpoint), Gate()

    def answer(asked: Asked) -> Answered:
        if asked.header("authorization") != f"Bearer {kept.token}":
            kept.refused += 1
            body = b"<Error><Code>AuthenticationFailed</Code><Message>not this token</Message></Error>"
            return Answered(status, [("Content-Type", "application/xml")], body)
        kept.passed += 1
        headers = [(name, value) for name, value in asked.headers if name.lower() != "authorization"]
        joint = "&" if "?" in asked.target else "?"
        target = f"{asked.target}{joint}{query}" if query else asked.target
        return upstream.ask(Asked(asked.method, target, headers, asked.body))

    with serving(answer) as place:
        kept.endpoint = place
        yield kept
