"""A faulty network before a server of a store: what it does to which request is drawn by a seed, or given.

The faults, of which each request gets at most one:

`busy`      429 or 503 with `Retry-After`; the server hears nothing
`refused`   403; the server hears nothing
`skewed`    403, as S3 answers a client whose clock is wrong; the server hears nothing
`reset`     the connection is reset; the server hears nothing
`cut`       the connection is reset in the middle of the request's body; the server hears nothing
`torn`      the server has done it; the connection is reset in the middle of the answer's body
`lost`      the server has done it; the connection is reset instead of an answer
`late`      the connection is reset at once; the server gets the request after the client's patience
`hung`      the server has done it; the answer comes after the client's patience

Besides, for all requests: latency, listings that lack the last objects, times of the server that are wrong, headers
that do not arrive.
"""

from __future__ import annotations

import random
import re
import threading
import time
from collections import Counter, deque
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime
from typing import TYPE_CHECKING
from urllib.parse import unquote
from xml.sax.saxutils import unescape

from relay import Answered, Asked, ResetError, Upstream, serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_REFUSALS = {
    "refused": ("AccessDenied", "Access Denied."),
    "skewed": (
        "RequestTimeTooSkewed",
        "The difference between the request time and the current time is too large.",
    ),
}
_DONE = range(200, 300)


@dataclass(frozen=True)
class Network:
    """How a network is faulty."""

    seed: int = 0
    rates: dict[str, float] = field(default_factory=dict)
    """How likely each fault is."""
    retry_after: str = "0"
    hangs: float = 3.0
    """Seconds after which a `hung` answer comes."""
    latency: float = 0.0
    """Up to so many seconds are added to each request."""
    lag: int = 0
    """A listing may lack up to so many of the objects that were put last."""
    skew: timedelta = timedelta()
    """By how much the times of the server are ahead of the true ones."""
    stripped: tuple[str, ...] = ()
    """Headers of requests that do not arrive, in lower case."""


@dataclass
class Told:
    """A fault that the next requests get that match."""

    fault: str
    method: str
    pattern: str
    times: int = 1


