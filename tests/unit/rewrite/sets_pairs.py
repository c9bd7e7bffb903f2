"""Pairs about ROLLUP, CUBE and GROUPING SETS: asked of stored rows or groups, or stored and asked
for plain groups."""

from __future__ import annotations

from random import Random

from tests.unit.rewrite.atoms import Item
from tests.unit.rewrite.shapes import Pair, Shape, numbered, selected

# The groups of both keys are there once, or not.
_SETS = (
    "ROLLUP (a, g)",
    "CUBE (a, g)",
    "GROUPING SETS ((a, g), (a), ())",
    "ROLLUP (g, a)",
    "a, ROLLUP (g)",
    "CUBE ((a, g))",
    "GROUPING SETS ((a), (g))",
    "GROUPING SETS ((a, g), (g, a))",
    "ROLLUP (a, g), CUBE (a)",
    "ROLLUP (a, (a, g))",
)
_A, _B, _G, _D = Item("a", "int"), Item("b", "int"), Item("g", "string"), Item("d", "date")
_MONTH = Item("DATE_TRUNC('MONTH', d)", "timestamp")
_SUMMED = [Item("COUNT(*)", "bigint", True), Item("SUM(b)", "bigint", True)]
# Some of them are written alike where columns equal each other, or are told by a coarser one.
_KEYS = (
    *("a", "b", "g", "a + 1", "b + 1", "a + b", "b + a", "CASE WHEN a > 1 THEN 1 END"),
    *("DATE_TRUNC('YEAR', d)", "DATE_TRUNC('MONTH', d)", "YEAR(d)", "MONTH(d)"),
    *("DATE_TRUNC('YEAR', DATE_TRUNC('MONTH', d))", "DATE_TRUNC('QUARTER', d)"),
)
_WHERE = ("a = 1", "a > 0", "a <= 2", "a IS NOT NULL", "b > 1", "g = 'x'", "a IN (1, 2)", "a = b")


def sets_pair(seed: int) -> Pair:
    """The pair of a seed."""
    random = Random(f"sets {seed}")
    make = random.choice((_sets_of_groups, _sets_of_expressions, _groups_of_sets))
    return make(random, seed)


def _where(random: Random, chance: float = 0.3) -> str:
    return f" WHERE {random.choice(_WHERE)}" if random.random() < chance else ""


def _pair(seed: int, view: str, query: str, items: list[Item]) -> Pair:
    shape = Shape("sets", {"q": "r"}, (), tuple(items))
    return Pair(seed, query, view, shape, shape)


def _sets_of_groups(random: Random, seed: int) -> Pair:
    """Sets of keys asked of stored rows or groups."""
    calls = [*_SUMMED, Item("MIN(b)", "int", True), Item("COUNT(b)", "bigint", True)]
    is_grouped, plain = random.random() < 0.7, [_A, _B, _G]
    finer = list(numbered([*plain, *calls] if is_grouped else plain, "s"))
    where = _where(random)
    view = f"SELECT {selected(finer)} FROM r{where}{' GROUP BY a, b, g' if is_grouped else ''}"
    first, second = random.choice((("a", "g"), ("a", "g"), ("a", "b"), ("b", "g")))
    sets = random.choice(_SETS).replace("(a", f"({first}").replace("g", second)
    marks = [Item(f"GROUPING({first})", "int"), Item(f"SUM({first})", "bigint")]
    asked = [Item(key, "string" if key == "g" else "int") for key in (first, second)]
    items = list(numbered([*asked, *random.sample([*calls, *marks], 3)], "c"))
    more = random.choice(("", "", "a = b", "g = 'x'", "b IS NOT NULL"))
    wanted = f"{where or ' WHERE TRUE'} AND {more}" if more else where
    having = random.choice(("", "", " HAVING COUNT(*) > 1", f" HAVING {first} > 0"))
    query = f"SELECT {selected(items)} FROM r{wanted} GROUP BY {sets}{having}"
    return _pair(seed, view, query, finer)


def _sets_of_expressions(random: Random, seed: int) -> Pair:
    """Keys that are expressions; what is returned is one of them, or made of them."""
    where = _where(random)
    stored = random.choice(([_A, _B, _G, _D], [_A, _B, _G, _MONTH], [_A, _B, _MONTH]))
    finer = list(numbered([*stored, *_SUMMED], "s"))
    by = ", ".join(item.text for item in stored)
    view = f"SELECT {selected(finer)} FROM r{where} GROUP BY {by}"
    keys = random.sample(_KEYS, random.choice((2, 2, 3)))
    kind = random.choice(("ROLLUP", "CUBE"))
    others = random.sample(keys, len(keys)) + random.sample(_KEYS, 1)
    shown = [
        random.choice((one, one, f"COALESCE({one}, 0)" if one in "ab" else one))
        for one in others[: random.choice((2, 3, 4))]
    ]
    items = list(numbered([*(Item(one, "int") for one in shown), *_SUMMED], "c"))
    more = random.choice(("", "a = b", "a = b", "a = 1"))
    wanted = f"{where or ' WHERE TRUE'} AND {more}" if more else where
    having = random.choice(("", "", f" HAVING {random.choice(_KEYS)} IS NOT NULL"))
    query = f"SELECT {selected(items)} FROM r{wanted} GROUP BY {kind} ({', '.join(keys)}){having}"
    return _pair(seed, view, query, finer)


def _groups_of_sets(random: Random, seed: int) -> Pair:
    """Plain groups, or other sets, asked of stored sets of keys that say which they are."""
    marks = random.choice(
        (["GROUPING_ID(a, g)"], ["GROUPING(a)", "GROUPING(g)"], ["GROUPING(a)"], [])
    )
    stored = [_A, _G, *_SUMMED, *(Item(mark, "bigint") for mark in marks)]
    items, where = list(numbered(stored, "s")), _where(random)
    having = " HAVING COUNT(*) > 1" if random.random() < 0.1 else ""
    view = f"SELECT {selected(items)} FROM r{where} GROUP BY {random.choice(_SETS)}{having}"
    group = random.choice(("a, g", "g, a", "a", "g", "", *_SETS[:4]))
    keys = [item for item in (_A, _G) if item.text in group]
    wanted = list(numbered([*keys, *_SUMMED], "c"))
    query = f"SELECT {selected(wanted)} FROM r{where}{' GROUP BY ' if group else ''}{group}{having}"
    return _pair(seed, view, query, items)
