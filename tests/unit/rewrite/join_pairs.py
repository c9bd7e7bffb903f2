"""Pairs whose queries, and perhaps views, have joins other than inner and left ones."""

from __future__ import annotations

import re
from dataclasses import replace
from random import Random

from tests.unit.rewrite.pairs import from_text, plainly, query_shape, view_shape
from tests.unit.rewrite.shapes import Pair, Shape

KINDS = ("RIGHT", "RIGHT of two", "FULL", "SEMI", "ANTI")
_PARTNERS = ("t.a = u.a", "t.a = u.a AND u.g = 'x'", "t.id = u.id AND t.a > 1")
_TESTS = ("t.a = e.a", "t.a = e.a AND e.g = 'x'", "t.id = e.id AND t.a > 1", "t.g < e.g")
_FILTERED = " AND u.g = 'x'"
_BY_NAME = re.compile(r"ON t\.a = [ue]\.a\b(?! AND)")


def any_join_pair(seed: int) -> Pair:
    """The pair of a seed, with one of the joins."""
    return join_pair(seed, KINDS[seed % len(KINDS)])


def using_pair(seed: int, kind: str) -> Pair:
    """The pair of a seed with such a join by the name of a column. Some queries, and some views,
    want what the join makes of it, not that of one side."""
    made = join_pair(seed, kind)
    query, view = (_BY_NAME.sub("USING (a)", text) for text in (made.query, made.view))
    of_a_side = rf"\b{'tu'[seed % 2]}\.a\b"
    if seed % 3 and "USING" in query:
        query = re.sub(of_a_side, "a", query)
    if seed % 3 > 1 and "USING" in view:
        view = re.sub(of_a_side, "a", view)
    return replace(made, query=query, view=view)


def join_pair(seed: int, kind: str) -> Pair:
    """The pair of a seed with such a join."""
    random = Random(f"{kind} {seed}")
    asked = query_shape(random)
    while len(asked.tables) != 2 or (asked.left and kind not in ("SEMI", "ANTI")):
        asked = query_shape(random)
    if kind in ("SEMI", "ANTI"):
        return _tested(random, seed, asked, kind)
    conditions = tuple(atom for atom in asked.conditions if atom.text not in _JOINED)
    asked = replace(asked, conditions=conditions)
    partners = random.choice(_PARTNERS)
    if kind == "RIGHT":
        asked = replace(asked, left={"u": partners})
    stored = view_shape(random, asked)
    query = _joined(random, asked, kind, partners)
    if random.random() < 0.1:
        partners = random.choice(_PARTNERS)
    view = _joined(random, stored, kind, partners)
    if random.random() < 0.05:
        view = plainly(stored)
    return Pair(seed, query, view, asked, stored)


_JOINED = ("t.a = u.a", "t.g = u.g", "t.d = u.d AND t.a > 0")


def _joined(random: Random, shape: Shape, kind: str, partners: str) -> str:
    """The text with such a join in place of its own."""
    tables = [f"{table} AS {alias}" for alias, table in shape.tables.items()]
    if len(tables) != 2 or (kind == "RIGHT" and not shape.left):
        return plainly(shape)
    if kind == "FULL":
        random.shuffle(tables)
    elif kind == "RIGHT":
        tables.reverse()
        if _FILTERED in partners and random.random() < 0.5:
            partners = partners.removesuffix(_FILTERED)
            tables[0] = f"(SELECT * FROM {shape.tables['u']} WHERE g = 'x') AS u"
    else:
        inner = [tables[0], "s AS w"]
        random.shuffle(inner)
        tables[0] = f"{inner[0]} JOIN {inner[1]} ON t.g = w.g"
    text = f"{tables[0]} {kind.split()[0]} JOIN {tables[1]} ON {partners}"
    return plainly(shape).replace(f" FROM {from_text(shape)}", f" FROM {text}", 1)


def _tested(random: Random, seed: int, asked: Shape, kind: str) -> Pair:
    """A query of rows that have a partner, or none, and a view of these or of all."""
    stored = view_shape(random, asked)
    table, partners = random.choice("rs"), random.choice(_TESTS)
    test = f"EXISTS (SELECT 1 FROM {table} AS e WHERE {partners})"
    join = f" {random.choice(('LEFT ', ''))}{kind} JOIN {table} AS e ON {partners}"
    query, source = plainly(asked), from_text(asked)
    query = query.replace(f" FROM {source}", f" FROM {source}{join}", 1)
    view, source = plainly(stored), from_text(stored)
    style = random.random()
    if style < 0.4:
        view = view.replace(f" FROM {source}", f" FROM {source}{join}", 1)
    elif style < 0.7:
        mark = " WHERE " if stored.conditions else ""
        condition = f"{'NOT ' if kind == 'ANTI' else ''}{test}"
        start = f" FROM {source}"
        more = f"{start} WHERE {condition}{' AND ' if mark else ''}"
        view = view.replace(f"{start}{mark}", more, 1)
    return Pair(seed, query, view, asked, stored)
