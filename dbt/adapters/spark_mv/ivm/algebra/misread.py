"""Forms of a query that would mean something else in one that is made of it."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra.terms import GENERATORS, not_fast

# Functions that are values as they are written.
_VALUES = (exp.Cast, exp.Array, exp.Map, exp.VarMap)
_MOST_USES = 1_000
_SEVERAL_COLUMNS = "an expression makes several columns; use LATERAL VIEW"
_OTHER_GENERATORS = ("inline_outer", "json_tuple", "variant_explode", "variant_explode_outer")


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
    """Several names for what one function returns, of which it is not known that it makes rows, and
    functions that make rows and are not known."""
    for names in query.find_all(exp.Aliases):
        if not isinstance(names.this, GENERATORS):
            raise not_fast("NOT_PARSED", _SEVERAL_COLUMNS, names)
    for select in query.find_all(exp.Select):
        for call in (
            found for item in select.expressions for found in item.find_all(exp.Anonymous)
        ):
            if call.name.lower() in _OTHER_GENERATORS:
                raise not_fast("NOT_PARSED", _SEVERAL_COLUMNS, call)


def _refuse_unseen_values(query: exp.Query) -> None:
    """Spark does not show what it has computed of the expressions in VALUES, so that nobody can
    compare what was read with what was written."""
    for values in query.find_all(exp.Values):
        for node in values.walk():
            is_computed = isinstance(node, exp.Func) and not isinstance(node, _VALUES)
            if is_computed or isinstance(node, (exp.Binary, exp.Interval)):
                text = "Spark does not show what it makes of expressions in VALUES; write values"
                raise not_fast("NOT_UNDERSTOOD", text, node)


def refuse_too_large(tree: exp.Expr) -> None:
    """Raise `NotFast` for columns of a parsed query that are computed of others beside them so
    often that they cannot be written out as expressions of the tables' columns.

    >>> from sqlglot import parse_one
    >>> refuse_too_large(parse_one("SELECT n + n AS a, a + a AS b FROM orders"))
    """
    for select in tree.find_all(exp.Select):
        uses: dict[str, int] = {}
        for item in select.expressions:
            columns = item.find_all(exp.Column)
            made = sum(1 if one.table else uses.get(one.name.lower(), 1) for one in columns)
            if made > _MOST_USES:
                text = "its columns are computed of others over and over; use a subquery in FROM"
                raise not_fast("NOT_PARSED", text, item)
            if isinstance(item, exp.Alias):
                uses[item.alias.lower()] = made
