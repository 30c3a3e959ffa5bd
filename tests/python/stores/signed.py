"""Signed requests to stores, without a client of a store: what the tests ask that no table asks."""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.client
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Answer:
    """What a server answered."""

    status: int
    body: str


def send(endpoint: str, method: str, target: str, headers: Mapping[str, str], body: bytes = b"") -> Answer:
    """One request on a connection of its own."""
    connection = http.client.HTTPConnection(urlsplit(endpoint).netloc, timeout=60)
    try:
        connection.request(method, target, body, dict(headers))
        answer = connection.getresponse()
        return Answer(answer.status, answer.read().decode(errors="replace"))
    finally:
        connection.close()


def _query(query: Mapping[str, str]) -> str:
    return "&".join(f"{quote(name, safe='')}={quote(query[name], safe='')}" for name in sorted(query))


def _target(path: str, query: Mapping[str, str]) -> str:
    return f"{quote(path)}?{_query(query)}" if query else quote(path)


def s3(
    endpoint: str,
    credentials: tuple[str, str, str],
    method: str,
    path: str,
    query: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
) -> Answer:
    """A request with a signature of version 4; the credentials are key, secret and region."""
    key, secret, region = credentials
    query = query or {}
    now = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    signed = {
        "host": urlsplit(endpoint).netloc,
        "x-amz-content-sha256": hashlib.sha256(body).hexdigest(),
        "x-amz-date": now,
        **{name.lower(): value for name, value in (headers or {}).items()},
    }
    names = ";".join(sorted(signed))
    canonical = "\n".join(
        [
            method,
            quote(path),
            _query(query),
            *(f"{name}:{signed[name]}" for name in sorted(signed)),
            "",
            names,
            signed["x-amz-content-sha256"],
        ]
    )
    scope = f"{now[:8]}/{region}/s3/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", now, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    own = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        own = hmac.digest(own, part.encode(), "sha256")
    signature = hmac.digest(own, text.encode(), "sha256").hex()
    authorization = f"AWS4-HMAC-SHA256 Credential={key}/{scope}, SignedHeaders={names}, Signature={signature}"
    return send(endpoint, method, _target(path, query), {**signed, "authorization": authorization}, body)


def azure(
    endpoint: str,
    credentials: tuple[str, str],
    method: str,
    path: str,
    query: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
) -> Answer:
    """A request with the key of an account; the endpoint has the account in its path, as emulators have it."""
    account, key = credentials
    query = query or {}
    whole = urlsplit(endpoint).path + path
    given = {
        "x-ms-date": datetime.now(timezone.utc).strftime("%a, %d %b %Y %H:%M:%S GMT"),
        "x-ms-version": "2023-11-03",
        **{name.lower(): value for name, value in (headers or {}).items()},
    }
    own = "".join(f"{name}:{given[name]}\n" for name in sorted(given) if name.startswith("x-ms-"))
    asked = "".join(f"\n{name.lower()}:{query[name]}" for name in sorted(query))
    length = str(len(body)) if body else ""
    plain = [given.get("if-none-match", "") if place == 9 else "" for place in range(12)]
    plain[3] = length
    text = "\n".join([method, *plain[1:], ""]) + own + f"/{account}{quote(whole)}{asked}"
    signature = base64.b64encode(hmac.digest(base64.b64decode(key), text.encode(), "sha256")).decode()
    given["authorization"] = f"SharedKey {account}:{signature}"
    return send(endpoint, method, _target(whole, query), given, body)
