"""Finds until when rows that are computed at one instant are those of their query.

The answer is an instant at which the rows may become others; never a later one. Most statements
read only rows ahead of the clock, of one column, so that files and row groups are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import tzinfo

from sqlglot import exp

from dbt.adapters.spark_mv.catalog.resolver import Resolver
from dbt.adapters.spark_mv.config.time_zones import zone_of
from dbt.adapters.spark_mv.core.errors import StatementFailed
from dbt.adapters.spark_mv.core.executor import Executor
from dbt.adapters.spark_mv.expiry.arithmetic import Line
from dbt.adapters.spark_mv.expiry.kinds import Seconds, Steps, kind_of
from dbt.adapters.spark_mv.expiry.rows import NotDerived, by_alias, rows_of
from dbt.adapters.spark_mv.expiry.stamps import is_only_shown
from dbt.adapters.spark_mv.expiry.statements import Nearest, Stepwise
from dbt.adapters.spark_mv.expiry.terms import Atom, Term, Value, enclosed, reads, terms_of
from dbt.adapters.spark_mv.sql.reads import parse, references_of
from dbt.adapters.spark_mv.state.freshness import ALWAYS, EXPIRED, NOT_DERIVED, UNCLEAR, Expiry
from dbt.adapters.spark_mv.views import clock as clocks
from dbt.adapters.spark_mv.views.clock import Moment
from dbt.adapters.spark_mv.views.definition import Definition
from dbt.adapters.spark_mv.views.dependencies import Expander

_LONGEST = 200
# What times raise that no calendar has, and queries that are nested too deeply.
_TOO_FAR = (ValueError, OverflowError, RecursionError)


class ExpiryFinder:
    """Finds when the rows of definitions expire; changes nothing."""

    def __init__(self, executor: Executor, resolver: Resolver) -> None:
        self._executor = executor
        self._resolver = resolver

    def moment(self, definition: Definition, us: int) -> Moment | None:
        """An instant in the time zone of a definition, at which its text can be evaluated; None if
        it does not read the clock, or only Spark can say what it reads of it."""
        texts = definition.texts
        zone = zone_of(definition.settings.get("spark.sql.session.timeZone", "UTC"))
        if zone is None or not reads_clock(definition):
            return None
        if any(references_of(t) is None or clocks.unreadable_calls(t) for t in texts):
            return None
        if any(_names_by_call(text) for text in texts):
            return None
        bare = frozenset[str]().union(*(clocks.bare_names(text) for text in texts))
        return None if bare and self._has_columns(definition, bare) else Moment(us, zone)

    def _has_columns(self, definition: Definition, names: Iterable[str]) -> bool:
        expander = Expander(
            self._resolver, "the query", tolerate_missing=True, settings=definition.settings
        )
        tables = expander.expand(definition.query, definition.home).tables
        columns = {name.lower() for table in tables for name, _ in self._resolver.columns(table)}
        return not columns.isdisjoint(names)

    def expiry(self, definition: Definition, query: str, us: int) -> Expiry | None:
        """When rows expire that are computed at an instant; None if they depend on no clock.

        `query` is the definition's with all that it reads, in which the clock is still called.
        """
        if not reads_clock(definition):
            return None
        moment = self.moment(definition, us)
        if moment is None or self._casts_moments(definition):
            return Expiry(us, UNCLEAR)
        tree = parse(clocks.placed(clocks.canonical(query), str))
        if tree is None:
            return Expiry(us, UNCLEAR)
        terms = terms_of(enclosed(tree))
        stamps = _stamps(terms, tree)
        ends = self._ends([term for term in terms if term not in stamps], moment, definition)
        # Of several that end at once that which the query names first.
        first = min(ends, key=lambda end: end.at or 0, default=Expiry(None))
        return replace(first, stamps=bool(stamps))

    def _casts_moments(self, definition: Definition) -> bool:
        """Whether Spark casts a text such as 'today' where that cannot be seen."""
        texts = definition.texts
        if not any(clocks.moment_texts(text) for text in texts):
            return False
        plan = self._resolver.explained(definition.query, definition.home, definition.settings)
        return not clocks.keeps_moments(texts, plan)

    def _ends(self, terms: Sequence[Term], moment: Moment, definition: Definition) -> list[Expiry]:
        """All that comes to an end."""
        moving = [term for term in terms if _moves(term) or not _is_followed(term, moment.zone)]
        if moving:
            return [Expiry(moment.us, ALWAYS, shown(moving[0]))]
        ends: list[Expiry] = []
        with self._executor.isolated(definition.settings) as session:
            try:
                for terms_asked, is_sure in _readings(terms):
                    for asked in _questions(terms_asked):
                        ends += self._answers(session, asked, moment, is_sure)
            except (NotDerived, StatementFailed, *_TOO_FAR) as error:
                return [Expiry(moment.us, NOT_DERIVED, shown(terms[0]), str(error)[:_LONGEST])]
        return ends

    def _answers(
        self, session: Executor, asked: Nearest | Stepwise, moment: Moment, is_sure: bool
    ) -> list[Expiry]:
        try:
            (row,) = session.query(asked.sql(moment))
        except StatementFailed as error:
            if is_sure or "UNRESOLVED_COLUMN" not in str(error):
                raise
            return []
        return [
            Expiry(at, EXPIRED, shown(term))
            for at, term in asked.instants(row, moment)
            if at is not None
        ]


def _stamps(terms: Sequence[Term], tree: exp.Expr) -> list[Term]:
    return [term for term in terms if _moves(term) and is_only_shown(term.clock, tree)]


def shows_instant(query: str) -> bool:
    """Whether columns of a query, with all that it reads, show when they were computed."""
    tree = parse(clocks.placed(clocks.canonical(query), str)) if clocks.reads_clock(query) else None
    return tree is not None and bool(_stamps(terms_of(enclosed(tree)), tree))


def _readings(terms: Sequence[Term]) -> list[tuple[Sequence[Term], bool]]:
    """The terms as Spark reads them for sure; and those with names that may be those of columns."""
    aliases = {id(term): by_alias(term) for term in terms if isinstance(term, Atom)}
    unsure = [term for term in terms if aliases.get(id(term)) is not None]
    return [([aliases.get(id(term)) or term for term in terms], True), (unsure, False)]


def _names_by_call(text: str) -> bool:
    """Whether a column of a query inside of another is called by the call that it is. Branches of
    a union are called as the first of them."""
    tree = parse(clocks.placed(clocks.canonical(text), str))
    if tree is None:
        return True
    return any(
        reads(item) and not isinstance(item, (exp.Alias, exp.Query))
        for block in tree.find_all(exp.Select)
        if block is not tree and not isinstance(block.parent, exp.SetOperation)
        for item in block.expressions
    )


def _questions(terms: Sequence[Term]) -> list[Nearest | Stepwise]:
    found: list[Nearest | Stepwise] = []
    atoms = [term for term in terms if isinstance(term, Atom)]
    for rows, of in rows_of([atom for atom in atoms if not _is_stepwise(atom)]):
        kinds = [(atom, kind_of(atom.clock)) for atom in of]
        found.append(
            Nearest(rows, tuple((a, k) for a, k in kinds if isinstance(k, (Line, Seconds))))
        )
    for by in ("day", "hour"):
        stepwise = [term for term in terms if kind_of(term.clock) == Steps(by)]
        for rows, of in rows_of([term for term in stepwise if isinstance(term, Atom)]):
            found.append(Stepwise(rows, tuple(of), by))
        values = tuple(term for term in stepwise if isinstance(term, Value))
        if values:
            found.append(Stepwise(None, values, by))
    return found


def _is_followed(term: Term, zone: tzinfo) -> bool:
    kind = kind_of(term.clock)
    return kind is not None and (not isinstance(kind, Line) or kind.can_be_followed(zone))


def _is_stepwise(term: Term) -> bool:
    return isinstance(kind_of(term.clock), Steps)


def _moves(term: Term) -> bool:
    """Whether it is a value that is another one at each instant."""
    return isinstance(term, Value) and not _is_stepwise(term)


def shown(term: Term) -> str:
    """A term as the author of the query would write it."""
    return clocks.shown(str(term))


def reads_clock(definition: Definition) -> bool:
    """Whether the rows of a definition depend on the instant at which they are computed."""
    return any(map(clocks.reads_clock, definition.texts))
