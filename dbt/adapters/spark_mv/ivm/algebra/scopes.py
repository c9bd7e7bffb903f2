"""Which columns of a subquery are of relations outside of it, and which it has to return."""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra import aggregates
from dbt.adapters.spark_mv.ivm.algebra.terms import column
from dbt.adapters.spark_mv.sql.reads import relations_of

_SHAPING = ("group", "having", "distinct", "limit", "offset", "windows", "qualify", "laterals")


def is_shaped(query: exp.Select) -> bool:
    """Whether it returns anything but a row for each row of its relations that meets WHERE."""
    return any(query.args.get(key) for key in _SHAPING)


def is_one_row(relation: exp.Expr) -> bool:
    """Whether a relation, or a canonical query, has exactly one row, which depends on tables."""
    query = relation.this if isinstance(relation, exp.Subquery) else relation
    if not isinstance(query, exp.Select) or is_shaped(query):
        return False
    if any(item.find(exp.Window) for item in query.expressions):
        return False
    if aggregates.is_grouped(query):
        return True
    joins = query.args.get("joins") or []
    crossed = not any(join.side or join.args.get("on") for join in joins)
    start = query.args.get("from_")
    if start is None or query.args.get("where") or not crossed:
        return False
    return all(is_one_row(relation) for relation in (start.this, *(join.this for join in joins)))


def is_by_groups(body: exp.Expr) -> bool:
    """Whether the rows of a subquery are groups by its own keys, or different rows, and nothing
    more."""
    if not isinstance(body, exp.Select):
        return False
    group, rest = body.args.get("group"), body.copy()
    for key in ("group", "having", "distinct"):
        rest.set(key, None)
    if is_shaped(rest):
        return False
    if group is not None:
        return not any(value for key, value in group.args.items() if key != "expressions")
    calls = any(aggregates.calls(item) for item in body.expressions)
    return bool(body.args.get("distinct")) and not calls


def names_in(query: exp.Select) -> frozenset[str]:
    """The names by which columns of a selection refer to its relations."""
    relations = [*relations_of(query), *(query.args.get("laterals") or [])]
    return frozenset(relation.alias_or_name for relation in relations)


def outside(tree: exp.Expr, bound: frozenset[str] = frozenset()) -> list[exp.Column]:
    """The columns in a tree of relations that are neither `bound` nor in the tree."""
    if isinstance(tree, exp.Column):
        return [tree] if tree.table and tree.table not in bound else []
    if isinstance(tree, exp.Select):
        bound |= names_in(tree)
    return [found for child in tree.iter_expressions() for found in outside(child, bound)]


class Returned:
    """What a subquery has to return, so that expressions over the relations `inside` of it can
    stand outside, where it is called `relation`."""

    def __init__(self, relation: str, inside: Collection[str]) -> None:
        self._relation, self._inside = relation, inside
        self._names: dict[exp.Expr, str] = {}

    def column(self, item: exp.Expr) -> exp.Expr:
        """The column that holds an expression over its relations."""
        name = self._names.setdefault(item.copy(), f"mv_column_{len(self._names)}")
        return column(self._relation, name)

    def moved(self, tree: exp.Expr) -> exp.Expr:
        """An expression over relations inside and outside, as it is outside."""

        def replaced(node: exp.Expr) -> exp.Expr:
            own = isinstance(node, exp.Column) and node.table in self._inside
            return self.column(node) if own else node

        return tree.copy().transform(replaced)

    def items(self) -> list[exp.Expr]:
        """What it has to return."""
        return [exp.alias_(item.copy(), name) for item, name in self._names.items()]
