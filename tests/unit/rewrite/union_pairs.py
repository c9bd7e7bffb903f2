"""Pairs whose views have a part of the values of one column that the queries want."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tests.unit.rewrite.atoms import Atom, Item, any_column
from tests.unit.rewrite.pairs import pair, plainly, written
from tests.unit.rewrite.shapes import Pair, same_groups, storing

_VALUES = {
    "int": ("0", "1", "2", "3"),
    "date": ("date '2024-01-01'", "'2024-01-31'", "date '2024-02-01'", "date '2023-12-31'"),
    "string": ("'x'", "'y'", "''"),
    "decimal(10,2)": ("0", "1.5", "2", "-1"),
}
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def union_pair(seed: int) -> Pair:
    """The pair of a seed."""
    random = Random(f"union {seed}")
    base = pair(seed)
    if base.asked.form == "groups" and random.random() < 0.4:
        base = replace(base, stored=same_groups(base.asked))
    name, kind = any_column(random, base.stored.tables, *_VALUES)
    alias, _ = name.split(".")
    kept = [atom for atom in base.stored.conditions if atom in base.asked.conditions]
    kept = [atom for atom in kept if name not in atom.text or random.random() < 0.3]
    asked = [atom for atom in base.asked.conditions if name not in atom.text or atom in kept]
    has, wants = _range(random, name, kind), _range(random, name, kind)
    if random.random() < 0.4:
        wants = random.choice(("", f"{name} IS NOT NULL"))
    stored = replace(base.stored, conditions=(*kept, Atom(has, (alias,))))
    if random.random() < 0.5 and not stored.left:
        # Whoever writes a view may begin with another table than whoever writes a query.
        stored = replace(stored, tables=dict(reversed(stored.tables.items())))
    if random.random() < 0.6:
        stored = storing(stored, Item(name, kind))
    more = (Atom(wants, (alias,)),) if wants else ()
    query = replace(base.asked, conditions=(*asked, *more))
    return Pair(seed, written(query, random), plainly(stored), query, stored)


def _range(random: Random, name: str, kind: str) -> str:
    """Conditions that leave some values of a column."""
    low, high, third = (random.choice(_VALUES[kind]) for _ in range(3))
    first = random.choice(("<", "<=", ">", ">="))
    last = random.choice((_OPPOSITE[first], "<", ">="))
    forms = [f"{name} {first} {low}"] * 3
    forms += [f"{name} {first} {low} AND {name} {last} {high}", f"{name} BETWEEN {low} AND {high}"]
    forms += [f"{name} IN ({low}, {third})", f"{name} IN ({low}, NULL)", f"{low} = {name}"]
    return random.choice(forms)
