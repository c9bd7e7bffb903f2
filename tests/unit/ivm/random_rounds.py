"""Random queries on DuckDB: what a fast refresh leaves against the query itself, in milliseconds.

`python -m tests.unit.ivm.random_rounds --count 1000` runs many.
"""

from __future__ import annotations

import argparse
import decimal
import functools
import random
import sys
import traceback
from collections import Counter
from collections.abc import Mapping
from typing import Any

import duckdb
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from dbt.adapters.spark_mv.ivm.algebra.terms import CHANGES, OLD, TABLE, Context, NotFast
from dbt.adapters.spark_mv.ivm.analysis import analyse
from dbt.adapters.spark_mv.ivm.program import Program, rows_after
from dbt.adapters.spark_mv.ivm.rewrite.canonical import parsed
from tests.functional.materialized_view.random_queries import Grammar
from tests.functional.materialized_view.random_tables import Column, Table, value
from tests.unit.ivm.formulas import shown_query, stays, with_named

ROUNDS = 6
TYPES = ("bigint", "int", "string", "decimal(10,2)", "double", "date", "boolean")
COLUMNS = tuple(map(Column, ("k", "n", "s", "p", "mixed Case", "d", "b"), TYPES))
NAMES = {f"{TABLE}{n}": tuple(column.name for column in COLUMNS) for n in range(3)}
_SPARK_TYPES = {"integer": "int", "varchar": "string", "hugeint": "decimal(38,0)"}


@functools.cache
def duck(text: str) -> str:
    """Spark's SQL as DuckDB's."""
    return sqlglot.transpile(text, read="spark", write="duckdb")[0]


def plain(found: Any) -> Any:
    """A value to be compared; DuckDB averages decimals in doubles."""
    if isinstance(found, (int, float, decimal.Decimal)) and not isinstance(found, bool):
        return "NaN" if found != found else round(float(found), 5) + 0.0
    return repr(found)


class World:
    """Three tables at two versions, and what lies between; the same for every seed."""

    def __init__(self) -> None:
        self._db = duckdb.connect(config={"threads": 1})
        self._db.execute("create macro raise_error(text) as error(text)")
        self._db.execute("create macro array_repeat(value, times) as range(times)")
        listed = ", ".join(f"{column.sql} {column.type}" for column in COLUMNS)
        for n in range(3):
            for name in (f"{TABLE}{n}", f"{OLD}{n}"):
                self._db.execute(duck(f"create table {name} ({listed})"))
            self._db.execute(duck(f"create table {CHANGES}{n} ({listed}, mv_weight int)"))

    def fill(self, chance: random.Random) -> tuple[frozenset[str], bool]:
        """New rows everywhere; returns the tables that changed, and whether nothing went."""
        inserts_only = chance.random() < 0.3
        tidy = inserts_only or chance.random() < 0.7
        pool = {column: [duck(value(chance, column.type)) for _ in "123"] for column in COLUMNS}
        changed = []
        for n in range(3):
            old = [self._row(chance, pool) for _ in range(chance.randint(0, 5))]
            old += [row for row in old if chance.random() < 0.2]
            new = [row for row in old if inserts_only or chance.random() < 0.6]
            new += [self._row(chance, pool) for _ in range(chance.choice((0, 1, 2)))]
            new = old if chance.random() < 0.3 else new
            gone, came = Counter(old), Counter(new)
            if gone != came:
                changed.append(f"{TABLE}{n}")
            if tidy:
                gone, came = gone - came, came - gone
            change = [f"{row}, -1" for row in gone.elements()]
            change += [f"{row}, 1" for row in came.elements()]
            for name, rows in ((TABLE, new), (OLD, old), (CHANGES, change)):
                self._db.execute(f"delete from {name}{n}")
                if rows:
                    self._db.execute(f"insert into {name}{n} values ({'), ('.join(rows)})")
        return frozenset(changed), inserts_only

    @staticmethod
    def _row(chance: random.Random, pool: Mapping[Column, list[str]]) -> str:
        return ", ".join(chance.choice(values) for values in pool.values())

    def types_of(self, query: exp.Query) -> list[str]:
        """Spark's types of a query's columns, as far as DuckDB has them."""
        rows = self._db.execute("describe " + query.sql("duckdb")).fetchall()
        return [_SPARK_TYPES.get(row[1].lower(), row[1].lower()) for row in rows]

    def store(self, query: exp.Query) -> None:
        """Keep the rows of a query as mv_stored."""
        self._db.execute("create or replace table mv_stored as " + query.sql("duckdb"))

    def rows(self, query: exp.Query) -> Counter[Any]:
        """The rows of a query."""
        found = self._db.execute(query.sql("duckdb")).fetchall()
        return Counter(tuple(plain(item) for item in row) for row in found)

    def state(self) -> str:
        """All rows, to be shown."""
        names = [f"{kind}{n}" for n in range(3) for kind in (OLD, TABLE)]
        return "\n".join(f"  {name}: {self._db.table(name).fetchall()}" for name in names)


