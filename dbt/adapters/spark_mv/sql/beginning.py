"""Whether a text is a materialized-view statement, or touches no rows, told by its first words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

_SCREEN = re.compile("materialized", re.IGNORECASE)
_SKIPPED = re.compile(r"\s+|--[^\n]*")
_EDGE = re.compile(r"/\*|\*/")
_WORD = re.compile(r"\w+|\.")
_VIEW = ("MATERIALIZED", "VIEW")
_BEGINNINGS = (
    ("CREATE", *_VIEW),
    ("CREATE", "OR", "REPLACE", *_VIEW),
    ("REFRESH", *_VIEW),
    ("ALTER", *_VIEW),
    ("DROP", *_VIEW),
    ("EXPLAIN", *_VIEW),
    ("CALL", "BQ", ".", "REFRESH_MATERIALIZED_VIEW"),
)
_MOST = max(map(len, _BEGINNINGS))
_WITHOUT_ROWS = frozenset("SHOW DESCRIBE DESC RESET ANALYZE COMMENT UNCACHE CLEAR ADD LIST".split())


def is_view_statement(sql: str) -> bool:
    """Whether a text begins as a materialized-view statement does, comments left out.

    >>> is_view_statement("refresh -- now\\n /* and /* here */ */ materialized view v")
    True
    >>> is_view_statement("select 'refresh materialized view v'")
    False
    """
    if _SCREEN.search(sql) is None:
        return False
    words = tuple(islice(_words(sql), _MOST))
    return any(words[: len(beginning)] == beginning for beginning in _BEGINNINGS)


def touches_no_rows(sql: str) -> bool:
    """Whether a text begins as a statement does that neither reads nor writes rows.

    >>> touches_no_rows("/* and /* here */ */ show tables")
    True
    >>> touches_no_rows("set variable n = (select 1)")
    False
    """
    first, second = (*islice(_words(sql), 2), "", "")[:2]
    if first == "SET":
        return second not in ("VAR", "VARIABLE")
    return first in _WITHOUT_ROWS or (first, second) == ("REFRESH", "TABLE")


def behind(sql: str, *words: str) -> str:
    """What stands behind some first words of a text, in upper case; empty if it has others.

    >>> behind("/* a */ explain -- b\\n rewrite select 1", "EXPLAIN", "REWRITE")
    'select 1'
    """
    found = tuple(islice(_matches(sql), len(words)))
    if tuple(match[0].upper() for match in found) != words:
        return ""
    return sql[_after_gap(sql, found[-1].end()) :]


def _words(sql: str) -> Iterator[str]:
    return (match[0].upper() for match in _matches(sql))


def _matches(sql: str) -> Iterator[re.Match[str]]:
    at = 0
    while found := _WORD.match(sql, at := _after_gap(sql, at)):
        yield found
        at = found.end()


def _after_gap(sql: str, at: int) -> int:
    """Where white space and comments that begin at a place end; comments may hold others."""
    while True:
        skipped = _SKIPPED.match(sql, at)
        if skipped:
            at = skipped.end()
        elif sql.startswith("/*", at):
            at = _after_comment(sql, at)
        else:
            return at


def _after_comment(sql: str, at: int) -> int:
    depth = 0
    for edge in _EDGE.finditer(sql, at):
        depth += 1 if edge[0] == "/*" else -1
        if not depth:
            return edge.end()
    return len(sql)
