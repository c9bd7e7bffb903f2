"""Columns of relations: named by these alone, also where they were named with a schema, as
`sales.orders.id`, and only those that are read."""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra.scopes import names_in
from dbt.adapters.spark_mv.sql.reads import relations_of

# What a subquery may have for columns to be left out of what it returns.
_PLAIN = frozenset({"expressions", "from_", "joins", "laterals", "where"})


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


def leave_out_unread(query: exp.Query) -> None:
    """Leave columns that nothing reads out of subqueries, as those of `SELECT *` in a WITH for each
    table; the query is one in which each column stands with its relation.

    >>> from sqlglot import parse_one
    >>> query = parse_one("SELECT o.id FROM (SELECT t.id AS id, t.n AS n FROM orders AS t) AS o")
    >>> leave_out_unread(query)
    >>> print(query.sql("spark"))
    SELECT o.id FROM (SELECT t.id AS id FROM orders AS t) AS o
    """
    for select in list(query.find_all(exp.Select)):  # those around others first
        for relation in relations_of(select):
            read = _read_of(select, relation) if _is_plain(relation) else None
            if read is not None:
                inner = relation.this
                kept = [item for item in inner.expressions if _is_needed(item, inner, read)]
                inner.set("expressions", kept or inner.expressions[:1])


def _is_plain(relation: exp.Expr) -> bool:
    inner = relation.this
    if not isinstance(relation, exp.Subquery) or not isinstance(inner, exp.Select):
        return False
    beside = {key for key, value in relation.args.items() if value} - {"this", "alias"}
    clauses = {key for key, value in inner.args.items() if value}
    return not beside and not relation.alias_column_names and clauses <= _PLAIN


def _read_of(select: exp.Select, relation: exp.Expr) -> set[str] | None:
    """The columns of a relation that a selection reads from it; None if it may read any."""
    inside = {id(node) for node in relation.find_all(exp.Column, exp.Star)}
    stars = (star for star in select.find_all(exp.Star) if id(star) not in inside)
    if any(not isinstance(star.parent, exp.Count) for star in stars):
        return None
    own, columns = relation.alias.lower(), select.find_all(exp.Column)
    return {
        column.name.lower()
        for column in columns
        if id(column) not in inside and column.table.lower() in ("", own)
    }


def _is_needed(item: exp.Expr, inner: exp.Select, read: set[str]) -> bool:
    if not isinstance(item.unalias(), exp.Column):
        return True
    name = item.alias_or_name.lower()
    return name in read or any(
        column.name.lower() == name for column in inner.find_all(exp.Column) if not column.table
    )
