"""The clauses of a merge: what happens to which rows, in order."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from deltaic.exceptions import InvalidArgumentError
from deltaic.spark.dml.operation import shown
from deltaic.statements.merge_clauses import (
    DELETE,
    MATCHED,
    NOT_MATCHED,
    NOT_MATCHED_BY_SOURCE,
    UPDATE,
    Clause,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


_PARAMETERS = {
    MATCHED: "matchedPredicates",
    NOT_MATCHED: "notMatchedPredicates",
    NOT_MATCHED_BY_SOURCE: "notMatchedBySourcePredicates",
}
_UNREACHABLE = {
    MATCHED: "DELTA_NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION",
    NOT_MATCHED: "DELTA_NON_LAST_NOT_MATCHED_CLAUSE_OMIT_CONDITION",
    NOT_MATCHED_BY_SOURCE: "DELTA_NON_LAST_NOT_MATCHED_BY_SOURCE_CLAUSE_OMIT_CONDITION",
}


class Clauses:
    """All of a merge, each with its number.

    Raises:
        InvalidArgumentError: for none, or if one without a condition precedes another of its kind.
    """

    def __init__(self, given: Sequence[Clause]) -> None:
        if not given:
            error = _invalid(
                "a merge needs a clause: whenMatched…, whenNotMatched… or whenNotMatchedBySource…"
            )
            raise error.named("DELTA_MERGE_MISSING_WHEN")
        self.all = dict(enumerate(given))
        for when in _PARAMETERS:
            if any(c.condition is None for c in [*self.of(when).values()][:-1]):
                reason = f"only the last {when} clause may lack a condition: what follows it is never reached"
                raise _invalid(reason).named(_UNREACHABLE[when])

    def of(self, *whens: str, action: str | None = None) -> dict[int, Clause]:
        """Those of some kinds, in order."""
        return {i: c for i, c in self.all.items() if c.when in whens and action in (None, c.action)}

    @property
    def updates(self) -> dict[int, Clause]:
        """Those that give rows other values."""
        return self.of(MATCHED, NOT_MATCHED_BY_SOURCE, action=UPDATE)

    @property
    def inserts(self) -> dict[int, Clause]:
        """Those that add rows."""
        return self.of(NOT_MATCHED)

    @property
    def of_source(self) -> list[Clause]:
        """Those that take values of the source."""
        return [*self.of(MATCHED, action=UPDATE).values(), *self.inserts.values()]

    @property
    def only_inserts(self) -> bool:
        """Whether rows of the table stay as they are."""
        return len(self.inserts) == len(self.all)

    @property
    def may_match_often(self) -> bool:
        """Whether a row of the table may match several rows of the source, since each match has the same effect."""
        matched = [*self.of(MATCHED).values()]
        # a condition may be a Column, which has no truth
        deletes = [c for c in matched if c.action == DELETE and c.condition is None]
        return self.only_inserts or len(matched) == len(deletes) == 1

    def parameters(self, condition: Any) -> dict[str, str]:
        """As the history shows them."""
        parameters = {"predicate": json.dumps([shown(condition)])}
        for when, name in _PARAMETERS.items():
            of_kind = [
                ({} if c.condition is None else {"predicate": shown(c.condition)}) | {"actionType": c.action}
                for c in self.of(when).values()
            ]
            parameters[name] = json.dumps(of_kind, separators=(",", ":"))
        return parameters


def first_true(F: Any, clauses: Iterable[tuple[int, Any]]) -> Any:  # noqa: N803 (its usual name)
    """The number of the first clause whose condition, a Column or None, is true; null for none."""
    number = F.lit(None).cast("int")
    for i, condition in reversed([*clauses]):
        number = F.lit(i) if condition is None else F.when(condition, F.lit(i)).otherwise(number)
    return number


def _invalid(reason: str) -> InvalidArgumentError:
    return InvalidArgumentError.of("clauses", reason)
