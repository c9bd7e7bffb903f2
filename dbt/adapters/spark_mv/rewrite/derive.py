"""Derives the terms of a query from the columns that a view stores."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import cached_property

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.conditions.constants import constant, day_of
from dbt.adapters.spark_mv.rewrite.conditions.facts import Facts
from dbt.adapters.spark_mv.rewrite.conditions.ranges import (
    CLOCK_UNITS,
    Range,
    conditions,
    starts_unit,
)
from dbt.adapters.spark_mv.rewrite.conditions.time_units import (
    NO_TRANSITIONS,
    is_day,
    oddities,
    of_unit,
    tells,
)
from dbt.adapters.spark_mv.rewrite.stored import Stored, StoredView
from dbt.adapters.spark_mv.rewrite.terms import (
    COMPARISONS,
    ColumnOf,
    Term,
    bracketed,
    column_term,
    is_list,
    tree_of,
)
from dbt.adapters.spark_mv.rewrite.unmatched import NO_COLUMN, NOT_DERIVABLE, Unmatched

Calls = Callable[[Term], exp.Expr | None]


def no_calls(term: Term) -> exp.Expr | None:
    """No aggregate function can be derived."""
    raise Unmatched(NOT_DERIVABLE, "an aggregate is asked for where there are no groups", str(term))


class Deriver:
    """Writes terms over the columns of a storage table, and of tables that the view lacks.

    `facts` say which columns stand for each other: those of the view for conditions that make its
    rows those of the query, those of the query for all that is computed after them. `pins` says
    that columns of one value are written as that.
    """

    def __init__(
        self,
        view: StoredView,
        facts: Facts,
        missing: Collection[int],
        pins: bool = False,
        is_coarser: bool = False,
    ) -> None:
        self._view = view
        self._facts = facts
        self._missing = missing
        self._pins = pins
        self._is_coarser = is_coarser

    def of_coarser_groups(self) -> Deriver:
        """The same for groups that are made of several stored ones."""
        return Deriver(self._view, self._facts, self._missing, self._pins, is_coarser=True)

    @cached_property
    def _stored(self) -> Stored:
        found = self._view.terms(self._facts)
        return found.of_coarser_groups() if self._is_coarser else found

    def tree(self, term: Term, calls: Calls = no_calls) -> exp.Expr:
        """The term over stored columns; `calls` writes aggregate functions, and returns None for
        those that are called again over stored columns. Raises `Unmatched`."""

        def show(found: Term) -> exp.Expr | None:
            if found.call:
                return calls(found)
            return self._shown(found)

        return tree_of(self._facts.normal(term), show)

    def can(self, term: Term) -> bool:
        """Whether a term without aggregates can be derived."""
        try:
            self.tree(term)
        except Unmatched:
            return False
        return True

    def stored(self, term: Term) -> tuple[exp.Expr, str] | None:
        """The column that holds a term as it is, and its type."""
        found = self._stored.find(self._facts.normal(term))
        return None if found is None else (found.tree(), found.query_type)

    def _shown(self, term: Term) -> exp.Expr | None:
        """A normal term, if it is not written as a function of what is in it."""
        if term.is_constant:
            return None
        found = self._stored.find(term)
        if found is not None:
            return found.tree()
        if term.column is not None:
            return self._column(term.column)
        self._refuse_padded(term)
        self._refuse_inexact(term)
        return self._from_finer_unit(term)

    def _column(self, column: ColumnOf) -> exp.Expr:
        members = sorted(self._facts.members(column))
        for one in members:
            if one.occurrence in self._missing:
                return exp.column(one.name, table=table_alias(one.occurrence), quoted=True)
        known = self._facts.range_of(column)
        if self._pins and known is not None and known.point is not None:
            return exp.cast(constant(known.point, column.type), column.type)
        raise Unmatched(NO_COLUMN, "the view does not store a column", column.shown)

    def _refuse_padded(self, term: Term) -> None:
        """Storage has strings, which Spark does not pad where it compares them."""
        for arg in term.args:
            column = arg.column
            if column is None or column.occurrence in self._missing:
                continue
            if column.is_padded:
                text = "values of this type are compared in another way than those stored"
                raise Unmatched(NO_COLUMN, text, str(term))

    def _refuse_inexact(self, term: Term) -> None:
        """A group of values that are equal and not the same has forgotten which it had."""
        if self._view.block.keys is None or _compares_values(term):
            return
        found = (self._stored.find(arg) for arg in term.args)
        if any(column is not None and column.is_inexact for column in found):
            text = "values of this type that are equal in a group may not be the same"
            raise Unmatched(NO_COLUMN, text, str(term))

    def _from_finer_unit(self, term: Term) -> exp.Expr | None:
        wanted = of_unit(term)
        if wanted is None or self._moves_days(wanted.argument):
            return None
        # The day of a moment has forgotten which of two midnights was before it.
        column = wanted.argument.column
        is_moment = column is not None and column.type == "timestamp"
        is_start = is_moment and isinstance(term.node, exp.TimestampTrunc)
        not_by_day = is_start and oddities(self._view.zone).repeats_midnight
        tree = self._start_of(wanted.argument, wanted.unit, not_by_day)
        if tree is None:
            return None

        def show(found: Term) -> exp.Expr | None:
            return tree if found.key == wanted.argument.key else None

        return tree_of(term, show)

    def _moves_days(self, argument: Term) -> bool:
        column = argument.column
        is_day = column is not None and column.type == "date"
        return is_day and oddities(self._view.zone).lacks_a_day

    def _start_of(self, argument: Term, unit: str, not_by_day: bool) -> exp.Expr | None:
        """A stored beginning of a unit of an argument, from which another unit can be told."""
        zone = self._view.zone
        for key, term in self._stored.terms.items():
            kept = of_unit(term)
            if kept is None or not kept.is_start or kept.argument.key != argument.key:
                continue
            if tells(kept.unit, unit, zone) and not (not_by_day and is_day(term)):
                return self._stored.columns[key].tree()
        if not_by_day:
            return None
        parts = self._by_parts(argument)
        return next((tree for kept, tree in parts if tells(kept, unit, zone)), None)

    def _by_parts(self, argument: Term) -> Iterator[tuple[str, exp.Expr]]:
        """The first days of units of time that a stored year tells, with the month or the quarter
        that is stored beside it."""
        year = self._part(exp.Year, argument)
        month, quarter = (self._part(kind, argument) for kind in (exp.Month, exp.Quarter))
        if year is None:
            return
        if month is not None:
            yield "MONTH", _first_day(year, month)
        if quarter is not None:
            third = exp.Mul(this=bracketed(quarter), expression=exp.Literal.number(3))
            yield "QUARTER", _first_day(year, exp.Sub(this=third, expression=exp.Literal.number(2)))
        yield "YEAR", _first_day(year, exp.Literal.number(1))

    def limited(self, column: ColumnOf, found: Range) -> list[exp.Expr]:
        """Conditions that leave a range of a column; raises `Unmatched`."""
        normal = self._facts.normal(column_term(column))
        try:
            tree = self.tree(normal)
        except Unmatched:
            other = self._limited_by_unit(normal, found, column.type)
            if other is None:
                by_parts = self._limited_by_parts(normal, found, column.type)
                if by_parts is None:
                    raise
                return by_parts
            tree = other
        return conditions(found, tree, column.type)

    def _limited_by_unit(self, normal: Term, found: Range, type_name: str) -> exp.Expr | None:
        """A stored beginning of a unit, if each bound is one."""
        # Of moments, too: a zone of which histories differ counts as one that lacks a day.
        if not found.is_half_open or oddities(self._view.zone).lacks_a_day:
            return None
        bounds = [bound for bound in (found.low, found.high) if bound is not None]
        for key, term in self._stored.terms.items():
            kept = of_unit(term)
            if kept is None or not kept.is_start or kept.argument.key != normal.key:
                continue
            if kept.unit in CLOCK_UNITS and self._view.zone not in NO_TRANSITIONS:
                continue
            if all(starts_unit(bound, kept.unit, type_name) for bound in bounds):
                return self._stored.columns[key].tree()
        if type_name != "date" and oddities(self._view.zone).any:
            return None
        for unit, tree in self._by_parts(normal):
            if unit == "QUARTER" and all(starts_unit(one, unit, type_name) for one in bounds):
                return tree
        return None

    def _limited_by_parts(
        self, normal: Term, found: Range, type_name: str
    ) -> list[exp.Expr] | None:
        """Conditions on a stored year, or a year and a month, if each bound is the beginning of
        one."""
        if not found.is_half_open or (type_name != "date" and oddities(self._view.zone).any):
            return None
        year, month = (self._part(kind, normal) for kind in (exp.Year, exp.Month))
        bounds = [bound for bound in (found.low, found.high) if bound is not None]
        if year is not None and all(starts_unit(one, "YEAR", type_name) for one in bounds):
            return conditions(found.changed(lambda one: day_of(one).year), year, "int")
        if year is None or month is None:
            return None
        if not all(starts_unit(one, "MONTH", type_name) for one in bounds):
            return None
        months = exp.Add(
            this=exp.Mul(this=bracketed(year), expression=exp.Literal.number(12)),
            expression=bracketed(month),
        )
        counted = found.changed(lambda one: day_of(one).year * 12 + day_of(one).month)
        return conditions(counted, exp.Paren(this=months), "int")

    def _part(self, kind: type[exp.Expr], argument: Term) -> exp.Expr | None:
        """The stored year, or another part, of an argument."""
        for key, term in self._stored.terms.items():
            kept = of_unit(term) if type(term.node) is kind else None
            if kept is not None and kept.argument.key == argument.key:
                return self._stored.columns[key].tree()
        return None


def _first_day(year: exp.Expr, month: exp.Expr) -> exp.Expr:
    """The first day of a month."""
    return exp.Anonymous(this="MAKE_DATE", expressions=[year.copy(), month, exp.Literal.number(1)])


def _compares_values(term: Term) -> bool:
    """Whether values of floating point that are equal are the same to a term. Beside a text of IN
    they are texts, and to a subquery they may be anything."""
    if not isinstance(term.node, exp.In):
        return isinstance(term.node, COMPARISONS)
    parts = [part.node for arg in term.args[1:] for part in arg.walk()]
    are_numbers = all(isinstance(node, (exp.Literal, exp.Neg)) for node in parts)
    return is_list(term.node) and are_numbers and not any(node.is_string for node in parts)


def table_alias(occurrence: int) -> str:
    """What a table that the view lacks is called in a rewritten block."""
    return f"mv_table_{occurrence}"
