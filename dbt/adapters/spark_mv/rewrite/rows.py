"""Does a view have all rows that a query wants, and which conditions leave out the others?

Both are conjunctions, and a row counts only where every conjunct is true. So it is enough that each
conjunct of the view follows from those of the query; none is ever negated, and NULL needs no care.
A disjunction of the view follows if one of its branches does; of one of the query, each branch in
its place must have what the view wants.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.conditions.conjuncts import conjuncts
from dbt.adapters.spark_mv.rewrite.conditions.day_ranges import range_of_days
from dbt.adapters.spark_mv.rewrite.conditions.defaults import without_nulls
from dbt.adapters.spark_mv.rewrite.conditions.facts import Facts, exact_range, facts_of
from dbt.adapters.spark_mv.rewrite.conditions.parts_of_days import is_of_days
from dbt.adapters.spark_mv.rewrite.conditions.ranges import Range
from dbt.adapters.spark_mv.rewrite.derive import Deriver
from dbt.adapters.spark_mv.rewrite.terms import ColumnOf, Term, as_test, binary, column_term
from dbt.adapters.spark_mv.rewrite.unmatched import NOT_COVERED, Unmatched

# By kinds of comparisons those that are never true where they are not.
_STRICTER: dict[type[exp.Expr], tuple[type[exp.Expr], ...]] = {
    exp.LTE: (exp.LT, exp.EQ),
    exp.NEQ: (exp.LT,),
    exp.NullSafeEQ: (exp.EQ,),
    exp.NullSafeNEQ: (exp.NEQ, exp.LT),
}


class RowsTest:
    """Compares the rows of a query with those of a view whose occurrences have the same numbers."""

    def __init__(self, query: Facts, view: Facts) -> None:
        self._query = query
        self._view = view

    @cached_property
    def _asked(self) -> set[str]:
        """The conditions of the query by their keys, in all forms that are known of them."""
        terms = map(self._query.normal, self._query.residuals)
        return {as_test(form).key for one in terms for form in (one, self._query.plain(one))}

    def check(self) -> None:
        """Raise `Unmatched` if the view leaves out rows that the query wants."""
        found = next(self._left_out(), None)
        if found is not None and not self._has_all_branches():
            raise found

    def _left_out(self) -> Iterator[Unmatched]:
        """What the view leaves out, by each of its conditions that does not follow."""
        query, view = self._query, self._view
        for column, members in view.classes.items():
            if any(query.least(one) != query.least(column) for one in members):
                yield _not_covered(f"{column.shown} equals another column in the view")
        for column in view.not_null:
            if not query.rejects_null(column):
                yield _not_covered(f"the view leaves out NULL in {column.shown}")
        for column, kept in view.ranges.items():
            if not query.is_within(column, kept):
                yield _not_covered(f"the view has a part of the values of {column.shown}")
        for term in view.residuals:
            if as_test(query.normal(term)).key not in self._asked and not self._follows(term):
                yield _not_covered("the view has a condition that the query has not", str(term))

    def _follows(self, term: Term) -> bool:
        """Whether a conjunct, which the query has not, follows from what it has."""
        if type(term.node) is exp.Or:
            return any(implies(self._query, conjuncts(branch)) for branch in term.args)
        term, zone = self._query.normal(term), self._view.zone
        plain = without_nulls(self._view.plain(term), self._query.rejects_null)
        if plain.key != term.key:
            return implies(self._query, conjuncts(plain))
        if self._is_weaker(term):
            return True
        if is_of_days(term, self._query.ranges_of, zone):
            return True
        found = exact_range(term, zone)
        if found is not None:
            return self._query.is_within(*found)
        if isinstance(term.node, (exp.NEQ, exp.NullSafeNEQ)):
            left_out = binary(exp.EQ, *term.args)
        elif isinstance(term.node, exp.Not):
            left_out = term.args[0]
        else:
            return False
        other = exact_range(left_out, zone)
        return other is not None and self._query.is_apart(*other)

    def _is_weaker(self, term: Term) -> bool:
        """Whether a comparison of two terms is true where the query compares them in a stricter
        way, or where they are one that is not NULL."""
        if type(term.node) not in _STRICTER:
            return False
        left, right = term.args
        if left.key == right.key and left.column and self._query.rejects_null(left.column):
            return type(term.node) in (exp.LTE, exp.NullSafeEQ)
        is_either = type(term.node) in (exp.NEQ, exp.NullSafeNEQ)
        pairs = ((left, right), (right, left)) if is_either else ((left, right),)
        stricter = (
            binary(kind, *pair).key for kind in _STRICTER[type(term.node)] for pair in pairs
        )
        return any(key in self._asked for key in stricter)

    def _has_all_branches(self) -> bool:
        """Whether each conjunct of the view follows with each branch of a disjunction of the
        query."""
        cases = self._query.cases
        return bool(cases) and all(
            any(
                all(implies(one, [term]) for one in branches)
                for branches in ([self._query], *cases)
            )
            for term in self._view.conditions
        )

    def compensation(self, by_view: Deriver, by_query: Deriver) -> list[exp.Expr]:
        """The conditions that leave those rows of the view that the query wants.

        `by_view` derives by what holds in the view, `by_query` by what these conditions add.
        Raises `Unmatched` if one needs a column that is not stored.
        """
        if self._query.is_empty:
            return [exp.false()]
        return [
            *self._equalities(by_view),
            *self._ranges(by_view),
            *self._residuals(by_view, by_query),
            *self._not_null(by_view),
        ]

    def _equalities(self, by_view: Deriver) -> Iterator[exp.Expr]:
        for members in sorted(set(self._query.classes.values()), key=min):
            parts = sorted({self._view.least(member) for member in members})
            if len(parts) < 2:
                continue  # the view has this equality, and may have forgotten the columns
            trees = [by_view.tree(column_term(part)) for part in parts]
            for left, right in zip(trees, trees[1:], strict=False):
                yield exp.EQ(this=left.copy(), expression=right.copy())

    def _ranges(self, by_view: Deriver) -> Iterator[exp.Expr]:
        for column, wanted in sorted(self._query.ranges.items(), key=lambda pair: pair[0]):
            members = sorted(self._query.members(column))
            kept = [found for one in members if (found := self._view.range_of(one)) is not None]
            if kept and _met(kept).is_within(wanted):
                continue
            yield from self._limited(by_view, members, wanted)

    def _limited(self, by_view: Deriver, members: list[ColumnOf], wanted: Range) -> list[exp.Expr]:
        """Conditions on whichever of equal columns can be had."""
        last: Unmatched | None = None
        for member in members:
            try:
                return by_view.limited(member, wanted)
            except Unmatched as error:
                last = error
        assert last is not None
        raise last

    def _residuals(self, by_view: Deriver, by_query: Deriver) -> Iterator[exp.Expr]:
        kept = {as_test(self._query.normal(term)).key for term in self._view.residuals}
        for term in self._query.residuals:
            if as_test(self._query.normal(term)).key not in kept:
                yield from self._residual(term, by_view, by_query)

    def _residual(self, term: Term, by_view: Deriver, by_query: Deriver) -> list[exp.Expr]:
        """A conjunct by what is stored, or else the range of days that it is."""
        try:
            return [by_query.tree(term)]
        except Unmatched:
            found = range_of_days(term, self._query.zone)
            if found is None:
                raise
        column, days = found
        return self._limited(by_view, sorted(self._query.members(column)), days)

    def _not_null(self, by_view: Deriver) -> Iterator[exp.Expr]:
        for column in sorted(self._query.not_null):
            members = self._query.members(column)
            is_limited = len(members) > 1 or self._query.range_of(column) is not None
            if is_limited or any(self._view.rejects_null(one) for one in members):
                continue
            tree = by_view.tree(column_term(column))
            yield exp.Not(this=exp.Paren(this=exp.Is(this=tree, expression=exp.null())))


def _met(ranges: list[Range]) -> Range:
    found = ranges[0]
    for other in ranges[1:]:
        found = found.meet(other)
    return found


def implies(query: Facts, conditions: Sequence[Term]) -> bool:
    """Whether some conditions are true in all rows of which a query says this."""
    if query.is_empty:
        return True
    wanted = facts_of(conditions, query.zone)
    return not wanted.is_empty and next(RowsTest(query, wanted)._left_out(), None) is None


def _not_covered(text: str, clause: str = "") -> Unmatched:
    return Unmatched(NOT_COVERED, text, clause)
