"""What a random query or view is made of; and those about units of time."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random

from tests.unit.rewrite.atoms import UNITS, Atom, Item, call

_BOUNDS = ("2024-01-01", "2024-02-01", "2024-04-01", "2024-01-31", "2024-03-31", "2023-12-31")
_PARTS = ("YEAR", "QUARTER", "MONTH", "DAYOFMONTH", "WEEKOFYEAR", "LAST_DAY", "DAYOFWEEK")


@dataclass(frozen=True)
class Shape:
    """A query, or a view: `left` are aliases that LEFT JOIN brings in, with their conditions."""

    form: str
    tables: dict[str, str]
    conditions: tuple[Atom, ...]
    items: tuple[Item, ...]
    keys: tuple[Item, ...] = ()
    having: tuple[str, ...] = ()
    left: dict[str, str] = field(default_factory=dict)
    ordered: bool = False

    @property
    def types(self) -> list[str]:
        """The types of what it returns."""
        return [item.type for item in self.items]


@dataclass(frozen=True)
class Pair:
    """A query and a view, as texts and as what they were made of."""

    seed: int
    query: str
    view: str
    asked: Shape
    stored: Shape


def of_calendar(random: Random) -> tuple[Shape, Shape]:
    """Groups by a unit of a day, and a view of groups by another unit, or of ranges of days."""
    tables = {"t": "r"}
    days = [
        Atom(f"t.d {sign} DATE '{random.choice(_BOUNDS)}'", ("t",))
        for sign in random.sample(("<", "<=", ">", ">="), random.choice((0, 1, 1, 2)))
    ]
    own = [Item("t.g", "string")] if random.random() < 0.4 else []
    calls = [call(random, tables) for _ in range(2)]
    key = _unit(random)
    items = [*own, key, *calls] if random.random() < 0.85 else [*calls]
    keys = (*own, key) if len(items) > 2 else ()
    form = "groups" if keys else "one"
    asked = Shape(form, tables, tuple(days), numbered(items, "c"), keys)
    kept = tuple(day for day in days if random.random() < 0.3)
    finer = [Item("t.g", "string"), *(_unit(random) for _ in range(random.choice((1, 1, 2))))]
    shown = [*finer, *calls, Item("COUNT(*)", "bigint", True)]
    unique = list({item.text: item for item in shown}.values())
    stored_keys = tuple({item.text: item for item in finer}.values())
    return asked, Shape("groups", tables, kept, numbered(unique, "s"), stored_keys)


def _unit(random: Random) -> Item:
    if random.random() < 0.3:
        part = random.choice(_PARTS)
        return Item(f"{part}(t.d)", "date" if part == "LAST_DAY" else "int")
    if random.random() < 0.1:
        return Item("t.d", "date")
    return Item(f"DATE_TRUNC('{random.choice(UNITS)}', t.d)", "timestamp")


def selected(items: list[Item]) -> str:
    """What stands after SELECT."""
    return ", ".join(f"{item.text} AS {item.alias}" for item in items)


def numbered(items: list[Item], letter: str) -> tuple[Item, ...]:
    """The items, each under a name."""
    return tuple(item.named(f"{letter}{n}") for n, item in enumerate(items))


def storing(shape: Shape, item: Item) -> Shape:
    """A view that stores a column, too."""
    if shape.form == "one" or any(one.text == item.text for one in shape.items):
        return shape
    items = numbered([item, *shape.items], "s")
    keys = () if shape.form in ("rows", "distinct") else (item, *shape.keys)
    return replace(shape, items=items, keys=keys)


def same_groups(asked: Shape) -> Shape:
    """A view that has the groups of a query, and what it calls on them."""
    calls = [item for item in asked.items if item.is_call]
    items = numbered([*asked.keys, *calls], "s")
    return replace(asked, items=items, having=(), ordered=False)
