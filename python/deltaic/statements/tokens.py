"""The words of a statement, read one after the other; an error points at the word that does not fit."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

from sqlglot import Token, TokenType
from sqlglot.errors import TokenError

from deltaic.exceptions import InvalidArgumentError
from deltaic.identifiers import IN_QUOTES
from deltaic.predicates import Dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_BEFORE = re.compile(r"(?:\s|--[^\n]*(?:\n|$)|/\*.*?\*/)*", re.DOTALL)
# a CASE has words of its own
_DEPTH = {"(": 1, ")": -1, "CASE": 1, "END": -1}
_TYPE_DEPTH = {"(": 1, ")": -1, "<": 1, ">": -1}
_WORD = re.compile(r"[A-Za-z_]+")
_LITERALS = {TokenType.STRING, TokenType.RAW_STRING, TokenType.HEX_STRING}


def first_words(text: str, number: int) -> list[str]:
    """The first words of a statement in capitals, as far as they are words; comments are skipped."""
    found: list[str] = []
    at = 0
    while len(found) < number:
        begin = _BEFORE.match(text, at)
        word = _WORD.match(text, begin.end() if begin else at)
        if word is None:
            break
        found.append(word[0].upper())
        at = word.end()
    return found


class Words:
    """A place in a statement."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._tokens = _tokens(text)
        self._at = 0

    @property
    def ended(self) -> bool:
        """Whether nothing follows."""
        return self._at == len(self._tokens)

    @property
    def offset(self) -> int:
        """Where what was read ends in the text."""
        return self._tokens[self._at - 1].end + 1 if self._at else 0

    @property
    def is_text(self) -> bool:
        """Whether a text in quotes is next."""
        return not self.ended and _is_text(self._tokens[self._at])

    def opens(self, *words: str) -> bool:
        """Whether a bracket is next, and in it another one or one of these words."""
        within = [t.text.upper() for t in self._tokens[self._at + 1 : self._at + 2] if not _is_quoted(t)]
        return self.sees("(") and bool({"(", *words} & set(within))

    def follows(self, *words: str) -> bool:
        """Whether these words are next."""
        next_ones = self._tokens[self._at : self._at + len(words)]
        return len(next_ones) == len(words) and all(
            _is_word(t) and t.text.upper() == w for t, w in zip(next_ones, words, strict=True)
        )

    def take(self, *words: str) -> bool:
        """Skips these words, if they are next."""
        found = self.follows(*words)
        if found:
            self._at += len(words)
        return found

    def search(self, *words: str) -> bool:
        """Skips to after the next occurrence of these words; to the end, if there is none."""
        while not self.ended and not self.follows(*words):
            self._at += 1
        return self.take(*words)

    def need(self, *words: str) -> None:
        """Skips these words.

        Raises:
            InvalidArgumentError: something else is next.
        """
        for word in words:
            if not self.take(word):
                self.refuse(word)

    def sign(self, sign: str) -> bool:
        """Skips a sign such as `(`, if it is next."""
        found = self.sees(sign)
        if found:
            self._at += 1
        return found

    def sees(self, sign: str) -> bool:
        """Whether a sign is next."""
        return (
            not self.ended and self._tokens[self._at].text == sign and not _is_quoted(self._tokens[self._at])
        )

    def need_sign(self, sign: str) -> None:
        """Skips a sign.

        Raises:
            InvalidArgumentError: something else is next.
        """
        if not self.sign(sign):
            self.refuse(f"`{sign}`")

    def name(self, what: str = "the name of a table") -> list[str]:
        """A name of several parts, `a.b` or delta.`/path`.

        Raises:
            InvalidArgumentError: something else is next.
        """
        parts = [self._part(what)]
        while self.sign("."):
            parts.append(self._part(what))
        return parts

    def place(self) -> list[str]:
        """A name, or a path in quotes, which has `identifiers.IN_QUOTES` before it.

        Raises:
            InvalidArgumentError: something else is next.
        """
        if self.is_text:
            return [IN_QUOTES, self.string()]
        return self.name("the name of a table, delta.`/path` or '/path'")

    def string(self, what: str = "a text in quotes") -> str:
        """A text in quotes.

        Raises:
            InvalidArgumentError: something else is next.
        """
        if not self.is_text:
            self.refuse(what)
        return self._next().text

    def number(self, what: str = "a number") -> str:
        """A number, as it is written.

        Raises:
            InvalidArgumentError: something else is next.
        """
        if self.ended or self._tokens[self._at].token_type != TokenType.NUMBER:
            self.refuse(what)
        return self._next().text

    def signed(self, what: str = "a number") -> str:
        """A number with its sign, as it is written.

        Raises:
            InvalidArgumentError: something else is next.
        """
        return ("-" if self.sign("-") else "") + self.number(what)

    def raw_until(
        self, ends: Callable[[], bool], what: str, depths: Mapping[str, int] = MappingProxyType(_DEPTH)
    ) -> str:
        """The text up to a place outside of brackets where `ends` is true, or up to the end.

        Raises:
            InvalidArgumentError: there is none, or a bracket is not closed.
        """
        begin, depth = self._at, 0
        while not self.ended and (depth or not ends()):
            token = self._tokens[self._at]
            depth += 0 if _is_quoted(token) else depths.get(token.text.upper(), 0)
            if depth < 0:
                break
            self._at += 1
        while self.ended and self._at > begin and self._is_end(self._tokens[self._at - 1]):
            self._at -= 1
        if self._at == begin:
            self.refuse(what)
        return self._between(begin)

    @staticmethod
    def _is_end(token: Token) -> bool:
        return token.text == ";" and not _is_quoted(token)

    def data_type(self) -> str:
        """The text of a type: a word, and the brackets after it.

        Raises:
            InvalidArgumentError: something else is next.
        """
        begin = self._at
        self._part("a type")
        if self.sees("(") or self.sees("<"):
            opened = self._at
            self.raw_until(lambda: self._at > opened, "a type", _TYPE_DEPTH)
        return self._between(begin)

    def rest(self, what: str) -> str:
        """The text up to the end of the statement.

        Raises:
            InvalidArgumentError: there is none.
        """
        begin = self._at
        self._at = len(self._tokens)
        while self._at > begin and self._tokens[self._at - 1].text == ";":
            self._at -= 1
        if self._at == begin:
            self.refuse(what)
        return self._between(begin)

    @property
    def mark(self) -> int:
        """The place of the next word, for `refuse`."""
        return self._at

    def comes_after(self, word: str) -> bool:
        """Whether this word was the last one."""
        before = self._tokens[self._at - 1] if self._at else None
        return before is not None and _is_word(before) and before.text.upper() == word

    def end(self) -> None:
        """Checks that nothing follows.

        Raises:
            InvalidArgumentError: something does.
        """
        while self.sign(";"):
            pass
        if not self.ended:
            self.refuse("the end of the statement")

    def refuse(self, wanted: str, mark: int | None = None) -> NoReturn:
        """Raises an error that points at the next word, or the one at a mark."""
        self._at = self._at if mark is None else mark
        if self.ended:
            line, column, found = self.text.count("\n") + 1, len(self.text.rpartition("\n")[2]) + 1, "the end"
        else:
            token = self._tokens[self._at]
            line = self.text.count("\n", 0, token.start) + 1
            column = token.start - (self.text.rfind("\n", 0, token.start) + 1) + 1
            found = f"`{self.text[token.start : token.end + 1]}`"
        error = _invalid(f"expected {wanted}, found {found} (line {line}, column {column})")
        raise error.named("PARSE_SYNTAX_ERROR", error=found, hint="")

    def _between(self, begin: int) -> str:
        return self.text[self._tokens[begin].start : self._tokens[self._at - 1].end + 1]

    def _next(self) -> Token:
        self._at += 1
        return self._tokens[self._at - 1]

    def _part(self, what: str) -> str:
        if self.ended or not _is_name(self._tokens[self._at]):
            self.refuse(what)
        return self._next().text


