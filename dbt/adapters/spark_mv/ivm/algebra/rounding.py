"""Aggregate functions whose last digits depend on the order in which rows are added up.

A group that is computed a second time, to take it away, may then not be the one that was stored.
AVG of whole numbers is a sum of doubles in Spark, so from 2 to the power of 53 on it is of these.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra import measures
from dbt.adapters.spark_mv.ivm.algebra.annotations import Annotation
from dbt.adapters.spark_mv.ivm.algebra.terms import ungrouped

_ALWAYS = (
    exp.Corr,
    exp.CovarPop,
    exp.CovarSamp,
    exp.Kurtosis,
    exp.RegrAvgx,
    exp.RegrAvgy,
    exp.RegrIntercept,
    exp.RegrR2,
    exp.RegrSlope,
    exp.RegrSxx,
    exp.RegrSxy,
    exp.RegrSyy,
    exp.Skewness,
    exp.Stddev,
    exp.StddevPop,
    exp.StddevSamp,
    exp.Variance,
    exp.VariancePop,
)
_OF_FLOATS = (exp.Sum, exp.Avg)
_IS_ROUNDED: Annotation[bool] = Annotation("mv_rounded")
# The type of the whole numbers whose average it is.
_AVERAGED: Annotation[str] = Annotation("mv_averaged")


def mark(query: exp.Query, types_of: Callable[[exp.Query], list[str]]) -> None:
    """Mark the sums and averages of floating point numbers, and the averages of whole ones, in a
    canonical query, and its copies."""
    for select in query.find_all(exp.Select):
        found = [call for call in select.find_all(*_OF_FLOATS) if _is_of(select, call)]
        if not found:
            continue
        types = types_of(ungrouped(select, [_argument(call) for call in found], "mv_argument"))
        for call, type_name in zip(found, types, strict=True):
            if measures.is_floating(type_name):
                _IS_ROUNDED.put(call, True)
            elif isinstance(call, exp.Avg) and type_name in measures.SUMMED_AS:
                _AVERAGED.put(call, type_name)


def guarded(query: exp.Query) -> exp.Query:
    """A copy of groups, in which an average that is marked ends the statement if rounding has a
    part in it."""
    found = query.copy()
    for call in list(found.find_all(exp.Avg)):
        type_name = _AVERAGED.of(call)
        if type_name is not None:
            argument = exp.cast(_argument(call).copy(), measures.SUMMED_AS[type_name])
            summed: exp.Expr = exp.Sum(this=exp.func("abs", argument))
            average = call.parent if isinstance(call.parent, exp.Window) else call
            if average is not call:
                window = average.copy()
                window.set("this", summed)
                summed = window
            rounds = summed > exp.Literal.number(measures.EXACT_IN_DOUBLE)
            text = "an average needs a sum beyond 2 to the power of 53"
            average.replace(exp.Case().when(rounds, measures.raised(text)).else_(average.copy()))
    return found


def _is_of(select: exp.Select, call: exp.Expr) -> bool:
    """Whether a call is one of this selection, over the rows that it reads."""
    return call.find_ancestor(exp.Select) is select and not call.this.find(exp.AggFunc)


def _argument(call: exp.Expr) -> exp.Expr:
    argument = call.this
    return argument.expressions[0] if isinstance(argument, exp.Distinct) else argument


def rounded(tree: exp.Expr) -> exp.Expr | None:
    """A call in the tree whose last digits depend on the order of rows."""
    for node in tree.find_all(*_ALWAYS, *_OF_FLOATS):
        if isinstance(node, _ALWAYS) or _IS_ROUNDED.of(node):
            return node
    return None
