"""Pairs whose columns are fields of structures, some of which are NULL, or have the names of fields
of others."""

from __future__ import annotations

import re
from collections.abc import Collection
from random import Random

from tests.unit.rewrite.atoms import COLUMNS
from tests.unit.rewrite.lake import SETS, Lake
from tests.unit.rewrite.pairs import plainly, query_shape, view_shape
from tests.unit.rewrite.shapes import Pair

# Where the columns of the tables are: `q.a` is `b`, and `q.n.g` is `h`.
PATHS = {"a": "p.a", "g": "p.n.g", "k": "p.n.k", "b": "q.a", "d": "q.d", "h": "q.n.g"}
PATHS |= {"m": "q.n.m", "x": "q.n.x", "c": "q.n.c"}
P = "struct<a:int,n:struct<g:string,k:bigint>>"
Q = "struct<a:int,d:date,n:struct<g:string,m:decimal(10,2),x:double,c:int>>"
PACKED = {f"packed_{table}": {"id": "int", "p": P, "q": Q} for table in "rs"}
_COLUMN = re.compile(r"\b([tuvw])\.(" + "|".join(PATHS) + r")\b")
_TABLE = re.compile(r"\b([rs]) AS ([tuvw])\b")


def packed_pair(seed: int) -> Pair:
    """The pair of a seed."""
    random = Random(f"packed {seed}")
    asked = query_shape(random)
    stored = view_shape(random, asked)
    return Pair(seed, packed(plainly(asked)), packed(plainly(stored)), asked, stored)


def packed(text: str) -> str:
    """A text over the tables as one over those with structures.

    >>> packed("SELECT t.id, u.g FROM r AS t JOIN s AS u ON t.k = u.c")
    'SELECT t.id, u.p.n.g FROM packed_r AS t JOIN packed_s AS u ON t.p.n.k = u.q.n.c'
    """
    text = _COLUMN.sub(lambda found: f"{found[1]}.{PATHS[found[2]]}", text)
    return _TABLE.sub(r"packed_\1 AS \2", text)


def pack(lake: Lake) -> None:
    """Make the tables with structures, of those that are there."""
    for table in "rs":
        for number in range(SETS):
            source = _packed_rows(f"d{number}.{table}", COLUMNS[table])
            lake.connection.execute(f"CREATE VIEW d{number}.packed_{table} AS {source}")


def _packed_rows(table: str, columns: Collection[str]) -> str:
    of = {name: name if name in columns else "NULL" for name in PATHS}
    p = f"{{'a': a, 'n': CASE WHEN d IS NOT NULL THEN {{'g': g, 'k': {of['k']}}} END}}"
    n = f"{{'g': {of['h']}, 'm': m, 'x': {of['x']}, 'c': {of['c']}}}"
    q = f"{{'a': {of['b']}, 'd': d, 'n': {n}}}"
    return f"SELECT id, CASE WHEN a IS NOT NULL THEN {p} END AS p, {q} AS q FROM {table}"
