"""Random queries, and views that are made from them, so that about half of them answer."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tests.unit.rewrite.atoms import (
    COLUMNS,
    UNITS,
    Atom,
    Item,
    any_column,
    call,
    nested,
    value,
)
from tests.unit.rewrite.corners import of_corner
from tests.unit.rewrite.shapes import Pair, Shape, of_calendar


def pair(seed: int) -> Pair:
    """The pair of a seed."""
    random = Random(seed)
    chance = random.random()
    if chance < 0.12:
        asked, stored = of_calendar(random)
    elif chance < 0.35:
        asked, stored = of_corner(random)
    else:
        asked = query_shape(random)
        stored = view_shape(random, asked)
    return Pair(seed, written(asked, random), plainly(stored), asked, stored)


def query_shape(random: Random) -> Shape:
    """A random query."""
    form = random.choice(("rows", "rows", "distinct", "groups", "groups", "groups", "one"))
    tables = {"t": "r"}
    for alias in ("u", "w")[: random.choice((0, 0, 0, 1, 1, 2))]:
        tables[alias] = random.choice("rs")
    left: dict[str, str] = {}
    if len(tables) == 2 and random.random() < 0.25:
        left = {
            "u": random.choice(("t.a = u.a", "t.a = u.a AND u.g = 'x'", "t.id = u.id AND t.a > 1"))
        }
    conditions = [nested(random, tables) for _ in range(random.choice((0, 1, 1, 2, 2, 3)))]
    for alias in [alias for alias in tables if alias not in ("t", *left)]:
        text = random.choice(
            (f"t.a = {alias}.a", f"t.g = {alias}.g", f"t.d = {alias}.d AND t.a > 0")
        )
        conditions.append(Atom(text, ("t", alias)))
    random.shuffle(conditions)
    shape = Shape(form, tables, tuple(conditions), (), left=left)
    return _selected(random, shape)


def _selected(random: Random, shape: Shape) -> Shape:
    tables = shape.tables
    some = [value(random, tables) for _ in range(random.choice((1, 2, 2, 3)))]
    keys: list[Item] = list({item.text: item for item in some}.values())
    calls = [call(random, tables) for _ in range(random.choice((1, 1, 2, 3)))]
    having: tuple[str, ...] = ()
    if shape.form in ("rows", "distinct"):
        items = keys
    else:
        if shape.form == "one":
            keys = []
        shown = [key for key in keys if random.random() < 0.85]
        items = [*shown, *calls]
        if random.random() < 0.25:
            column, _ = any_column(random, tables, "int", "bigint")
            texts = ["COUNT(*) > 1", f"SUM({column}) > 2", f"MAX({column}) IS NOT NULL"]
            texts += [f"{key.text} > 1" for key in keys if key.type == "int"]
            texts += ["COUNT(*) > 1 OR COUNT(*) = 0"]
            having = tuple(random.sample(texts, random.choice((1, 1, 2))))
    items = [item.named(f"c{n}") for n, item in enumerate(items)]
    ordered = random.random() < 0.15 and all(item.type != "double" for item in items)
    kept = tuple(keys) if shape.form == "groups" else ()
    return replace(shape, items=tuple(items), keys=kept, having=having, ordered=ordered)


def view_shape(random: Random, asked: Shape) -> Shape:
    """A view that may answer it."""
    tables, left = dict(asked.tables), dict(asked.left)
    gone = ""
    if len(tables) > 1 and random.random() < 0.35:
        gone = list(tables)[-1]
        tables.pop(gone)
        left.pop(gone, None)
    if random.random() < 0.03:
        tables["v"] = "s"
    if left and random.random() < 0.08:
        left = {}
    conditions = [atom for atom in asked.conditions if gone not in atom.aliases or not gone]
    kept = [found for one in conditions for found in _looser(random, one, gone)]
    if random.random() < 0.08:
        kept.append(nested(random, tables, 1))
    form = _form(random, asked)
    made = Shape(form, tables, tuple(kept), (), left=left)
    needed = _needed(random, asked, made)
    return _stored(random, asked, made, needed)


def _form(random: Random, asked: Shape) -> str:
    forms = {
        "rows": ("rows",) * 12 + ("groups",),
        "distinct": ("rows", "distinct", "distinct", "groups"),
        "groups": ("rows", "groups", "groups", "groups", "distinct"),
        "one": ("rows", "groups", "groups", "one", "distinct"),
    }
    return random.choice(forms[asked.form])


def _looser(random: Random, atom: Atom, gone: str) -> list[Atom]:
    chance = random.random()
    if chance < 0.62:
        return [atom]
    return [atom.changed(random)] if chance < 0.8 and atom.operator else []


def _needed(random: Random, asked: Shape, made: Shape) -> list[Item]:
    """The columns from which the view may have to answer."""
    texts = [item.text for item in asked.items if not item.is_call or made.form == "rows"]
    texts += [atom.text for atom in asked.conditions if atom not in made.conditions]
    texts += [key.text for key in asked.keys]
    if random.random() < 0.6:
        texts += [item.text for item in asked.items if item.is_call and "CASE" in item.text]
        texts += [item.text for item in asked.items if "COUNT(DISTINCT" in item.text]
    texts += asked.having if made.form == "rows" else ()
    if len(asked.tables) > len(made.tables):
        texts += [atom.text for atom in asked.conditions]
    found: list[Item] = []
    for alias, table in made.tables.items():
        for name, kind in COLUMNS[table].items():
            column = f"{alias}.{name}"
            is_named = any(column in text for text in texts)
            if random.random() < (0.98 if is_named else 0.1):
                found.append(Item(column, kind))
    return [_truncated(random, item) for item in found]


def _truncated(random: Random, item: Item) -> Item:
    if item.type != "date" or random.random() < 0.75:
        return item
    unit = random.choice(("DAY", "MONTH", "MONTH", *UNITS))
    return Item(f"DATE_TRUNC('{unit}', {item.text})", "timestamp")


def _stored(random: Random, asked: Shape, made: Shape, needed: list[Item]) -> Shape:
    aliases = set(made.tables)

    def is_of(item: Item) -> bool:
        gone = [alias for alias in asked.tables if alias not in aliases]
        return not any(f"{alias}." in item.text for alias in gone)

    same = [item for item in (*asked.keys, *asked.items) if is_of(item) and not item.is_call]
    same = [item for item in same if random.random() < 0.5]
    if asked.form in ("groups", "distinct") and random.random() < 0.4:
        # The groups of the query, and perhaps those columns of its conditions that it pins.
        wanted = asked.keys or asked.items
        needed = [item for item in needed if random.random() < 0.3]
        same = [item for item in wanted if is_of(item)]
    rows = list({item.text: item for item in (*same, *needed)}.values()) or [Item("t.a", "int")]
    if made.form in ("rows", "distinct"):
        return replace(made, items=_numbered(rows))
    calls = [item for item in asked.items if item.is_call and is_of(item) and random.random() < 0.7]
    calls += [part for item in calls for part in _parts(item)] if random.random() < 0.8 else []
    calls += [Item("COUNT(*)", "bigint", True)] if random.random() < 0.7 else []
    having = tuple(text for text in asked.having if is_of(Item(text, "")) and random.random() < 0.5)
    if random.random() < 0.05:
        having = (*having, "COUNT(*) > 1")
    keys = () if made.form == "one" else tuple(rows)
    shown = [key for key in keys if random.random() < 0.97]
    items = _numbered([*shown, *{item.text: item for item in calls}.values()])
    return replace(
        made, items=items or _numbered([Item("COUNT(*)", "bigint", True)]), keys=keys, having=having
    )


def _parts(item: Item) -> list[Item]:
    """What an average, or a call of some rows, may be made of."""
    name, _, rest = item.text.partition("(")
    if name == "AVG" and "FILTER" not in rest:
        kind = "decimal(20,2)" if item.type.startswith("decimal") else "bigint"
        return [Item(f"SUM({rest}", kind, True), Item(f"COUNT({rest}", "bigint", True)]
    if "FILTER" in rest:
        return [Item(f"{name}({rest}".split(" FILTER")[0], item.type, True)]
    if name in ("SUM", "COUNT", "MIN", "MAX") and rest.startswith("CASE"):
        column = rest.split(" THEN ")[-1].split(" END")[0]
        return [Item(f"{name}({column})", item.type, True)]
    return []


def _numbered(items: list[Item]) -> tuple[Item, ...]:
    return tuple(item.named(f"s{n}") for n, item in enumerate(items))


def from_text(shape: Shape) -> str:
    """What stands after FROM."""
    parts = [
        f"{table} AS {alias}" for alias, table in shape.tables.items() if alias not in shape.left
    ]
    text = " CROSS JOIN ".join(parts)
    for alias, condition in shape.left.items():
        text += f" LEFT JOIN {shape.tables[alias]} AS {alias} ON {condition}"
    return text


def plainly(shape: Shape) -> str:
    """The text of a view."""
    return _finished(shape, from_text(shape), [atom.text for atom in shape.conditions], None)


def _finished(shape: Shape, source: str, conditions: list[str], random: Random | None) -> str:
    items = ", ".join(f"{item.text} AS {item.alias}" for item in shape.items)
    text = f"SELECT {'DISTINCT ' if shape.form == 'distinct' else ''}{items} FROM {source}"
    if conditions:
        text += f" WHERE {' AND '.join(f'({one})' for one in conditions)}"
    if shape.keys:
        text += f" GROUP BY {_keys(shape, random)}"
    if shape.having:
        text += f" HAVING {' AND '.join(f'({one})' for one in shape.having)}"
    return text


def _keys(shape: Shape, random: Random | None) -> str:
    shown = {item.text: n for n, item in enumerate(shape.items, 1) if not item.is_call}
    style = random.random() if random is not None else 1
    if style < 0.2 and all(key.text in shown for key in shape.keys):
        return (
            "ALL"
            if style < 0.1 and len(shape.keys) == len(shown)
            else ", ".join(str(shown[key.text]) for key in shape.keys)
        )
    return ", ".join(key.text for key in shape.keys)


def written(shape: Shape, random: Random) -> str:
    """The text of a query: with conditions in ON or in queries in FROM, in WITH, in HAVING."""
    conditions = [atom.text for atom in shape.conditions]
    source, prefix = from_text(shape), ""
    style = random.random()
    alias, table = next(iter(shape.tables.items()))
    own = [atom.text for atom in shape.conditions if set(atom.aliases) == {alias}]
    if style < 0.2:
        inner = f"SELECT * FROM {table} AS {alias}"
        inner += f" WHERE {' AND '.join(f'({one})' for one in own)}" if own else ""
        conditions = [one for one in conditions if one not in own]
        if style < 0.1:
            prefix, inner = f"WITH q AS ({inner}) ", "q"
        else:
            inner = f"({inner})"
        source = source.replace(f"{table} AS {alias}", f"{inner} AS {alias}", 1)
    elif style < 0.35 and not shape.left and len(shape.tables) == 2 and conditions:
        source = source.replace(" CROSS JOIN ", " JOIN ") + f" ON {conditions.pop()}"
    elif style < 0.5 and "t.a = u.a" in conditions and len(shape.tables) == 2 and not shape.left:
        conditions.remove("t.a = u.a")
        source = source.replace(" CROSS JOIN ", " JOIN ") + " USING (a)"
    text = prefix + _finished(shape, source, conditions, random)
    if shape.form in ("groups", "distinct") and not prefix and random.random() < 0.1:
        text = f"SELECT * FROM ({text}) AS o"
    if shape.ordered:
        order = ", ".join(
            f"{n}{random.choice((' DESC', ''))}" for n in range(1, len(shape.items) + 1)
        )
        text += f" ORDER BY {order} LIMIT {random.choice((1, 2, 5))}"
    return text
