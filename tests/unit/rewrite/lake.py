"""Small random tables in DuckDB, and what queries in Spark's words return there."""

from __future__ import annotations

import math
from collections import Counter
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from random import Random
from typing import Any

import duckdb
import sqlglot
from sqlglot import exp

from tests.unit.rewrite.atoms import COLUMNS, DEVICE, DIMENSIONS, NESTED

SETS = 40
# Values of columns, by their types.
VALUES: dict[str, tuple[Any, ...]] = {
    "int": (None, 0, 1, 2, 3),
    "bigint": (None, 0, 1, 2, 3),
    "decimal(10,2)": (None, "0.50", "1.00", "1.50", "2.25"),
    "string": (None, "x", "y", "xy", "X"),
    "double": (None, 0.0, -0.0, 0.5, float("nan")),
    "date": (
        None,
        "2023-12-31",
        "2024-01-01",
        "2024-01-31",
        "2024-02-29",
        "2024-03-01",
        "2024-03-31",
        "2024-04-01",
    ),
}
VALUES |= {
    "timestamp": (None, "2024-01-01 00:00:00", "2024-03-31 00:00:00", "2024-03-31 10:00:00"),
    "char(3)": (None, "a  ", "ab "),
    "string collate utf8_lcase": (None, "a", "A"),
    "decimal(38,0)": (None, "1", "3"),
    "decimal(4,2)": (None, "0.00", "0.10", "1.00"),
    "boolean": (None, True, False),
}
# Of columns of these names.
_NAMED: dict[str, tuple[Any, ...]] = {
    "status": (None, "shipped", "open", "returned", "Shipped"),
    "return_flag": (None, "R", "A", "N"),
    "country": (None, "DE", "FR", "US"),
    "segment": (None, "retail", "web"),
    "ordered_at": (
        None,
        "2024-01-01 00:00:00",
        "2024-01-31 23:59:59",
        "2024-02-29 12:30:00",
        "2024-03-31 10:00:00",
        "2024-04-01 00:00:00",
    ),
}
_TYPES = {"string": "varchar", "char(3)": "varchar", "string collate utf8_lcase": "varchar"}
_TYPES[DEVICE] = "struct(os struct(name varchar, Major integer), id integer, seen date)"
VALUES[DEVICE] = (
    None,
    {"os": {"name": "x", "Major": 1}, "id": 1, "seen": "2024-01-01"},
    {"os": {"name": "x", "Major": 2}, "id": 1, "seen": None},
    {"os": {"name": None, "Major": 1}, "id": None, "seen": "2024-01-31"},
    {"os": None, "id": 2, "seen": "2024-01-31"},
)


class Lake:
    """Forty sets of the two tables: without rows, with few, with the same ones again."""

    def __init__(self) -> None:
        self.connection = duckdb.connect()
        self.connection.execute("SET threads = 1")
        # It takes away a LIMIT where it expects no rows.
        self.connection.execute("SET disabled_optimizers = 'statistics_propagation'")
        for number in range(SETS):
            self._fill(number)

    def _fill(self, number: int) -> None:
        random = Random(number)
        self.connection.execute(f"CREATE SCHEMA d{number}")
        for table, columns in COLUMNS.items():
            # Others come out the same whether it is there or not.
            chance = Random(number) if table == NESTED else random
            self._fill_table(chance, f"d{number}.{table}", columns)
        for table, keys in zip(DIMENSIONS, ((0, 1, 2, 3), (0, 2), (0, 1, 1, 2, 3)), strict=True):
            self.connection.execute(f"DELETE FROM d{number}.{table}")
            for key in keys:
                row = [key, random.choice((0, 1, 2, 3)), random.choice((None, "x", "y"))]
                self.connection.execute(f"INSERT INTO d{number}.{table} VALUES (?, ?, ?)", row)

    def _fill_table(self, random: Random, table: str, columns: dict[str, str]) -> None:
        kinds = ", ".join(f"{name} {_TYPES.get(kind, kind)}" for name, kind in columns.items())
        self.connection.execute(f"CREATE TABLE {table} ({kinds})")
        # Two or three values of a column, so that rows meet.
        chosen = {
            name: [*random.sample(_values(name, kind), random.choice((2, 3))), None][
                : random.choice((2, 4))
            ]
            for name, kind in columns.items()
        }
        count = 0 if random.random() < 0.12 else random.randint(1, 9)
        rows = [[random.choice(chosen[name]) for name in columns] for _ in range(count)]
        if rows and random.random() < 0.3:
            rows += random.sample(rows, min(2, len(rows)))
        marks = ", ".join("?" for _ in columns)
        for row in rows:
            self.connection.execute(f"INSERT INTO {table} VALUES ({marks})", row)

    def use(self, number: int) -> None:
        """Take one of the sets."""
        self.connection.execute(f"SET schema = 'd{number % SETS}'")

    def store(self, query: str, names: list[str]) -> None:
        """Keep what a view returns, as its storage table."""
        columns = ", ".join(names)
        source = f"({in_duckdb(query)}) q({columns})"
        text = f"CREATE OR REPLACE TEMP TABLE mv_rows AS SELECT * FROM {source}"
        self.connection.execute(text)

    def rows(self, query: str) -> Counter[Any]:
        """The rows of a query."""
        found = self.connection.execute(in_duckdb(query)).fetchall()
        return Counter(tuple(map(plain, row)) for row in found)

    def columns(self, query: str) -> dict[str, str]:
        """The columns of a query, and their types in DuckDB."""
        found = self.connection.execute(in_duckdb(query)).description or []
        return {name: str(kind) for name, kind, *_ in found}


@lru_cache(maxsize=256)
def in_duckdb(query: str) -> str:
    """A query in the words of DuckDB."""
    tree = sqlglot.parse_one(query, read="spark")
    # Of no rows it is NULL in DuckDB, and 0 in Spark.
    for node in list(tree.find_all(exp.CountIf)):
        met = exp.Case().when(node.this.copy(), exp.Literal.number(1))
        node.replace(exp.Count(this=met, big_int=True))
    return tree.sql("duckdb")


def _values(name: str, kind: str) -> tuple[Any, ...]:
    return _NAMED.get(name, VALUES[kind])


def plain(value: Any) -> Any:
    """A value without what the engines differ in: types of numbers, and days as moments."""
    if isinstance(value, (float, Decimal)) and not isinstance(value, bool):
        number = float(value)
        return "nan" if math.isnan(number) else round(number, 4) + 0.0
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return float(value)
    if isinstance(value, datetime):
        # What is cast to TIMESTAMP has a zone in DuckDB.
        return str(value.replace(tzinfo=None))
    if isinstance(value, (dict, tuple)):
        return tuple(map(plain, value.values() if isinstance(value, dict) else value))
    return f"{value} 00:00:00" if isinstance(value, date) else value
