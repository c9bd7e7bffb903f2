"""Reads FROM: tables, and queries that are no more than selections of tables and so become part of
the block that reads them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.block import LeftJoin
from dbt.adapters.spark_mv.rewrite.expressions import read
from dbt.adapters.spark_mv.rewrite.scopes import (
    Columns,
    Query,
    Relations,
    Scope,
    Table,
    alias_of,
    column_in,
    columns_called,
)
from dbt.adapters.spark_mv.rewrite.terms import ColumnOf, Term, binary, column_term, conjuncts
from dbt.adapters.spark_mv.rewrite.unmatched import QUERY, Unmatched
from dbt.adapters.spark_mv.sql.names import TableName

_MOST_TABLES = 12
_OF_A_TABLE = frozenset({"this", "db", "catalog", "alias"})
_JOINS = ("", "INNER", "CROSS", "OUTER")
# Reads a query in a scope and adds what it reads; returns its columns.
ReadQuery = Callable[["Sources", exp.Expr, Scope], tuple[tuple[str, ...], tuple[Term, ...]]]


class Sources:
    """What FROM clauses of one block, also nested ones, add up to."""

    def __init__(self, relations: Relations, read_query: ReadQuery) -> None:
        self._relations = relations
        self._read_query = read_query
        self.tables: list[TableName] = []
        self.conditions: list[Term] = []
        self.left_joins: list[LeftJoin] = []

    def read(self, select: exp.Select, scope: Scope) -> list[Columns]:
        """The relations of a FROM clause; their rows, joined, are those of the sources."""
        start = select.args.get("from_")
        if start is None:
            raise Unmatched(QUERY, "it reads no table")
        found = [self._relation(start.this, scope)]
        for join in select.args.get("joins") or ():
            self._join(join, found, scope)
        return found

    def add_conditions(self, node: exp.Expr, relations: list[Columns]) -> None:
        """Take in a condition on rows."""
        self.conditions += self._conditions(node, relations)

    def _conditions(self, node: exp.Expr, relations: list[Columns]) -> tuple[Term, ...]:
        return conjuncts(read(node, lambda column: known_column(relations, column)))

    def _join(self, join: exp.Join, found: list[Columns], scope: Scope) -> None:
        side, kind = (join.args.get("side") or "").upper(), (join.args.get("kind") or "").upper()
        is_known = side in ("", "LEFT") and kind in _JOINS and not join.args.get("method")
        if not is_known or any(join.args.get(name) for name in ("hint", "match_condition")):
            raise Unmatched(QUERY, "it has a join of another kind", join.sql("spark"))
        tables, conditions, joins = len(self.tables), len(self.conditions), len(self.left_joins)
        right = self._relation(join.this, scope)
        on: list[Term] = []
        if join.args.get("using"):
            right, on = _merged(join, found, right)
        found.append(right)
        if join.args.get("on") is not None:
            on += self._conditions(join.args["on"], found)
        if side != "LEFT":
            self.conditions += on
            return
        inner = self.conditions[conditions:]
        is_table = len(self.tables) == tables + 1 and len(self.left_joins) == joins
        if not is_table or any(term.column is None for term in right.terms):
            raise Unmatched(QUERY, "what it joins from the left is no table", join.sql("spark"))
        # A condition on rows that are joined only says which are partners.
        del self.conditions[conditions:]
        self.left_joins.append(LeftJoin(tables, frozenset([*inner, *on])))

    def _relation(self, node: exp.Expr, scope: Scope) -> Columns:
        called, renamed = alias_of(node)
        if isinstance(node, exp.Subquery):
            _refuse_more(node, {"this", "alias"})
            names, terms = self._read_query(self, node.this, scope)
            return columns_called((called,), renamed or names, terms)
        if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
            raise Unmatched(QUERY, "it reads what is no table", node.sql("spark"))
        _refuse_more(node, _OF_A_TABLE)
        parts = tuple(part.name for part in node.parts)
        qualifiers = (called,) if called else parts
        known = scope.named.get(parts[0].lower()) if len(parts) == 1 else None
        if known is not None:
            query, where, columns = known
            names, terms = self._read_query(self, query, where)
            return columns_called(qualifiers, renamed or columns or names, terms)
        return self._stored(parts, qualifiers, renamed, scope, node)

    def _stored(
        self,
        parts: tuple[str, ...],
        called: tuple[str, ...],
        renamed: tuple[str, ...],
        scope: Scope,
        node: exp.Expr,
    ) -> Columns:
        found = self._relations.find(parts, scope.home)
        if isinstance(found, Query):
            _, terms = self._read_query(self, found.tree, Scope(found.home))
            return columns_called(called, renamed or found.columns, terms)
        if not isinstance(found, Table):
            raise Unmatched(QUERY, "it reads what is no table", node.sql("spark"))
        if len(self.tables) >= _MOST_TABLES:
            raise Unmatched(QUERY, f"it reads more than {_MOST_TABLES} tables")
        occurrence = len(self.tables)
        self.tables.append(found.name)
        names = tuple(name for name, _ in found.columns)
        columns = (ColumnOf(occurrence, name, kind) for name, kind in found.columns)
        return columns_called(called, renamed or names, tuple(map(column_term, columns)))


def known_column(relations: list[Columns], node: exp.Column) -> Term:
    """The term of a column; raises `Unmatched` if no relation has it."""
    found = column_in(relations, node)
    if found is None:
        raise Unmatched(QUERY, "a column is that of no relation in FROM", node.sql("spark"))
    return found


def _merged(join: exp.Join, found: list[Columns], right: Columns) -> tuple[Columns, list[Term]]:
    """The right side of USING, and its conditions."""
    names = [column.name for column in join.args["using"]]
    on = []
    for name in names:
        column = exp.column(name, quoted=True)
        on.append(binary(exp.EQ, known_column(found, column), known_column([right], column)))
    return replace(right, merged=frozenset(name.lower() for name in names)), on


def _refuse_more(node: exp.Expr, known: frozenset[str] | set[str]) -> None:
    more = [name for name, value in node.args.items() if value and name not in known]
    if more:
        raise Unmatched(QUERY, f"a relation has {more[0].rstrip('_')}", node.sql("spark"))
