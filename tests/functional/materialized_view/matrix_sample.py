"""What `make test` runs of the matrix, and what `make equivalence ARGS='--matrix'` runs."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from tests.functional.materialized_view.matrix_cases import (
    STEPS,
    ZONES,
    Case,
    Layout,
    layouts,
    make_case,
)
from tests.functional.materialized_view.matrix_types import KINDS
from tests.functional.materialized_view.matrix_views import View, by_delta, by_partition

Pair = tuple[tuple[str, str], tuple[str, str]]
_CANDIDATES, _FEW = 300, 8


@dataclass(frozen=True)
class Draft:
    """A case before it has rows."""

    kind: str
    layout: Layout
    zone: str
    views: tuple[View, ...]
    steps: tuple[str, ...]

    def pairs(self) -> frozenset[Pair]:
        """Which levels of two factors meet in it."""
        family = KINDS[self.kind].family
        table = [("family", family), ("layout", self.layout.form)]
        zone = [("zone", self.zone)] if family == "moments" else []
        found: set[Pair] = {(table[0], table[1]), (("kind", self.kind), table[0])}
        for place, view in enumerate(self.views):
            form = ("form", view.form)
            found |= {(form, one) for one in (*table, *zone)}
            for number, step in enumerate(self.steps):
                method = ("method", view.methods[(place + number) % len(view.methods)])
                found |= {(form, ("step", step)), (form, method), (("step", step), method)}
        return frozenset(found)

    def case(self, name: str) -> Case:
        """The case itself."""
        return make_case(name, self.kind, self.layout, self.zone, self.views, self.steps)


def drafts(chance: random.Random, kind: str, views: list[View], width: int) -> Iterator[Draft]:
    """Drafts at random over a type, each with so many views."""
    while True:
        form = chance.choice(sorted({layout.form for layout in layouts(KINDS[kind])}))
        layout = chance.choice([one for one in layouts(KINDS[kind]) if one.form == form])
        steps = chance.sample([step for step in STEPS if step != "fill"], 2)
        if "empty" in steps:
            steps = ["empty", "fill"]
        forms = sorted({view.form for view in views})
        chosen = [
            chance.choice([view for view in views if view.form == form])
            for form in chance.sample(forms, min(width, len(forms)))
        ]
        yield Draft(kind, layout, chance.choice(ZONES), tuple(chosen), tuple(steps))


def covering(seed: int, wanted: Iterable[tuple[str, list[View], int]]) -> list[Draft]:
    """One draft over each of these types, with so many of these views, that together have as many
    pairs as so few can."""
    chance = random.Random(seed)
    known: set[Pair] = set()
    chosen = []
    for kind, found, width in wanted:
        source = drafts(chance, kind, found, width)
        best = max((next(source) for _ in range(_CANDIDATES)), key=lambda d: len(d.pairs() - known))
        known |= best.pairs()
        chosen.append(best)
    return chosen


def partition_sample() -> list[Draft]:
    """Views that are refreshed by partition, and in turn by the other methods."""
    moments = [name for name, kind in KINDS.items() if kind.family == "moments"]
    wanted = [(name, 5 if name in moments else 3) for name in (*KINDS, *moments)]
    drawn = covering(1, [(name, list(by_partition(KINDS[name])), width) for name, width in wanted])
    # All of them take more minutes than a run of all tests has for this.
    return [replace(draft, views=draft.views[:3]) for draft in drawn]


def fast_sample() -> list[Draft]:
    """Views that are refreshed fast: all forms with doubles, whose zeros are two and equal, and
    those that were drawn with keys of other types."""
    forms = list(by_delta())
    others = covering(2, [(name, forms, 2) for name in KINDS if name != "double"])
    halves = (tuple(forms[0::2]), tuple(forms[1::2]))
    doubles = [Draft("double", Layout("none"), "UTC", half, ("swap",)) for half in halves]
    return doubles + others


def cases(letter: str, drafted: Iterable[Draft]) -> list[Case]:
    """Their cases."""
    return [draft.case(f"{letter}{number}") for number, draft in enumerate(drafted)]


def everything() -> list[Draft]:
    """The whole matrix, in an order in which every beginning is a sample."""
    made: list[Draft] = []
    for name, kind in KINDS.items():
        for layout in layouts(kind):
            zone = ZONES[len(made) % len(ZONES)]
            for chosen in ZONES if kind.has_zone else (zone,):
                made += _drafts_of(Draft(name, layout, chosen, tuple(by_partition(kind)), STEPS))
            made += _drafts_of(Draft(name, layout, zone, tuple(by_delta()), STEPS))
    random.Random(1).shuffle(made)
    return made


def _drafts_of(draft: Draft) -> list[Draft]:
    """Few views at a time, so that what is wrong is not far from what made it."""
    starts = range(0, len(draft.views), _FEW)
    return [replace(draft, views=draft.views[start : start + _FEW]) for start in starts]


def _by(query: str, *partitions: str) -> tuple[View, ...]:
    return tuple(View("corner", query, by, ("partition",)) for by in partitions)


def corners() -> list[Case]:
    """Those that were wrong once."""
    rows, steps = "select id, k from {t}", ("insert", "swap")
    others = _by(rows, "months(k)", "bucket(3, k)", "k, bucket(3, k)")
    day = _by("select id, cast(k as date) as p from {t}", "p")
    texts = "select id, cast(k as string) as s from {t}"
    zeros = (View("corner", rows), View("corner", texts))
    hours = Layout("transform", "hours(k)")
    return [
        make_case("identity", "date", Layout("identity", "k"), "UTC", others, steps),
        make_case("hours", "timestamp_ntz", hours, "America/New_York", day, steps),
        make_case("zeros", "double", Layout("none"), "UTC", zeros, steps),
    ]
