"""Errors by their names: class in Python, condition, SQLSTATE and message parameters."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from error_situations import SITUATIONS, attempt
from playing import Area

if TYPE_CHECKING:
    from collections.abc import Callable

    from playing import Player

# what is another one in each run
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*|\b1[6-9]\d{11}\b")


def _situation(name: str) -> Callable[[Player], None]:
    def go(p: Player) -> None:
        known: dict[str, Any] | None = attempt(name, p.spark, p.tables, f"{p.at}/{name}")
        if known is not None:
            if known["classes"][0] not in ("TypeError", "ValueError"):
                del known["error"]
            warehouse = p.spark.conf.get("spark.sql.warehouse.dir")
            said = {k: _TIME.sub("<time>", v) for k, v in known["parameters"].items()}
            said = {k: v.replace(warehouse, "<warehouse>") for k, v in said.items()}
            known = {**known, "parameters": said}
        p.tell(known)

    return go


AREA = Area("errors")
for _name in SITUATIONS:
    AREA.add(_name, _situation(_name))
