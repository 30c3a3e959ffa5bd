"""Key columns, and one row for each key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltaic.exceptions import InvalidArgumentError
from deltaic.spark.recipes.target import SOURCE, TARGET

if TYPE_CHECKING:
    from collections.abc import Sequence

_NUMBER = "__deltaic_number"
_SHOWN = 3


def listed(names: str | Sequence[str]) -> list[str]:
    """One name, or many."""
    return [names] if isinstance(names, str) else list(names)


def columns(given: str | Sequence[str], known: Sequence[str], argument: str) -> list[str]:
    """Columns as a frame spells them.

    Raises:
        InvalidArgumentError: for none, and for a missing one.
    """
    spelled = {name.lower(): name for name in known}
    names = listed(given)
    missing = [name for name in names if name.lower() not in spelled]
    if missing or not names:
        reason = f"there is no column `{missing[0]}`: {', '.join(known)}" if missing else "no column is given"
        raise InvalidArgumentError.of(argument, reason)
    return [spelled[name.lower()] for name in names]


def same_key(ids: Sequence[str]) -> str:
    """The condition under which a row of the table is that of a row that comes; nulls are equal."""
    from deltaic.identifiers import in_sql

    return " AND ".join(f"{TARGET}.{in_sql(name)} <=> {SOURCE}.{in_sql(name)}" for name in ids)


def numbered(rows: Any, ids: Sequence[str], order_by: Sequence[str], number: str) -> Any:
    """The rows of each key, numbered from 1 in the column `number`: the greatest by `order_by` first, nulls last."""
    from deltaic.identifiers import in_sql
    from deltaic.spark.session.kind import functions

    keys = ", ".join(map(in_sql, ids))
    order = ", ".join(f"{text} DESC NULLS LAST" for text in order_by)
    # as text, because a window of PySpark is of one kind of session only
    return rows.withColumn(
        number, functions(rows).expr(f"row_number() OVER (PARTITION BY {keys} ORDER BY {order})")
    )


def latest(df: Any, ids: Sequence[str], order_by: str | Sequence[str]) -> Any:
    """The row of each key that is the greatest by `order_by`."""
    rows = numbered(df, ids, listed(order_by), _NUMBER)
    return rows.where(f"{_NUMBER} = 1").drop(_NUMBER)


def refuse_duplicates(rows: Any, ids: Sequence[str], path: str) -> None:
    """Checks that no key comes twice.

    Raises:
        MultipleMatchesError: when one does: it shows some.
    """
    from deltaic.exceptions import MultipleMatchesError
    from deltaic.identifiers import quoted
    from deltaic.spark.session.kind import functions

    F = functions(rows)  # noqa: N806 (its usual name)
    often = rows.groupBy(*map(quoted, ids)).agg(F.count(F.lit(1)).alias(_NUMBER)).where(f"{_NUMBER} > 1")
    found = often.limit(_SHOWN).collect()
    if not found:
        return
    keys = [", ".join(f"{n} = {v}" for n, v in zip(ids, row, strict=False)) for row in found]
    shown = "; ".join(f"{key} ({row[-1]} times)" for key, row in zip(keys, found, strict=True))
    message = f"`{path}`: several rows have one key: {shown}. Name with order_by which of them is the latest"
    raise MultipleMatchesError.of(message, path, keys)
