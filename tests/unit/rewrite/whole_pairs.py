"""Pairs about what is compared as a whole: windows, sets of keys, set operations, outer joins; and
what stands around it, in the view and in the query."""

from __future__ import annotations

from random import Random

from tests.unit.rewrite.atoms import Item
from tests.unit.rewrite.sets_pairs import sets_pair
from tests.unit.rewrite.shapes import Pair, Shape, numbered, selected

_CONDITIONS = ("a = 1", "a > 0", "a <= 2", "a IS NOT NULL", "b > 1", "g = 'x'", "a IN (1, 2)")
# Of rows that are peers these have one value.
_WINDOWS = (
    ("RANK() OVER (PARTITION BY a ORDER BY b)", "int"),
    ("RANK() OVER (PARTITION BY a ORDER BY b DESC, g)", "int"),
    ("DENSE_RANK() OVER (ORDER BY g)", "int"),
    ("COUNT(*) OVER (PARTITION BY a, g)", "bigint"),
    ("SUM(b) OVER (PARTITION BY a)", "bigint"),
    ("SUM(b) OVER (PARTITION BY a ORDER BY b)", "bigint"),
    ("MIN(b) OVER (PARTITION BY a)", "int"),
    ("MAX(b) OVER (PARTITION BY g ORDER BY a RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)", "int"),
    ("COUNT(CASE WHEN b > 1 THEN b END) OVER (PARTITION BY a)", "bigint"),
)
_SETS = ("ROLLUP (a, g)", "CUBE (a, g)", "GROUPING SETS ((a, g), (a), ())", "ROLLUP (g, a)")
_SUBQUERIES = (
    "a IN (SELECT s.c FROM s WHERE s.id > 2)",
    "a NOT IN (SELECT s.c FROM s WHERE s.g = 'x')",
    "a NOT IN (SELECT s.c FROM s WHERE s.id > 90)",
    "b IN (SELECT s.a FROM s GROUP BY s.a HAVING COUNT(*) > 1)",
    "EXISTS (SELECT 1 FROM s WHERE s.a = r.a)",
    "NOT EXISTS (SELECT 1 FROM s WHERE s.a = r.a AND s.c > r.b)",
    "NOT EXISTS (SELECT 1 FROM s WHERE s.a = r.b AND s.c > r.a)",
    "a >= (SELECT AVG(s.c) FROM s)",
    "b = (SELECT MAX(s.c) FROM s WHERE s.g = r.g)",
    "(a IN (SELECT s.c FROM s) OR b IS NULL)",
    "NOT (a IN (SELECT s.c FROM s WHERE s.c > 1) AND g = 'x')",
    "EXISTS (SELECT 1 FROM s JOIN r AS q ON q.id = s.id WHERE q.a = r.a)",
    "EXISTS (SELECT 1 FROM s WHERE s.id > 2 AND EXISTS (SELECT 1 FROM r AS q WHERE q.b = s.a))",
    "EXISTS (SELECT 1 FROM s WHERE s.c = r.b AND s.a IN (SELECT q.a FROM r AS q WHERE q.b > 0))",
    "CASE WHEN EXISTS (SELECT 1 FROM s WHERE s.id = r.b) THEN a ELSE b END = 1",
    "a IN (SELECT s.c FROM s WHERE s.a = r.a)",
    "a NOT IN (SELECT s.c FROM s WHERE s.a = r.b AND s.g < r.g)",
    "EXISTS (SELECT 1 FROM s WHERE r.a IN (SELECT q.b FROM r AS q WHERE q.a = s.a AND q.b > s.c))",
)
# What makes another subquery of one.
_OTHERWISE = (
    *(
        ("s.a = r.a", "s.a = r.b"),
        ("q.a = s.a AND q.b > s.c", "q.a = s.c AND q.b > s.a"),
        ("s.id > 2", "s.id > 0"),
        ("'x'", "'y'"),
        ("MAX", "MIN"),
    ),
    *(("c FROM s WHERE", "a FROM s WHERE"), ("COUNT(*) > 1", "COUNT(*) > 0"), (" > 90", " > 1")),
)
# Tests for rows that are IN in a conjunct, or nearly so.
_AS_TESTS = {
    "a IN (SELECT s.c FROM s WHERE s.id > 2)": (
        "EXISTS (SELECT 1 FROM s WHERE s.id > 2 AND r.a = s.c)"
    ),
    "a NOT IN (SELECT s.c FROM s WHERE s.g = 'x')": (
        "NOT EXISTS (SELECT 1 FROM s WHERE s.g = 'x' AND s.c = r.a)"
    ),
    "EXISTS (SELECT 1 FROM s WHERE s.a = r.a)": "a IN (SELECT DISTINCT s.a FROM s)",
    "b IN (SELECT s.a FROM s GROUP BY s.a HAVING COUNT(*) > 1)": (
        "EXISTS (SELECT 1 FROM s WHERE s.a = r.b)"
    ),
    "a IN (SELECT s.c FROM s WHERE s.a = r.a)": (
        "EXISTS (SELECT s.id FROM s WHERE r.a = s.a AND r.a = s.c)"
    ),
    "a NOT IN (SELECT s.c FROM s WHERE s.a = r.b AND s.g < r.g)": (
        "NOT EXISTS (SELECT 1 FROM s WHERE s.a = r.b AND s.g < r.g AND s.c = r.a)"
    ),
    "(a IN (SELECT s.c FROM s) OR b IS NULL)": (
        "(EXISTS (SELECT 1 FROM s WHERE s.c = r.a) OR b IS NULL)"
    ),
}
_OPERATIONS = ("UNION ALL", "UNION ALL", "UNION", "EXCEPT", "INTERSECT", "EXCEPT ALL")
_PLAIN = [Item("a", "int"), Item("b", "int"), Item("g", "string")]
_SUMMED = [Item("COUNT(*)", "bigint", True), Item("SUM(b)", "bigint", True)]