class Proxy:
    """The network, and what happened on it."""

    def __init__(self, upstream: str, network: Network) -> None:
        self.network = network
        self.endpoint = ""
        self.faults: Counter[str] = Counter()
        """How many of each were injected."""
        self.requests: list[tuple[float, str, str, int | None]] = []
        """Each request: when it was done, the method, the target, and the server's status if it was asked."""
        self._upstream = Upstream(upstream)
        self._dice = random.Random(network.seed)
        self._reported: list[Told] = []
        self.impatient: list[str] = []
        """Requests that came again before the time that `Retry-After` had asked for."""
        self._busy_until: dict[tuple[str, str], float] = {}
        self._put: deque[str] = deque(maxlen=max(network.lag, 1))
        self._lock = threading.Lock()
        self._next = threading.local()

    def tell(self, fault: str, method: str, pattern: str, times: int = 1) -> None:
        """The next requests of a method, whose target has the pattern, get a fault."""
        with self._lock:
            self._reported.append(Told(fault, method, pattern, times))

    def asked(self, method: str, pattern: str) -> list[int | None]:
        """What the server answered to requests whose target has the pattern; none where it was not asked."""
        return [
            status for _, how, target, status in self.requests if how == method and re.search(pattern, target)
        ]

    def before(self, method: str, target: str, size: int, read: Callable[[int], bytes]) -> None:
        """Before the body has come."""
        fault = self._next.fault = self._draw(method, target, size)
        came = time.monotonic()
        if came < self._busy_until.pop((method, target), came):
            self.impatient.append(target)
        if fault in ("reset", "cut"):
            read(size // 2 if fault == "cut" else 0)
            self._tell(method, target, None)
            raise ResetError

    def answer(self, asked: Asked) -> Answered:
        """After it has come."""
        fault = self._next.fault
        with self._lock:
            pause = self._dice.random() * self.network.latency
            busy = self._dice.choice((429, 503))
        time.sleep(pause)
        if fault == "busy" or fault in _REFUSALS:
            self._tell(asked.method, asked.target, None)
            code, message = _REFUSALS.get(fault, ("SlowDown", "Please reduce your request rate."))
            body = f"<Error><Code>{code}</Code><Message>{message}</Message></Error>".encode()
            if fault in _REFUSALS:
                return Answered(403, [], body)
            until = time.monotonic() + float(self.network.retry_after)
            self._busy_until[asked.method, asked.target] = until
            return Answered(busy, [("Retry-After", self.network.retry_after)], body)
        if fault == "late":
            timer = threading.Timer(self.network.hangs, self._forward, (asked,))
            timer.daemon = True
            timer.start()
            raise ResetError
        if fault == "lost":
            self._forward(asked)
            raise ResetError
        answer = self._skewed(self._lagging(asked, self._forward(asked)))
        if fault == "torn":
            raise ResetError(answer, len(answer.body) // 2)
        if fault == "hung":
            time.sleep(self.network.hangs)
        return answer

    def _forward(self, asked: Asked) -> Answered:
        given = [(name, value) for name, value in asked.headers if name.lower() not in self.network.stripped]
        answer = self._upstream.ask(Asked(asked.method, asked.target, given, asked.body))
        self._tell(asked.method, asked.target, answer.status)
        if asked.method == "PUT" and answer.status in _DONE:
            with self._lock:
                self._put.append(asked.path)
        return answer

    @property
    def injected(self) -> int:
        """How many faults there were."""
        return self.faults.total()

    def _tell(self, method: str, target: str, status: int | None) -> None:
        with self._lock:
            self.requests.append((time.monotonic(), method, target, status))

    def _draw(self, method: str, target: str, size: int) -> str | None:
        with self._lock:
            fault = self._take(method, target)
            if fault is None:
                drawn, upto = self._dice.random(), 0.0
                for fault_, rate in self.network.rates.items():
                    upto += rate
                    if drawn < upto:
                        fault = fault_
                        break
            if fault == "cut" and not size:
                fault = "reset"
            if fault is not None:
                self.faults[fault] += 1
            return fault

    def _take(self, method: str, target: str) -> str | None:
        for reported in self._reported:
            if reported.times and reported.method == method and re.search(reported.pattern, unquote(target)):
                reported.times -= 1
                return reported.fault
        return None

    def _lagging(self, asked: Asked, answer: Answered) -> Answered:
        if not self.network.lag or "list-type" not in asked.query or answer.status not in _DONE:
            return answer
        with self._lock:
            lacks = list(self._put)[self._dice.randint(0, len(self._put)) :]

        def kept(match: re.Match[str]) -> str:
            key = re.search("<Key>(.*?)</Key>", match[0], re.DOTALL)
            assert key is not None, match[0]
            names = {unescape(key[1]), unquote(key[1])}
            gone = any(f"{asked.path.rstrip('/')}/{name}" in lacks for name in names)
            if gone:
                self.faults["lag"] += 1
            return "" if gone else match[0]

        text = re.sub("<Contents>.*?</Contents>", kept, answer.body.decode(), flags=re.DOTALL)
        return Answered(answer.status, answer.headers, text.encode())

    def _skewed(self, answer: Answered) -> Answered:
        if not self.network.skew:
            return answer

        def header(name: str, value: str) -> str:
            if name.lower() not in ("date", "last-modified"):
                return value
            return format_datetime(parsedate_to_datetime(value) + self.network.skew, usegmt=True)

        def listed(match: re.Match[bytes]) -> bytes:
            at = datetime.fromisoformat(match[1].decode().replace("Z", "+00:00")) + self.network.skew
            return f"<LastModified>{at.strftime('%Y-%m-%dT%H:%M:%S.000Z')}</LastModified>".encode()

        headers = [(name, header(name, value)) for name, value in answer.headers]
        body = re.sub(b"<LastModified>(.*?)</LastModified>", listed, answer.body)
        return Answered(answer.status, headers, body)


@contextmanager
def proxy(upstream: str, network: Network | None = None) -> Iterator[Proxy]:
    """A faulty network before the server of an endpoint."""
    found = Proxy(upstream, network or Network())
    with serving(found.answer, found.before) as endpoint:
        found.endpoint = endpoint
        yield found
