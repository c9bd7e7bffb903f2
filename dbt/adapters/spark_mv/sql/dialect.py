"""The statements that Spark lacks: CREATE, REFRESH, ALTER, DROP, EXPLAIN MATERIALIZED VIEW."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dbt.adapters.spark_mv.core.errors import InvalidStatement
from dbt.adapters.spark_mv.sql.beginning import is_view_statement
from dbt.adapters.spark_mv.sql.names import parse_name
from dbt.adapters.spark_mv.sql.words import Word, name_at, words_of

_METHODS = ("COMPLETE", "PARTITION", "FAST")


@dataclass(frozen=True)
class CreateView:
    """CREATE [OR REPLACE] MATERIALIZED VIEW; `query` is the text after AS, unchanged."""

    parts: tuple[str, ...]
    query: str
    or_replace: bool = False
    if_not_exists: bool = False
    columns: tuple[tuple[str, str | None], ...] = ()
    partition_by: tuple[str, ...] = ()
    cluster_by: tuple[str, ...] = ()
    comment: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class RefreshView:
    """REFRESH MATERIALIZED VIEW; `method` is lower case or None, `nowait` the default."""

    parts: tuple[str, ...]
    method: str | None = None
    nowait: bool = False


@dataclass(frozen=True)
class AlterView:
    """ALTER MATERIALIZED VIEW .. SET OPTIONS."""

    parts: tuple[str, ...]
    options: Mapping[str, Any]


@dataclass(frozen=True)
class DropView:
    """DROP MATERIALIZED VIEW [IF EXISTS]."""

    parts: tuple[str, ...]
    if_exists: bool = False


@dataclass(frozen=True)
class ExplainView:
    """EXPLAIN MATERIALIZED VIEW."""

    parts: tuple[str, ...]


ViewStatement = CreateView | RefreshView | AlterView | DropView | ExplainView


def parse_view_statement(sql: str) -> ViewStatement | None:
    """The materialized-view statement in `sql`, or None if it is an ordinary statement.

    Raises `InvalidStatement` if it is one but does not follow the grammar.

    >>> parse_view_statement("REFRESH MATERIALIZED VIEW db.v COMPLETE").method
    'complete'
    """
    if not is_view_statement(sql):
        return None
    reader = _Reader(sql, words_of(sql))
    if not reader.words:
        # Spark would say the same, of a text in which it has replaced every `${env:..}`.
        raise InvalidStatement(
            "This materialized-view statement cannot be read: a quote or comment has no end.",
            "Close it.",
        )
    if reader.take("CREATE", "MATERIALIZED", "VIEW"):
        return _read_create(reader, or_replace=False)
    if reader.take("CREATE", "OR", "REPLACE", "MATERIALIZED", "VIEW"):
        return _read_create(reader, or_replace=True)
    if reader.take("REFRESH", "MATERIALIZED", "VIEW"):
        return _read_refresh(reader)
    if reader.take("ALTER", "MATERIALIZED", "VIEW"):
        return _read_alter(reader)
    if reader.take("DROP", "MATERIALIZED", "VIEW"):
        if_exists = reader.take("IF", "EXISTS")
        return reader.end(DropView(reader.name(), if_exists))
    if reader.take("EXPLAIN", "MATERIALIZED", "VIEW"):
        return reader.end(ExplainView(reader.name()))
    if reader.take("CALL", "BQ", ".", "REFRESH_MATERIALIZED_VIEW"):
        return _read_call(reader)
    raise reader.error("expected CREATE, ALTER, REFRESH, EXPLAIN or DROP")


class _Reader:
    """Walks the words of a statement; every method that takes fails with `InvalidStatement`."""

    def __init__(self, sql: str, words: tuple[Word, ...]) -> None:
        self.sql, self.words, self.index = sql, words, 0

    def take(self, *keywords: str) -> bool:
        ahead = self.words[self.index : self.index + len(keywords)]
        if [word.upper for word in ahead] != list(keywords):
            return False
        self.index += len(keywords)
        return True

    def need(self, *keywords: str) -> None:
        if not self.take(*keywords):
            raise self.error(f"expected {' '.join(keywords)}")

    def name(self) -> tuple[str, ...]:
        parts, self.index = name_at(self.words, self.index)
        if not parts or any(not part for part in parts):
            raise self.error("expected a name")
        return parts

    def string(self) -> str:
        if self.index < len(self.words) and self.words[self.index].string:
            word = self.words[self.index]
            text, end = word.text, word.end
            self.index += 1
            # Two quotes inside a string reach us as two strings that touch.
            while self.index < len(self.words) and self._touches(end):
                word = self.words[self.index]
                text, end = f"{text}'{word.text}", word.end
                self.index += 1
            return text
        raise self.error("expected a string")

    def _touches(self, end: int) -> bool:
        return self.words[self.index].string and self.words[self.index].start == end

    def end(self, statement: ViewStatement) -> ViewStatement:
        if self.index < len(self.words):
            raise self.error("expected the end of the statement")
        return statement

    def error(self, problem: str) -> InvalidStatement:
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
        depth, start = 1, None
        while self.index < len(self.words):
            word = self.words[self.index]
            self.index += 1
            plain = "" if word.quoted or word.string else word.text
            depth += {"(": 1, ")": -1}.get(plain, 0)
            if (plain == "," and depth == 1) or depth == 0:
                texts.append(self.sql[start : word.start].strip() if start is not None else "")
                start = None
                if depth == 0:
                    return tuple(text for text in texts if text)
            elif start is None:
                start = word.start
        raise self.error("expected )")


def _read_create(reader: _Reader, or_replace: bool) -> CreateView:
    if_not_exists = reader.take("IF", "NOT", "EXISTS")
    if or_replace and if_not_exists:
        raise InvalidStatement(
            "CREATE OR REPLACE MATERIALIZED VIEW IF NOT EXISTS contradicts itself.",
            "Say OR REPLACE to change a view that exists, IF NOT EXISTS to leave it as it is.",
        )
    clauses: dict[str, Any] = {"parts": reader.name()}
    if reader.index < len(reader.words) and reader.words[reader.index].text == "(":
        clauses["columns"] = _read_columns(reader)
    while not reader.take("AS"):
        if reader.take("PARTITIONED", "BY"):
            clauses["partition_by"] = reader.clauses()
        elif reader.take("CLUSTER", "BY"):
            clauses["cluster_by"] = tuple(key.strip("`") for key in reader.clauses())
        elif reader.take("COMMENT"):
            clauses["comment"] = reader.string()
        elif reader.take("OPTIONS"):
            clauses["options"] = _read_options(reader)
        else:
            raise reader.error("expected a clause or AS")
    start = reader.words[reader.index - 1].end
    query = reader.sql[start:].strip()
    return CreateView(query=query, or_replace=or_replace, if_not_exists=if_not_exists, **clauses)


def _read_columns(reader: _Reader) -> tuple[tuple[str, str | None], ...]:
    reader.need("(")
    columns: list[tuple[str, str | None]] = []
    while True:
        (name,) = reader.name()[:1]
        columns.append((name, reader.string() if reader.take("COMMENT") else None))
        if reader.take(")"):
            return tuple(columns)
        reader.need(",")


def _read_options(reader: _Reader) -> dict[str, Any]:
    reader.need("(")
    options: dict[str, Any] = {}
    if reader.take(")"):
        return options
    while True:
        key = ".".join(reader.name())
        reader.need("=")
        if key in options:
            raise reader.error(f"option {key!r} is given twice")
        options[key] = _read_value(reader)
        if reader.take(")"):
            return options
        reader.need(",")


def _read_value(reader: _Reader) -> Any:
    if reader.index >= len(reader.words):
        raise reader.error("expected a value")
    word = reader.words[reader.index]
    if word.string:
        return reader.string()
    sign = -1 if reader.take("-") else 1
    word = reader.words[reader.index] if reader.index < len(reader.words) else word
    reader.index += 1
    if word.upper in ("TRUE", "FALSE"):
        return word.upper == "TRUE"
    if word.upper == "NULL":
        return None
    if re.fullmatch(r"\d+", word.text):
        return sign * int(word.text)
    if re.fullmatch(r"\d*\.\d+", word.text):
        return sign * float(word.text)
    reader.index -= 1
    raise reader.error("expected a string, a number, TRUE, FALSE or NULL")


def _read_refresh(reader: _Reader) -> ViewStatement:
    parts = reader.name()
    if reader.take("WITH", "ASYNC", "MODE"):
        raise InvalidStatement(
            f"{'.'.join(parts)} cannot be refreshed WITH ASYNC MODE: every refresh is synchronous.",
            "Use WITH SYNC MODE, or leave the clause out.",
        )
    reader.take("WITH", "SYNC", "MODE")
    method = next((m.lower() for m in _METHODS if reader.take(m)), None)
    return reader.end(RefreshView(parts, method, reader.take("NOWAIT")))


def _read_alter(reader: _Reader) -> ViewStatement:
    parts = reader.name()
    reader.need("SET", "OPTIONS")
    return reader.end(AlterView(parts, _read_options(reader)))


def _read_call(reader: _Reader) -> ViewStatement:
    reader.need("(")
    try:
        parts = parse_name(reader.string())
        reader.need(")")
    except InvalidStatement:
        raise InvalidStatement(
            "BQ.REFRESH_MATERIALIZED_VIEW takes exactly one argument, a string literal.",
            "Write CALL BQ.REFRESH_MATERIALIZED_VIEW('schema.name').",
        ) from None
    return reader.end(RefreshView(parts))
