"""Pairs whose query says in other words, which are nearly those of the view, what it asks for."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

from tests.unit.rewrite.pairs import plainly, query_shape, view_shape
from tests.unit.rewrite.shapes import Pair

Wording = tuple[re.Pattern[str], Callable[[re.Match[str]], str]]
_WHOLE, _DECIMAL = r"(\w\.(?:id|a|b|c|k))", r"(\w\.m)"
_CASES = "WHEN {0}.g = 'x' THEN {1} WHEN {0}.g < 'y' THEN NULL WHEN {0}.g IS NULL THEN 1 ELSE 0"
_SIGNS = "{0}.g WHEN 'x' THEN -{1} WHEN 'y' THEN {1}"
WORDINGS: dict[str, Wording] = {
    "none as zero": (re.compile(rf"SUM\({_WHOLE}\)"), lambda at: f"SUM(COALESCE({at[1]}, 0))"),
    "a sum of ones": (re.compile(r"COUNT\(\*\)"), lambda at: "SUM(1)"),
    "one of several": (
        re.compile(rf"SUM\({_WHOLE}\)"),
        lambda at: f"SUM(CASE {_CASES.format(at[1][0], at[1])} END)",
    ),
    "none of a list": (
        re.compile(rf"{_WHOLE} NOT IN \((\d), (\d)\)"),
        lambda at: f"{at[1]} <> {at[2]} AND {at[1]} <> {at[3]}",
    ),
    "one more of a list": (
        re.compile(rf"{_WHOLE} <> (\d)"),
        lambda at: f"{at[1]} NOT IN ({at[2]}, {(int(at[2]) + 1) % 4})",
    ),
    "a multiple": (re.compile(rf"SUM\({_DECIMAL}\)"), lambda at: f"SUM({at[1]} * -2)"),
    "a negative": (re.compile(rf"SUM\({_DECIMAL}\)"), lambda at: f"SUM(-{at[1]})"),
    "a sum of twos": (re.compile(r"COUNT\(\*\)"), lambda at: "SUM(2)"),
    "a sum of a key": (re.compile(rf"(?:MIN|MAX)\({_WHOLE}\)"), lambda at: f"SUM({at[1]})"),
    "an average of a key": (re.compile(r"(?:MIN|MAX)\((\w\.[ab])\)"), lambda at: f"AVG({at[1]})"),
    "two at once": (
        re.compile(rf"COUNT\(DISTINCT {_WHOLE}\)"),
        lambda at: f"COUNT(DISTINCT {at[1]}, {at[1][0]}.a, {at[1][0]}.g)",
    ),
    "two in a list": (
        re.compile(r"(\w\.(?:id|a|b|c)) IN \((\d), (\d)\)"),
        lambda at: (
            f"({at[1]}, {at[1][0]}.g) IN (({at[2]}, 'x'), ({at[3]}, 'y'), "
            "(1, CAST(NULL AS STRING)))"
        ),
    ),
    "how many are NULL": (
        re.compile(r"COUNT\((\w\.\w+)\)"),
        lambda at: f"COUNT_IF({at[1]} IS NULL)",
    ),
    "how many are not": (
        re.compile(r"COUNT\((\w\.\w+)\)"),
        lambda at: f"SUM(CASE WHEN {at[1]} IS NOT NULL THEN 1 ELSE 0 END)",
    ),
    "an average with zeros": (
        re.compile(r"SUM\((\w\.[abm])\)"),
        lambda at: f"AVG(COALESCE({at[1]}, 0))",
    ),
    "with signs": (
        re.compile(rf"SUM\({_DECIMAL}\)"),
        lambda at: (
            f"SUM(CASE {at[1][0]}.g WHEN 'x' THEN -{at[1]} WHEN 'y' THEN {at[1]} ELSE 0 END)"
        ),
    ),
    "times two or one": (
        re.compile(rf"SUM\({_DECIMAL}\)"),
        lambda at: f"SUM(CASE WHEN {at[1][0]}.g = 'x' THEN {at[1]} * 2.5 ELSE {at[1]} END)",
    ),
    "an extreme or else": (
        re.compile(rf"(MIN|MAX)\({_WHOLE}\)"),
        lambda at: f"{at[1]}(CASE WHEN {at[2][0]}.g = 'x' THEN {at[2]} ELSE 1 END)",
    ),
    "constants by a key": (
        re.compile(r"COUNT\(\*\)"),
        lambda at: "SUM(CASE t.g WHEN 'x' THEN 2 WHEN 'y' THEN 1 ELSE 0 END)",
    ),
    "a sum of a decimal key": (
        re.compile(rf"(?:MIN|MAX)\({_DECIMAL}\)"),
        lambda at: f"SUM({at[1]})",
    ),
    "bits": (re.compile(rf"(?:MIN|MAX|SUM)\({_WHOLE}\)"), lambda at: f"BIT_OR({at[1]})"),
    "the middle": (re.compile(rf"SUM\({_WHOLE}\)"), lambda at: f"PERCENTILE({at[1]}, 0.5)"),
}


def any_worded_pair(seed: int) -> Pair:
    """The pair of a seed, with one of the wordings."""
    return worded_pair(seed, tuple(WORDINGS)[seed % len(WORDINGS)])


def worded_pair(seed: int, wording: str) -> Pair:
    """The pair of a seed that has such words, in the query, and sometimes in the view."""
    pattern, words = WORDINGS[wording]
    random = Random(f"{wording} {seed}")
    asked = query_shape(random)
    while not pattern.search(plainly(asked)):
        asked = query_shape(random)
    stored = view_shape(random, asked)
    query, view = plainly(asked), plainly(stored)
    said = random.random()
    query = query if said < 0.15 else pattern.sub(words, query)
    if said < 0.3:
        view = pattern.sub(words, view)
    return Pair(seed, query, view, asked, stored)