def _tokens(text: str) -> list[Token]:
    # sqlglot takes what follows some words for one text: the first word is known already, and hidden from it
    begin = _BEFORE.match(text)
    word = _WORD.match(text, begin.end() if begin else 0)
    hidden = text if word is None else text[: word.start()] + "x" * len(word[0]) + text[word.end() :]
    try:
        tokens: list[Token] = list(Dialect().tokenize(hidden))
    except TokenError as error:
        reason = "a quote or comment is not closed"
        raise _invalid(reason).named("PARSE_SYNTAX_ERROR", error="end of input", hint="") from error
    if word is not None and tokens:
        tokens[0] = _part_of(tokens[0], word[0], 0)
    # sqlglot makes three tokens, all in one place, of a number with its type, such as 10L
    starts = [-1, *(token.start for token in tokens)]
    placed = [token for token, before in zip(tokens, starts, strict=False) if token.start != before]
    return [part for token in placed for part in _parts(text, token)]


def _parts(text: str, token: Any) -> list[Any]:
    """The words of a token: sqlglot takes some together, such as PARTITIONED BY."""
    written = text[token.start : token.end + 1]
    if _is_quoted(token) or not re.search(r"\s", written):
        return [token]
    return [_part_of(token, found[0], found.start()) for found in re.finditer(r"\S+", written)]


def _part_of(token: Any, text: str, offset: int) -> Any:
    start = token.start + offset
    return Token(token.token_type, text, token.line, token.col, start, start + len(text) - 1, token.comments)


def _is_quoted(token: Any) -> bool:
    return token.token_type == TokenType.IDENTIFIER or token.token_type in _LITERALS


def _is_text(token: Any) -> bool:
    return bool(token.token_type == TokenType.STRING)


def _is_word(token: Any) -> bool:
    return not _is_quoted(token) and token.text[:1].isalpha()


def _is_name(token: Any) -> bool:
    return token.token_type == TokenType.IDENTIFIER or (
        token.token_type not in _LITERALS and token.text.replace("_", "a").isalnum()
    )


def _invalid(reason: str) -> InvalidArgumentError:
    return InvalidArgumentError.of("statement", reason)
