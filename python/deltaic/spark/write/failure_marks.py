"""Marks in the text with which a job fails on a row, by which `row_errors` knows the reason."""

from __future__ import annotations

import re

NULL, LENGTH = "null", "length"
GUARDED = re.compile(r"\[USER_RAISED_EXCEPTION\] deltaic\.refused\((\d+),(\w+),([0-9A-F]*)\)")
OUTSIDE = "deltaic.outside(("
BROKEN = re.compile(r"\[USER_RAISED_EXCEPTION\] deltaic\.broken\((\d+),([0-9A-F]*)\)")
IS_OUTSIDE = re.compile(r"\[USER_RAISED_EXCEPTION\] deltaic\.outside\(\(([0-9A-F]*)\)")


def guard(column: int, why: str) -> str:
    """The beginning of the text with which a job fails on a value that a column must not have (`NULL`, `LENGTH`).

    The values of the row follow, as hexadecimal digits, and `)`.
    """
    return f"deltaic.refused({column},{why},"


def broken(check: int) -> str:
    """The beginning of the text with which a job fails on a row that breaks a rule.

    The values of the row follow, as hexadecimal digits, and `)`.
    """
    return f"deltaic.broken({check},"
