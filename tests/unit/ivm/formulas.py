"""Runs queries and their delta queries on DuckDB, where a round costs milliseconds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
from sqlglot import exp

from dbt.adapters.spark_mv.ivm.canonical import canonical, parsed
from dbt.adapters.spark_mv.ivm.delta import Delta
from dbt.adapters.spark_mv.ivm.tree import CHANGES, OLD, TABLE, Context, named_columns

Rows = Sequence[tuple[Any, ...]]
COLUMNS = ("a", "b", "v")
TABLES = ("mv_table_0", "mv_table_1", "mv_table_2")


class Engine:
    """Three tables of whole numbers and NULLs, at two versions."""

    def __init__(self) -> None:
        self._duckdb = duckdb.connect()
        for table in TABLES:
            number = table.removeprefix(TABLE)
            for name in (table, OLD + number):
                self._duckdb.execute(f"create table {name} (a int, b int, v int)")
            self._duckdb.execute(
                f"create table {CHANGES}{number} (a int, b int, v int, mv_weight int)"
            )

    def load(self, name: str, rows: Rows) -> None:
        self._duckdb.execute(f"delete from {name}")
        if rows:
            marks = ", ".join("?" * len(rows[0]))
            self._duckdb.executemany(f"insert into {name} values ({marks})", rows)

    def rows(self, query: exp.Query) -> list[tuple[Any, ...]]:
        return self._duckdb.execute(query.sql(dialect="duckdb")).fetchall()


def tree_of(sql: str) -> exp.Query:
    return canonical(parsed(sql, dict.fromkeys(TABLES, COLUMNS)))


def with_names(query: exp.Query, context: Context) -> exp.Query:
    """The query with the named queries of its derivation in front."""
    found = query.copy()
    for name, named in context.named.items():
        found = found.with_(name, named.copy())
    return found


def check(engine: Engine, sql: str, old: Mapping[str, Rows], new: Mapping[str, Rows]) -> bool:
    """Whether old rows and delta make new rows; loads both versions and a change between."""
    tree = tree_of(sql)
    for table in TABLES:
        number = table.removeprefix(TABLE)
        engine.load(table, new[table])
        engine.load(OLD + number, old[table])
        gone = [(*row, -1) for row in old[table]]
        engine.load(CHANGES + number, gone + [(*row, 1) for row in new[table]])
    changed = frozenset(table for table in TABLES if Counter(old[table]) != Counter(new[table]))
    context = Context(changed)
    delta = Delta(context).query(tree)
    before, after = Counter(engine.rows(context.old(tree))), Counter(engine.rows(tree))
    if delta is None:
        return before == after
    assert named_columns(delta)[:-1] == named_columns(tree)
    for row in engine.rows(with_names(delta, context)):
        before[row[:-1]] += row[-1]
    return {row: n for row, n in before.items() if n} == dict(after)
