"""Pairs whose queries and views return functions of aggregates, such as `coalesce(sum(a), 0)`."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tests.unit.rewrite.atoms import Item
from tests.unit.rewrite.pairs import pair, plainly, written
from tests.unit.rewrite.shapes import Pair, Shape

# Functions of one aggregate, and the types of their values; None is the type of the aggregate.
_NUMBERS = {
    "COALESCE({0}, 0)": None,
    "NULLIF({0}, 1)": None,
    "-({0})": None,
    "ABS({0})": None,
    "{0} > 1": "boolean",
    "CASE WHEN {0} > 1 THEN 'more' ELSE 'less' END": "string",
}
_FUNCTIONS = {
    "int": _NUMBERS,
    "bigint": _NUMBERS,
    "decimal(10,2)": _NUMBERS,
    "decimal(20,2)": _NUMBERS,
    "date": {
        "YEAR({0})": "int",
        "DATE_TRUNC('MONTH', {0})": "timestamp",
        "DATE_TRUNC('YEAR', {0})": "timestamp",
    },
    "string": {"UPPER({0})": None, "COALESCE({0}, 'none')": None},
}
_OF_ALL = {"{0} IS NULL": "boolean"}
# Of two, which have to be numbers.
_OF_TWO = {"{0} > {1}": "boolean", "COALESCE({0}, {1}) IS NULL": "boolean"}
_WHOLE = ("int", "bigint")


def wrapped_pair(seed: int) -> Pair:
    """The pair of a seed: that of `pair`, with functions around what is called."""
    random = Random(seed * 31 + 5)
    made = pair(seed)
    calls = [item for item in made.asked.items if item.is_call]
    if not calls:
        return made
    wraps = {call.text: _wrapped(random, call, calls) for call in calls}
    asked = _with_items(made.asked, [wraps.get(one.text, one) for one in made.asked.items], "c")
    having = tuple(_of_having(random, wraps, text) for text in asked.having)
    asked, stored = replace(asked, having=having), made.stored
    if any(item.is_call for item in stored.items):
        stored = _storing(random, stored, wraps)
    return Pair(seed, written(asked, random), plainly(stored), asked, stored)


def _wrapped(random: Random, call: Item, calls: list[Item]) -> Item:
    numbers = [one for one in calls if one.type in _WHOLE]
    if call.type in _WHOLE and len(numbers) > 1 and random.random() < 0.2:
        form = random.choice(list(_OF_TWO))
        return Item(form.format(call.text, random.choice(numbers).text), _OF_TWO[form], True)
    forms = _FUNCTIONS.get(call.type, {}) | _OF_ALL
    form = random.choice(list(forms))
    return Item(form.format(call.text), forms[form] or call.type, True)


def _of_having(random: Random, wraps: dict[str, Item], text: str) -> str:
    """A condition on groups, or one that a function of an aggregate is not NULL."""
    found = random.choice(list(wraps.values()))
    return text if random.random() < 0.6 else f"{found.text} IS NOT NULL"


def _storing(random: Random, stored: Shape, wraps: dict[str, Item]) -> Shape:
    """A view with the same functions, mostly of finer groups; some beside the aggregates."""
    items = []
    for item in stored.items:
        wrap = wraps.get(item.text)
        if wrap is None or random.random() < 0.5:
            items.append(item)
        if wrap is not None and random.random() < 0.8:
            items.append(wrap)
    return _with_items(stored, items or list(stored.items), "s")


def _with_items(shape: Shape, items: list[Item], letter: str) -> Shape:
    return replace(shape, items=tuple(one.named(f"{letter}{n}") for n, one in enumerate(items)))
