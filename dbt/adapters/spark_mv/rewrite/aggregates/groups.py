"""What is stored of groups, and what it comes to if several of them make one of a query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.aggregates.sums import LONGEST_SUM, summed_type
from dbt.adapters.spark_mv.rewrite.conditions.constants import DECIMAL
from dbt.adapters.spark_mv.rewrite.conditions.facts import Facts
from dbt.adapters.spark_mv.rewrite.derive import Deriver
from dbt.adapters.spark_mv.rewrite.terms import Term, bracketed, counted_rows, made
from dbt.adapters.spark_mv.rewrite.unmatched import NOT_DERIVABLE, Unmatched

ARGUMENT = (("this", False),)


@dataclass(frozen=True)
class StoredGroups:
    """Writes calls over groups that are stored, `again` if several of them make one of the query.

    `all_rows` says that the query has one group, also of no rows; `most_rows` is how many rows a
    group can have, None if that is not known.
    """

    deriver: Deriver
    facts: Facts
    again: bool
    all_rows: bool
    most_rows: int | None

    @property
    def _may_be_of_no_rows(self) -> bool:
        """Of the one group of a query without keys."""
        return self.all_rows and not self.again

    def _added(
        self, argument: Term, tree: exp.Expr, type_name: str, met: exp.Expr | None = None
    ) -> exp.Expr:
        """A sum of stored sums of an argument, as a value of the same type; of those groups only
        that meet a condition."""
        shown = tree if met is None else exp.Case().when(met.copy(), tree.copy())
        return self._total(argument, shown, type_name, [] if met is None else [met])

    def _total(
        self, argument: Term, shown: exp.Expr, type_name: str, met: Sequence[exp.Expr] = ()
    ) -> exp.Expr:
        """A sum of what is `shown` for each stored group, its sum of an argument if it is one of
        those `met`."""
        total = exp.cast(exp.Sum(this=shown.copy()), type_name)
        decimal = DECIMAL.fullmatch(type_name)
        if type_name == "bigint" or (decimal and int(decimal.group(1)) <= LONGEST_SUM):
            return total
        count = self._stored_count(argument)
        if decimal is None or count is None:
            text = f"sums of the type {type_name} cannot be added up again exactly"
            raise Unmatched(NOT_DERIVABLE, text)
        # A stored sum that was too large is NULL, and so is every sum with it.
        is_null = exp.Is(this=bracketed(shown), expression=exp.null())
        lost = exp.and_(is_null, count > 0, *(one.copy() for one in met))
        any_lost = exp.Max(this=exp.Case().when(lost, exp.Literal.number(1)))
        return exp.Case().when(exp.Is(this=any_lost, expression=exp.null()), total)

    def _stored_count(self, argument: Term) -> exp.Expr | None:
        """The stored number of values of an argument."""
        counted = made(exp.Count(big_int=True), (argument,), ARGUMENT, "COUNT")
        found = self.deriver.stored(counted)
        return None if found is None else found[0]

    def _none_is_zero(self, tree: exp.Expr, may_be_none: bool) -> exp.Expr:
        return exp.func("coalesce", tree, exp.Literal.number(0)) if may_be_none else tree

    def _is_never_null(self, term: Term) -> bool:
        if term.column is not None:
            return self.facts.rejects_null(term.column)
        return isinstance(term.node, exp.Literal)

    def _rows(self) -> tuple[exp.Expr, str] | None:
        return self.deriver.stored(counted_rows())

    def _of_group(self, call: Term) -> tuple[exp.Expr, str] | None:
        """A call of one stored group, and its type. That of a key is had from the key."""
        found = self.deriver.stored(call)
        if found is not None or call.call != "SUM" or call.distinct or self._may_be_of_no_rows:
            return found
        (argument,), rows = call.args, self._rows()
        type_name = summed_type(argument.column.type) if argument.column is not None else ""
        if rows is None or not type_name or not self.deriver.can(argument):
            return None
        product = exp.Mul(this=bracketed(self.deriver.tree(argument)), expression=rows[0])
        return exp.cast(product, type_name), type_name

    def _call_of(self, call: Term, value: Term) -> Term:
        if call.call == "COUNT" and (self._is_never_null(value)):
            return counted_rows()
        return made(call.node, (value,), ARGUMENT, call.call)