def whole_pair(seed: int) -> Pair:
    """The pair of a seed."""
    random = Random(f"whole {seed}")
    if seed % 13 == 1:
        return _ranked_groups(random, seed)
    if seed % 13 == 2:
        return sets_pair(seed)
    if seed % 13 == 3:
        return _subqueries(random, seed)
    made = random.choice((_windows, _windows, _sets, _operations, _outer, _parts))
    return made(random, seed)


def _where(random: Random, chance: float = 0.5) -> str:
    return f" WHERE {random.choice(_CONDITIONS)}" if random.random() < chance else ""


def _pair(seed: int, form: str, view: str, query: str, items: list[Item]) -> Pair:
    asked = Shape(form, {"q": "r"}, (), tuple(items))
    return Pair(seed, query, view, asked, Shape(form, {"q": "r"}, (), tuple(items)))


def _around(random: Random, inner: str, items: list[Item]) -> str:
    """A query of another one, which returns the items by their names."""
    names = [item.alias for item in items]
    some = random.sample(names, random.randint(1, len(names)))
    chance = random.random()
    whole = [item.alias for item in items if item.type in ("int", "bigint")]
    where = f" WHERE {random.choice(whole)} >= 1" if random.random() < 0.4 and whole else ""
    if chance < 0.35:
        return f"SELECT {', '.join(some)} FROM ({inner}) AS q{where}"
    if chance < 0.5 or not whole:
        return f"WITH q AS ({inner}) SELECT DISTINCT {', '.join(some)} FROM q{where}"
    key, measure = random.choice(names), random.choice(whole)
    calls = random.choice((f"COUNT(*), MAX({measure})", f"SUM({measure})", f"COUNT({measure})"))
    return f"SELECT {key}, {calls} FROM ({inner}) AS q{where} GROUP BY {key}"


def _either(random: Random, inner: str, items: list[Item], chance: float = 0.6) -> str:
    return _around(random, inner, items) if random.random() < chance else inner


def _windows(random: Random, seed: int) -> Pair:
    windows = [Item(*one) for one in random.sample(_WINDOWS, random.choice((1, 2)))]
    items = list(numbered([*_PLAIN, *windows], "c"))
    where = _where(random)
    if random.random() < 0.3:  # of rows or groups that are stored
        finer = list(numbered([*_PLAIN, *_SUMMED], "s"))
        group = " GROUP BY a, b, g"
        view = f"SELECT {selected(finer)} FROM r{group}"
        wanted = list(numbered([*_PLAIN[:2], *_SUMMED[:1], *windows[:1]], "c"))
        # A window of groups may look at keys only.
        query = f"SELECT {selected(wanted)} FROM r{_where(random)} GROUP BY a, b, g"
        return _pair(seed, "windows", view, query, finer)
    view = f"SELECT {selected(items)} FROM r{where}"
    other = where if random.random() < 0.5 else _where(random)
    kept = [item for item in items if random.random() < 0.7] or items
    query = f"SELECT {selected(kept)} FROM r{other}"
    stored = view
    if random.random() < 0.3:
        stored = f"SELECT * FROM ({view}) AS v WHERE {items[-1].alias} = 1"
        query = f"SELECT * FROM ({query}) AS q"
        query += f" WHERE {items[-1].alias} = 1" if items[-1] in kept else ""
        return _pair(seed, "windows", stored, query, items)
    return _pair(seed, "windows", stored, _either(random, query, kept), items)


