"""Writes aggregate functions over stored groups: as they are stored, or added up again."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra import measures
from dbt.adapters.spark_mv.rewrite.aggregates.groups import ARGUMENT, StoredGroups
from dbt.adapters.spark_mv.rewrite.aggregates.sums import (
    ONE,
    SUM_OF_ONES,
    ZERO,
    averaged_type,
    is_longest,
    multiple_of,
    places_of_zero,
    widest_sum,
    with_zeros,
)
from dbt.adapters.spark_mv.rewrite.conditions.consequences import tested_for_null
from dbt.adapters.spark_mv.rewrite.conditions.constants import family_of
from dbt.adapters.spark_mv.rewrite.stored import is_inexact
from dbt.adapters.spark_mv.rewrite.terms import Term, bracketed, counted_rows, made
from dbt.adapters.spark_mv.rewrite.unmatched import NOT_DERIVABLE, Unmatched

_STRING, _NUMBERS = "string", ("decimal", "double", "float")
_EXTREMES: dict[str, type[exp.Expr]] = {"MIN": exp.Min, "MAX": exp.Max}
_EXTREMES |= {"LOGICALAND": exp.LogicalAnd, "LOGICALOR": exp.LogicalOr}
_EXTREMES |= {"BITWISEANDAGG": exp.BitwiseAndAgg, "BITWISEORAGG": exp.BitwiseOrAgg}


@dataclass(frozen=True)
class StoredCalls(StoredGroups):
    """Writes calls over groups that are stored."""

    def write(self, call: Term) -> exp.Expr:
        """A call as an expression of stored columns; raises `Unmatched`."""
        attempts = (self._of_keys, self._stored, self._of_parts, self._conditional)
        others = (self._count_of_keys, self._none_as_zero, self._multiple, self._of_nulls)
        for attempt in (*attempts, *others):
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
        (argument,) = call.args
        return self._averaged(argument, argument, None) or self._averaged_with_zeros(argument)

    def _averaged_with_zeros(self, argument: Term) -> exp.Expr | None:
        """AVG of values and of zeros where these are NULL, of all rows."""
        found, rows = self._with_zeros(argument), self._count(counted_rows())
        if found is None or rows is None:
            return None
        value, total, type_name = found
        return self._quotient(total, rows, averaged_type(value, type_name, self.most_rows))

    def _averaged(self, argument: Term, value: Term, met: exp.Expr | None) -> exp.Expr | None:
        """AVG of the values of those groups that meet a condition, which are all of an argument."""
        summed = self._of_group(_sum_of(value))
        counted = made(exp.Count(big_int=True), (argument,), ARGUMENT, "COUNT")
        attempts = (self._conditional,) if met else (self._count, self._count_of_keys)
        count = next((found for attempt in attempts if (found := attempt(counted))), None)
        if summed is None or count is None:
            return None
        type_name = averaged_type(value, summed[1], self.most_rows)
        total = summed[0] if met is None else exp.Case().when(met.copy(), summed[0])
        if self.again:
            total = self._added(value, *summed, met)
        return self._quotient(total, count, type_name)

    def _quotient(self, total: exp.Expr, count: exp.Expr, type_name: str) -> exp.Expr:
        """An average of values of a type, by their sum and how many they are."""
        mean = measures.quotient(total, count, type_name)
        return exp.Case().when(count.copy() > 0, mean)

    def _of_nulls(self, call: Term) -> exp.Expr | None:
        """How many rows have NULL, by how many there are and how many have none."""
        is_sum = call.call == "SUM" and not self.all_rows
        is_count = call.call == "COUNT" and bool(call.args)
        argument = call.args[0] if (is_sum or is_count) and not call.distinct else None
        if argument is None or type(argument.node) is not exp.Case or len(argument.args) != 3:
            return None
        condition, value, last = argument.args
        tested, other = tested_for_null(condition), made(exp.Null()) if is_count else ZERO
        if tested is None or value.key != ONE.key or last.key != other.key:
            return None
        counted = self._count(made(exp.Count(big_int=True), (tested,), ARGUMENT, "COUNT"))
        if counted is None or isinstance(condition.node, exp.Not):
            return counted
        rows = self._count(counted_rows())
        if rows is None:
            return None
        return exp.Sub(this=bracketed(rows), expression=bracketed(counted))

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
        is_sum = call.call == "SUM"
        type_name = _widest(types, values) if is_sum else _of_one_kind(types, values)
        if not is_known or not type_name:
            return None
        # Beside a sum of another scale each keeps its own.
        trees = [exp.cast(t, type_name) if len(types) > 1 and kind else t for t, kind in found]
        pairs = zip(map(self.deriver.tree, conditions), trees, strict=False)
        ifs = [exp.If(this=condition, true=tree) for condition, tree in pairs]
        shown = exp.Case(ifs=ifs, default=trees[-1])
        if call.call in _EXTREMES:
            return _EXTREMES[call.call](this=shown) if self.again else shown
        summed = [v for v in values if v.key != ONE.key and places_of_zero(v) is None]
        of_zeros = {places_of_zero(value) for value in values} - {None}
        if any(of_zeros) and all(isinstance(value.node, exp.Null) for value in summed):
            type_name = SUM_OF_ONES
        for places in of_zeros:
            type_name = with_zeros(type_name, places or 0)
        if not type_name or not self.again:
            return exp.cast(shown, type_name) if type_name else None
        return self._total(summed[0] if len(summed) == 1 else call.args[0], shown, type_name)

    def _choice(self, call: Term, value: Term) -> tuple[exp.Expr, str] | None:
        """The call of a value, and its type; none of what has that of the others."""
        if isinstance(value.node, exp.Null):
            return exp.null(), ""
        is_sum = call.call == "SUM"
        is_zero = places_of_zero(value) is not None
        if is_sum and (is_zero or value.key == ONE.key):
            if self._may_be_of_no_rows:
                return None
            return (value.node.copy(), "") if is_zero else self._rows()
        is_extreme = call.call in _EXTREMES
        if is_extreme and isinstance(value.node, exp.Literal) and not self._may_be_of_no_rows:
            return value.node.copy(), _STRING if value.node.is_string else ""
        found = self._of_group(self._call_of(call, value)) if is_sum or is_extreme else None
        return found if found is not None or not is_sum else self._times(call, value)

    def _times(self, call: Term, value: Term) -> tuple[exp.Expr, str] | None:
        """The sum of one stored group that is a multiple of another, and its type."""
        multiple = multiple_of(value)
        found = self._choice(call, multiple.argument) if multiple is not None else None
        if multiple is None or found is None:
            return None
        return multiple.of(found[0]), multiple.type_name

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
        zeros = self._with_zeros(argument)
        return None if zeros is None else zeros[1]

    def _with_zeros(self, argument: Term) -> tuple[Term, exp.Expr, str] | None:
        """The values of which an argument has zeros for NULL; its sum, and the type of that."""
        is_default = type(argument.node) is exp.Coalesce and len(argument.args) == 2
        if not is_default or self._may_be_of_no_rows:
            return None
        value, other = argument.args
        found, places = self._of_group(_sum_of(value)), places_of_zero(other)
        type_name = with_zeros(found[1], places) if found and places is not None else ""
        if found is None or not type_name or is_longest(type_name):
            return None
        shown = self._none_is_zero(found[0], True)
        total = self._total(value, shown, type_name) if self.again else exp.cast(shown, type_name)
        return value, total, type_name

    def _multiple(self, call: Term) -> exp.Expr | None:
        """A sum that is a multiple of another one."""
        found = multiple_of(call.args[0]) if call.call == "SUM" and not call.distinct else None
        if found is None:
            return None
        return found.of(self.write(_sum_of(found.argument)))


def _widest(types: Collection[str], values: Sequence[Term]) -> str:
    """The type of a sum of values of which Spark makes one type; empty if that is not had from
    sums of each, as of texts and numbers that become texts."""
    of_columns = {value.column.type for value in values if value.column is not None}
    is_exact = len(of_columns) < 2 or not any(map(is_inexact, types))
    return widest_sum(types) if is_exact else ""


def _of_one_kind(types: Collection[str], values: Sequence[Term]) -> str:
    """The type of extremes of which Spark makes one in their order, beside constants; empty if
    there are several, or numbers may become texts."""
    has_numbers = any(
        isinstance(one.node, exp.Literal) and not one.node.is_string for one in values
    )
    type_name = next(iter(types)) if len(types) == 1 else ""
    is_number = family_of(type_name) == "whole" or type_name.startswith(_NUMBERS)
    return type_name if is_number or not has_numbers else ""


def _sum_of(value: Term) -> Term:
    return made(exp.Sum(), (value,), ARGUMENT, "SUM")
