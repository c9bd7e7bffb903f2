"""Words in which delta queries are written: tables at two versions, changes, weights.

In a tree a base table is called `mv_table_<n>` as it is now, `mv_old_<n>` as it was when the
stored rows were made, and `mv_changes_<n>` is what lies between: its columns and a weight, above 0
for rows that came and below 0 for rows that went. Rows in which weights of equal rows add up to 0
did not change, so a change may list a row that came and went.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Protocol, TypeVar

from sqlglot import exp

from dbt.adapters.spark_mv.core.reasons import Reason
from dbt.adapters.spark_mv.ivm.algebra.written import as_written

TABLE, OLD, CHANGES = "mv_table_", "mv_old_", "mv_changes_"
WEIGHT = "mv_weight"
# Functions that make several rows, or none, of one.
GENERATORS = (exp.Explode, exp.ExplodeOuter, exp.Inline, exp.Stack)
_Tree = TypeVar("_Tree", bound=exp.Expr)


class NotFast(Exception):
    """A query, or a part of it, cannot be refreshed fast; `reason` says why and names the part."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(str(reason))
        self.reason = reason


def not_fast(code: str, text: str, clause: exp.Expr | str | None = None) -> NotFast:
    """The error for a part of a query that has no delta query; `text` says what to do instead."""
    shown = as_written(clause) if isinstance(clause, exp.Expr) else clause or ""
    shown = f"{shown[:200]} ..." if len(shown) > 200 else shown
    return NotFast(Reason(code, text, shown))


@dataclass
class Context:
    """One derivation: the tables that changed, and the named queries that it has made so far.

    `inserts_only` says that nothing has gone from the changed tables; `subtracts` that the delta
    can hold negative weights nevertheless. `only_keys` says that of the delta nothing counts but
    which values of exact columns it has: it may list more, and with other weights.
    """

    changed: frozenset[str]
    inserts_only: bool = False
    subtracts: bool = False
    only_keys: bool = False
    named: dict[str, exp.Query] = field(default_factory=dict)

    @property
    def only_adds(self) -> bool:
        """Whether the delta lists only rows that came, each with the weight 1."""
        return self.inserts_only and not self.subtracts

    def define(self, purpose: str, query: exp.Query) -> exp.Table:
        """A name under which the result may read `query` more than once; equal ones share it."""
        for known, other in self.named.items():
            if other == query:
                return exp.to_table(known)
        name = f"mv_{purpose}_{len(self.named)}"
        self.named[name] = query
        return exp.to_table(name)

    def touches(self, tree: exp.Expr) -> bool:
        """Whether the tree reads a table that changed."""
        return any(table.name in self.changed for table in tree.find_all(exp.Table))

    def old(self, tree: _Tree) -> _Tree:
        """A copy that reads the changed tables as they were."""
        copied = tree.copy()
        for table in [copied, *copied.find_all(exp.Table)]:
            if isinstance(table, exp.Table) and table.name in self.changed:
                table.set("this", exp.to_identifier(OLD + table.name.removeprefix(TABLE)))
        return copied


class Rule(Protocol):
    """The delta rules of parts, for the rule of what they are parts of."""

    context: Context

    def query(self, query: exp.Query) -> exp.Query | None:
        """The changes of a query's rows, with their weights; None if nothing it reads changed."""
        ...

    def relation(self, relation: exp.Expr) -> exp.Expr | None:
        """The changes of a relation under the same alias; None if nothing it reads changed."""
        ...


def column(relation: str, name: str) -> exp.Column:
    """A column of a relation."""
    return exp.column(name, table=relation, quoted=True)


def named_columns(query: exp.Query) -> list[str]:
    """Names of the columns that a query returns, in their order."""
    return list(query.named_selects)


def derived(query: exp.Query, alias: str) -> exp.Subquery:
    """`query` as a relation."""
    return query.subquery(alias, copy=False)


def both(conditions: Iterable[exp.Expr]) -> exp.Expr | None:
    """All of these conditions; None if there are none."""
    found = list(conditions)
    return reduce(lambda one, two: exp.and_(one, two, copy=False), found) if found else None


def conjuncts(condition: exp.Expr | None) -> list[exp.Expr]:
    """The parts of a condition that all have to hold."""
    if condition is None:
        return []
    inner = condition.unnest()
    if isinstance(inner, exp.Where):
        return conjuncts(inner.this)
    if isinstance(inner, exp.And):
        return [*conjuncts(inner.left), *conjuncts(inner.right)]
    return [condition]


def compared_columns(tree: exp.Expr) -> frozenset[str]:
    """Names, in small letters, of columns that are compared with columns by `=`."""
    pairs = [(part.this, part.expression) for part in tree.find_all(exp.EQ)]
    pairs = [pair for pair in pairs if all(isinstance(side, exp.Column) for side in pair)]
    return frozenset(side.name.lower() for pair in pairs for side in pair)


def ungrouped(query: exp.Select, items: Sequence[exp.Expr], prefix: str) -> exp.Select:
    """These expressions for each row that a selection puts into groups, as <prefix>_<n>."""
    outputs = [exp.alias_(item.copy(), f"{prefix}_{n}") for n, item in enumerate(items)]
    found = exp.Select(expressions=outputs)
    for part in ("from_", "joins", "laterals", "where"):
        value = query.args.get(part)
        if value:
            found.set(part, [v.copy() for v in value] if isinstance(value, list) else value.copy())
    return found


def all_of(queries: Sequence[exp.Query]) -> exp.Query | None:
    """UNION ALL of queries with the same columns; None if there are none."""
    if not queries:
        return None
    return reduce(lambda one, two: exp.union(one, two, distinct=False, copy=False), queries)


def exists(relation: exp.Expr, condition: exp.Expr | None) -> exp.Exists:
    """Whether any row of a relation meets a condition."""
    body = exp.select("1").from_(relation)
    return exp.Exists(this=body.where(condition) if condition is not None else body)


def no(condition: exp.Expr) -> exp.Expr:
    """The condition does not hold."""
    return exp.Not(this=condition)


def same(one: exp.Expr, two: exp.Expr) -> exp.Expr:
    """Equality under which NULL equals NULL, as grouping has it."""
    return exp.NullSafeEQ(this=operand(one), expression=operand(two))


def operand(expression: exp.Expr) -> exp.Expr:
    """An expression as part of another one: nothing else puts `a OR b` in parentheses."""
    if isinstance(expression, (exp.Binary, exp.Unary, exp.Predicate)):
        return exp.paren(expression, copy=False)
    return expression
