"""Calls of aggregate functions: where they stand in a tree, and the few forms that rules know."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.spark_mv.sql.spark_functions import aggregate, is_any

# Aggregate functions of Spark that sqlglot reads as functions that it does not know.
_BY_NAME = frozenset(
    "any bitmap_and_agg count_min_sketch every histogram_numeric hll_sketch_agg hll_union_agg "
    "kll_merge_agg_bigint kll_merge_agg_double kll_merge_agg_float kll_sketch_agg_bigint "
    "kll_sketch_agg_double kll_sketch_agg_float mean measure percentile percentile_cont "
    "percentile_disc product schema_of_variant_agg some std theta_intersection_agg "
    "theta_sketch_agg theta_union_agg try_avg try_sum".split()
)
_AROUND = (exp.Filter, exp.IgnoreNulls, exp.RespectNulls, exp.WithinGroup)
_FILTERED = (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max)


def calls(tree: exp.Expr) -> list[exp.Expr]:
    """The aggregate calls of a selection's part, with FILTER and the like around them.

    Functions of windows do not count, their arguments do; subqueries are left out.
    """
    if isinstance(tree, exp.Query):
        return []
    if isinstance(tree, exp.Window):
        around = [part for part in tree.iter_expressions() if part is not tree.this]
        parts = [*around, *_bare(tree.this).iter_expressions()]
        return [call for part in parts for call in calls(part)]
    if is_call(tree):
        return [tree]
    return [call for part in tree.iter_expressions() for call in calls(part)]


def is_grouped(query: exp.Select) -> bool:
    """Whether a selection aggregates."""
    if query.args.get("group") or query.args.get("having"):
        return True
    return any(calls(item) for item in query.expressions)


def is_call(node: exp.Expr) -> bool:
    """Whether this is a call of an aggregate function, with what is around it."""
    function = _bare(node)
    if isinstance(function, exp.Anonymous):
        return function.name.lower() in _BY_NAME
    return isinstance(function, exp.AggFunc) or is_any(function)


def is_scalar(node: exp.Expr) -> bool:
    """Whether it is a call of a function that sqlglot does not know, and that is no aggregate."""
    return isinstance(node, exp.Anonymous) and not is_call(node)


def _bare(node: exp.Expr) -> exp.Expr:
    while isinstance(node, _AROUND):
        node = node.this
    return node


def plain(tree: exp.Expr) -> None:
    """Rewrite calls inside a tree: conditions of FILTER go into arguments, and functions of
    conditions become COUNT, MIN and MAX, which are kept up to date by adding."""
    # Arguments first.
    for node in reversed(list(tree.walk())):
        found = _of_conditions(node)
        if found is None and isinstance(node, exp.Filter):
            found = _filtered(node)
        if found is not None:
            node.replace(found)


def _of_conditions(node: exp.Expr) -> exp.Expr | None:
    """COUNT_IF, BOOL_AND, BOOL_OR and MEAN under their other names."""
    call = aggregate(node)
    argument = call.this if call is not None else None
    if not isinstance(argument, exp.Expr) or isinstance(argument, (exp.Distinct, exp.Query)):
        return None
    if isinstance(call, exp.CountIf):
        return exp.Count(this=_when(argument, exp.Literal.number(1)), big_int=True)
    if isinstance(call, exp.LogicalAnd):
        return exp.Min(this=exp.cast(argument.copy(), "boolean"))
    if isinstance(call, exp.LogicalOr):
        return exp.Max(this=exp.cast(argument.copy(), "boolean"))
    return call if isinstance(call, exp.Avg) and call is not node else None


def _filtered(node: exp.Filter) -> exp.Expr | None:
    call, condition = node.this, node.expression.this
    if not isinstance(call, _FILTERED) or call.expressions or isinstance(call.this, exp.Distinct):
        return None
    value = exp.Literal.number(1) if isinstance(call.this, exp.Star) else call.this
    wide = {"big_int": True} if isinstance(call, exp.Count) else {}
    return type(call)(this=_when(condition, value), **wide)


def _when(condition: exp.Expr, value: exp.Expr) -> exp.Case:
    return exp.Case().when(exp.cast(condition.copy(), "boolean"), value.copy())