def _ranked_groups(random: Random, seed: int) -> Pair:
    """Windows of groups, of which a HAVING may leave some out before they are ranked."""
    order = random.choice(("COUNT(*) DESC", "SUM(b)", "g"))
    rank = Item(f"RANK() OVER ({random.choice(('', 'PARTITION BY g '))}ORDER BY {order})", "int")
    items = list(numbered([_PLAIN[0], _PLAIN[2], *_SUMMED, rank], "c"))
    having = random.choice(("", "", " HAVING COUNT(*) > 1", " HAVING a > 0", " HAVING g = 'x'"))
    where, same = _where(random, 0.3), random.random() < 0.5
    other = having if same else random.choice((" HAVING COUNT(*) > 1", " HAVING a > 0", ""))
    group = " GROUP BY a, g"
    view = f"SELECT {selected(items)} FROM r{where}{group}{having}"
    query = f"SELECT {selected(items)} FROM r{where}{group}{other}"
    return _pair(seed, "windows", view, _either(random, query, items, 0.8), items)


def _sets(random: Random, seed: int) -> Pair:
    items = list(numbered([_PLAIN[0], _PLAIN[2], *_SUMMED, Item("GROUPING(a)", "int")], "c"))
    sets, where = random.choice(_SETS), _where(random, 0.3)
    having = random.choice(("", "", " HAVING COUNT(*) > 1", " HAVING a > 0"))
    view = f"SELECT {selected(items)} FROM r{where} GROUP BY {sets}{having}"
    other = sets if random.random() < 0.8 else random.choice((*_SETS, "a, g"))
    kept = [item for item in items if random.random() < 0.7] or items
    if other == "a, g":
        kept = [item for item in kept if "GROUPING" not in item.text] or items[:2]
    more = where if random.random() < 0.8 else _where(random)
    query = f"SELECT {selected(kept)} FROM r{more} GROUP BY {other}"
    query += having if random.random() < 0.8 else ""
    numbers = any(item.type in ("int", "bigint") for item in kept)
    return _pair(seed, "sets", view, _either(random, query, kept) if numbers else query, items)


def _subqueries(random: Random, seed: int) -> Pair:
    """Conditions with subqueries in the query, and some of them in the view."""
    wanted = random.sample([*_SUBQUERIES, *_CONDITIONS], random.choice((1, 2, 2)))
    kept = [one for one in wanted if random.random() < 0.5]
    if random.random() < 0.3:
        others = [[pair for pair in _OTHERWISE if pair[0] in one] for one in kept]
        pairs = zip(kept, others, strict=True)
        kept = [one.replace(*random.choice(found)) for one, found in pairs if found]
    if seed % 7 == 3:
        kept = [_AS_TESTS.get(one, one) for one in kept]
    if random.random() < 0.2:
        kept.append(random.choice((*_SUBQUERIES, "a IS NOT NULL", "b IS NOT NULL")))
    if random.random() < 0.5:  # the same by another name
        wanted = [one.replace("FROM s", "FROM s AS t").replace("s.", "t.") for one in wanted]
    is_grouped = random.random() < 0.6
    stored = list(numbered([*_PLAIN, *_SUMMED] if is_grouped else _PLAIN, "s"))
    group = " GROUP BY a, b, g" if is_grouped else ""
    view = f"SELECT {selected(stored)} FROM r{_all_of(kept)}{group}"
    keys = random.sample(_PLAIN, random.choice((1, 2)))
    items = list(numbered([*keys, *_SUMMED] if is_grouped or random.random() < 0.5 else keys, "c"))
    by = f" GROUP BY {', '.join(key.text for key in keys)}" if len(items) > len(keys) else ""
    if by and random.random() < 0.2:
        by += " HAVING COUNT(*) > (SELECT MIN(s.c) FROM s)"
    return _pair(
        seed, "subqueries", view, f"SELECT {selected(items)} FROM r{_all_of(wanted)}{by}", stored
    )


def _all_of(conditions: list[str]) -> str:
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""