class Draw:
    """One random query, and rounds of random rows; `did` counts what happened."""

    def __init__(self, world: World, seed: int, did: Counter[str]) -> None:
        self._world, self._did, self._chance = world, did, random.Random(seed)
        self.sql = Grammar(self._chance, [Table(name, COLUMNS) for name in NAMES]).draw()

    def program(self) -> tuple[Program, list[str]] | None:
        """The program with the types of its columns; None if the query is none, or is refused."""
        try:
            types = self._world.types_of(parsed(self.sql, NAMES))
            outputs = {f"o{n}": name for n, name in enumerate(types)}
            return analyse(self.sql, NAMES, outputs, self._world.types_of), types
        except NotFast as error:
            self._did[f"refused {error.reason.code}"] += 1
            assert error.reason.code != "NOT_PARSED", error
        except (duckdb.Error, SqlglotError):
            self._did["not understood by DuckDB"] += 1
        return None

    def wrong(self) -> str | None:
        """What was wrong with a refresh, if anything."""
        made = self.program()
        for _ in range(ROUNDS if made else 0):
            assert made is not None
            changed, inserts_only = self._world.fill(self._chance)
            found = self._round(*made, changed, inserts_only) if changed else None
            if found is not None:
                return f"{found}\n  {self.sql}\n{self._world.state()}"
        return None

    def _round(
        self, program: Program, types: list[str], changed: frozenset[str], inserts_only: bool
    ) -> str | None:
        world, before = self._world, Context(changed).old(program.stored_query())
        query = parsed(self.sql, NAMES)
        try:
            rows_of_query = world.rows(query)
            world.rows(Context(changed).old(query))
        except duckdb.Error:
            self._did["query failed"] += 1
            return None
        world.store(before)
        right = world.rows(program.stored_query())
        in_part = self._chance.random() < 0.5
        try:
            after = rows_after(program, changed, inserts_only, types, in_part)
        except NotFast as error:
            self._did[f"refused {error.reason.code}"] += 1
            return None if error.reason.code == "TOO_LARGE" else str(error)
        body = sqlglot.parse_one(after.query, read="spark")
        assert isinstance(body, exp.Query)
        found = world.rows(with_named(body, after.named)) + world.rows(stays(after))
        shown = world.rows(shown_query(program))
        self._did[f"{program}"] += 1
        if shown != rows_of_query:
            return f"stored {shown - rows_of_query} instead of {rows_of_query - shown}"
        return None if found == right else f"left {found - right} instead of {right - found}"


def main() -> int:
    """Run seeds; prints what was wrong."""
    parser = argparse.ArgumentParser(prog="random_rounds")
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--count", type=int, default=500)
    given = parser.parse_args()
    world, did = World(), Counter[str]()
    for seed in range(given.first, given.first + given.count):
        try:
            found = Draw(world, seed, did).wrong()
        except Exception:
            found = f"{traceback.format_exc()}\n  {Draw(world, seed, did).sql}"
        if found is not None:
            did["WRONG"] += 1
            print(f"seed {seed}: {found}\n", flush=True)
    print("\n".join(f"{count:6} {what}" for what, count in sorted(did.items())))
    return 1 if did["WRONG"] else 0


if __name__ == "__main__":
    sys.exit(main())
