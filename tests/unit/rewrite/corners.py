"""Pairs of few columns and conditions, which meet in the corners of the rules: equal columns with
ranges, bounds that are the same, keys of one value, groups of no rows, zeros with a sign."""

from __future__ import annotations

from random import Random

from tests.unit.rewrite.atoms import COMPARISONS, Atom, Item, compared
from tests.unit.rewrite.shapes import Shape, numbered

_TYPES = {"t.a": "int", "t.b": "int", "t.m": "decimal(10,2)", "t.g": "string", "t.x": "double"}
_LITERALS = {"int": ("1", "2"), "decimal(10,2)": ("1.5", "1.0"), "string": ("'x'", "'xy'")}


def of_corner(random: Random) -> tuple[Shape, Shape]:
    """A query and a view."""
    joined = random.random() < 0.2
    tables = {"t": "r", "u": "r"} if joined else {"t": "r"}
    asked_conditions = [_condition(random) for _ in range(random.choice((0, 1, 2, 2, 3)))]
    kept = [one.changed(random) if random.random() < 0.2 else one for one in asked_conditions]
    kept = [one for one in kept if random.random() < 0.5]
    kept += [_condition(random)] if random.random() < 0.25 else []
    if joined:
        asked_conditions.append(Atom("t.a = u.a", ("t", "u")))
    form = random.choice(("rows", "groups", "groups", "one", "one"))
    stored_form = "rows" if form == "rows" else random.choice(("rows", "groups", "groups", form))
    calls = [_call(random, joined) for _ in range(random.choice((1, 2)))]
    keys = _keys(random)
    asked = _asked(random, form, tables, asked_conditions, keys, calls)
    return asked, _stored(random, stored_form, kept, keys, calls)


def _condition(random: Random) -> Atom:
    chance = random.random()
    if chance < 0.2:
        return Atom("t.a = t.b", ("t",))
    if chance < 0.35:
        return Atom(random.choice(("t.a IS NOT NULL", "t.b IS NOT NULL", "t.g IS NULL")), ("t",))
    if chance < 0.42:
        return Atom(random.choice(("1 / t.x > 0", "t.x = 0.0")), ("t",))
    column = random.choice(("t.a", "t.a", "t.b", "t.m", "t.g"))
    kind = _TYPES[column]
    sign = "=" if random.random() < 0.3 else random.choice(COMPARISONS)
    return compared(column, sign, random.choice(_LITERALS[kind]), kind)


def _call(random: Random, joined: bool) -> Item:
    texts = ["MAX(t.a)", "COUNT(DISTINCT t.a)", "COUNT(*)", "COUNT(t.b)", "SUM(t.b)", "MIN(t.b)"]
    if joined:
        texts += ["COUNT(u.b)", "SUM(u.b)", "MAX(u.b)", "COUNT(DISTINCT u.b)"]
    text = random.choice(texts)
    return Item(text, "int" if text.startswith("M") else "bigint", True)


def _keys(random: Random) -> list[Item]:
    some = [Item(column, kind) for column, kind in _TYPES.items()]
    some.append(Item("CAST(t.x AS STRING)", "string"))
    return random.sample(some, random.choice((1, 1, 2, 3)))


def _asked(
    random: Random,
    form: str,
    tables: dict[str, str],
    conditions: list[Atom],
    keys: list[Item],
    calls: list[Item],
) -> Shape:
    if form == "rows":
        return Shape(form, tables, tuple(conditions), numbered(keys, "c"))
    if form == "one":
        return Shape(form, tables, tuple(conditions), numbered(calls, "c"))
    own = keys[: random.choice((1, len(keys)))]
    items = [*own, *calls]
    if Item("t.x", "double") in own and random.random() < 0.3:
        # A function of a key, which a view may have of rows.
        items.append(Item("CAST(t.x AS STRING)", "string"))
    shown = list({item.text: item for item in items}.values())
    return Shape(form, tables, tuple(conditions), numbered(shown, "c"), tuple(own))


def _stored(
    random: Random, form: str, conditions: list[Atom], keys: list[Item], calls: list[Item]
) -> Shape:
    tables = {"t": "r"}
    columns = [Item(column, kind) for column, kind in _TYPES.items()]
    if form == "rows":
        columns = [*columns, *(key for key in keys if key not in columns)]
        return Shape(form, tables, tuple(conditions), numbered(columns, "s"))
    own = [call for call in calls if "u." not in call.text and random.random() < 0.8]
    own += [Item("COUNT(*)", "bigint", True), Item("COUNT(t.b)", "bigint", True)]
    more = [column for column in columns if random.random() < 0.3]
    stored_keys = [] if form == "one" else [*keys, *more]
    unique = tuple({item.text: item for item in stored_keys}.values())
    items = list({item.text: item for item in (*unique, *own)}.values())
    return Shape(form, tables, tuple(conditions), numbered(items, "s"), unique)
