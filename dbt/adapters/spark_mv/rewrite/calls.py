"""Writes aggregate functions over stored groups: as they are stored, or added up again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra import measures
from dbt.adapters.spark_mv.rewrite.conditions.facts import Facts
from dbt.adapters.spark_mv.rewrite.conditions.ranges import family_of
from dbt.adapters.spark_mv.rewrite.derive import Deriver
from dbt.adapters.spark_mv.rewrite.stored import is_inexact
from dbt.adapters.spark_mv.rewrite.sums import (
    DECIMAL,
    EXACT_ROWS,
    LONGEST_SUM,
    ONE,
    ZERO,
    averaged_type,
    is_longest,
    multiple_of,
    with_zeros,
)
from dbt.adapters.spark_mv.rewrite.terms import Term, bracketed, counted_rows, made
from dbt.adapters.spark_mv.rewrite.unmatched import NOT_DERIVABLE, Unmatched

_ARGUMENT = (("this", False),)
_EXTREMES: dict[str, type[exp.Expr]] = {"MIN": exp.Min, "MAX": exp.Max}
_EXTREMES |= {"LOGICALAND": exp.LogicalAnd, "LOGICALOR": exp.LogicalOr}
_EXTREMES |= {"BITWISEANDAGG": exp.BitwiseAndAgg, "BITWISEORAGG": exp.BitwiseOrAgg}


@dataclass(frozen=True)
class StoredCalls:
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

    def write(self, call: Term) -> exp.Expr:
        """A call as an expression of stored columns; raises `Unmatched`."""
        attempts = (self._of_keys, self._stored, self._of_parts, self._conditional)
        for attempt in (*attempts, self._count_of_keys, self._none_as_zero, self._multiple):
            found: exp.Expr | None = attempt(call)
            if found is not None:
                return found
        raise Unmatched(
            NOT_DERIVABLE, "the view stores nothing from which it can be had", str(call)
        )

    def _stored(self, call: Term) -> exp.Expr | None:
        """The same call of the groups of the view."""
        if call.call == "COUNT" and not call.distinct:
            return self._count(call)
        found = self._of_group(call)
        if found is None or not self.again:
            return None if found is None else found[0]
        if call.distinct or call.call not in ("SUM", *_EXTREMES):
            return None
        if call.call in _EXTREMES:
            return _EXTREMES[call.call](this=found[0])
        return self._added(call.args[0], *found)

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
        counted = made(exp.Count(big_int=True), (argument,), _ARGUMENT, "COUNT")
        found = self.deriver.stored(counted)
        return None if found is None else found[0]

    def _count(self, call: Term) -> exp.Expr | None:
        found = self.deriver.stored(call)
        if found is None and call.args and self._is_never_null(call.args[0]):
            found = self._rows()
        if found is None or not self.again:
            return None if found is None else found[0]
        return self._none_is_zero(exp.Sum(this=found[0]), self.all_rows)

    def _count_of_keys(self, call: Term) -> exp.Expr | None:
        """How many rows have a function of the keys that is not NULL."""
        rows = self._rows()
        is_count = call.call == "COUNT" and not call.distinct and bool(call.args)
        if not is_count or rows is None or self._may_be_of_no_rows:
            return None
        (argument,) = call.args
        if not self.deriver.can(argument):
            return None
        is_null = exp.Is(this=bracketed(self.deriver.tree(argument)), expression=exp.null())
        shown = exp.Case().when(exp.Not(this=exp.Paren(this=is_null)), rows[0])
        return self._none_is_zero(exp.Sum(this=shown) if self.again else shown, True)

    def _none_is_zero(self, tree: exp.Expr, may_be_none: bool) -> exp.Expr:
        return exp.func("coalesce", tree, exp.Literal.number(0)) if may_be_none else tree

    def _is_never_null(self, term: Term) -> bool:
        if term.column is not None:
            return self.facts.rejects_null(term.column)
        return isinstance(term.node, exp.Literal)

    def _of_keys(self, call: Term) -> exp.Expr | None:
        """A call whose argument is a function of the keys, and does not mind duplicates."""
        is_known = bool(call.args) and (call.distinct or call.call in _EXTREMES)
        if not is_known or self._may_be_of_no_rows:
            return None
        argument = call.args[0]
        if not all(map(self.deriver.can, call.args)):
            return None
        if call.call in _EXTREMES and any(is_inexact(c.type) for c in argument.columns):
            return None  # -0.0 is 0.0 as a key
        tree = self.deriver.tree(argument)
        if call.call in _EXTREMES:
            return _EXTREMES[call.call](this=tree) if self.again else tree
        trees = [self.deriver.tree(one) for one in call.args]
        column, distinct = argument.column, exp.Distinct(expressions=trees)
        if call.call == "SUM" and self.again and column and not is_inexact(column.type):
            return exp.Sum(this=distinct)
        if call.call != "COUNT":
            return None
        if self.again:
            return exp.Count(this=distinct, big_int=True)
        is_null = exp.or_(*(exp.Is(this=bracketed(one), expression=exp.null()) for one in trees))
        zero, one = exp.Literal.number(0), exp.Literal.number(1)
        return exp.cast(exp.Case().when(is_null, zero).else_(one), "bigint")

    def _of_parts(self, call: Term) -> exp.Expr | None:
        """AVG as the quotient of a sum and a count."""
        if call.call != "AVG" or call.distinct:
            return None
        return self._averaged(call.args[0], call.args[0], None)

    def _averaged(self, argument: Term, value: Term, met: exp.Expr | None) -> exp.Expr | None:
        """AVG of the values of those groups that meet a condition, which are all of an argument."""
        summed = self._of_group(_sum_of(value))
        counted = made(exp.Count(big_int=True), (argument,), _ARGUMENT, "COUNT")
        attempts = (self._conditional,) if met else (self._count, self._count_of_keys)
        count = next((found for attempt in attempts if (found := attempt(counted))), None)
        if summed is None or count is None:
            return None
        type_name = averaged_type(value, summed[1], self.most_rows)
        total = summed[0] if met is None else exp.Case().when(met.copy(), summed[0])
        if self.again:
            total = self._added(value, *summed, met)
        if type_name in EXACT_ROWS:
            quotient = exp.Div(this=exp.cast(total, "double"), expression=count)
            return exp.Case().when(count.copy() > 0, quotient)
        return measures.average(total, count, type_name)

    def _conditional(self, call: Term) -> exp.Expr | None:
        """A call of those rows that meet a condition on the keys."""
        if call.distinct or not call.args or type(call.args[0].node) is not exp.Case:
            return None
        condition, value, *others = call.args[0].args
        is_plain = len(others) == 1 and isinstance(others[0].node, exp.Null)
        chosen = None if is_plain and value.key != ONE.key else self._chosen(call)
        if chosen is not None or not is_plain:
            return chosen
        if not self.deriver.can(condition):
            return None
        found = self._of_group(self._call_of(call, value))
        if call.call == "AVG":
            return self._averaged(call.args[0], value, self.deriver.tree(condition))
        if found is None or call.call not in ("SUM", "COUNT", *_EXTREMES):
            return None
        met = self.deriver.tree(condition)
        if call.call == "SUM" and self.again:
            return self._added(value, *found, met)
        shown = exp.Case().when(met, found[0])
        if call.call == "COUNT":
            return self._none_is_zero(exp.Sum(this=shown) if self.again else shown, True)
        return _EXTREMES[call.call](this=shown) if self.again else shown

    def _chosen(self, call: Term) -> exp.Expr | None:
        """A sum or an extreme of values of which conditions on the keys choose one for a group."""
        *parts, last = call.args[0].args
        conditions, values = parts[::2], [*parts[1::2], last]
        choices = [self._choice(call, value) for value in values]
        found = [one for one in choices if one is not None]
        types = {type_name for _, type_name in found} - {""}
        is_known = len(found) == len(values) and all(map(self.deriver.can, conditions))
        if not is_known or len(types) != 1:
            return None
        pairs = zip(map(self.deriver.tree, conditions), found, strict=False)
        ifs = [exp.If(this=condition, true=tree) for condition, (tree, _) in pairs]
        shown, (type_name,) = exp.Case(ifs=ifs, default=found[-1][0]), types
        if call.call in _EXTREMES:
            return _EXTREMES[call.call](this=shown) if self.again else shown
        if any(value.key == ZERO.key for value in values):
            type_name = with_zeros(type_name)
        if not type_name or not self.again:
            return exp.cast(shown, type_name) if type_name else None
        summed = [value for value in values if value.key not in (ZERO.key, ONE.key)]
        return self._total(summed[0] if len(summed) == 1 else call.args[0], shown, type_name)

    def _choice(self, call: Term, value: Term) -> tuple[exp.Expr, str] | None:
        """The call of a value, and its type; none of what has that of the others."""
        if isinstance(value.node, exp.Null):
            return exp.null(), ""
        is_sum = call.call == "SUM"
        if is_sum and value.key in (ZERO.key, ONE.key):
            if self._may_be_of_no_rows:
                return None
            return (value.node.copy(), "") if value.key == ZERO.key else self._rows()
        is_known = is_sum or call.call in _EXTREMES
        return self._of_group(self._call_of(call, value)) if is_known else None

    def _rows(self) -> tuple[exp.Expr, str] | None:
        return self.deriver.stored(counted_rows())

    def _none_as_zero(self, call: Term) -> exp.Expr | None:
        """A sum of ones, or of values and of zeros where these are NULL."""
        argument = call.args[0] if call.args else None
        if argument is None or call.call != "SUM" or call.distinct or self._may_be_of_no_rows:
            return None
        if argument.key == ONE.key:
            rows = self._rows()
            if rows is not None and self.again:
                return self._total(argument, *rows)
            return rows[0] if rows is not None else None
        if type(argument.node) is not exp.Coalesce or len(argument.args) != 2:
            return None
        value, other = argument.args
        found = self._of_group(_sum_of(value))
        type_name = with_zeros(found[1]) if found is not None else ""
        is_known = found is not None and type_name and not is_longest(type_name)
        if found is None or not is_known or other.key != ZERO.key:
            return None
        shown = self._none_is_zero(found[0], True)
        return self._total(value, shown, type_name) if self.again else exp.cast(shown, type_name)

    def _of_group(self, call: Term) -> tuple[exp.Expr, str] | None:
        """A call of one stored group, and its type. That of a key is had from the key."""
        found = self.deriver.stored(call)
        if found is not None or call.call != "SUM" or call.distinct or self._may_be_of_no_rows:
            return found
        (argument,), rows = call.args, self._rows()
        is_whole = argument.column is not None and family_of(argument.column.type) == "whole"
        if rows is None or not is_whole or not self.deriver.can(argument):
            return None
        product = exp.Mul(this=bracketed(self.deriver.tree(argument)), expression=rows[0])
        return exp.cast(product, "bigint"), "bigint"

    def _multiple(self, call: Term) -> exp.Expr | None:
        """A sum that is a multiple of another one."""
        found = multiple_of(call.args[0]) if call.call == "SUM" and not call.distinct else None
        if found is None:
            return None
        summed = self.write(_sum_of(found.argument))
        product = exp.Mul(this=bracketed(found.factor), expression=bracketed(summed))
        return exp.cast(product, found.type_name)

    def _call_of(self, call: Term, value: Term) -> Term:
        if call.call == "COUNT" and (self._is_never_null(value)):
            return counted_rows()
        return made(call.node, (value,), _ARGUMENT, call.call)


def _sum_of(value: Term) -> Term:
    return made(exp.Sum(), (value,), _ARGUMENT, "SUM")
