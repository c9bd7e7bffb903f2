"""Which columns of a subquery are of relations outside of it."""

from __future__ import annotations

from sqlglot import exp


def relations_of(query: exp.Select) -> list[exp.Expr]:
    """The relations of FROM and of joins."""
    start = query.args.get("from_")
    if start is None:
        return []
    return [start.this, *(join.this for join in query.args.get("joins") or [])]


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
