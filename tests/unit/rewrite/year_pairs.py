"""Pairs of views whose keys are years, and months or quarters, of days or moments, and queries of
ranges, and of units of time that these tell."""

from __future__ import annotations

from random import Random

from tests.unit.rewrite.atoms import Item
from tests.unit.rewrite.shapes import Pair, Shape, numbered, selected

_OF = {"r": ("d", "g", "a"), "orders": ("ordered_at", "status", "order_id")}
_BOUNDS = ("2024-01-01", "2024-01-01", "2024-02-01", "2024-04-01", "2024-01-31", "2023-12-31")
_SIGNS = (">=", "<", ">=", "<", ">", "<=")


def year_pair(seed: int) -> Pair:
    """The pair of a seed."""
    random = Random(f"year {seed}")
    table = random.choice(tuple(_OF))
    days, other, number = _OF[table]
    parts = [Item(f"YEAR({days})", "int"), Item(f"MONTH({days})", "int")]
    quarter = Item(f"QUARTER({days})", "int")
    told = [Item(f"DATE_TRUNC('{unit}', {days})", "timestamp") for unit in ("YEAR", "QUARTER")]
    stored = random.choice((parts[:1], parts, parts, parts[1:], [parts[0], quarter]))
    stored = [*stored, *random.sample([Item(other, "string"), Item(f"DAY({days})", "int")], 1)]
    calls = [Item("COUNT(*)", "bigint", True), Item(f"SUM({number})", "bigint", True)]
    kept = Shape("groups", {"q": table}, (), numbered([*stored, *calls], "s"), tuple(stored))
    possible = [*parts, Item(other, "string"), quarter, *told]
    keys = random.sample(possible, random.choice((0, 1, 2)))
    asked = Shape("groups" if keys else "one", {"q": table}, (), numbered([*keys, *calls], "c"))
    bounds = random.sample(_SIGNS, random.choice((0, 1, 1, 2)))
    limits = [f"{days} {sign} '{random.choice(_BOUNDS)}'" for sign in bounds]
    where = f" WHERE {' AND '.join(limits)}" if limits else ""
    by = f" GROUP BY {', '.join(key.text for key in keys)}" if keys else ""
    query = f"SELECT {selected([*asked.items])} FROM {table}{where}{by}"
    group = ", ".join(key.text for key in stored)
    view = f"SELECT {selected([*kept.items])} FROM {table} GROUP BY {group}"
    return Pair(seed, query, view, asked, kept)
