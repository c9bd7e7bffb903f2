"""Random queries on DuckDB: refreshes against the query itself, milliseconds for each."""

from __future__ import annotations

import argparse
import decimal
import functools
import random
import re
import sys
import traceback
from collections import Counter
from collections.abc import Sequence
from typing import Any

import duckdb
import sqlglot
from sqlglot import exp

from dbt.adapters.spark_mv.ivm.canonical import parsed
from dbt.adapters.spark_mv.ivm.program import analyse, rows_after
from dbt.adapters.spark_mv.ivm.tree import CHANGES, OLD, TABLE, Context, NotFast
from tests.functional.materialized_view.random_queries import Grammar
from tests.functional.materialized_view.random_tables import Column, Table, value

TYPES = ("bigint", "int", "string", "decimal(10,2)", "double", "date", "boolean")
NAMES = ("k", "n", "s", "p", "mixed Case", "d", "b")
Rows = Sequence[tuple[Any, ...]]


def duck(text: str) -> str:
    return sqlglot.transpile(text, read="spark", write="duckdb")[0]


@functools.cache
def literal(text: str) -> str:
    return sqlglot.parse_one(text, read="spark").sql("duckdb")


def spark_type(name: str) -> str:
    name = name.lower()
    return {"integer": "int", "varchar": "string", "hugeint": "decimal(38,0)"}.get(name, name)


class Round:
    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.db = duckdb.connect(config={"threads": 1})
        self.db.execute("create macro raise_error(text) as error(text)")
        self.db.execute("create macro array_repeat(value, times) as range(times)")
        columns = tuple(map(Column, NAMES, TYPES))
        self.tables = [Table(f"{TABLE}{n}", columns) for n in range(3)]
        listed = ", ".join(f"{c.sql} {c.type}" for c in columns)
        for n in range(3):
            for name in (f"{TABLE}{n}", f"{OLD}{n}"):
                self.db.execute(duck(f"create table {name} ({listed})"))
            self.db.execute(duck(f"create table {CHANGES}{n} ({listed}, mv_weight int)"))
        pool = {c.name: [literal(value(self.chance, c.type)) for _ in range(3)] for c in columns}
        self.pool, self.columns = pool, columns

    def row(self) -> tuple[str, ...]:
        return tuple(self.chance.choice(self.pool[c.name]) for c in self.columns)

    def fill(self) -> tuple[frozenset[str], bool, str]:
        """Old and new rows of each table; returns changed tables, whether only inserts."""
        inserts_only = self.chance.random() < 0.3
        tidy = inserts_only or self.chance.random() < 0.7
        changed, log = [], []
        for n in range(3):
            old = [self.row() for _ in range(self.chance.randint(0, 5))]
            old += [r for r in old if self.chance.random() < 0.2]
            kept = [r for r in old if inserts_only or self.chance.random() < 0.6]
            new = kept + [self.row() for _ in range(self.chance.choice((0, 1, 2)))]
            if self.chance.random() < 0.3:
                new = old
            gone, came = Counter(old), Counter(new)
            if Counter(old) != Counter(new):
                changed.append(f"{TABLE}{n}")
            if tidy:
                gone, came = gone - came, came - gone
            deltas = [(*r, "-1") for r in gone.elements()] + [(*r, "1") for r in came.elements()]
            for name, rows in ((f"{TABLE}{n}", new), (f"{OLD}{n}", old), (f"{CHANGES}{n}", deltas)):
                self.db.execute(f"delete from {name}")
                if rows:
                    listed = ", ".join("(" + ", ".join(r) + ")" for r in rows)
                    self.db.execute(f"insert into {name} values {listed}")
            log.append(f"{n}: old {old}\n     new {new}")
        return frozenset(changed), inserts_only, "\n".join(log)

    def types_of(self, query: exp.Query) -> list[str]:
        rows = self.db.execute("describe " + query.sql("duckdb")).fetchall()
        return [spark_type(r[1]) for r in rows]

    def rows(self, query: exp.Query) -> Counter[Any]:
        found = self.db.execute(query.sql("duckdb")).fetchall()
        return Counter(tuple(plain(v) for v in row) for row in found)


def plain(v: Any) -> Any:
    """DuckDB averages decimals in doubles."""
    if isinstance(v, (int, float, decimal.Decimal)) and not isinstance(v, bool):
        return "NaN" if v != v else round(float(v), 5) + 0.0
    return repr(v)


def with_named(query: exp.Query, named: Any) -> exp.Query:
    for name, inner in named.items():
        query = query.with_(name, inner.copy())
    return query


def one(seed: int, did: Counter[str]) -> str | None:
    r = Round(seed)
    sql = Grammar(r.chance, r.tables).draw()
    columns = {t.name: tuple(c.name for c in t.columns) for t in r.tables}
    try:
        r.db.execute(duck(sql))
        tree = parsed(sql, columns)
        width = len(tree.named_selects)
        types = r.types_of(tree)
    except (duckdb.Error, sqlglot.errors.SqlglotError):
        did["invalid"] += 1
        return None
    except NotFast as e:
        did["refused " + e.reason.code] += 1
        return f"{e.reason}\n {sql}" if e.reason.code == "NOT_PARSED" else None
    try:
        program = analyse(sql, columns, {f"o{n}": t for n, t in enumerate(types)}, r.types_of)
    except NotFast as e:
        did["refused " + e.reason.code] += 1
        return None
    except duckdb.Error:
        did["invalid2"] += 1
        return None
    except Exception:
        return f"seed {seed}: {traceback.format_exc()}\n {sql}"
    for _ in range(6):
        changed, inserts_only, log = r.fill()
        context = Context(changed)
        if not context.touches(program.query):
            continue
        try:
            r.db.execute("create or replace table mv_stored as " + context.old(program.stored_query()).sql("duckdb"))
            right = r.rows(program.stored_query())
            plain = r.rows(parsed(sql, columns))
        except duckdb.Error as e:
            did["query failed"] += 1
            if "onversion" not in str(e) and "ivision" not in str(e): did["qf " + str(e)[:80]] += 1
            continue
        after = rows_after(program, changed, inserts_only, types)
        body = sqlglot.parse_one(after.query, read="spark")
        try:
            found = r.rows(with_named(body, after.named))
        except duckdb.Error as e:
            if re.search("IEEE|Not implemented|internal|INTERNAL|BinderException.*lambda", str(e)):
                did["duckdb " + str(e)[:60]] += 1
                continue
            return f"seed {seed}: {e}\n {sql}\n{log}\n {with_named(body, after.named).sql('duckdb')}"
        if after.appends:
            found += r.rows(context.old(program.stored_query()))
        visible = Counter()
        for row, n in right.items():
            visible[row[:width]] += n
        if visible != plain:
            return f"seed {seed}: stored query is not the query\n {sql}\n{log}\n stored {visible}\n query {plain}\n {program.stored_query().sql('spark')}"
        did["ok " + str(program)[:12]] += 1
        if found != right:
            return f"seed {seed}: too many {found - right} missing {right - found} changed {changed}\n {sql}\n{log}"
    return None


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--first", type=int, default=1)
    p.add_argument("--count", type=int, default=500)
    given = p.parse_args()
    did: Counter[str] = Counter()
    for seed in range(given.first, given.first + given.count):
        try:
            found = one(seed, did)
        except Exception:
            found = f"seed {seed}: {traceback.format_exc()}"
        if found:
            did["WRONG"] += 1
            print(found, "\n", flush=True)
    for k, v in sorted(did.items()):
        print(v, k)
