"""What the conjuncts of a block say of its rows: columns that are equal, ranges, what is not NULL,
and conditions that are none of these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.conditions.comparisons import range_in
from dbt.adapters.spark_mv.rewrite.conditions.conjuncts import conjuncts
from dbt.adapters.spark_mv.rewrite.conditions.consequences import (
    range_besides,
    range_in_words,
    rejected_nulls,
    simple_conjunct,
    tested_for_null,
)
from dbt.adapters.spark_mv.rewrite.conditions.constants import family_of
from dbt.adapters.spark_mv.rewrite.conditions.defaults import without_default
from dbt.adapters.spark_mv.rewrite.conditions.parts_of_days import months_of_years
from dbt.adapters.spark_mv.rewrite.conditions.ranges import Range
from dbt.adapters.spark_mv.rewrite.conditions.stand_ins import with_stand_ins
from dbt.adapters.spark_mv.rewrite.terms import ColumnOf, Term, column_term, mapped

# Each is held against views in turn.
_MOST_BRANCHES = 16


@dataclass(frozen=True)
class Facts:
    """`classes` maps each column that equals others to all of these; `ranges` has those of classes
    by their least column; `not_null` are columns of which a conjunct leaves no NULL; `residuals`
    are the other conjuncts, of which `implied_not_null` and `implied_ranges` are consequences.
    `is_empty` says that no row meets all. They are of `conditions`, in which moments are those of
    `zone`."""

    classes: Mapping[ColumnOf, frozenset[ColumnOf]]
    ranges: Mapping[ColumnOf, Range]
    not_null: frozenset[ColumnOf]
    residuals: tuple[Term, ...]
    is_empty: bool
    implied_not_null: frozenset[ColumnOf] = frozenset()
    implied_ranges: Mapping[ColumnOf, Range] = field(default_factory=dict)
    conditions: tuple[Term, ...] = ()
    zone: str = ""

    def members(self, column: ColumnOf) -> frozenset[ColumnOf]:
        """The columns that equal one, itself among them."""
        return self.classes.get(column, frozenset([column]))

    def least(self, column: ColumnOf) -> ColumnOf:
        """The column that stands for all that equal this one."""
        return min(self.members(column))

    def range_of(self, column: ColumnOf) -> Range | None:
        """The range of a column."""
        return self.ranges.get(self.least(column))

    def normal(self, term: Term) -> Term:
        """A term with those columns in it that stand for all that equal them."""
        if not self.classes:
            return term
        return mapped(term, lambda column: column_term(self.least(column)))

    def plain(self, term: Term) -> Term:
        """A conjunct as one without COALESCE, if one is known that is true in the same rows."""
        return without_default(term, self.zone)

    def rejects_null(self, column: ColumnOf) -> bool:
        """Whether no row has NULL in a column."""
        members = self.members(column)
        return (
            len(members) > 1
            or self.range_of(column) is not None
            or not self.not_null.isdisjoint(members)
            or not self.implied_not_null.isdisjoint(members)
        )

    def is_within(self, column: ColumnOf, kept: Range) -> bool:
        """Whether all values of a column are in a range, and none is NULL."""
        return any(one.is_within(kept) for one in self.ranges_of(column))

    def is_apart(self, column: ColumnOf, other: Range) -> bool:
        """Whether no value of a column is in a range, and none is NULL."""
        return any(one.meet(other).is_empty for one in self.ranges_of(column))

    @cached_property
    def cases(self) -> Sequence[Sequence[Facts]]:
        """For each disjunction among the conditions, what holds with each of its branches."""
        return [
            [facts_of((*self.conditions, *conjuncts(branch)), self.zone) for branch in term.args]
            for term in map(self.plain, self.residuals)
            if type(term.node) is exp.Or and len(term.args) <= _MOST_BRANCHES
        ]

    def ranges_of(self, column: ColumnOf) -> list[Range]:
        """Ranges that each have all values of a column."""
        found = self.range_of(column), self.implied_ranges.get(self.least(column))
        ranges = [one for one in found if one is not None]
        return [*ranges, ranges[0].meet(ranges[1])] if len(ranges) == 2 else ranges


def facts_of(conditions: Iterable[Term], zone: str) -> Facts:
    """What conjuncts say; `zone` is the time zone in which moments are read."""
    found = _Finder(zone)
    for condition in conditions:
        found.add(condition)
    return found.facts()


def equal_columns(term: Term | None) -> tuple[ColumnOf, ColumnOf] | None:
    """The two columns of an equality whose values are the same where they are equal."""
    if term is None or not isinstance(term.node, exp.EQ):
        return None
    left, right = (arg.column for arg in term.args)
    if left is None or right is None or left.type != right.type or not family_of(left.type):
        return None
    return left, right


class _Finder:
    def __init__(self, zone: str) -> None:
        self._zone = zone
        self._equal: list[set[ColumnOf]] = []
        self._ranges: list[tuple[ColumnOf, Range]] = []
        self._not_null: set[ColumnOf] = set()
        self._null: set[ColumnOf] = set()
        self._residuals: dict[str, Term] = {}
        self._implied: set[ColumnOf] = set()
        self._conditions: list[Term] = []
        self._is_empty = False

    def add(self, term: Term) -> None:
        """Take in a conjunct."""
        self._conditions.append(term)
        term = simple_conjunct(term)
        if isinstance(term.node, exp.Boolean) and term.node.this:
            return
        if isinstance(term.node, (exp.Boolean, exp.Null)):
            self._is_empty = True
            return
        if self._is_equality(term) or self._is_null_test(term):
            return
        found = range_in(term, self._zone)
        if found is not None:
            self._ranges.append(found)
            return
        self._residuals[term.key] = term
        self._implied |= rejected_nulls(without_default(term, self._zone))

    def _is_equality(self, term: Term) -> bool:
        pair = equal_columns(term)
        if pair is None:
            return False
        left, right = pair
        if left == right:
            self._not_null.add(left)
            return True
        joined = {left, right}
        apart = []
        for one in self._equal:
            if one.isdisjoint(joined):
                apart.append(one)
            else:
                joined |= one
        self._equal = [*apart, joined]
        return True

    def _is_null_test(self, term: Term) -> bool:
        tested = tested_for_null(term)
        column = tested.column if tested is not None else None
        if column is None:
            return False
        if isinstance(term.node, exp.Not):
            self._not_null.add(column)
        else:
            self._null.add(column)
            self._residuals[term.key] = term
        return True

    def facts(self) -> Facts:
        """What was found."""
        classes = {column: frozenset(one) for one in self._equal for column in one}
        known = Facts(classes, {}, frozenset(self._not_null), (), False)
        ranges = _met(known, self._ranges)
        residuals = tuple(self._residuals.values())
        normal = [known.normal(term) for term in residuals]
        found = [*implied_ranges(normal, self._zone), *months_of_years(normal, self._zone)]
        implied = _met(known, found)
        is_empty = self._is_empty or any(found.is_empty for found in ranges.values())
        whole = Facts(
            classes,
            ranges,
            frozenset(self._not_null),
            residuals,
            is_empty,
            frozenset(self._implied),
            implied,
            tuple(self._conditions),
            self._zone,
        )
        if any(whole.rejects_null(column) for column in self._null):
            return replace(whole, is_empty=True)
        return whole


def _met(known: Facts, found: Iterable[tuple[ColumnOf, Range]]) -> dict[ColumnOf, Range]:
    ranges: dict[ColumnOf, Range] = {}
    for column, one in found:
        least = known.least(column)
        ranges[least] = one.meet(ranges[least]) if least in ranges else one
    return ranges


def exact_range(term: Term, zone: str) -> tuple[ColumnOf, Range] | None:
    """The column and the range that a conjunct is, of what it compares; None if it is none."""
    return range_in_words(term, zone) or range_in(with_stand_ins(term, zone), zone)


def implied_ranges(terms: Iterable[Term], zone: str) -> Iterator[tuple[ColumnOf, Range]]:
    """Ranges in which all values lie where conjuncts are true."""
    for term in (without_default(one, zone) for one in terms):
        found = range_in(with_stand_ins(term, zone), zone), range_besides(term, zone)
        yield from (one for one in found if one is not None)
