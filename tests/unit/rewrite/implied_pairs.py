"""Pairs of one column whose conditions are not those of each other, but may follow from them."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tests.unit.rewrite.atoms import Atom, Item, any_column, atom
from tests.unit.rewrite.pairs import pair, plainly, written
from tests.unit.rewrite.shapes import Pair, same_groups, storing

_VALUES = {
    "int": ("0", "1", "2", "3"),
    "date": ("date '2024-01-01'", "'2024-01-31'", "date '2024-02-01'", "date '2023-12-31'"),
    "string": ("'x'", "'y'", "'xy'", "''"),
    "bigint": ("0", "1", "2", "3"),
    "decimal(20,2)": ("0.5", "1.5", "2.25", "4"),
    "decimal(10,2)": ("0.5", "1.5", "2.25", "1"),
}
# Functions of columns, with values that they return; a column of floating point is as good as one.
_FUNCTIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "date": {
        "YEAR({0})": ("2023", "2024", "2025"),
        "MONTH({0})": ("1", "2", "12"),
        "CAST({0} AS DATE)": ("'2024-01-31'", "date '2024-02-01'", "'2023-12-31'"),
    },
    "string": {
        "LOWER({0})": ("'x'", "'y'", "'xy'", "''"),
        "LENGTH({0})": ("0", "1", "2"),
        "SUBSTRING({0}, 1, 1)": ("'x'", "'y'"),
    },
    "double": {"{0}": ("0", "0.5", "-1.5", "1")},
}
_COMPUTED: dict[str, dict[str, tuple[str, ...]]] = {
    "int": dict.fromkeys(("{0} + 1", "{0} * 2", "-{0}", "{0} - 1"), ("0", "1", "2", "4")),
    "decimal(10,2)": dict.fromkeys(("{0} * 2", "{0} + 0.5"), ("0.5", "1", "3", "4.5")),
    "double": {"{0} * 2": ("0", "1", "-1.5")},
}
_BEGUN = ("'2024-01-01'", "date '2024-03-01'", "'2024-03-31'", "date '2024-01-31'", "'2023-12-31'")
_STARTS: dict[str, dict[str, tuple[str, ...]]] = {
    "date": {
        "DATE_TRUNC('MONTH', {0})": _BEGUN,
        "DATE_TRUNC('QUARTER', {0})": _BEGUN,
        "CAST(DATE_TRUNC('YEAR', {0}) AS DATE)": _BEGUN,
        "DATE_TRUNC('WEEK', {0})": ("'2024-01-01'", "'2024-03-25'", "date '2024-02-26'"),
        "DATE_FORMAT({0}, 'yyyy-MM')": ("'2024-01'", "'2024-03'", "'2023-12'"),
    }
}
_KINDS = {"a beginning": ("string",), "two columns": ("int", "string"), "a calendar": ("date",)}
_SUBJECTS = {"functions": _FUNCTIONS, "computed": _COMPUTED, "units": _STARTS}
# What a query asks of a column, and what else is asked where the column is left open.
ASKED = (
    "{0} = {1}",
    "{0} IN ({1}, {2})",
    "{0} < {1}",
    "{0} >= {1}",
    "{0} > {1} AND {0} <= {2}",
    "({0} = {1} OR {0} > {2})",
    "({0} = {1} OR {3})",
    "(({0} > {1} AND {3}) OR {0} = {2})",
)
_BEGINNINGS = ("{0} LIKE {4}", "{0} NOT LIKE {4}", "{0} ILIKE {4}")
KEPT: dict[str, tuple[str, ...]] = {
    "not equal": ("{0} <> {1}", "NOT {0} <=> {1}"),
    "none of a list": ("NOT {0} IN ({1}, {2})",),
    "one of two": (
        "({0} < {1} OR {0} >= {2})",
        "({0} = {1} OR {3})",
        "({0} <> {1} OR {0} IS NULL)",
        "(({0} < {1} AND {0} <> {2}) OR {3} OR FALSE)",
        "({0} BETWEEN {1} AND {2} OR ({3} AND {0} > {2}))",
    ),
    "groups": ("{0} > {1}", "{0} <> {1}", "{0} IS NOT NULL", "({0} > {1} OR {0} <> {2})"),
    "functions": (
        *("{0} <> {1}", "NOT {0} IN ({1}, {2})", "{0} > {1}", "{0} <= {1}", "{0} IN ({1}, {2})"),
        *("({0} < {1} OR {0} >= {2})", "({0} = {1} OR {3})"),
    ),
    "a beginning": ("{0} LIKE {1}", "{0} NOT LIKE {1}", "({0} LIKE {1} OR {0} LIKE {2})"),
    "defaults": (
        *("COALESCE({0}, {1}) <> {2}", "COALESCE({0}, {1}) = {2}", "COALESCE({0}, {1}) < {2}"),
        *("COALESCE({0}, {1}) >= {2}", "NOT COALESCE({0}, {1}) IN ({1}, {2})", "{0} > {1}"),
        *("NULLIF({0}, {1}) IS NOT NULL", "NULLIF({0}, {1}) IS NULL", "{0} <> {2}"),
        *("COALESCE({0} = {1}, FALSE)", "NOT COALESCE({0} > {1}, FALSE)"),
        *("COALESCE({0} < {1}, TRUE)", "({0} IS NULL OR {0} <> {2})"),
    ),
    "two columns": (
        *("{0} <= {1}", "{0} <> {1}", "{0} <=> {1}", "NOT {0} < {1}", "{1} >= {0}"),
        *("COALESCE({0}, {1}) > {1}", "COALESCE({0}, {1}) <> {1}", "{3} OR {0} <= {1}"),
    ),
}
KEPT |= dict.fromkeys(("computed", "units"), KEPT["functions"])
KEPT["a calendar"] = (
    *("MONTH({0}) = 3", "MONTH({0}) IN (1, 2)", "QUARTER({0}) = 1", "YEAR({0}) IN (2023, 2024)"),
    *("YEAR({0}) = 2024", "DAYOFMONTH({0}) > 15", "{0} >= {1} AND {0} < {2}", "MONTH({0}) < 4"),
    "YEAR({0}) = 2024 AND MONTH({0}) = 3",
)
_CALENDAR = (
    *("YEAR({0}) = 2024 AND MONTH({0}) = 3", "YEAR({0}) = 2024 AND QUARTER({0}) = 1"),
    *("{0} >= {1} AND {0} < {2}", "{0} BETWEEN {1} AND {2}", "2024 = YEAR({0}) AND MONTH({0}) = 1"),
    *("{0} = {1}", "{0} IN ({1}, {2})", "{0} IN ({1}, NULL)", "YEAR({0}) = 2023"),
    "{0} >= MAKE_DATE(2024, 1, 31)",
)
_OF_TWO = ("{0} < {1}", "{0} = {1}", "{1} < {0}", "{0} <= {1}", "{0} <> {1} AND {3}")
_ALSO = {"a beginning": _BEGINNINGS, "defaults": (*KEPT["defaults"], "{0} IS NULL")}
_ALSO["a calendar"] = _CALENDAR * 2


def any_implied_pair(seed: int) -> Pair:
    """The pair of a seed, of one of the kinds."""
    return implied_pair(seed, tuple(KEPT)[seed % len(KEPT)])


def implied_pair(seed: int, kept: str) -> Pair:
    """The pair of a seed whose view has a condition of such a kind."""
    random = Random(f"{kept} {seed}")
    if kept == "groups":
        return _pair_of_groups(random, seed)
    base = pair(seed)
    functions = _SUBJECTS.get(kept, {})
    kinds = _KINDS.get(kept, tuple(functions or _VALUES))
    name, kind = any_column(random, base.stored.tables, *kinds)
    alias, _ = name.split(".")
    other = atom(random, {alias: base.stored.tables[alias]}).text
    subjects = {name: _VALUES[kind]} if kind in _VALUES else {}
    subjects |= {text.format(name): found for text, found in functions.get(kind, {}).items()}
    if kept == "two columns":
        subjects = {name: (any_column(random, {alias: base.stored.tables[alias]}, kind)[0],)}
    subject = random.choice(list(subjects))
    values = [random.choice(subjects[subject]) for _ in range(2)]
    has = random.choice(KEPT[kept]).format(subject, *_patterns(random, kept, values), other)
    if random.random() < 0.5:
        subject = subject if random.random() < 0.6 else random.choice(list(subjects))
        values = [random.choice(subjects[subject]) for _ in range(2)]
    forms = _OF_TWO if kept == "two columns" else ASKED + _ALSO.get(kept, ())
    wants = random.choice(forms).format(subject, *values, other, f"{values[0][:-1]}%'")
    shared = [one for one in base.stored.conditions if one in base.asked.conditions]
    stored = replace(base.stored, conditions=(*shared, Atom(has, (alias,))))
    asked = replace(base.asked, conditions=(*base.asked.conditions, Atom(wants, (alias,))))
    if random.random() < 0.8:
        stored = storing(stored, Item(name, kind))
        if kept == "two columns":
            stored = storing(stored, Item(values[0], kind))
    return Pair(seed, written(asked, random), plainly(stored), asked, stored)


def _pair_of_groups(random: Random, seed: int) -> Pair:
    """The same groups, of which both leave out some by what they call."""
    base = pair(random.randrange(1_000_000))
    while base.asked.form != "groups":
        base = pair(random.randrange(1_000_000))
    calls = [item for item in base.asked.items if item.is_call and item.type in _VALUES]
    one = random.choice(calls) if calls else Item("COUNT(*)", "bigint", True)
    other = random.choice((*(item.text for item in base.asked.keys), "COUNT(*)"))
    values = [random.choice(_VALUES[one.type]) for _ in range(2)]
    has = random.choice(KEPT["groups"]).format(one.text, *values)
    about = one.text if random.random() < 0.8 else "COUNT(*)"
    wants = random.choice(ASKED).format(about, *values, f"{other} IS NULL")
    asked = replace(base.asked, having=(wants,))
    stored = replace(same_groups(asked), having=(has,))
    return Pair(seed, plainly(asked), plainly(stored), asked, stored)


def _patterns(random: Random, kept: str, values: list[str]) -> list[str]:
    if kept != "a beginning":
        return values
    ends = ("%'", "%'", "%'", "_%'", "'", "%y'")
    return [value[:-1] + random.choice(ends) for value in values]
