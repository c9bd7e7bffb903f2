"""A statement as the words that it is made of; they are there also if nobody can parse it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar

from dbt.adapters.spark_mv.sql.sqlglot_internals import (
    SparkTokenizer,
    SqlglotError,
    Token,
    TokenType,
)

_QUOTED = TokenType.IDENTIFIER
_STRINGS = {
    TokenType.STRING: "{}",
    TokenType.RAW_STRING: "{}",
    TokenType.NATIONAL_STRING: "{}",
    TokenType.UNICODE_STRING: "{}",
    TokenType.HEREDOC_STRING: "{}",
    # X'41' is another value than '41'.
    TokenType.HEX_STRING: "X'{}'",
    TokenType.BIT_STRING: "B'{}'",
    TokenType.BYTE_STRING: "b'{}'",
}


@dataclass(frozen=True)
class Word:
    """One token: `text` as written, quotes removed; `upper` is empty for quoted ones and strings.

    `variable` says that it is no keyword.
    """

    text: str
    upper: str
    quoted: bool
    string: bool
    start: int
    end: int
    variable: bool = False


class _Tokenizer(SparkTokenizer):
    """Spark's tokenizer, without swallowing the rest of EXPLAIN, CALL and the like as one text."""

    COMMANDS: ClassVar[set[TokenType]] = set()


def words_of(sql: str) -> tuple[Word, ...]:
    """Tokens of a text without comments; empty if it cannot be split into tokens."""
    return tuple(word for token in _tokens(sql) for word in _words_of_token(token))


def _tokens(sql: str) -> list[Token]:
    try:
        return _Tokenizer(dialect="spark").tokenize(sql)
    except (SqlglotError, ValueError):
        return []


def words_between_ends(sql: str) -> list[tuple[Word, ...]]:
    """The words of each part of a text that ends with a semicolon, or with the text.

    >>> [len(words) for words in words_between_ends("begin select ';'; select 1; end")]
    [3, 2, 1]
    """
    parts: list[list[Word]] = [[]]
    for token in _tokens(sql):
        if token.token_type == TokenType.SEMICOLON:
            parts.append([])
        parts[-1] += _words_of_token(token)
    return [tuple(part) for part in parts if part]


def _words_of_token(token: Token) -> list[Word]:
    if token.token_type == TokenType.SEMICOLON:
        return []
    quoted, string = token.token_type == _QUOTED, token.token_type in _STRINGS
    if quoted or string:
        text = _STRINGS[token.token_type].format(token.text) if string else token.text
        return [Word(text, "", quoted, string, token.start, token.end + 1)]
    variable = token.token_type == TokenType.VAR
    # The tokenizer joins keywords such as PARTITIONED BY into one token.
    return [
        Word(text, text.upper(), False, False, token.start, token.end + 1, variable)
        for text in token.text.split()
    ]


def depths(words: Iterable[Word]) -> list[int]:
    """How many more parentheses are open than closed behind each word.

    >>> depths(words_of("f(g('('), 1)"))
    [0, 1, 1, 2, 2, 1, 1, 1, 0]
    """
    steps = (
        {"(": 1, ")": -1}.get(word.text, 0) if not (word.quoted or word.string) else 0
        for word in words
    )
    return list(accumulate(steps))


def has_several(sql: str) -> bool:
    """Whether a text has a semicolon with more behind it."""
    kinds = [token.token_type for token in _tokens(sql)]
    while kinds and kinds[-1] == TokenType.SEMICOLON:
        kinds.pop()
    return TokenType.SEMICOLON in kinds


def without_end(sql: str) -> str:
    """A query without the semicolons and comments at its end.

    dbt appends its query comment there, if a project says so; that is no part of a definition.

    >>> without_end("select ';' ; -- done")
    "select ';'"
    """
    words = words_of(sql)
    return sql[: words[-1].end] if words else sql.rstrip()


def name_at(words: tuple[Word, ...], index: int) -> tuple[tuple[str, ...], int]:
    """The dotted name that starts at `index`, and the index after it."""
    parts: list[str] = []
    while index < len(words) and not words[index].string:
        parts.append(words[index].text)
        if index + 1 < len(words) and words[index + 1].text == "." and not words[index + 1].quoted:
            index += 2
        else:
            return tuple(parts), index + 1
    return tuple(parts), index
