"""Pairs whose views join tables that the queries do not read."""

from __future__ import annotations

from random import Random

from dbt.adapters.spark_mv.catalog.constraints import NOT_NULL, REFERENCES, UNIQUE, Constraint
from dbt.adapters.spark_mv.sql.names import TableName
from tests.unit.rewrite.atoms import DIMENSIONS, Item
from tests.unit.rewrite.shapes import Pair, Shape, numbered, selected

_WHOLE, _PART, _MANY = (TableName("c", ("s",), name) for name in DIMENSIONS)
_FACTS = [(TableName("c", ("s",), "r"), column) for column in ("a", "b", "id")]
# What holds of the tables of the lake.
HELD = frozenset(
    [
        Constraint(UNIQUE, (_WHOLE, "k")),
        Constraint(UNIQUE, (_PART, "k")),
        *(Constraint(REFERENCES, column, (_WHOLE, "k")) for column in _FACTS),
        *(Constraint(REFERENCES, (one, "q"), (_WHOLE, "k")) for one in (_WHOLE, _PART, _MANY)),
        *(Constraint(NOT_NULL, (one, "q")) for one in (_WHOLE, _PART, _MANY)),
    ]
)
_ROWS = [Item("r.a", "int"), Item("r.b", "int"), Item("r.g", "string"), Item("r.id", "int")]
_SUMMED = [Item("COUNT(*)", "bigint", True), Item("SUM(r.b)", "bigint", True)]
_REJECTING = ("r.a > 0", "r.a IS NOT NULL", "r.a IN (1, 2)", "r.b >= 0", "r.a = r.b", "r.g = 'x'")


def extra_pair(seed: int) -> Pair:
    """The pair of a seed."""
    random = Random(f"extra {seed}")
    first = random.choice((*DIMENSIONS[:1] * 3, *DIMENSIONS))
    joins = [_join(random, first, "d", f"r.{random.choice('aab')}")]
    others = ["d.q", "d.w", "d.k"]
    if random.random() < 0.4:
        second = random.choice((*DIMENSIONS[:1] * 3, *DIMENSIONS))
        joins.append(_join(random, second, "e", random.choice(("d.q", "d.q", "r.b", "d.k"))))
        others += ["e.w", "e.k"]
    conditions = [one for one in _REJECTING if random.random() < 0.15]
    kept = [one for one in conditions if random.random() < 0.5]
    if random.random() < 0.15:
        kept.append(random.choice(("d.w = 'x'", "d.k > 0", "d.q = 1")))
    if random.random() < 0.2 and "d.k > 0" in kept:
        conditions.append("r.a > 0")
    shown = random.sample(others, random.choice((0, 1, 2)))
    more = [Item(one, "string" if one.endswith("w") else "int") for one in shown]
    is_grouped = random.random() < 0.6
    own = random.sample(_ROWS, random.choice((2, 3, 4)))
    stored = list(numbered([*own, *more], "s"))
    stored += list(numbered(_SUMMED, "t")) if is_grouped else []
    view = _select(stored, ["r", *joins], kept, is_grouped)
    # Of two tables the query may read the first one.
    read = ["r", *joins[: random.choice((0, 0, 1)) if len(joins) > 1 else 0]]
    keys = random.sample(own, random.choice((1, 2)))
    is_asked = is_grouped or random.random() < 0.5
    items = list(numbered([*keys, *_SUMMED] if is_asked else keys, "c"))
    query = _select(items, read, conditions, is_asked)
    asked = Shape("groups" if is_asked else "rows", {"q": "r"}, (), tuple(items))
    return Pair(seed, query, view, asked, Shape("extra", {"q": "r"}, (), tuple(stored)))


def _join(random: Random, table: str, alias: str, column: str) -> str:
    kind = random.choice(("JOIN", "JOIN", "LEFT JOIN"))
    more = f" AND {alias}.q > 1" if random.random() < 0.15 else ""
    return f"{kind} {table} AS {alias} ON {alias}.k = {column}{more}"


def _select(items: list[Item], read: list[str], conditions: list[str], grouped: bool) -> str:
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    keys = [item.text for item in items if "(" not in item.text]
    by = f" GROUP BY {', '.join(keys)}" if grouped else ""
    return f"SELECT {selected(items)} FROM {' '.join(read)}{where}{by}"
