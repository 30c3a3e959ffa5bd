"""Expressions that fail the job of a write at a value that the table must not have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltaic.identifiers import quoted
from deltaic.spark.write import failure_marks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from deltaic.spark.write.write_columns import WriteColumn


def guarded(F: Any, value: Any, number: int, column: WriteColumn, row: Callable[[], Any]) -> Any:  # noqa: N803
    """A value that fails the job where it is null and must not be, with the text of the row."""
    if not column.not_null:
        return value
    return F.coalesce(value, refusal(F, failure_marks.guard(number, failure_marks.NULL), row()))


def refusal(F: Any, mark: str, row: Any) -> Any:  # noqa: N803
    """Fails the job with a mark of `failure_marks` and the text of the row."""
    return F.raise_error(F.concat(F.lit(mark), F.hex(row), F.lit(")")))


def shown(F: Any, names: Sequence[str]) -> Any:  # noqa: N803
    """The text of a row: the values of some of its columns."""
    texts = ((name, F.col(quoted(name)).cast("string")) for name in names)
    values = [F.concat(F.lit(f"{name} = "), F.coalesce(text, F.lit("NULL"))) for name, text in texts]
    return F.concat_ws(", ", *values) if values else F.lit("any row")


def limited(F: Any, text: Any, limit: dict[str, Any], refused: Any) -> Any:  # noqa: N803
    """As Spark writes `char` and `varchar`: spaces at the end are cut down to the length, `char` is padded.

    What is too long is refused.
    """
    length = limit["length"]
    fits = F.rpad(text, length, " ") if limit["padded"] else text
    cut = F.when(F.char_length(F.rtrim(text)) <= length, F.substring(text, 1, length))
    return F.when(F.char_length(text) > length, cut.otherwise(refused)).otherwise(fits)
