"""What has to hold of the answers to queries that are changed in one way: they are told wrong
without knowing what is right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from math import fsum
from random import Random
from typing import Any

from dbt.adapters.spark_mv.rewrite.stored import StoredView
from dbt.adapters.spark_mv.rewrite.unmatched import Unmatched
from tests.unit.rewrite.atoms import LITERALS, Atom, Item, nested
from tests.unit.rewrite.harness import Tables, answered, stored_view, text_of
from tests.unit.rewrite.lake import Lake
from tests.unit.rewrite.pairs import pair, written
from tests.unit.rewrite.shapes import Pair, Shape
from tests.unit.rewrite.whole_pairs import whole_pair

_FORMS = (
    "{0} = {1}",
    "{0} < {1}",
    "{0} >= {1}",
    "{0} <> {1}",
    "{0} IN ({1}, {2})",
    "{0} IS NULL",
    "{0} IS NOT NULL",
    "{0} <=> {1}",
    "NOT ({0} > {1})",
    "({0} > {1} OR {0} IS NULL)",
)
_LITERALS = {**LITERALS, "timestamp": LITERALS["date"]}
# How a call of all rows comes of the calls of parts of them.
_TOTALS = {"COUNT": fsum, "SUM": fsum, "MIN": min, "MAX": max}
Rows = Counter[Any]


@dataclass
class Outcome:
    """How often a law was tried, by the forms of query and view; refusals; where it was broken."""

    tried: Counter[tuple[str, str]] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Match:
    """A pair whose view answers the query, with this text; `asked` is the query without ORDER BY
    and LIMIT."""

    made: Pair
    asked: Shape
    view: StoredView
    text: str = ""

    @property
    def random(self) -> Random:
        """Chance of its own."""
        return Random(f"law {self.made.seed}")

    @property
    def forms(self) -> tuple[str, str]:
        """Of the query and of the view."""
        return self.asked.form, self.made.stored.form

    def query(self, *more: Atom) -> str:
        """The query, with more conditions."""
        shape = replace(self.asked, conditions=(*self.asked.conditions, *more))
        return written(shape, Random(self.made.seed))

    def use(self, lake: Lake, number: int) -> None:
        """Take a set of the tables, and store what the view returns of it."""
        lake.use(self.made.seed * 7 + number * 11)
        lake.store(self.made.view, [column.name for column in self.view.columns])


def text(query: str, view: StoredView) -> str:
    """The text by which a view answers."""
    return text_of(answered(query, view, Tables()))


def matches(seeds: Iterable[int]) -> Iterator[Match]:
    """The pairs of some seeds whose views answer."""
    for seed in seeds:
        made = pair(seed)
        try:
            view = stored_view(made.view, made.stored.types, Tables())
            found = Match(made, replace(made.asked, ordered=False), view)
            found = replace(found, text=text(found.query(), view))
        except Unmatched:
            continue
        yield found


def condition(random: Random, item: Item) -> Atom:
    """A condition on a value."""
    literals = [random.choice(_LITERALS[item.type]) for _ in range(2)]
    aliases = {alias for alias in ("t", "u", "w", "v") if f"{alias}." in item.text}
    return Atom(random.choice(_FORMS).format(item.text, *literals), tuple(aliases))


def one_more(found: Iterable[Match], lake: Lake) -> Outcome:
    """One more condition on what the view stores of a row or of a group's keys: the view still
    answers, with the rows that the query has."""
    outcome = Outcome()
    for match in found:
        stored = [item for item in match.made.stored.items if not item.is_call]
        if not stored:
            continue
        outcome.tried[match.forms] += 1
        query = match.query(condition(match.random, match.random.choice(stored)))
        try:
            answer = text(query, match.view)
        except Unmatched as error:
            outcome.refused[f"{error.reason.code} {error.reason.text}"] += 1
            continue
        for number in range(2):
            match.use(lake, number)
            if lake.rows(answer) != lake.rows(query):
                outcome.wrong.append(f"{match.made.seed}: {query}\n{match.made.view}\n{answer}")
                break
    return outcome


def split(found: Iterable[Match], lake: Lake) -> Outcome:
    """The rows where a condition is TRUE, FALSE and NULL are together those of the whole."""
    outcome = Outcome()
    for match in found:
        dividing = _dividing(match)
        if dividing is None:
            continue
        texts, parts = [], [dividing.text, f"NOT ({dividing.text})", f"({dividing.text}) IS NULL"]
        for part in parts:
            query = match.query(Atom(part, dividing.aliases))
            texts.append(_answered_or_asked(query, match, outcome))
        outcome.tried[match.forms] += 1
        for number in range(2):
            match.use(lake, number)
            together = _together(match.asked, [lake.rows(one) for one in texts])
            if together != _together(match.asked, [lake.rows(match.text)]):
                shown = "\n".join((match.made.view, match.text, *texts))
                outcome.wrong.append(f"{match.made.seed}: {dividing.text}\n{shown}")
                break
    return outcome


def _answered_or_asked(query: str, match: Match, outcome: Outcome) -> str:
    """The text of the answer, or of the query if the view does not answer it."""
    try:
        return text(query, match.view)
    except Unmatched as error:
        outcome.refused[error.reason.code] += 1
        return query


def _dividing(match: Match) -> Atom | None:
    """A condition that puts no group into two parts."""
    asked, random = match.asked, match.random
    if asked.form in ("rows", "one"):
        stored = [item for item in match.made.stored.items if not item.is_call]
        if asked.having:
            return None
        if not stored or random.random() < 0.3:
            return nested(random, asked.tables)
        return condition(random, random.choice(stored))
    keys = [item for item in asked.keys or asked.items if not item.is_call]
    return condition(random, random.choice(keys)) if keys else None


def _together(asked: Shape, parts: list[Rows]) -> Any:
    if asked.form != "one":
        return sum(parts, Counter())
    rows = [row for part in parts for row in part.elements()]
    totals = []
    for number, item in enumerate(asked.items):
        total = _TOTALS.get(item.text.split("(")[0].removesuffix("_IF"))
        if total is not None and "DISTINCT" not in item.text and item.type != "double":
            values = [row[number] for row in rows if row[number] is not None]
            totals.append(total(values) if values else None)
    return totals


def around(seeds: Iterable[int], lake: Lake) -> Outcome:
    """What is compared as a whole is that of its parts, if a query around it selects them."""
    outcome = Outcome()
    for seed in seeds:
        made = whole_pair(seed)
        match = Match(made, made.asked, stored_view(made.view, made.stored.types, Tables()))
        match.use(lake, 0)
        try:
            whole = text(made.query, match.view)
            dividing = _of_returned(match.random, lake.columns(made.query))
        except (Unmatched, IndexError):
            continue
        texts, parts = [], [dividing, f"NOT ({dividing})", f"({dividing}) IS NULL"]
        for part in parts:
            query = f"SELECT * FROM ({made.query}) AS o WHERE {part}"
            texts.append(_answered_or_asked(query, match, outcome))
        outcome.tried[match.forms] += 1
        if sum(map(lake.rows, texts), Counter()) != lake.rows(whole):
            outcome.wrong.append("\n".join((f"{seed}: {dividing}", made.view, whole, *texts)))
    return outcome


def _of_returned(random: Random, columns: dict[str, str]) -> str:
    """A condition on a column that a query returns under a name."""
    named = [(name, kind) for name, kind in columns.items() if name.isidentifier()]
    name, kind = random.choice(named)
    return condition(random, Item(name, "string" if kind == "VARCHAR" else "int")).text


def again(found: Iterable[Match], lake: Lake) -> Outcome:
    """A rewritten text is about the view's tables no more; and a view of all that is stored gives
    it back, with the same rows, and from then on to the letter."""
    outcome = Outcome()
    for match in found:
        first = match.text
        outcome.tried[match.forms] += 1
        stored = {column.name: column.type for column in match.view.columns}
        tables = Tables({**Tables().known, "mv_rows": stored})
        query = f"SELECT {', '.join(stored)} FROM mv_rows"
        whole = stored_view(query, [*stored.values()], tables)
        second = text_of(answered(_renamed(first), whole, tables))
        third = text_of(answered(_renamed(second), whole, tables))
        match.use(lake, 0)
        is_same = second == third and lake.rows(first) == lake.rows(second)
        if not is_same or _answers_again(match, first, tables):
            outcome.wrong.append("\n".join((str(match.made.seed), first, second, third)))
    return outcome


def _renamed(query: str) -> str:
    """The text with other names for those tables to which a rewritten text gives names."""
    return query.replace("mv_table_", "mv_other_")


def _answers_again(match: Match, query: str, tables: Tables) -> bool:
    """Whether the view has an answer to a text that reads none of its tables but as its rows."""
    if len(match.asked.tables) > len(match.made.stored.tables):
        return False
    try:
        answered(_renamed(query), match.view, tables)
    except Unmatched as error:
        return error.reason.code != "DIFFERENT_TABLES"
    return True
