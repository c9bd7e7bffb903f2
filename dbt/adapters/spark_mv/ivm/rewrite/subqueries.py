"""Semi and anti joins, IN and EXISTS, all as [NOT] EXISTS over one relation."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra import aggregates
from dbt.adapters.spark_mv.ivm.algebra.scopes import Returned, is_shaped
from dbt.adapters.spark_mv.ivm.algebra.terms import (
    both,
    column,
    conjuncts,
    derived,
    no,
    not_fast,
    operand,
)

Canonical = Callable[[exp.Query], exp.Query]
_CORRELATED = (
    "a subquery names relations outside of it elsewhere than in plain conditions of its WHERE, or "
    "is grouped, of several levels, or limited; join it"
)
_RELATION = "mv_inner"


def simplify(tree: exp.Expr) -> None:
    """Take from the subqueries of EXISTS and IN inside a tree what changes nothing: ORDER BY and
    DISTINCT, and from those of EXISTS a LIMIT that leaves a row, and groups without HAVING.

    >>> from sqlglot import parse_one
    >>> query = parse_one("SELECT 1 WHERE EXISTS(SELECT city FROM shops GROUP BY city LIMIT 1)")
    >>> simplify(query)
    >>> print(query.sql("spark"))
    SELECT 1 WHERE EXISTS(SELECT 1 AS one FROM shops)
    """
    for node in tree.find_all(exp.Exists, exp.In):
        body = (node.this if isinstance(node, exp.Exists) else node.args.get("query")) or node
        body = body.unnest()
        if not isinstance(body, exp.Query) or body.args.get("offset"):
            continue
        if body.args.get("limit") is not None:
            if not isinstance(node, exp.Exists) or not _leaves_a_row(body.args["limit"]):
                continue
            body.set("limit", None)
        body.set("order", None)
        if isinstance(body, exp.Select):
            _simplify_selection(body, isinstance(node, exp.Exists))


def _leaves_a_row(limit: exp.Expr) -> bool:
    count = limit.args.get("expression")
    return isinstance(count, exp.Literal) and count.this.isdigit() and int(count.this) > 0


def _simplify_selection(body: exp.Select, only_exists: bool) -> None:
    distinct, group = body.args.get("distinct"), body.args.get("group")
    if distinct is not None and not distinct.args.get("on"):
        body.set("distinct", None)
    keys = group is not None and [key for key, value in group.args.items() if value]
    if only_exists and keys == ["expressions"] and not body.args.get("having"):
        body.set("group", None)
        body.set("expressions", [exp.alias_(exp.Literal.number(1), "one")])


def semi_joins_to_exists(query: exp.Select) -> None:
    """Move LEFT SEMI and LEFT ANTI joins of a selection into its WHERE.

    >>> from sqlglot import parse_one
    >>> query = "SELECT o.id FROM orders AS o LEFT ANTI JOIN bills AS b ON b.order_id = o.id"
    >>> query = parse_one(query, dialect="spark")
    >>> semi_joins_to_exists(query)
    >>> print(query.sql("spark"))
    SELECT o.id FROM orders AS o
    WHERE NOT EXISTS(SELECT 1 FROM bills AS b WHERE b.order_id = o.id)
    """
    kept: list[exp.Expr] = []
    joins = query.args.get("joins") or []
    for join in joins:
        if not _is_semi(join):
            # It brings in rows again that the semi join before it left out.
            if (join.side or "").upper() in ("RIGHT", "FULL") and len(kept) < joins.index(join):
                text = "a right or full join comes after a semi or anti join; put that in FROM (..)"
                raise not_fast("SEMI_JOIN", text, join)
            kept.append(join)
            continue
        body = exp.select("1").from_(join.this)
        condition = join.args.get("on")
        found: exp.Expr = exp.Exists(this=body.where(condition) if condition else body)
        query.where(found if join.kind.upper() == "SEMI" else no(found), copy=False)
    query.set("joins", kept)


def conditions_to_where(query: exp.Select) -> None:
    """Move conditions of inner joins that have a subquery into the WHERE of a selection.

    >>> from sqlglot import parse_one
    >>> query = "SELECT 1 FROM a JOIN b ON a.id = b.id AND b.day = (SELECT MAX(c.day) FROM c)"
    >>> query = parse_one(query, dialect="spark")
    >>> conditions_to_where(query)
    >>> print(query.sql("spark"))
    SELECT 1 FROM a JOIN b ON a.id = b.id WHERE b.day = (SELECT MAX(c.day) FROM c)
    """
    joins = query.args.get("joins") or []
    sides = [(join.side or "").upper() for join in joins]
    # These bring in rows of their own, which the condition does not leave out.
    last = max((n for n, side in enumerate(sides) if side in ("RIGHT", "FULL")), default=-1)
    for join in joins[last + 1 :]:
        if join.side or (join.kind or "").upper() not in ("", "INNER", "CROSS"):
            continue
        parts = conjuncts(join.args.get("on"))
        moved = [part for part in parts if part.find(exp.Query)]
        if moved:
            join.set("on", both(part for part in parts if part not in moved))
            query.where(*moved, copy=False)


def _is_semi(join: exp.Join) -> bool:
    return (join.kind or "").upper() in ("SEMI", "ANTI")


def is_condition(part: exp.Expr) -> bool:
    """Whether a conjunct is nothing but [NOT] EXISTS or [NOT] IN."""
    inner = part.unnest()
    while isinstance(inner, exp.Not):
        inner = inner.this.unnest()
    sought = isinstance(inner, exp.In) and inner.args.get("query") is not None
    return sought or isinstance(inner, exp.Exists)


def as_exists(condition: exp.Expr, canonical: Canonical) -> exp.Expr:
    """A conjunct of WHERE; one with a subquery as [NOT] EXISTS. Raises `NotFast` if it cannot.

    >>> from sqlglot import parse_one
    >>> condition = "o.city NOT IN (SELECT s.city FROM shops AS s WHERE s.owner = o.seller)"
    >>> print(as_exists(parse_one(condition), canonical=lambda part: part).sql("spark"))
    NOT EXISTS(SELECT 1
      FROM (SELECT s.owner AS mv_column_0, s.city AS mv_column_1 FROM shops AS s) AS mv_inner
      WHERE `mv_inner`.`mv_column_0` = o.seller AND (o.city = `mv_inner`.`mv_column_1`
        OR o.city IS NULL OR `mv_inner`.`mv_column_1` IS NULL))
    """
    if condition.find(exp.Query) is None:
        return condition
    positive, inner = True, condition.unnest()
    while isinstance(inner, exp.Not):
        positive, inner = not positive, inner.this.unnest()
    if isinstance(inner, exp.Exists):
        found = _exists(_body(inner.this), None, positive, canonical)
    elif isinstance(inner, exp.In) and inner.args.get("query") is not None:
        if inner.this.find(exp.Query) is not None:
            raise not_fast("SUBQUERY", "a subquery stands on the left of IN; join it", condition)
        found = _exists(_body(inner.args["query"]), inner.this, positive, canonical)
    else:
        raise not_fast("SUBQUERY", "a subquery is no condition of its own; join it", condition)
    return found if positive else no(found)


def _body(query: exp.Expr) -> exp.Query:
    inner = query.unnest()
    if not isinstance(inner, exp.Query):
        raise not_fast("SUBQUERY", "a subquery has a form that is not followed; use EXISTS", query)
    return inner


def _exists(
    body: exp.Query, sought: exp.Expr | None, positive: bool, canonical: Canonical
) -> exp.Expr:
    local, outside = _split(body)
    returned = Returned(_RELATION, _inside(local))
    conditions = [returned.moved(condition) for condition in outside]
    if isinstance(local, exp.Select) and (outside or _is_plain(local)):
        items = list(local.expressions) if sought is not None else []
        wanted = [returned.column(item.unalias()) for item in items]
        one = exp.alias_(exp.Literal.number(1), "one")
        local.set("expressions", returned.items() or [one])
    else:
        names = local.named_selects if sought is not None else []
        wanted = [column(_RELATION, name) for name in names]
    if sought is not None:
        conditions.append(_is_in(sought, wanted, positive))
    inner = exp.select("1").from_(derived(canonical(local), _RELATION))
    condition = both(conditions)
    return exp.Exists(this=inner.where(condition) if condition is not None else inner)


def _is_in(sought: exp.Expr, wanted: list[exp.Expr], positive: bool) -> exp.Expr:
    items = sought.expressions if isinstance(sought.unnest(), exp.Tuple) else [sought]
    if len(items) != len(wanted) or (len(items) > 1 and not positive):
        raise not_fast("SUBQUERY", "NOT IN compares several columns; use NOT EXISTS", sought)
    if positive:
        pairs = zip(items, wanted, strict=True)
        return cast(
            exp.Expr, both(exp.EQ(this=operand(one.copy()), expression=two) for one, two in pairs)
        )
    one, two = operand(sought.copy()), wanted[0]
    return exp.paren(
        exp.or_(
            exp.EQ(this=one.copy(), expression=two.copy()),
            exp.Is(this=one.copy(), expression=exp.Null()),
            exp.Is(this=two.copy(), expression=exp.Null()),
        )
    )


def _is_plain(query: exp.Select) -> bool:
    shaped = is_shaped(query)
    parts = query.expressions
    return not shaped and not any(aggregates.calls(one) or one.find(exp.Window) for one in parts)


def _split(body: exp.Query) -> tuple[exp.Query, list[exp.Expr]]:
    """The part of a subquery that stands alone, and the conditions that name relations outside."""
    local = body.copy()
    if not isinstance(local, exp.Select):
        if _names_outside(local, _inside(local)):
            raise not_fast("CORRELATED", _CORRELATED, body)
        return local, []
    inside = _inside(local)
    parts = conjuncts(local.args.get("where"))
    outside = [part for part in parts if _names_outside(part, inside)]
    if any(part.find(exp.Query) for part in outside) or (outside and not _is_plain(local)):
        raise not_fast("CORRELATED", _CORRELATED, body)
    kept = both(part for part in parts if part not in outside)
    local.set("where", exp.Where(this=kept) if kept is not None else None)
    if _names_outside(local, inside):
        raise not_fast("CORRELATED", _CORRELATED, body)
    return local, outside


def _inside(tree: exp.Expr) -> set[str]:
    return {
        relation.alias_or_name
        for relation in tree.find_all(exp.Table, exp.Subquery, exp.Lateral, exp.TableAlias)
    }


def _names_outside(tree: exp.Expr, inside: set[str]) -> bool:
    return any(found.table and found.table not in inside for found in tree.find_all(exp.Column))
