"""Credentials of classes of Hadoop, which the JVM calls for the core."""

from __future__ import annotations

import json
from typing import Any

from py4j.protocol import Py4JJavaError

from deltaic import _core
from deltaic.credentials import as_given
from deltaic.spark.bridge.driver import unlogged
from deltaic.spark.session.jvm import PACKAGE, static_method


def give_from(gateway: Any) -> None:
    """Lets the core ask this JVM for the credentials of the classes that Hadoop's settings name."""

    def ask(store: str, settings: dict[str, str]) -> tuple[dict[str, str], float | None]:
        of = static_method(gateway, f"{PACKAGE}.StoreCredentials", "of")
        try:
            with unlogged():
                given = of(store, json.dumps(settings))
        except Py4JJavaError as error:
            # without the stack of the JVM
            raise RuntimeError(str(error.java_exception.getMessage())) from None
        return as_given(json.loads(given))

    _core.register_credentials(_core.JVM_CREDENTIALS, ask)
