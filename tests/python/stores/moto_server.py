"""moto's server with atomic puts: `python moto_server.py PORT`.

moto looks at the condition of a put and stores the object in two steps, so that of two puts at once both may win. Here
the body is received first, and then one put is done at a time.
"""

from __future__ import annotations

import io
import os
import sys
import threading
from typing import TYPE_CHECKING, Any

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from moto.server import MotoRequestHandler
from werkzeug.serving import run_simple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class AtomicPuts:
    def __init__(self, server: Callable[..., Iterable[bytes]]) -> None:
        self._server = server
        self._one = threading.Lock()

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        length = environ.get("CONTENT_LENGTH")
        if environ["REQUEST_METHOD"] != "PUT" or not length:
            return self._server(environ, start_response)
        environ["wsgi.input"] = io.BytesIO(environ["wsgi.input"].read(int(length)))
        with self._one:
            return self._server(environ, start_response)


if __name__ == "__main__":
    # moto reads its own port from there
    port = os.environ["MOTO_PORT"] = sys.argv[1]
    server = AtomicPuts(DomainDispatcherApplication(create_backend_app))
    run_simple("127.0.0.1", int(port), server, threaded=True, request_handler=MotoRequestHandler)
