"""Statements as Spark reads them: it puts in the values of `${name}` before it parses a text, and
those of IDENTIFIER(..) before it looks for relations."""

from __future__ import annotations

import re

from dbt.adapters.spark_mv.core.errors import InvalidStatement, StatementFailed
from dbt.adapters.spark_mv.sql.literals import VARIABLE
from dbt.adapters.spark_mv.sql.names import listed_parts, quote, quote_parts
from dbt.adapters.spark_mv.sql.plans import NO_SYNTAX
from dbt.adapters.spark_mv.sql.scan import computed_names
from dbt.adapters.spark_mv.sql.statement import Kind, classify
from dbt.adapters.spark_mv.sql.words import words_of
from dbt.adapters.spark_mv.statements.context import StatementContext

# As org.apache.spark.internal.config.ConfigReader finds them, in ASCII.
_FOUND = re.compile(r"\$\{(?:\w+?:)?\S+?\}", re.ASCII)
_IDENTIFIER = re.compile(r"\bidentifier\b", re.IGNORECASE)
_SETTINGS = ("", "spark", "sparkconf", "hiveconf", "hivevar")


def may_be_computed(sql: str) -> bool:
    """Whether Spark may read another text than this one."""
    return VARIABLE in sql or _IDENTIFIER.search(sql) is not None


def as_spark_reads(sql: str, context: StatementContext) -> str:
    """`sql` with what the session of the statement puts in; what nobody can tell stays.

    Raises `InvalidStatement` if nobody can tell the value of a variable in what is no query.
    """
    return _with_names(_with_values(sql, context), context) if may_be_computed(sql) else sql


def _with_values(sql: str, context: StatementContext) -> str:
    values = {text: _value(text, context) for text in dict.fromkeys(_FOUND.findall(sql))}
    known = {text: value for text, value in values.items() if value is not None}
    told = _FOUND.sub(lambda found: known.get(found[0], found[0]), sql)
    unknown = next((text for text in values if text not in known), "")
    if unknown and classify(told).kind is not Kind.QUERY:
        raise InvalidStatement(
            f"Spark puts the value of {unknown} into a statement that is no query, and the value "
            "has quotes: nobody can tell what is written.",
            "Write the value out.",
        )
    return told


def _value(variable: str, context: StatementContext) -> str | None:
    """What Spark puts in for one variable; None if that is not known."""
    values: list[str] = []
    for mark in "\"'":
        try:
            ((value, *_), *_) = context.ask(f"SELECT r{mark}{variable}{mark}")
        except StatementFailed as error:
            if NO_SYNTAX not in str(error):
                return variable  # Spark refuses every statement that has it.
        else:
            values.append(str(value))
    # A quote may have ended the literal, and another one begun the next.
    is_whole = len(values) == 2 and len(set(values)) == 1 and not set(values[0]) & set("\"'")
    return values[0] if is_whole else _setting(variable, context)


def _setting(variable: str, context: StatementContext) -> str | None:
    """The value of a variable that is a setting, as it was set; None for one of the environment, or
    one with variables in it."""
    prefix, _, key = variable[2:-1].rpartition(":")
    if prefix not in _SETTINGS:
        return None
    ((_, value), *_) = context.ask(f"SET {quote(key)}")
    return None if VARIABLE in str(value) else str(value)


def _with_names(sql: str, context: StatementContext) -> str:
    """A text with names in place of IDENTIFIER(..), whose variables are those of the session; a
    script has variables of its own."""
    if not _IDENTIFIER.search(sql):
        return sql
    has_own = classify(sql).kind is Kind.SCRIPT
    for start, end, expression in reversed(computed_names(words_of(sql), sql, not has_own)):
        try:
            ((value, *_), *_) = context.ask(f"SELECT CAST(({expression}) AS STRING)")
        except StatementFailed:
            continue
        if parts := listed_parts(str(value)):
            sql = f"{sql[:start]}{quote_parts(parts)}{sql[end:]}"
    return sql