def _operations(random: Random, seed: int) -> Pair:
    items = list(numbered([_PLAIN[0], _PLAIN[2]], "c"))
    branches = [f"SELECT a AS c0, g AS c1 FROM {table}" for table in random.sample("rrs", 2)]
    branches = [branch + _where(random, 0.2).replace("b", "id") for branch in branches]
    operation = random.choice(_OPERATIONS)
    view = f" {operation} ".join(branches)
    other = branches if random.random() < 0.6 else branches[::-1]
    asked = operation if random.random() < 0.9 else random.choice(_OPERATIONS)
    query = f" {asked} ".join(other)
    if random.random() < 0.2:
        query = query.replace("a AS c0, g AS c1", "g AS c1, a AS c0")
    if random.random() < 0.2:
        third = "SELECT id AS c0, g AS c1 FROM s"
        view, query = f"{view} {operation} {third}", f"{query} {operation} {third}"
    return _pair(seed, "operations", view, _either(random, query, items), items)


def _outer(random: Random, seed: int) -> Pair:
    """Views that keep rows without a partner, views that lack what is joined."""
    on = random.choice(("r.a = s.a", "r.g = s.g", "r.a = s.a AND s.c > 0", "s.c > r.a"))
    texts = ["r.a", "r.g", "s.c", "s.a", "s.g", "r.b"]
    chosen = random.sample(texts, random.randint(2, 6))
    types = {"g": "string"}
    items = list(numbered([Item(one, types.get(one[2:], "int")) for one in chosen], "c"))
    joins = random.choice(
        (("LEFT JOIN", "JOIN"), ("LEFT JOIN", "LEFT JOIN"), ("JOIN", "LEFT JOIN"))
    )
    if random.random() < 0.4:
        rows = list(numbered([Item("r.a", "int"), Item("r.g", "string"), *_SUMMED], "c"))
        view = f"SELECT {selected(rows)} FROM r GROUP BY r.a, r.g"
        key = random.choice(("r.a", "s.c", "s.g"))
        call = random.choice(
            ("COUNT(*)", "SUM(r.b)", "COUNT(DISTINCT s.c)", "MAX(s.c)", "COUNT(s.c)")
        )
        query = f"SELECT {key}, {call} FROM r LEFT JOIN s ON {on} GROUP BY {key}"
        return _pair(seed, "outer", view, query, rows)
    kept = [item for item in items if random.random() < 0.6] or items
    view = f"SELECT {selected(items)} FROM r {joins[0]} s ON {on}"
    more = random.choice(("", "", " WHERE s.c > 0", " WHERE s.c IS NULL", " WHERE r.a = s.a"))
    query = f"SELECT {selected(kept)} FROM r {joins[1]} s ON {on}{more}"
    return _pair(seed, "outer", view, query, items)


def _parts(random: Random, seed: int) -> Pair:
    """Sums of those rows that meet a condition on keys, and of zeros for the others."""
    calls = ["SUM(b)", "COUNT(*)", "COUNT(b)", "SUM(m)", "COUNT(m)"]
    types = ["bigint", "bigint", "bigint", "decimal(20,2)", "bigint"]
    stored = [Item(*one, True) for one in zip(calls, types, strict=True) if random.random() < 0.8]
    keys = random.choice((["a", "g"], ["a"], []))
    shown = [item for item in _PLAIN if item.text in keys]
    items = list(numbered([*shown, *stored] or [Item("COUNT(*)", "bigint", True)], "c"))
    group = f" GROUP BY {', '.join(keys)}" if keys else ""
    view = f"SELECT {selected(items)} FROM r{group}"
    met = random.choice(("a = 1", "a > 0", "a IS NULL", "g = 'x'", "a > 0 OR g = 'x'"))
    value = random.choice(("1", "b", "m", "2"))
    call = random.choice(
        (
            f"SUM(CASE WHEN {met} THEN {value} ELSE 0 END)",
            f"SUM(IF({met}, {value}, 0))",
            f"SUM(CASE WHEN {met} THEN {value} END)",
            f"AVG(CASE WHEN {met} THEN {value} END)",
            f"COUNT(CASE WHEN {met} THEN {value} END)",
        )
    )
    asked = random.choice((["a", "g"], ["a"], ["g"], []))
    by = f" GROUP BY {', '.join(asked)}" if asked else ""
    query = f"SELECT {', '.join([*asked, call])} AS c9 FROM r{_where(random, 0.3)}{by}"
    return _pair(seed, "parts", view, query, items)
