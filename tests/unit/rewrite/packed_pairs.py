"""Pairs whose columns are fields of structures, some of which are NULL, or have the names of fields
of others."""

from __future__ import annotations

import re
from random import Random

import sqlglot

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
            rows = packed_rows(table, f"d{number}.{table}")
            lake.connection.execute(f"CREATE VIEW d{number}.packed_{table} AS {rows}")


def packed_rows(table: str, name: str, dialect: str = "duckdb") -> str:
    """The rows of a table of this name, as a query in these words."""
    types = COLUMNS["r"] | COLUMNS["s"]
    of = {one: f"CAST(NULL AS {types[one]})" for one in PATHS}
    of |= {one: one for one in COLUMNS[table]}
    n = f"CASE WHEN d IS NOT NULL THEN struct({of['g']} AS g, {of['k']} AS k) END"
    p = f"CASE WHEN a IS NOT NULL THEN struct(a AS a, {n} AS n) END"
    n = f"struct({of['h']} AS g, m AS m, {of['x']} AS x, {of['c']} AS c)"
    query = f"SELECT id, {p} AS p, struct({of['b']} AS a, d AS d, {n} AS n) AS q FROM {name}"
    return sqlglot.transpile(query, read="spark", write=dialect)[0]
