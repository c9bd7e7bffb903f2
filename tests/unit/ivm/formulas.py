"""Runs queries and what the rules make of them on DuckDB, where a round costs milliseconds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import duckdb
import sqlglot
from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra.stored import STORED
from dbt.adapters.spark_mv.ivm.algebra.terms import CHANGES, OLD, TABLE, Context, named_columns
from dbt.adapters.spark_mv.ivm.analysis import analyse
from dbt.adapters.spark_mv.ivm.delta.rules import Delta
from dbt.adapters.spark_mv.ivm.program import Program, rows_after
from dbt.adapters.spark_mv.ivm.program import Rows as RowsAfter
from dbt.adapters.spark_mv.ivm.rewrite.canonical import canonical, parsed
from dbt.adapters.spark_mv.views.definition import SPARE

Rows = Sequence[tuple[Any, ...]]
Versions = tuple[Mapping[str, Rows], Mapping[str, Rows]]
COLUMNS = ("a", "b", "v")
TABLES = ("mv_table_0", "mv_table_1", "mv_table_2")
SPARE_ROWS = 2


class Engine:
    """Three tables of whole numbers and NULLs at two versions, and what lies between."""

    def __init__(self) -> None:
        self._duckdb = duckdb.connect(config={"threads": 1})
        self._filled: dict[str, Rows] = {}
        self._duckdb.execute("create macro raise_error(text) as error(text)")
        self._duckdb.execute("create macro every(value) as bool_and(value)")
        self._duckdb.execute("create macro array_repeat(value, times) as range(times)")
        for table in TABLES:
            number = table.removeprefix(TABLE)
            for name in (table, OLD + number):
                self._duckdb.execute(f"create table {name} (a int, b int, v int)")
            self._duckdb.execute(
                f"create table {CHANGES}{number} (a int, b int, v int, mv_weight int)"
            )

    def load(self, old: Mapping[str, Rows], new: Mapping[str, Rows], tidy: bool) -> frozenset[str]:
        """Load both versions; returns the tables that changed. A change that is not tidy lists
        every row of both versions."""
        for table in TABLES:
            number = table.removeprefix(TABLE)
            gone, came = Counter(old[table]), Counter(new[table])
            if tidy:
                gone, came = gone - came, came - gone
            change = [(*row, -1) for row in gone.elements()]
            self._fill(table, new[table])
            self._fill(OLD + number, old[table])
            self._fill(CHANGES + number, change + [(*row, 1) for row in came.elements()])
        return frozenset(table for table in TABLES if Counter(old[table]) != Counter(new[table]))

    def _fill(self, name: str, rows: Rows) -> None:
        if self._filled.get(name) != rows:
            values = ", ".join(f"({', '.join(map(_literal, row))})" for row in rows)
            insert = f"; insert into {name} values {values}" if rows else ""
            self._duckdb.execute(f"truncate {name}{insert}")
            self._filled[name] = rows

    def store(self, text: str) -> None:
        """Keep the rows of a query as mv_stored."""
        self._duckdb.execute("create or replace table mv_stored as " + text)

    def rows(self, query: exp.Query | str) -> Counter[tuple[Any, ...]]:
        """The rows of a query."""
        text = query if isinstance(query, str) else _text(query)
        return Counter(self._duckdb.execute(text).fetchall())


def _literal(value: object) -> str:
    return "NULL" if value is None else str(value)


@cache
def written(sql: str) -> exp.Query:
    """The tree of a query as it is written."""
    return parsed(sql, dict.fromkeys(TABLES, COLUMNS))


@cache
def tree_of(sql: str) -> exp.Query:
    """The canonical tree of a query."""
    return canonical(written(sql))


@cache
def program_of(sql: str) -> Program:
    """The program of a query all of whose columns are integers."""
    columns = dict.fromkeys(TABLES, COLUMNS)
    outputs = {f"c{n}": "int" for n in range(len(written(sql).named_selects))}
    return analyse(sql, columns, outputs, lambda query: ["int"] * len(query.named_selects))


def with_named(query: exp.Query, named: Mapping[str, exp.Query]) -> exp.Query:
    """A query with queries that it reads by name."""
    query = query.copy() if named else query
    for name, inner in named.items():
        query.with_(name, inner.copy(), copy=False)
    return query


@cache
def _delta_texts(sql: str, changed: frozenset[str]) -> tuple[str, str | None, str]:
    """The query before, its delta, the query now."""
    tree, context = tree_of(sql), Context(changed)
    delta = Delta(context).query(tree)
    if delta is not None:
        assert named_columns(delta)[:-1] == named_columns(tree)
        delta = with_named(delta, context.named)
    return _text(context.old(tree)), None if delta is None else _text(delta), _text(tree)


def _text(query: exp.Query) -> str:
    return query.sql(dialect="duckdb")


def delta_is_right(
    engine: Engine, sql: str, old: Mapping[str, Rows], new: Mapping[str, Rows], tidy: bool
) -> bool:
    """Whether the old rows of a query and its delta make its new rows."""
    before, delta, now = _delta_texts(sql, engine.load(old, new, tidy))
    found = engine.rows(before)
    for row, copies in engine.rows(delta).items() if delta is not None else ():
        found[row[:-1]] += row[-1] * copies
    return {row: n for row, n in found.items() if n} == dict(engine.rows(now))


def rewriting_is_right(
    engine: Engine, sql: str, old: Mapping[str, Rows], new: Mapping[str, Rows], tidy: bool
) -> bool:
    """Whether what a query is rewritten to has the rows of the query as it was written."""
    engine.load(old, new, tidy)
    return engine.rows(written(sql)) == engine.rows(program_of(sql).query)


def shown_is_right(
    engine: Engine, sql: str, old: Mapping[str, Rows], new: Mapping[str, Rows], tidy: bool
) -> bool:
    """Whether the view shows, of what is stored, the rows of the query as it was written."""
    engine.load(old, new, tidy)
    return engine.rows(written(sql)) == engine.rows(_shown_text(sql))


@cache
def _shown_text(sql: str) -> str:
    return _text(shown_query(program_of(sql)))


def shown_query(program: Program) -> exp.Select:
    """What the view shows of everything that is stored."""
    shown = exp.select(*(exp.column(name, quoted=True) for name in program.shown_columns))
    spare = [name for name in program.hidden if name.startswith(SPARE)]
    for name in spare:
        shown = shown.where(exp.not_(exp.column(name)))
    return shown.from_(program.stored_query().subquery("stored"))


def forget() -> None:
    """Analyse every query anew."""
    texts = (_delta_texts, _refresh_texts, _first_texts, _first_text, _shown_text)
    for known in (written, tree_of, program_of, *texts):
        known.cache_clear()


@cache
def _refresh_texts(
    sql: str, changed: frozenset[str], inserts_only: bool, in_part: bool
) -> tuple[str, str, str, str]:
    """What is stored before; which of it stays after a change, what is added, what it is to be."""
    program = program_of(sql)
    stored = program.stored_query()
    staying, rows = _after_texts(program, changed, inserts_only, in_part)
    return _text(Context(changed).old(stored)), staying, rows, _text(stored)


def _after_texts(
    program: Program, changed: frozenset[str], inserts_only: bool, in_part: bool = False
) -> tuple[str, str]:
    """Which stored rows stay after a change, and what is added."""
    width = len(program.shown_columns)
    after = rows_after(program, changed, inserts_only, ["int"] * width, in_part)
    body = sqlglot.parse_one(after.query, read="spark")
    assert isinstance(body, exp.Query)
    return _text(stays(after)), _text(with_named(body, after.named))


def stays(after: RowsAfter) -> exp.Query:
    """The stored rows that are neither replaced nor written again."""
    stored = exp.select("*").from_(STORED)
    if after.replaced is not None:
        assert after.appends
        return with_named(stored.where(exp.not_(after.replaced.condition())), after.named)
    return stored if after.appends else stored.where(exp.false())


def refresh_is_right(
    engine: Engine, sql: str, old: Mapping[str, Rows], new: Mapping[str, Rows], tidy: bool
) -> bool:
    """Whether the program brings stored rows, with what is hidden, to what they are to be: as a
    whole, and in part."""
    tables = (old, new)
    return _refresh_is_right(engine, sql, tables, tables, tidy)


def refresh_in_another_order_is_right(
    engine: Engine, sql: str, old: Mapping[str, Rows], new: Mapping[str, Rows], tidy: bool
) -> bool:
    """The same, if rows are read the other way round than when they were stored."""
    turned = [{name: rows[::-1] for name, rows in tables.items()} for tables in (old, new)]
    return _refresh_is_right(engine, sql, (old, new), (turned[0], turned[1]), tidy)


def _refresh_is_right(
    engine: Engine, sql: str, stored: Versions, read: Versions, tidy: bool
) -> bool:
    old, new = read
    inserts_only = tidy and all(not Counter(old[t]) - Counter(new[t]) for t in TABLES)

    def is_right(in_part: bool) -> bool:
        changed = engine.load(*stored, tidy)
        if not changed:
            return True
        before, staying, rows, now = _refresh_texts(sql, changed, inserts_only, in_part)
        engine.store(before)
        if read is not stored:
            engine.load(*read, tidy)
        return engine.rows(staying) + engine.rows(rows) == engine.rows(now)

    return is_right(False) and is_right(True)


def first_rows_are_right(
    engine: Engine, sql: str, old: Mapping[str, Rows], new: Mapping[str, Rows], tidy: bool
) -> bool:
    """Whether stored rows become the first rows after a change, however many were in reserve; an
    error is right if too many of them went. The query has to order all columns."""
    changed = engine.load(old, new, tidy)
    inserts_only = tidy and all(not Counter(old[t]) - Counter(new[t]) for t in TABLES)
    return not changed or all(
        _first_rows_are_right(engine, sql, changed, inserts_only, spare)
        for spare in range(SPARE_ROWS + 1)
    )


def _first_rows_are_right(
    engine: Engine, sql: str, changed: frozenset[str], inserts_only: bool, spare: int
) -> bool:
    program = program_of(sql)
    assert program.first is not None
    shown = program.first.count
    before, staying, added = _first_texts(sql, changed, inserts_only, spare)
    engine.store(before)
    had = engine.rows(f"select * exclude ({SPARE}{shown}) from {STORED}")
    there = engine.rows(program.query)
    left = had - (engine.rows(Context(changed).old(program.query)) - there)
    try:
        found = engine.rows(staying) + engine.rows(added)
    except duckdb.Error as error:
        if "more of the first rows were taken away" not in str(error):
            raise
        return had.total() >= shown > left.total()
    enough = found.total() >= min(shown, there.total())
    return enough and found == engine.rows(_first_text(sql, found.total() - shown))


@cache
def _first_texts(
    sql: str, changed: frozenset[str], inserts_only: bool, spare: int
) -> tuple[str, str, str]:
    """What is stored before, with so many rows in reserve; what stays, and what is added."""
    program = program_of(sql)
    assert program.first is not None
    few = replace(program, first=replace(program.first, spare=SPARE_ROWS))
    stored = Context(changed).old(replace(program.first, spare=spare).of(program.query))
    return _text(stored), *_after_texts(few, changed, inserts_only)


@cache
def _first_text(sql: str, spare: int) -> str:
    program = program_of(sql)
    assert program.first is not None
    return _text(replace(program.first, spare=spare).of(program.query))
