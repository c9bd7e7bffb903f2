"""Names of the columns of a query: as plain as they were written, or those of the view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra.terms import not_fast


def plainly_named(query: exp.Query) -> exp.Query:
    """The query with columns that keep their names not renamed: Spark plans a step for each; and
    with those of subqueries as values, and on the right of set operations, not named, unless they
    were.

    >>> from sqlglot import parse_one
    >>> query = "SELECT id AS id FROM days UNION SELECT MAX(id) AS _col_0 FROM orders"
    >>> print(plainly_named(parse_one(query)).sql("spark"))
    SELECT id FROM days UNION SELECT MAX(id) FROM orders
    """
    found = query.copy()
    for alias in list(found.find_all(exp.Alias)):
        inner = alias.this
        kept = isinstance(inner, exp.Column) and inner.name == alias.alias
        if kept or (alias.alias.startswith("_col_") and _needs_no_name(alias)):
            alias.replace(inner)
    return found


def name_values(query: exp.Query) -> None:
    """Have the names of subqueries as values beside them, so that what stands for them has the
    name."""
    for select in query.find_all(exp.Select):
        for item in list(select.expressions):
            if isinstance(item, exp.Subquery) and item.alias:
                value = item.copy()
                value.set("alias", None)
                name = exp.to_identifier(item.alias, quoted=True)
                # alias_() would give the name to the subquery again.
                item.replace(exp.Alias(this=value, alias=name))


def with_names_told_apart(query: exp.Query) -> exp.Query:
    """A copy in which columns of one name on the right of a UNION, EXCEPT or INTERSECT, which may
    have any, are called as those on the left.

    >>> from sqlglot import parse_one
    >>> query = "SELECT seller, buyer FROM orders UNION SELECT id, id FROM customers"
    >>> print(with_names_told_apart(parse_one(query)).sql("spark"))
    SELECT seller, buyer FROM orders UNION SELECT id AS `seller`, id AS `buyer` FROM customers
    """
    found = query.copy()
    for operation in found.find_all(exp.SetOperation):
        names, right = operation.named_selects, operation.expression
        while isinstance(right, (exp.SetOperation, exp.Subquery)):
            right = right.this
        given = right.named_selects if isinstance(right, exp.Select) else []
        if len(set(given)) < len(given) == len(set(names)) and not right.args.get("order"):
            items = zip(list(right.expressions), names, strict=True)
            named = [exp.alias_(item.unalias(), name, quoted=True) for item, name in items]
            right.set("expressions", named)
    return found


def _needs_no_name(output: exp.Expr) -> bool:
    """Whether it is a column of a subquery that is no relation, or on the right of a UNION."""
    inner, around = output.parent, output.parent.parent if output.parent else None
    while isinstance(around, (exp.SetOperation, exp.Subquery)):
        if isinstance(around, exp.SetOperation) and around.expression is inner:
            return True
        if isinstance(around, exp.Subquery) and not isinstance(around.parent, exp.SetOperation):
            return is_value(around)
        inner, around = around, around.parent
    return isinstance(around, (exp.Exists, exp.In))


def is_value(subquery: exp.Subquery) -> bool:
    """Whether a subquery is part of an expression."""
    relation = isinstance(subquery.parent, (exp.From, exp.Join, exp.Lateral, exp.SetOperation))
    return subquery.parent is not None and not relation


def with_names(query: exp.Query, names: Sequence[str]) -> exp.Query:
    """The query with these names of its columns; raises `NotFast` if it has not that many.

    >>> from sqlglot import parse_one
    >>> query = parse_one("SELECT day, SUM(total) AS _col_1 FROM orders GROUP BY day")
    >>> print(with_names(query, ["day", "total"]).sql("spark"))
    SELECT day AS `day`, SUM(total) AS `total` FROM orders GROUP BY day
    """
    if len(query.named_selects) != len(names):
        raise not_fast("NOT_PARSED", "its columns are not known; name each of them")
    first = query
    while isinstance(first, exp.SetOperation):
        first = cast(exp.Query, first.this)
    if len(first.expressions) != len(names):
        raise not_fast("NOT_PARSED", "an expression makes several columns; use LATERAL VIEW")
    outputs = [
        exp.alias_(item.unalias(), name, quoted=True)
        for item, name in zip(first.expressions, names, strict=True)
    ]
    first.set("expressions", outputs)
    return query
