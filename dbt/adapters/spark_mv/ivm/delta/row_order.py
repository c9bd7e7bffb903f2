"""Functions whose value depends on the order in which rows happen to be read."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra import aggregates
from dbt.adapters.spark_mv.ivm.rewrite import total_order

# With equal ranks, or none, their values depend on the order in which rows happen to be read.
_ORDER_DEPENDENT = (
    exp.First,
    exp.Last,
    exp.AnyValue,
    exp.ArrayAgg,
    exp.ArrayUniqueAgg,
    exp.ApproxQuantile,
    exp.GroupConcat,
    exp.ArgMax,
    exp.ArgMin,
    exp.Mode,
    exp.RowNumber,
    exp.Ntile,
    exp.Lag,
    exp.Lead,
    exp.FirstValue,
    exp.LastValue,
    exp.NthValue,
    exp.WindowSpec,
)


def out_of_order(query: exp.Query) -> exp.Expr | None:
    """A function whose value depends on the order of rows, which nothing gives."""
    calls = dependent(query)
    return next((call for call in calls if not total_order.is_in_order(call)), None)


def dependent(query: exp.Query) -> Iterator[exp.Expr]:
    """Functions whose value depends on the order of rows."""
    found = query.find_all(*_ORDER_DEPENDENT, exp.Anonymous)
    return (call for call in found if not aggregates.is_scalar(call))
