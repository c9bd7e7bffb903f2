"""Subqueries as values: each is a relation that is joined, of one row or of one for each key.

- `(SELECT MAX(x) FROM t)` has one row always: a cross join.
- `(SELECT SUM(x) FROM t WHERE t.k = o.k)` is a left join of the sums by key; a key without rows has
  counts of 0 and NULL for the rest.
- `EXISTS` is a left join of the keys that are there, or of which there are groups; IN, in WHERE,
  one of keys and values, and the counts that tell its NULL from FALSE.

>>> from sqlglot import parse_one
>>> query = parse_one("SELECT o.id FROM orders AS o")
>>> value = parse_one("(SELECT COUNT(*) FROM lines AS l WHERE l.order_id = o.id)")
>>> lines = Scalars(query, canonical=lambda part: part).without(value)
>>> print(query.select(lines).sql("spark"))
SELECT o.id, (COALESCE(`mv_value_0`.`mv_output_0`, 0)) FROM orders AS o
LEFT JOIN (SELECT l.order_id AS mv_key_0, COUNT(*) AS mv_output_0 FROM lines AS l
  GROUP BY l.order_id) AS mv_value_0 ON o.id = `mv_value_0`.`mv_key_0`
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import cast

from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra import aggregates
from dbt.adapters.spark_mv.ivm.algebra.scopes import (
    is_by_groups,
    is_one_row,
    is_shaped,
    names_in,
    outside,
)
from dbt.adapters.spark_mv.ivm.algebra.terms import (
    NotFast,
    both,
    column,
    conjuncts,
    derived,
    not_fast,
)
from dbt.adapters.spark_mv.ivm.algebra.written import standing_for
from dbt.adapters.spark_mv.sql.reads import relations_of

JOINED = "mv_value_"
_GROUPS = "mv_groups"
_SPREAD = (exp.Stddev, exp.StddevSamp, exp.StddevPop, exp.Variance, exp.VariancePop)
_OF_PAIRS = (exp.Corr, exp.CovarSamp, exp.CovarPop)
# NULL over no rows.
_NULL_OF_NOTHING = (exp.Sum, exp.Avg, exp.Min, exp.Max, *_SPREAD, *_OF_PAIRS)
Pair = tuple[exp.Expr, exp.Expr, type[exp.Binary]]


@dataclass
class Scalars:
    """The subqueries of one selection; `canonical` rewrites what is joined."""

    query: exp.Select
    canonical: Callable[[exp.Query], exp.Query]
    joined: dict[tuple[exp.Expr, ...], str] = field(default_factory=dict)

    def without(self, tree: exp.Expr) -> exp.Expr:
        """An expression in which joined columns stand for subqueries; raises `NotFast`."""
        if tree.find(exp.Query) is None:
            return tree

        def replaced(node: exp.Expr) -> exp.Expr:
            if isinstance(node, exp.Exists):
                return exp.paren(self._exists(node))
            if isinstance(node, exp.In) and node.args.get("query") is not None:
                return exp.paren(self._in(node))
            if isinstance(node, (exp.Any, exp.All)) and node.find(exp.Query):
                text = "ANY and ALL are not followed; compare with MIN or MAX of the subquery"
                raise not_fast("SUBQUERY", text, node)
            return exp.paren(self._value(node)) if isinstance(node, exp.Query) else node

        return tree.copy().transform(replaced)

    def _value(self, node: exp.Query) -> exp.Expr:
        body = node.unnest()
        return self.aggregated(body)[0] if outside(body) else self._only_value(node)

    def aggregated(self, body: exp.Expr) -> list[exp.Expr]:
        """The columns of a subquery of aggregates that is correlated by equalities, as expressions
        over a relation that is joined; raises `NotFast`."""
        local, pairs = self._plain(body)
        items = [item.unalias() for item in local.expressions]
        listed = [aggregates.calls(item) for item in items]
        for item, calls in zip(items, listed, strict=True):
            if not calls or item.find(exp.Window) or outside(item, names_in(local)):
                raise _correlated("make its columns aggregates of its own columns", body)
        every = [call for calls in listed for call in calls]
        joined, names = self._join(local, pairs, every)
        inside = {
            id(call): _of_none(call, column(joined, name))
            for call, name in zip(every, names, strict=True)
        }
        found = [
            item.transform(lambda part: inside.get(id(part), part), copy=False) for item in items
        ]
        if any(part.table != joined for item in found for part in item.find_all(exp.Column)):
            raise _correlated("make its columns aggregates of its own columns", body)
        return found

    def _only_value(self, node: exp.Query) -> exp.Expr:
        body = self.canonical(cast(exp.Query, node.unnest().copy()))
        if not is_one_row(body):
            text = "a subquery as a value has to have exactly one row: make it an aggregate"
            text += " such as MAX, without GROUP BY and HAVING, or join it"
            raise not_fast("SCALAR_SUBQUERY", text, node)
        return column(self._joined(body, ()), body.named_selects[0])

    def _exists(self, node: exp.Exists) -> exp.Expr:
        body = node.this.unnest()
        if not outside(body):
            counted = exp.alias_(exp.Count(this=exp.Star()) > 0, "mv_found")
            found = exp.Select(expressions=[counted]).from_(derived(body.copy(), "mv_inner"))
            return column(self._joined(self.canonical(found), ()), "mv_found")
        local, pairs = self._of_groups(body) if is_by_groups(body) else self._plain(body)
        joined, (marker,) = self._join(local, pairs, [exp.true()])
        return exp.Not(this=column(joined, marker).is_(exp.null()))

    def _in(self, node: exp.In) -> exp.Expr:
        """TRUE if it is among the values; else NULL if it, or one of them, is NULL; else FALSE."""
        sought, body = node.this, node.args["query"].unnest()
        if not _is_condition(node):
            text = (
                "as a value, Spark returns FALSE for an IN that should be NULL; use EXISTS, or "
                "join the subquery"
            )
            raise not_fast("SUBQUERY", text, node)
        if isinstance(sought.unnest(), exp.Tuple) or sought.find(exp.Query, exp.Window):
            raise not_fast("SUBQUERY", "the left of IN is no plain value; use EXISTS", node)
        if outside(body):
            local, pairs = self._plain(body)
        else:
            name = body.named_selects[0]
            item = exp.alias_(column("mv_inner", name), name, quoted=True)
            local, pairs = exp.Select(expressions=[item]).from_(derived(body, "mv_inner")), []
        value = local.expressions[0].unalias()
        # A number alone would be the place of a column in GROUP BY.
        if outside(value, names_in(local)) or value.find(exp.Column) is None:
            raise _correlated("make its only column one of its own", node)
        among, (marker,) = self._join(local, [*pairs, (value, sought, exp.EQ)], [exp.true()])
        both_counts: list[exp.Expr] = [exp.Count(this=exp.Star()), exp.Count(this=value.copy())]
        counts, (rows, known) = self._join(local, pairs, both_counts)
        none = exp.func("coalesce", column(counts, rows), 0).eq(0)
        unknown = exp.or_(
            sought.copy().is_(exp.null()), column(counts, rows) > column(counts, known)
        )
        return (
            exp.Case()
            .when(exp.Not(this=column(among, marker).is_(exp.null())), exp.true())
            .when(none, exp.false())
            .when(unknown, exp.null())
            .else_(exp.false())
        )

    def _plain(self, body: exp.Expr) -> tuple[exp.Select, list[Pair]]:
        """As `split`, of a subquery that returns a row for each row of its relations."""
        if not isinstance(body, exp.Select) or is_shaped(body):
            raise _correlated("take grouping, DISTINCT and LIMIT out of it", body)
        return self.split(body)

    def _of_groups(self, body: exp.Select) -> tuple[exp.Select, list[Pair]]:
        """As `_plain`, of a subquery that returns groups of its rows."""
        local, pairs = self.split_groups(exp.Select(**{**body.copy().args, "expressions": []}))
        if outside(local) or not pairs:
            raise _correlated("name columns outside only in equalities with its own", body)
        keys: list[Pair] = [
            (standing_for(column(_GROUPS, f"mv_key_{number}"), own), other, kind)
            for number, (own, other, kind) in enumerate(pairs)
        ]
        return exp.Select().from_(derived(local, _GROUPS)), keys

    def split_groups(self, body: exp.Select) -> tuple[exp.Select, list[Pair]]:
        """As `split`; what its rows are grouped by includes its sides, which it returns as
        mv_key_<n>."""
        local, pairs = self.split(body)
        group = local.args.get("group")
        for number, (own, _, _) in enumerate(pairs):
            local.append("expressions", exp.alias_(own.copy(), f"mv_key_{number}"))
            if group is not None and own not in group.expressions:
                group.append("expressions", own.copy())
        return local, pairs

    def split(self, body: exp.Select) -> tuple[exp.Select, list[Pair]]:
        """A subquery without the equalities with columns outside, and these: its side first."""
        local, pairs, kept = body.copy(), [], []
        inside = names_in(local)
        for part in conjuncts(local.args.get("where")):
            if outside(part, inside):
                pairs.append(self._pair(part, inside))
            else:
                kept.append(part)
        condition = both(kept)
        local.set("where", exp.Where(this=condition) if condition is not None else None)
        if any(outside(join, inside) for join in local.args.get("joins") or []):
            raise _correlated("name columns outside in its WHERE only", body)
        return local, pairs

    def _pair(self, condition: exp.Expr, inside: frozenset[str]) -> Pair:
        part = condition.unnest()
        sides = [part.this, part.expression] if isinstance(part, (exp.EQ, exp.NullSafeEQ)) else []
        visible = frozenset(item.alias_or_name for item in relations_of(self.query))
        for own, other in (sides, sides[::-1]) if sides else ():
            names = {found.table for found in own.find_all(exp.Column)}
            others = {found.table for found in other.find_all(exp.Column)}
            plain = not part.find(exp.Query) and names and names <= inside
            if plain and not others & inside and others <= visible:
                return own, other, cast("type[exp.Binary]", type(part))
        raise _correlated("name columns outside only in equalities with its own", condition)

    def _join(
        self, local: exp.Select, pairs: Sequence[Pair], outputs: list[exp.Expr]
    ) -> tuple[str, list[str]]:
        """Join these columns of `local` by the pairs; returns the relation and the columns."""
        keys = [own for own, _, _ in pairs]
        found = local.copy()
        names = [f"mv_output_{number}" for number in range(len(outputs))]
        named = [exp.alias_(key.copy(), f"mv_key_{number}") for number, key in enumerate(keys)]
        pairs_of = zip(outputs, names, strict=True)
        found.set("expressions", [*named, *(exp.alias_(item.copy(), n) for item, n in pairs_of)])
        if keys:
            found = found.group_by(*(key.copy() for key in keys), copy=False)
        return self._joined(self.canonical(found), pairs), names

    def _joined(self, body: exp.Query, pairs: Sequence[Pair]) -> str:
        """Join a relation, once if it is the same; returns its name."""
        key = (body, *(other for _, other, _ in pairs))
        if key in self.joined:
            return self.joined[key]
        alias = self.joined[key] = self.free_name()
        relation = derived(body, alias)
        if pairs:
            on = both(equalities(alias, pairs))
            self.query.append("joins", exp.Join(this=relation, side="LEFT", on=on))
        elif self.query.args.get("from_") is None:
            self.query.set("from_", exp.From(this=relation))
        else:
            self.query.append("joins", exp.Join(this=relation, kind="CROSS"))
        return alias

    def free_name(self) -> str:
        """A name for one more joined subquery."""
        taken = [item.alias_or_name for item in relations_of(self.query)]
        return f"{JOINED}{sum(name.startswith(JOINED) for name in taken)}"


def asks_for_groups(condition: exp.Expr) -> bool:
    """Whether a condition is, or has, EXISTS of groups that are correlated."""
    bodies = [node.this.unnest() for node in condition.find_all(exp.Exists)]
    return any(is_by_groups(body) and bool(outside(body)) for body in bodies)


def equalities(relation: str, pairs: Sequence[Pair]) -> list[exp.Expr]:
    """The conditions that join a relation, whose keys are mv_key_<n>, by the pairs."""
    return [
        kind(this=other.copy(), expression=standing_for(column(relation, f"mv_key_{number}"), own))
        for number, (own, other, kind) in enumerate(pairs)
    ]


def _is_condition(node: exp.Expr) -> bool:
    """Whether nothing but AND, OR and NOT stands above it, so that NULL is as good as FALSE."""
    above = node.parent
    while isinstance(above, (exp.And, exp.Or, exp.Not, exp.Paren)):
        above = above.parent
    return above is None


def _of_none(call: exp.Expr, joined: exp.Expr) -> exp.Expr:
    """A joined aggregate, with its value over no rows where there are none."""
    function = call.this if isinstance(call, exp.Filter) else call
    if isinstance(function, exp.Count):
        return exp.func("coalesce", joined, 0)
    if isinstance(function, _NULL_OF_NOTHING):
        return joined
    raise _correlated("its aggregate has no known value over no rows; join it", call)


def _correlated(way_out: str, clause: exp.Expr) -> NotFast:
    text = f"a correlated subquery has a form that is not followed; {way_out}"
    return not_fast("CORRELATED", text, clause)
