"""Reads a materialized-view statement word by word."""

from __future__ import annotations

from typing import TypeVar

from dbt.adapters.spark_mv.core.errors import InvalidStatement
from dbt.adapters.spark_mv.sql.words import Word, depths, name_at

_Statement = TypeVar("_Statement")


class WordReader:
    """Walks the words of a statement; what is needed and not there is `InvalidStatement`."""

    def __init__(self, sql: str, words: tuple[Word, ...]) -> None:
        self.sql, self.words, self.index = sql, words, 0

    def take(self, *keywords: str) -> bool:
        """Whether these words come next; then the reader is behind them."""
        ahead = self.words[self.index : self.index + len(keywords)]
        if [word.upper for word in ahead] != list(keywords):
            return False
        self.index += len(keywords)
        return True

    def need(self, *keywords: str) -> None:
        """Go past these words."""
        if not self.take(*keywords):
            raise self.error(f"expected {' '.join(keywords)}")

    def name(self) -> tuple[str, ...]:
        """The parts of a dotted name."""
        parts, self.index = name_at(self.words, self.index)
        if not parts or any(not part for part in parts):
            raise self.error("expected a name")
        return parts

    def column(self) -> str:
        """A name without dots."""
        start = self.index
        column, *more = self.name()
        if more:
            self.index = start + 1
            raise self.error("expected the name of a column, which has no dots,")
        return column

    def string(self) -> str:
        """The text of a string."""
        if self.index < len(self.words) and self.words[self.index].string:
            word = self.words[self.index]
            text, end, quote = word.text, word.end, self.sql[word.end - 1]
            self.index += 1
            # Two quotes inside a string reach us as two strings that touch.
            while self.index < len(self.words) and self._touches(end):
                word = self.words[self.index]
                if self.sql[word.start] != quote:
                    raise self.error("expected a space between two strings")
                text, end = f"{text}{quote}{word.text}", word.end
                self.index += 1
            return text
        raise self.error("expected a string")

    def _touches(self, end: int) -> bool:
        return self.words[self.index].string and self.words[self.index].start == end

    def end(self, statement: _Statement) -> _Statement:
        """The statement, if nothing comes after it."""
        if self.index < len(self.words):
            raise self.error("expected the end of the statement")
        return statement

    def error(self, problem: str) -> InvalidStatement:
        """What is wrong with the statement here."""
        word = self.words[self.index] if self.index < len(self.words) else None
        near = f"near {word.text!r}" if word else "at the end"
        return InvalidStatement(
            f"This materialized-view statement cannot be read: {problem} {near}.",
            "docs/configuration.md lists the statements and their clauses.",
        )

    def clauses(self) -> tuple[str, ...]:
        """Comma-separated SQL texts between parentheses."""
        self.need("(")
        texts: list[str] = []
        start = None
        ahead = self.words[self.index :]
        for word, depth in zip(ahead, depths(ahead), strict=True):
            is_end = depth < 0
            if is_end or (depth == 0 and word.upper == ","):
                if start is None:
                    raise self.error("expected an expression")
                texts.append(self.sql[start : word.start].strip())
                start = None
            elif start is None:
                start = word.start
            self.index += 1
            if is_end:
                return tuple(texts)
        raise self.error("expected )")
