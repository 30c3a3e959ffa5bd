"""The statements that Spark does not know, between its parser and their execution."""

from __future__ import annotations

import json
from typing import Any

from deltaic.spark.session.jvm import session_of
from deltaic.spark.statements.run import from_json, is_ours, run, schema_of, to_json
from deltaic.statements.parse import parse as parse_text


def parse(asked: dict[str, Any], _: Any) -> str | None:
    """The parsed statement, and the columns of its result; None for statements of Spark.

    Raises:
        InvalidArgumentError: it is one of ours, with a mistake.
    """
    statement = parse_text(asked["text"])
    if statement is None or not is_ours(statement):
        return None
    return json.dumps(
        {
            "name": f"{type(statement).__name__} {'.'.join(statement.name)}",
            "statement": to_json(statement),
            "schema": schema_of(statement).jsonValue(),
        }
    )


def execute(asked: dict[str, Any], data: Any) -> Any:
    """Carries out what `parse` read; a Java Dataset, or None where there are no rows."""
    statement = from_json(json.loads(asked["statement"]))
    answer = run(session_of(data), statement)
    return answer._jdf if schema_of(statement).fields else None
