"""The statements that Spark lacks: CREATE, REFRESH, ALTER, DROP, EXPLAIN MATERIALIZED VIEW."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dbt.adapters.spark_mv.core.errors import InvalidStatement
from dbt.adapters.spark_mv.sql.beginning import is_view_statement
from dbt.adapters.spark_mv.sql.names import parse_name, unquoted
from dbt.adapters.spark_mv.sql.word_reader import WordReader
from dbt.adapters.spark_mv.sql.words import words_of

_METHODS = ("COMPLETE", "PARTITION", "FAST")
_MINUTES = {"MINUTE": 1, "HOUR": 60, "DAY": 1440, "WEEK": 10080}
_CONSTANTS = {"TRUE": True, "FALSE": False, "NULL": None}


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
    """REFRESH MATERIALIZED VIEW; `method` is lower case or None, `nowait` the default, `as_of` the
    text of a time."""

    parts: tuple[str, ...]
    method: str | None = None
    nowait: bool = False
    as_of: str | None = None


@dataclass(frozen=True)
class AlterView:
    """ALTER MATERIALIZED VIEW .. SET OPTIONS, or ADD or ALTER SCHEDULE."""

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
    reader = WordReader(sql, words_of(sql))
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


def _read_create(reader: WordReader, or_replace: bool) -> CreateView:
    if_not_exists = reader.take("IF", "NOT", "EXISTS")
    if or_replace and if_not_exists:
        raise InvalidStatement(
            "CREATE OR REPLACE MATERIALIZED VIEW IF NOT EXISTS contradicts itself.",
            "Use OR REPLACE to change a view that exists, IF NOT EXISTS to leave it as it is.",
        )
    clauses: dict[str, Any] = {"parts": reader.name()}
    if reader.index < len(reader.words) and reader.words[reader.index].text == "(":
        clauses["columns"] = _read_columns(reader)
    while not reader.take("AS"):
        if reader.take("PARTITIONED", "BY"):
            _once(reader, clauses, "partition_by", "PARTITIONED BY")
            clauses["partition_by"] = reader.clauses()
        elif reader.take("CLUSTER", "BY"):
            _once(reader, clauses, "cluster_by", "CLUSTER BY")
            clauses["cluster_by"] = tuple(map(unquoted, reader.clauses()))
        elif reader.take("COMMENT"):
            _once(reader, clauses, "comment", "COMMENT")
            clauses["comment"] = reader.string()
        elif reader.take("OPTIONS"):
            _read_options(reader, clauses.setdefault("options", {}))
        elif reader.take("SCHEDULE"):
            _read_schedule(reader, clauses.setdefault("options", {}))
        else:
            raise reader.error("expected a clause or AS")
    start = reader.words[reader.index - 1].end
    query = reader.sql[start:].strip()
    return CreateView(query=query, or_replace=or_replace, if_not_exists=if_not_exists, **clauses)


def _read_columns(reader: WordReader) -> tuple[tuple[str, str | None], ...]:
    reader.need("(")
    columns: list[tuple[str, str | None]] = []
    while True:
        columns.append((reader.column(), reader.string() if reader.take("COMMENT") else None))
        if reader.take(")"):
            return tuple(columns)
        reader.need(",")


def _read_options(reader: WordReader, options: dict[str, Any]) -> dict[str, Any]:
    reader.need("(")
    if reader.take(")"):
        return options
    while True:
        key = ".".join(reader.name())
        reader.need("=")
        _once(reader, options, key)
        options[key] = _read_value(reader)
        if reader.take(")"):
            return options
        reader.need(",")


def _once(reader: WordReader, given: Mapping[str, Any], key: str, clause: str = "") -> None:
    if key in given:
        raise reader.error(f"{clause or f'option {key!r}'} is given twice")


def _read_schedule(reader: WordReader, options: dict[str, Any]) -> dict[str, Any]:
    """The options that a clause of Databricks' stands for."""
    reader.take("REFRESH")
    _once(reader, options, "schedule")
    if reader.take("CRON"):
        options["schedule"] = {"cron": reader.string()}
        if reader.take("AT", "TIME", "ZONE"):
            options["schedule"]["time_zone_value"] = reader.string()
        return options
    reader.need("EVERY")
    count = _read_value(reader)
    unit = next((u for u in _MINUTES if reader.take(u) or reader.take(u + "S")), None)
    if type(count) is not int or unit is None:
        raise reader.error("expected EVERY with a number of MINUTES, HOURS, DAYS or WEEKS")
    _once(reader, options, "refresh_interval_minutes")
    options.update({"refresh_interval_minutes": count * _MINUTES[unit], "schedule": None})
    return options


def _read_value(reader: WordReader) -> Any:
    if reader.index >= len(reader.words):
        raise reader.error("expected a value")
    word = reader.words[reader.index]
    if word.string:
        return reader.string()
    if word.upper in _CONSTANTS:
        reader.index += 1
        return _CONSTANTS[word.upper]
    sign = -1 if reader.take("-") else 1
    word = reader.words[reader.index] if reader.index < len(reader.words) else word
    reader.index += 1
    if re.fullmatch(r"\d+", word.upper):
        return sign * int(word.text)
    if re.fullmatch(r"\d*\.\d+", word.upper):
        return sign * float(word.text)
    reader.index -= 1
    raise reader.error("expected a string, a number, TRUE, FALSE or NULL")


def _read_refresh(reader: WordReader) -> ViewStatement:
    parts = reader.name()
    if reader.take("WITH", "ASYNC", "MODE"):
        raise InvalidStatement(
            f"{'.'.join(parts)} cannot be refreshed WITH ASYNC MODE: every refresh is synchronous.",
            "Use WITH SYNC MODE, or leave the clause out.",
        )
    reader.take("WITH", "SYNC", "MODE")
    method = next((m.lower() for m in _METHODS if reader.take(m)), None)
    as_of = None
    if reader.take("AS", "OF"):
        reader.take("TIMESTAMP")
        as_of = reader.string()
    return reader.end(RefreshView(parts, method, reader.take("NOWAIT"), as_of))


def _read_alter(reader: WordReader) -> ViewStatement:
    parts = reader.name()
    if reader.take("ADD", "SCHEDULE") or reader.take("ALTER", "SCHEDULE"):
        return reader.end(AlterView(parts, _read_schedule(reader, {})))
    if reader.take("DROP", "SCHEDULE"):
        name = ".".join(parts)
        raise InvalidStatement(
            f"The schedule of {name} cannot be dropped: a view without one has an interval.",
            f"Write ALTER MATERIALIZED VIEW {name} SET OPTIONS (schedule = NULL) for the interval; "
            "`suspend` ends all refreshes by themselves.",
        )
    reader.need("SET", "OPTIONS")
    return reader.end(AlterView(parts, _read_options(reader, {})))


def _read_call(reader: WordReader) -> ViewStatement:
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
