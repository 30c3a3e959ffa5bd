"""Connects the JVM to this process, so that no other process on the machine can impersonate it."""

from __future__ import annotations

import contextlib
import logging
import secrets
import threading
from typing import TYPE_CHECKING, Any

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError

from deltaic.spark.bridge.callbacks import callback
from deltaic.spark.session.jvm import PACKAGE, static_method

if TYPE_CHECKING:
    from collections.abc import Iterator

_GATEWAY_SERVER = "GATEWAY_SERVER"
_LOGS = ("py4j.clientserver", "py4j.java_gateway")


def connect(gateway: Any, format_name: str) -> None:
    """Gives the JVM a callback of this process, and the secret that each of its requests shows.

    The server of callbacks listens on the loopback address, open to every user of the machine. It takes a connection
    only with a token, so that none of py4j's own commands is open either.
    """
    _serve(gateway)
    secret = secrets.token_hex(32)
    with unlogged():
        static_method(gateway, f"{PACKAGE}.Python", "connect")(callback(secret), secret, format_name)


def _serve(gateway: Any) -> None:
    from pyspark.java_gateway import ensure_callback_server_started

    server = gateway.callback_server_parameters
    # getattr would ask the JVM
    if gateway.__dict__.get("_callback_server") is not None and server.auth_token is not None:
        return
    server.auth_token = secrets.token_hex(32)
    ensure_callback_server_started(gateway)
    try:
        with unlogged():
            java = JavaObject(_GATEWAY_SERVER, gateway._gateway_client)
            static_method(gateway, f"{PACKAGE}.CallbackClients", "authenticate")(java, server.auth_token)
    except Py4JError:
        # another py4j: then only the secret of each request keeps strangers out
        server.auth_token = None


@contextlib.contextmanager
def unlogged() -> Iterator[None]:
    """py4j logs what it sends at the level DEBUG."""
    thread = threading.get_ident()

    def others(record: logging.LogRecord) -> bool:
        return record.thread != thread

    loggers = [logging.getLogger(name) for name in _LOGS]
    for logger in loggers:
        logger.addFilter(others)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(others)
