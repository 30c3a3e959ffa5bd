"""The errors of a failed write job about the data, as errors of deltaic."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyspark.errors import PySparkException

from deltaic.exceptions import InvariantViolationError, ReplaceWhereMismatchError, SchemaMismatchError
from deltaic.spark.session.worker_errors import error_of_worker, explain_missing_import
from deltaic.spark.write.failure_marks import BROKEN, GUARDED, IS_OUTSIDE, NULL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deltaic.spark.write.row_rules import RowRules
    from deltaic.spark.write.write_columns import WriteColumn

_NOT_REPLACED_TEXT = (
    "a row of the data for `{path}` does not match `{predicate}`, which the overwrite replaces: {row}"
)
# Spark shows the text that it could not compute a value of
_COMPUTING = re.compile(
    r"\[[A-Z_.]+\] (?P<reason>[^\n]+?) SQLSTATE: \w+\n== SQL [^\n]*==\n(?P<sql>.*?)\n\s*\^+", re.DOTALL
)
_NOT_REPLACED = re.compile(
    r"^deltaic\.exceptions\.ReplaceWhereMismatchError: (.+): (?P<row>.*)$", re.MULTILINE
)


def raise_known(
    error: Exception,
    path: str,
    columns: Sequence[WriteColumn],
    rules: RowRules,
    replaced: str | None = None,
) -> None:
    """Raises what a failed write means, from the error of Spark; returns where that is not known.

    `replaced` is the condition of an overwrite of some rows.

    Raises:
        SchemaMismatchError: when the data has a null or a text that the table must not have.
        InvariantViolationError: when a row breaks a rule of the table.
        ReplaceWhereMismatchError: when a row is not among those that the overwrite replaces.
        InvalidExpressionError: when a rule has no value for a row.
        PackageNotOnServerError: when a worker cannot import deltaic.
    """
    text = str(error)
    raise_sparks_checks(error, path)
    if (found := GUARDED.search(text)) is not None:
        column, row = columns[int(found[1])], _from_hex(found[3])
        refusal = SchemaMismatchError.of(path, f"{_reason(column, found[2])}: {row}")
        if found[2] == NULL or column.text_limit is None:
            raise refusal.named("DELTA_NOT_NULL_CONSTRAINT_VIOLATED", columnName=column.name) from error
        raise refusal.named("DELTA_EXCEED_CHAR_VARCHAR_LIMIT") from error
    if (found := BROKEN.search(text)) is not None:
        check, row = rules.checks[int(found[1])], _from_hex(found[2])
        message = f"a row breaks the {check.rule} of `{path}`: `{check.expression}` does not hold for {row}"
        facts = {"path": path, "rule": check.rule, "expression": check.expression, "row": row}
        raise InvariantViolationError(message, **facts) from error
    if (found := _COMPUTING.search(text)) is not None:
        for rule in rules.all():
            if (rule.sql or rule.expression) in found["sql"]:
                raise rule.refused(None, f"{found['reason']} (a rule of the table `{path}`)") from error
    if (found := IS_OUTSIDE.search(text) or _NOT_REPLACED.search(text)) is not None:
        row = _from_hex(found[1]) if found.re is IS_OUTSIDE else found["row"]
        facts = {"path": path, "predicate": replaced or "", "row": row}
        message = _NOT_REPLACED_TEXT.format(**facts)
        raise ReplaceWhereMismatchError(message, **facts) from error
    if (of_worker := error_of_worker(text)) is not None:
        raise of_worker from error
    explain_missing_import(error)


def raise_sparks_checks(error: Exception, path: str) -> None:
    """Raises what Spark's own checks of a statement's values mean, which come before those of the table.

    Raises:
        SchemaMismatchError: for a null or a text that the table must not have.
    """
    if not isinstance(error, PySparkException):
        return
    condition, facts = error.getCondition(), error.getMessageParameters() or {}
    if condition == "NOT_NULL_ASSERT_VIOLATION":
        column = facts["walkedTypePath"].strip()
        # Spark names none within its check of the length
        named = f"`{column}`" if column else "a char or varchar column"
        refusal = SchemaMismatchError.of(path, f"{named} must not be null, and the data holds a null")
        raise refusal.named("DELTA_NOT_NULL_CONSTRAINT_VIOLATED", columnName=column) from error
    if condition == "EXCEED_LIMIT_LENGTH":
        reason = (
            f"a char or varchar column is of {facts['limit']} characters, and the data holds a longer text"
        )
        raise SchemaMismatchError.of(path, reason).named("DELTA_EXCEED_CHAR_VARCHAR_LIMIT") from error


def _from_hex(digits: str) -> str:
    return bytes.fromhex(digits).decode(errors="replace")


def _reason(column: WriteColumn, why: str) -> str:
    if why == NULL or column.text_limit is None:
        return f"`{column.name}` must not be null, and the data holds a null"
    kind = "char" if column.text_limit["padded"] else "varchar"
    return f"`{column.name}` is {kind}({column.text_limit['length']}), and the data holds a longer text"
