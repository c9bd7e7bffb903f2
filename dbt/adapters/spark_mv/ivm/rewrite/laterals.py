"""LATERAL subqueries as joins, for which there are rules.

- One without FROM only names expressions of other columns: these stand where it is used.
- One of rows is a relation that is joined on the conditions that name relations outside.
- One of aggregates is joined by the keys that it is correlated by, as a subquery that is a value.
- One of groups, or with DISTINCT, has these keys beside those of its groups.

>>> from sqlglot import parse_one
>>> query = parse_one('''
...     SELECT o.id, p.gross FROM orders AS o, LATERAL (SELECT o.net * o.tax AS gross) AS p
... ''')
>>> print(without_laterals(query, canonical=lambda part: part).sql("spark"))
SELECT o.id, (o.net * o.tax) FROM orders AS o
>>> query = parse_one('''
...     SELECT c.name, x.total FROM customers AS c,
...     LATERAL (SELECT o.total FROM orders AS o WHERE o.customer = c.id AND o.total > 9) AS x
... ''')
>>> print(without_laterals(query, canonical=lambda part: part).sql("spark"))
SELECT c.name, `x`.`mv_column_1` FROM customers AS c
JOIN (SELECT o.customer AS mv_column_0, o.total AS mv_column_1, TRUE AS mv_found
  FROM orders AS o WHERE o.total > 9) AS x ON `x`.`mv_column_0` = c.id
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from itertools import count
from typing import cast

from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra import aggregates
from dbt.adapters.spark_mv.ivm.algebra.scopes import (
    Returned,
    is_by_groups,
    is_shaped,
    names_in,
    outside,
)
from dbt.adapters.spark_mv.ivm.algebra.terms import (
    GENERATORS,
    NotFast,
    both,
    column,
    conjuncts,
    derived,
    not_fast,
    operand,
)
from dbt.adapters.spark_mv.ivm.rewrite.scalar_subqueries import Scalars, equalities
from dbt.adapters.spark_mv.sql.reads import relations_of

_FOUND = "mv_found"
Columns = dict[tuple[str, str], exp.Expr]


def without_laterals(query: exp.Select, canonical: Callable[[exp.Query], exp.Query]) -> exp.Select:
    """The selection with plain joins only; raises `NotFast` if a subquery has no such form."""
    joins = query.args.get("joins") or []
    found = [join for join in joins if _is_lateral(join)]
    if not found:
        return query
    names = [join.this.alias_or_name for join in found]
    _rename_below(query, names)
    called = [alias.name for alias in query.find_all(exp.TableAlias)]
    if any(called.count(name) > 1 for name in names):
        raise _refused("call no other relation like it", found[0].this)
    last = joins.index(found[0])
    if any((join.side or "").upper() in ("RIGHT", "FULL") for join in joins[last:]):
        raise _refused("put it, and what is joined before it, in FROM (..)", found[0].this)
    return _Joins(query, canonical).all()


def _rename_below(query: exp.Select, names: Collection[str]) -> None:
    """Give relations in subqueries that are called like one of these other names."""
    taken = {alias.name for alias in query.find_all(exp.TableAlias)}
    for select in list(query.find_all(exp.Select)):
        for relation in relations_of(select) if select is not query else ():
            old = relation.alias_or_name
            if old not in names:
                continue
            new = next(f"{old}_{n}" for n in count(1) if f"{old}_{n}" not in taken)
            taken.add(new)
            for column_of in _columns_of(select, old):
                column_of.set("table", exp.to_identifier(new, quoted=True))
            relation.args["alias"].set("this", exp.to_identifier(new))


def _columns_of(select: exp.Select, relation: str) -> list[exp.Column]:
    """The columns of a relation of a selection, in it and in its subqueries."""
    found = []
    for named in select.find_all(exp.Column):
        around = named.find_ancestor(exp.Select)
        while around is not select and around is not None and relation not in names_in(around):
            around = around.find_ancestor(exp.Select)
        if named.table == relation and around is select:
            found.append(named)
    return found


def _is_lateral(join: exp.Join) -> bool:
    return isinstance(join.this, exp.Lateral) and isinstance(join.this.this, exp.Subquery)


class _Joins:
    """The joins of one selection, taken one after the other."""

    def __init__(self, query: exp.Select, canonical: Callable[[exp.Query], exp.Query]) -> None:
        self._query = query
        self._done = exp.Select(from_=query.args.get("from_"))
        self._values = Scalars(self._done, canonical)
        self._columns: Columns = {}
        self._conditions: list[exp.Expr] = []

    def all(self) -> exp.Select:
        for join in self._query.args["joins"]:
            joined = self._substituted(join)
            if _is_lateral(join):
                self._lateral(cast(exp.Join, joined))
            else:
                self._done.append("joins", joined)
        self._query.set("joins", None)
        self._query.set("from_", None)
        found = cast(exp.Select, self._substituted(self._query))
        found.set("from_", self._done.args.get("from_"))
        found.set("joins", self._done.args.get("joins"))
        for condition in self._conditions:
            found.where(condition, copy=False)
        return found

    def _substituted(self, tree: exp.Expr) -> exp.Expr:
        """A copy in which nothing names a LATERAL subquery any more."""

        def replaced(node: exp.Expr) -> exp.Expr:
            known = isinstance(node, exp.Column) and self._columns.get((node.table, node.name))
            return operand(known.copy()) if known else node

        return tree.copy().transform(replaced)

    def _lateral(self, join: exp.Join) -> None:
        body, alias = join.this.this.this, join.this.alias_or_name
        if not isinstance(body, exp.Select) or join.this.args["alias"].columns:
            raise _refused("write it as one SELECT with names for its columns", body)
        if not outside(body):
            join.set("this", derived(body, alias))
            self._done.append("joins", join)
        elif is_by_groups(body):
            self._of_groups(join, body, alias)
        elif any(aggregates.calls(item) for item in body.expressions):
            self._of_aggregates(join, body, alias)
        elif is_shaped(body):
            text = "correlate it by equal keys, without other subqueries, for its LIMIT"
            raise _refused(
                text if body.args.get("limit") else "take windows and grouping sets out of it", body
            )
        elif body.args.get("from_") is None:
            self._of_expressions(join, body, alias)
        else:
            self._of_rows(join, body, alias)

    def _keep(self, alias: str, body: exp.Select, values: Iterable[exp.Expr]) -> None:
        for name, value in zip(body.named_selects, values, strict=True):
            self._columns[alias, name] = value

    def _of_expressions(self, join: exp.Join, body: exp.Select, alias: str) -> None:
        if join.side or body.find(exp.Window, *GENERATORS):
            raise _refused("have its expressions in the SELECT itself", body)
        self._keep(alias, body, [item.unalias() for item in body.expressions])
        self._conditions += conjuncts(body.args.get("where"))
        self._filter(join)

    def _of_groups(self, join: exp.Join, body: exp.Select, alias: str) -> None:
        if _is_left_on_condition(join):
            raise _refused("LEFT JOIN it ON TRUE, with the condition in its HAVING", body)
        local, pairs = self._values.split_groups(body)
        if outside(local) or not pairs:
            raise _refused("name columns outside only in equalities with its own", body)
        name = self._values.free_name()
        self._keep(alias, body, [column(name, item) for item in body.named_selects])
        on = both(equalities(name, pairs))
        self._done.append(
            "joins", exp.Join(this=derived(local, name), side=join.side or None, on=on)
        )
        if not join.side:
            self._filter(join)

    def _of_aggregates(self, join: exp.Join, body: exp.Select, alias: str) -> None:
        if _is_left_on_condition(join):
            raise _refused("LEFT JOIN it ON TRUE: it always has a row", body)
        self._keep(alias, body, self._values.aggregated(body))
        if not join.side:
            self._filter(join)

    def _filter(self, join: exp.Join) -> None:
        """An inner join is the product, filtered by its condition."""
        if join.args.get("on") is not None:
            self._conditions.append(self._substituted(join.args["on"]))

    def _of_rows(self, join: exp.Join, body: exp.Select, alias: str) -> None:
        inside = names_in(body)
        parts = conjuncts(body.args.get("where"))
        correlated = [part for part in parts if outside(part, inside)]
        own = both(part.copy() for part in parts if part not in correlated)
        items = [item.unalias() for item in body.expressions]
        mixed = [item for item in items if outside(item, inside)]
        if any(part.find(exp.Query, exp.Window, *GENERATORS) for part in (*correlated, *mixed)):
            raise _refused("name columns outside in plain expressions only", body)
        returned = Returned(alias, inside)
        conditions = [returned.moved(part) for part in correlated]
        values = [
            returned.column(item)
            if item not in mixed
            else _if_found(alias, returned.moved(item))
            if join.side
            else returned.moved(item)
            for item in items
        ]
        local = body.copy()
        local.set("where", exp.Where(this=own) if own is not None else None)
        local.set("expressions", [*returned.items(), exp.alias_(exp.true(), _FOUND)])
        if outside(local):
            raise _refused("name columns outside in its SELECT and WHERE only", body)
        self._keep(alias, body, values)
        if join.args.get("on") is not None:
            conditions.append(self._substituted(join.args["on"]))
        relation, on = derived(local, alias), both(conditions) or exp.true()
        self._done.append("joins", exp.Join(this=relation, side=join.side or None, on=on))


def _is_left_on_condition(join: exp.Join) -> bool:
    on = join.args.get("on")
    return bool(join.side) and on is not None and on != exp.true()


def _if_found(alias: str, value: exp.Expr) -> exp.Expr:
    """A value that is NULL if the relation that is left joined has no row."""
    return exp.Case().when(exp.column(_FOUND, table=alias, quoted=True), value)


def _refused(way_out: str, clause: exp.Expr) -> NotFast:
    return not_fast(
        "CORRELATED", f"a LATERAL subquery has a form that is not followed; {way_out}", clause
    )
