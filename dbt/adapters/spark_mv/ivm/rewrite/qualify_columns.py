"""Columns named with the schema of their table, as `sales.orders.id`, named by the table alone."""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra.scopes import names_in


def by_relation(tree: exp.Expr, columns: Collection[str]) -> None:
    """Leave schemas and catalogs out of a parsed tree whose tables stand under their names.

    `columns` are those of all tables: what begins with one of them, or with the name of a relation,
    may be a field of a struct, and stays.

    >>> from sqlglot import parse_one
    >>> query = parse_one("SELECT sales.orders.id, orders.place.city FROM sales.orders")
    >>> by_relation(query, columns=["id", "place"])
    >>> print(query.sql("spark"))
    SELECT orders.id, orders.place.city FROM sales.orders
    """
    _shorten(tree, frozenset(), frozenset(name.lower() for name in columns))


def _shorten(tree: exp.Expr, known: frozenset[str], columns: frozenset[str]) -> None:
    if isinstance(tree, exp.Select):
        known |= {name.lower() for name in names_in(tree)}
    if isinstance(tree, exp.Column) and tree.db and tree.table.lower() in known:
        first = (tree.catalog or tree.db).lower()
        if first not in known and first not in columns:
            tree.set("db", None)
            tree.set("catalog", None)
    for child in list(tree.iter_expressions()):
        _shorten(child, known, columns)
