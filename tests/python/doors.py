"""Through which door the fixture `spark` reaches Spark. `DELTAIC_DOOR` names one.

classic
    A classic session. The default.
admin
    A session of a Spark Connect server that was started with what `connect-conf` prints. The client is plain PySpark,
    but for the classes of errors.
client
    A session of a stock Spark Connect server, which attached to it.

With `DELTAIC_WORKERS`=2 the servers of `admin` and `client` run their tasks on a standalone cluster of two workers,
which are processes of this machine.

Through the doors of Spark Connect only the tests run that use the fixture `spark`. What looks into the JVM or the
Python process that does the work is skipped there: on Spark Connect both are another process's.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

CLASSIC = "classic"
FIXTURES = {CLASSIC: "classic", "admin": "served", "client": "attached"}
"""The fixture of each door."""

SERVERS = {"admin": "admins", "client": "stock"}
"""The fixture of the server of each door that has one."""

_IN_THIS_PROCESS = {
    "monkeypatch": "replaces something in the process that does the work",
    "caplog": "reads the log of the process that does the work",
}
"""Fixtures that mean a classic session, and why."""


def chosen() -> str:
    """The door of this run."""
    door = os.environ.get("DELTAIC_DOOR", CLASSIC)
    if door not in FIXTURES:
        raise ValueError(f"DELTAIC_DOOR is {door!r}: {', '.join(FIXTURES)}")
    return door


def workers() -> int:
    """How many workers the cluster of the servers has; 0 where they need none."""
    return int(os.environ.get("DELTAIC_WORKERS", "0"))


def through(items: Sequence[pytest.Item], door: str) -> list[pytest.Item]:
    """The tests that a door plays; those that it cannot are marked to be skipped, with the reason."""
    if door == CLASSIC:
        return list(items)
    found = [item for item in items if _uses_spark(item)]
    for item in found:
        if (why := _only_classic(item)) is not None:
            item.add_marker(pytest.mark.skip(reason=f"of a classic session only: {why}"))
    return found


def _uses_spark(item: pytest.Item) -> bool:
    given = item.callspec.params if hasattr(item, "callspec") else {}
    if "door" in given:
        return bool(given["door"] == CLASSIC)
    return "spark" in getattr(item, "fixturenames", ())


def _only_classic(item: pytest.Item) -> str | None:
    marker = item.get_closest_marker("classic")
    if marker is not None:
        return str(marker.args[0])
    fixtures = getattr(item, "fixturenames", ())
    return next((why for name, why in _IN_THIS_PROCESS.items() if name in fixtures), None)
