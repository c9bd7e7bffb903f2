"""What kind of statement a text is and what it writes, read off its tokens.

Tokens are enough and always there: a statement that sqlglot cannot parse still has a target.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sqlglot.dialects import Spark
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

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
_SKIPPED_BEFORE_NAME = frozenset({"IF", "NOT", "EXISTS", "TABLE", "ONLY"})


class Kind(Enum):
    """How the pipeline treats a statement."""

    QUERY = "query"
    WRITE = "write"
    CREATE_VIEW = "create view"
    CREATE_TEMPORARY_VIEW = "create temporary view"
    DROP = "drop"
    DROP_SCHEMA = "drop schema"
    USE = "use"
    OTHER = "other"


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


@dataclass(frozen=True)
class Statement:
    """A classified statement; `targets` are the relations that it changes."""

    kind: Kind
    verb: str
    targets: tuple[tuple[str, ...], ...]
    words: tuple[Word, ...]

    @property
    def reads_relations(self) -> bool:
        """Whether the statement reads relations that have to be fresh."""
        return self.kind in (Kind.QUERY, Kind.CREATE_TEMPORARY_VIEW) or (
            self.kind is Kind.WRITE and self.verb != "ALTER"
        )


class _Tokenizer(Spark.Tokenizer):
    """Spark's tokenizer, without swallowing the rest of EXPLAIN, CALL and the like as one text."""

    COMMANDS: set[TokenType] = set()


def words_of(sql: str) -> tuple[Word, ...]:
    """Tokens of a text without comments; empty if it cannot be split into tokens."""
    try:
        found = _Tokenizer(dialect="spark").tokenize(sql)
    except (SqlglotError, ValueError):
        return ()
    return tuple(word for token in found for word in _words_of_token(token))


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


def without_end(sql: str) -> str:
    """A query without the semicolons and comments at its end.

    dbt appends its query comment there, if a project says so; that is no part of a definition.

    >>> without_end("select ';' ; -- done")
    "select ';'"
    """
    words = words_of(sql)
    return sql[: words[-1].end] if words else sql.rstrip()


def classify(sql: str) -> Statement:
    """Kind, verb and targets of one statement.

    >>> classify("insert overwrite table db.t select 1").targets
    (('db', 't'),)
    """
    words = words_of(sql)
    first = _first_keyword(words)
    if first in ("SELECT", "FROM", "VALUES", "TABLE", "WITH", "MAP", "REDUCE"):
        targets = _insert_targets(words)
        kind = Kind.WRITE if targets else Kind.QUERY
        return Statement(kind, "INSERT" if targets else first, targets, words)
    reader = _READERS.get(first)
    if reader is None:
        return Statement(Kind.OTHER, first, (), words)
    kind, targets = reader(words)
    return Statement(kind, first, targets, words)


def _first_keyword(words: tuple[Word, ...]) -> str:
    return next((word.upper for word in words if word.text != "("), "")


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


def _name_after(words: tuple[Word, ...], index: int) -> tuple[tuple[str, ...], ...]:
    while index < len(words) and words[index].upper in _SKIPPED_BEFORE_NAME:
        index += 1
    parts, _ = name_at(words, index)
    return (parts,) if parts else ()


def _insert_targets(words: tuple[Word, ...]) -> tuple[tuple[str, ...], ...]:
    targets: list[tuple[str, ...]] = []
    depth = 0
    for index, word in enumerate(words):
        depth += {"(": 1, ")": -1}.get(word.text, 0) if not word.quoted else 0
        if depth or word.upper != "INSERT" or index + 1 >= len(words):
            continue
        if words[index + 1].upper in ("INTO", "OVERWRITE"):
            targets.extend(_name_after(words, index + 2))
    return tuple(targets)


def _read_insert(words: tuple[Word, ...]) -> tuple[Kind, tuple[tuple[str, ...], ...]]:
    return Kind.WRITE, _insert_targets(words)


def _after(words: tuple[Word, ...], keyword: str) -> tuple[tuple[str, ...], ...]:
    for index, word in enumerate(words):
        if word.upper == keyword:
            return _name_after(words, index + 1)
    return ()


def _read_merge(words: tuple[Word, ...]) -> tuple[Kind, tuple[tuple[str, ...], ...]]:
    return Kind.WRITE, _after(words, "INTO")


def _read_update(words: tuple[Word, ...]) -> tuple[Kind, tuple[tuple[str, ...], ...]]:
    return Kind.WRITE, _name_after(words, 1)


def _read_delete(words: tuple[Word, ...]) -> tuple[Kind, tuple[tuple[str, ...], ...]]:
    return Kind.WRITE, _after(words, "FROM")


def _read_table_verb(words: tuple[Word, ...]) -> tuple[Kind, tuple[tuple[str, ...], ...]]:
    return Kind.WRITE, _after(words, "TABLE")


def _read_create(words: tuple[Word, ...]) -> tuple[Kind, tuple[tuple[str, ...], ...]]:
    for index, word in enumerate(words[:8]):
        if word.upper in ("TEMPORARY", "TEMP"):
            return Kind.CREATE_TEMPORARY_VIEW, ()
        if word.upper == "VIEW":
            return Kind.CREATE_VIEW, _name_after(words, index + 1)
        if word.upper == "TABLE":
            return Kind.WRITE, _name_after(words, index + 1)
    return Kind.OTHER, ()


def _read_alter(words: tuple[Word, ...]) -> tuple[Kind, tuple[tuple[str, ...], ...]]:
    if len(words) < 3 or words[1].upper not in ("TABLE", "VIEW"):
        return Kind.OTHER, ()
    targets = _name_after(words, 2)
    for index, word in enumerate(words[:-2]):
        if word.upper == "RENAME" and words[index + 1].upper == "TO":
            targets += _name_after(words, index + 2)
    return Kind.WRITE, targets


def _read_drop(words: tuple[Word, ...]) -> tuple[Kind, tuple[tuple[str, ...], ...]]:
    noun = words[1].upper if len(words) > 1 else ""
    if noun in ("TABLE", "VIEW"):
        return Kind.DROP, _name_after(words, 2)
    if noun in ("SCHEMA", "DATABASE", "NAMESPACE"):
        return Kind.DROP_SCHEMA, _name_after(words, 2)
    return Kind.OTHER, ()


def _read_call(words: tuple[Word, ...]) -> tuple[Kind, tuple[tuple[str, ...], ...]]:
    text = next((word.text for word in words if word.string), "")
    parts = tuple(part.strip("`") for part in text.split(".") if part)
    return Kind.WRITE, (parts,) if parts else ()


def _read_use(words: tuple[Word, ...]) -> tuple[Kind, tuple[tuple[str, ...], ...]]:
    return Kind.USE, ()


_READERS = {
    "INSERT": _read_insert,
    "MERGE": _read_merge,
    "UPDATE": _read_update,
    "DELETE": _read_delete,
    "TRUNCATE": _read_table_verb,
    "LOAD": _read_table_verb,
    "REPLACE": _read_table_verb,
    "CREATE": _read_create,
    "ALTER": _read_alter,
    "DROP": _read_drop,
    "CALL": _read_call,
    "USE": _read_use,
}
