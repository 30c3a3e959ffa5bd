"""`docs/errors.md` shows every class of errors and every condition of the code, each with a cause and a cure."""

from __future__ import annotations

from error_tables import DOCUMENT, causes, kinds, with_tables

from deltaic.error_conditions import conditions


def test_the_document_has_the_tables() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert text.count("<!-- table: ") == 2
    assert with_tables(text) == text, "python tests/python/docs/error_tables.py writes docs/errors.md"


def test_each_has_what_the_code_does_not_say() -> None:
    known = causes()
    assert sorted(known) == sorted([*conditions(), *kinds()])
    for name, (cause, cure) in known.items():
        assert cure.endswith("."), name
        assert cause.endswith(".") == (name in conditions()), name
