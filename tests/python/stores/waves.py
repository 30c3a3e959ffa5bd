"""A relay before a server of HTTP that holds each request for a while, and tells which were under way at once."""

from __future__ import annotations

import asyncio
import re
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


@dataclass
class Relay:
    """What went through."""

    endpoint: str
    waves: list[list[str]] = field(default_factory=list)
    """The requests, those that waited for each other's answer in different lists."""


class _Pause:
    """Each request waits for so many seconds."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    async def wait(self, request: str) -> None:
        del request
        await asyncio.sleep(self.seconds)


class _Together:
    """Requests wait until no other has come for a while: then they go on, and are one wave."""

    def __init__(self, seconds: float, relay: Relay) -> None:
        self.seconds, self.relay = seconds, relay
        self.held: list[str] = []
        self.going = asyncio.Event()
        self.timer: asyncio.TimerHandle | None = None

    async def wait(self, request: str) -> None:
        if self.timer is not None:
            self.timer.cancel()
        self.held.append(request)
        self.timer = asyncio.get_running_loop().call_later(self.seconds, self._go)
        await self.going.wait()

    def _go(self) -> None:
        self.relay.waves.append(self.held)
        self.going.set()
        self.held, self.going, self.timer = [], asyncio.Event(), None


@contextmanager
def delayed(endpoint: str, seconds: float, *, together: bool = False) -> Iterator[Relay]:
    """A relay to an endpoint, whose address is in the result; with `together` the waves are, too."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    relay = Relay("")
    start = asyncio.run_coroutine_threadsafe(_serve(endpoint, seconds, relay, together=together), loop)
    server = start.result(timeout=30)
    try:
        yield relay
    finally:
        loop.call_soon_threadsafe(server.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(timeout=30)


async def _serve(endpoint: str, seconds: float, relay: Relay, *, together: bool) -> asyncio.Server:
    there = urlsplit(endpoint)
    gate = _Together(seconds, relay) if together else _Pause(seconds)

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers, requests = await asyncio.open_connection(there.hostname, there.port)
        back = asyncio.ensure_future(_pump(answers, writer))
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = _LENGTH.search(head)
                body = await reader.readexactly(int(length[1])) if length else b""
                await gate.wait(head.split(b" HTTP/", 1)[0].decode())
                requests.write(head + body)
                await requests.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            requests.close()
            back.cancel()
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0, limit=1 << 20)
    host, port = server.sockets[0].getsockname()[:2]
    relay.endpoint = f"http://{host}:{port}"
    return server


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while chunk := await reader.read(1 << 16):
            writer.write(chunk)
            await writer.drain()
    except ConnectionError:
        pass
