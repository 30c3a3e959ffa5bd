"""An HTTP/1.1 server of threads that hands each request, whole, to a function and sends what it answers."""

from __future__ import annotations

import http.client
import http.server
import socket
import socketserver
import struct
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urlsplit

if TYPE_CHECKING:
    import email.message
    from collections.abc import Callable, Iterator

# headers of one connection, which is not the next one
_HOPS = {"connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"}


@dataclass(frozen=True)
class Asked:
    """A request."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes = field(repr=False)

    @property
    def path(self) -> str:
        """The path without escapes."""
        return unquote(urlsplit(self.target).path)

    @property
    def query(self) -> dict[str, str]:
        """The query without escapes."""
        return dict(parse_qsl(urlsplit(self.target).query, keep_blank_values=True))

    def header(self, name: str) -> str | None:
        """The value of a header."""
        return next((value for given, value in self.headers if given.lower() == name), None)


@dataclass
class Answered:
    """An answer. Without `headers` it is one of the relay itself."""

    status: int
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = field(default=b"", repr=False)


class ResetError(Exception):
    """The connection is to be reset, after some bytes of an answer if one is given."""

    def __init__(self, answer: Answered | None = None, sent: int = 0) -> None:
        super().__init__()
        self.answer, self.sent = answer, sent


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # else the system waits for more to send
    disable_nagle_algorithm = True
    wbufsize = -1
    server: _Server

    def _do(self) -> None:
        size = int(self.headers.get("content-length") or 0)
        try:
            if self.server.before is not None:
                self.server.before(self.command, self.path, size, self.rfile.read)
            body = (
                self._chunks()
                if "chunked" in self.headers.get("transfer-encoding", "")
                else self.rfile.read(size)
            )
            asked = Asked(self.command, self.path, list(self.headers.items()), body)
            answer = self.server.answer(asked)
        except ResetError as reset:
            with suppress(OSError):
                if reset.answer is not None:
                    self._send(reset.answer, reset.sent)
            self._reset()
            return
        except OSError:
            self._reset()
            return
        with suppress(OSError):
            self._send(answer, len(answer.body))

    def _chunks(self) -> bytes:
        """A body that comes in chunks, each after its size."""
        body = b""
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return body

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _do  # noqa: N815

    def _send(self, answer: Answered, upto: int) -> None:
        self.send_response_only(answer.status)
        sized = False
        for name, value in answer.headers:
            if name.lower() == "content-length":
                # of a HEAD it is the object's
                sized = sized or self.command == "HEAD"
                if self.command != "HEAD":
                    continue
            if name.lower() not in _HOPS:
                self.send_header(name, value)
        if not sized and answer.status != http.HTTPStatus.NO_CONTENT:
            self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body[:upto])
        self.wfile.flush()

    def _reset(self) -> None:
        """Ends the connection so that the client sees a reset, and not an end."""
        self.close_connection = True
        with suppress(OSError):
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        with suppress(OSError):
            self.connection.close()

    def log_message(self, *_: object) -> None:
        """Says nothing."""

    def finish(self) -> None:
        """The connection may be gone."""
        with suppress(OSError, ValueError):
            super().finish()


class _Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    # the writers of a test come all at once
    request_queue_size = 128
    block_on_close = False
    answer: Callable[[Asked], Answered]
    before: Callable[[str, str, int, Callable[[int], bytes]], None] | None

    def handle_error(self, *_: object) -> None:
        """A connection that is reset is none."""


_ports: set[int] = set()


def _server() -> _Server:
    """A server at a port that none had before it in this process, which knows a store by its endpoint."""
    while True:
        server = _Server(("127.0.0.1", 0), _Handler)
        if server.server_port not in _ports:
            _ports.add(server.server_port)
            return server
        server.server_close()


@contextmanager
def serving(
    answer: Callable[[Asked], Answered],
    before: Callable[[str, str, int, Callable[[int], bytes]], None] | None = None,
) -> Iterator[str]:
    """The endpoint of a server with these answers.

    `before` gets the method, the target, the size of the body, and what reads bytes of it.
    """
    server = _server()
    server.answer, server.before = answer, before
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Upstream:
    """The server behind a relay: a connection for each thread."""

    def __init__(self, endpoint: str) -> None:
        self._place = urlsplit(endpoint).netloc
        self._own = threading.local()

    def ask(self, asked: Asked) -> Answered:
        """Its answer to a request, with the headers that are given and no others."""
        for again in (False, True):
            connection: http.client.HTTPConnection | None = getattr(self._own, "connection", None)
            if connection is None or again:
                connection = self._own.connection = http.client.HTTPConnection(self._place, timeout=120)
            try:
                return self._ask(connection, asked)
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                # a server may end a connection that it was asked nothing on
                connection.close()
                if again:
                    raise
        raise AssertionError

    @staticmethod
    def _ask(connection: http.client.HTTPConnection, asked: Asked) -> Answered:
        connection.putrequest(asked.method, asked.target, skip_host=True, skip_accept_encoding=True)
        sized = asked.header("content-length") is not None
        for name, value in asked.headers:
            if name.lower() not in _HOPS:
                connection.putheader(name, value)
        if asked.body and not sized:
            connection.putheader("Content-Length", str(len(asked.body)))
        connection.endheaders(asked.body or None)
        answer = connection.getresponse()
        found: email.message.Message = answer.headers
        return Answered(answer.status, list(found.items()), answer.read())
