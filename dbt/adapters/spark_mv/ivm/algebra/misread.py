"""Forms of a query that would mean something else in one that is made of it."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra.terms import GENERATORS, not_fast

# Functions that are values as they are written.
_VALUES = (exp.Cast, exp.Array, exp.Map, exp.VarMap)


def refuse_misread(query: exp.Query) -> None:
    """Raise `NotFast` for such a form in a query whose columns have their relations."""
    _refuse_stars(query)
    _refuse_dropped_rows(query)
    _refuse_unknown_rows(query)
    _refuse_unseen_values(query)


def _refuse_stars(query: exp.Query) -> None:
    """A star in an expression stands for the columns of what is below it, which is something else
    in each query that is made of this one."""
    for star in query.find_all(exp.Star):
        item = star.parent if isinstance(star.parent, exp.Column) else star
        holder = item.parent
        is_all = isinstance(holder, exp.Count) and holder.this is star
        is_counted = is_all and not (holder and holder.expressions)
        is_any = isinstance(holder, exp.Select) and isinstance(holder.parent, exp.Exists)
        if not is_counted and not is_any:
            text = "a star in an expression stands for other columns in a delta query; name them"
            raise not_fast("STAR", text, holder or item)


def _refuse_dropped_rows(query: exp.Query) -> None:
    """What EXISTS selects is not computed, unless it says how many rows there are."""
    for test in query.find_all(exp.Exists):
        for select in _selections(test.this):
            for item in select.expressions:
                if item.find(*GENERATORS, exp.Anonymous):
                    text = "EXISTS selects what may make no row of one; select it in a FROM in it"
                    raise not_fast("SUBQUERY", text, item)


def _selections(query: exp.Expr) -> Iterator[exp.Select]:
    inner = query.unnest()
    if isinstance(inner, exp.SetOperation):
        yield from _selections(inner.this)
        yield from _selections(inner.expression)
    elif isinstance(inner, exp.Select):
        yield inner


def _refuse_unknown_rows(query: exp.Query) -> None:
    """Several names for what one function returns, of which it is not known that it makes rows."""
    for names in query.find_all(exp.Aliases):
        if not isinstance(names.this, GENERATORS):
            text = "an expression makes several columns; use LATERAL VIEW"
            raise not_fast("NOT_PARSED", text, names)


def _refuse_unseen_values(query: exp.Query) -> None:
    """Spark does not show what it has computed of the expressions in VALUES, so that nobody can
    compare what was read with what was written."""
    for values in query.find_all(exp.Values):
        for node in values.walk():
            is_computed = isinstance(node, exp.Func) and not isinstance(node, _VALUES)
            if is_computed or isinstance(node, (exp.Binary, exp.Interval)):
                text = "Spark does not show what it makes of expressions in VALUES; write values"
                raise not_fast("NOT_UNDERSTOOD", text, node)
