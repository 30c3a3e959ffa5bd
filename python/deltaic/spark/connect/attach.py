"""Attaches a session of Spark Connect to the bridge, so that the server does all that a classic session does.

Where the server's admin has switched deltaic on, there is nothing to do. Elsewhere the client uploads the bridge's
classes to its session, and asks their door to start a Python of the server that serves the session.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException

from deltaic._core import __version__
from deltaic.spark.bridge import compiler
from deltaic.spark.connect import errors
from deltaic.spark.connect.server_side import SCHEMA, make_jar
from deltaic.spark.session.jvm import PACKAGE
from deltaic.spark.session.kind import note_served

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_SERVED = "spark.deltaic.served"
"""By this setting a session says the name of its format, if Plugin.java or Door.java has switched it on."""

_ALLOWED = "spark.deltaic.connect.clientDoor"
"""A server's own setting, which Door.java checks, too."""


class RefusedError(Exception):
    """The server does not serve the session, for the reason that is its text. The session is as it was."""


def attach(spark: Any, enable: Callable[[Any], Any]) -> list[str]:
    """Lets the server serve a session, and those that its `newSession` makes, which `enable` is called with.

    Returns texts for the user.

    Raises:
        RefusedError: the server does not.
    """
    errors.convert()
    said: list[str] = []
    name = spark.conf.get(_SERVED, None)
    if name is None:
        if spark.conf.get(_ALLOWED, "true") != "true":
            raise RefusedError(f"its admin does not allow it ({_ALLOWED})")
        try:
            answer = _ask(spark)
        except PySparkException as error:
            raise RefusedError(_reason(error)) from error
        if "refused" in answer:
            raise RefusedError(answer["refused"])
        name, said = answer["format"], answer["ready"]
    _enable_new_sessions(spark, enable)
    note_served(spark, name)
    return said


def _ask(spark: Any) -> dict[str, Any]:
    jar = compiler.kept_jar(spark.version) or _fetch_jar(spark)
    spark.addArtifact(str(jar))
    door = spark.read.format(f"{PACKAGE}.Door").option("session", spark.session_id)
    answer: dict[str, Any] = json.loads(door.load().schema[0].metadata["comment"])
    return answer


def _fetch_jar(spark: Any) -> Path:
    """The JAR that the server's Python makes for its Spark. The cache of this user has it the next time."""
    name, content = spark.range(0, 1, 1, 1).mapInArrow(make_jar, SCHEMA).collect()[0]
    if not name.startswith(compiler.name_begins()):
        raise RefusedError(f"its Python has another version of deltaic than {__version__}, which is here")
    return compiler.keep(name, bytes(content))


def _reason(error: PySparkException) -> str:
    text = str(error)
    if "No module named 'deltaic" in text or "deltaic.spark.connect" in text:
        return f"its Python cannot import deltaic {__version__}: install the same version there"
    lines = [line for line in text.splitlines() if line.strip()] or [type(error).__name__]
    # a traceback of a worker ends with the error
    last = [line for line in lines if "Error: " in line and not line.startswith(("  ", "\t"))]
    return last[-1] if last else lines[0]


def _enable_new_sessions(spark: Any, enable: Callable[[Any], Any]) -> None:
    make = getattr(spark, "newSession", None)
    if make is not None:
        spark.newSession = lambda: enable(make())
