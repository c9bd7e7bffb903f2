"""What DESCRIBE and SHOW CREATE TABLE print, read back."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dbt.adapters.spark_mv.core.executor import ColumnType, Executor, Row
from dbt.adapters.spark_mv.sql.words import depths, words_of

_QUOTED = re.compile(r"`((?:[^`]|``)*)`")


def columns_in(rows: list[Row]) -> list[Row]:
    """The rows about columns, of those of DESCRIBE TABLE EXTENDED."""
    found: list[Row] = []
    for row in rows:
        if not row[0] or str(row[0]).startswith("#"):
            break
        found.append(row)
    return found


def details_in(rows: list[Row]) -> dict[str, str]:
    """What it says of the relation as a whole, by the words that Spark has for that."""
    return {str(row[0]): str(row[1]) for row in rows[len(columns_in(rows)) :] if row[0]}


def columns_of_query(session: Executor, query: str) -> list[ColumnType]:
    """Names and types of what a query returns, as DESCRIBE QUERY prints them."""
    return [(str(row[0]), str(row[1])) for row in session.query(f"DESCRIBE QUERY {query}")]


def names_in(listed: str) -> tuple[str, ...]:
    """The names of a list as it is printed of a view of Spark's own.

    >>> names_in("[`k`, `a, ``b`]")
    ('k', 'a, `b')
    """
    return tuple(name.replace("``", "`") for name in _QUOTED.findall(listed))


def text_of_create(statement: str, columns: Sequence[Row], comment: str | None) -> str:
    """The query of a CREATE VIEW as SHOW CREATE TABLE prints it: columns and their comments without
    quotes or escapes, in the comment of the view escapes of quotes only."""
    listed = (_listed(str(row[0]), str(row[2] or "")) for row in columns)
    start = re.search(r"\(\n  " + r",\n  ".join(listed) + r"\)\n", statement)
    rest = statement[start.end() :] if start is not None else statement
    if comment:
        escaped = comment.replace("'", "\\'")
        rest = rest.removeprefix(f"COMMENT '{escaped}'")
    words = words_of(rest)
    for word, depth in zip(words, depths(words), strict=True):
        if depth == 0 and word.upper == "AS":
            return rest[word.end :].strip()
    return statement


def _listed(name: str, comment: str) -> str:
    written = re.escape(f" COMMENT '{comment}'") if comment else "(?: COMMENT '')?"
    return re.escape(name) + written
