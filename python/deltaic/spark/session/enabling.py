"""The name of the format in a session, which is enabled by asking for it.

Enabling a session needs all layers above this one: the bridge and the Python Data Source call reads, writes and
statements. These ask here, and `deltaic.spark.api`, which every import of the package imports, has set how it is done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_enable: list[Callable[[Any], str]] = []


def enabled_by(enable: Callable[[Any], str]) -> Callable[[Any], str]:
    """Sets how a session is enabled: by this function, which returns the name of the format."""
    _enable[:] = [enable]
    return enable


def format_name(spark: Any) -> str:
    """The name of the format in this session, which is enabled by that."""
    return _enable[0](spark)
