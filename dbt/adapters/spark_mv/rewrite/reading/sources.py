"""Reads FROM: tables, and queries that are no more than selections of tables and so become part of
the block that reads them."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.block import Block, LeftJoin, Source
from dbt.adapters.spark_mv.rewrite.derived import DerivedRows
from dbt.adapters.spark_mv.rewrite.reading.expressions import read
from dbt.adapters.spark_mv.rewrite.reading.functions import Columns as ColumnTerms
from dbt.adapters.spark_mv.rewrite.reading.scopes import (
    Columns,
    Query,
    Relations,
    Scope,
    Table,
    alias_of,
    column_in,
    columns_called,
)
from dbt.adapters.spark_mv.rewrite.reading.subqueries import Expressions
from dbt.adapters.spark_mv.rewrite.terms import ColumnOf, Term, binary, column_term, conjuncts
from dbt.adapters.spark_mv.rewrite.unmatched import QUERY, Unmatched

_MOST_TABLES = 12
_OF_A_TABLE = frozenset({"this", "db", "catalog", "alias"})
_JOINS = ("", "INNER", "CROSS", "OUTER")
_Read = tuple[tuple[str, ...], tuple[Term, ...]]


class Queries(Protocol):
    """Reads the queries in FROM and in expressions."""

    def merge(self, sources: Sources, query: exp.Expr, scope: Scope) -> _Read:
        """Add what a query reads, if all it does is to select; returns its columns."""
        ...

    def derive(self, query: exp.Expr, scope: Scope) -> DerivedRows:
        """A query as a table of its own."""
        ...

    def inner(self, query: exp.Expr, scope: Scope, outer: ColumnTerms) -> Block:
        """The block of a subquery; `outer` reads the columns that it does not have itself."""
        ...


class Sources:
    """What FROM clauses of one block, also nested ones, add up to."""

    def __init__(
        self, relations: Relations, queries: Queries, outer: ColumnTerms | None = None
    ) -> None:
        self._relations = relations
        self._queries = queries
        self._outer = outer
        self.tables: list[Source] = []
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

    def add_conditions(self, node: exp.Expr, relations: list[Columns], scope: Scope) -> None:
        """Take in a condition on rows."""
        found = Expressions(self._queries, scope).read(node, self._columns(relations))
        self.conditions += conjuncts(found)

    def _columns(self, relations: list[Columns]) -> ColumnTerms:
        """Reads the columns of relations, and those of the query around a subquery."""

        def found(column: exp.Column) -> Term:
            if self._outer is None:
                return known_column(relations, column)
            return column_in(relations, column) or self._outer(column)

        return found

    def _join(self, join: exp.Join, found: list[Columns], scope: Scope) -> None:
        side, kind = (join.args.get("side") or "").upper(), (join.args.get("kind") or "").upper()
        is_known = side in ("", "LEFT") and kind in _JOINS and not join.args.get("method")
        if not is_known or any(join.args.get(name) for name in ("hint", "match_condition")):
            raise Unmatched(QUERY, "it has a join of another kind", join.sql("spark"))
        conditions, occurrence = len(self.conditions), len(self.tables)
        right = self._relation(join.this, scope, side == "LEFT")
        on: list[Term] = []
        if join.args.get("using"):
            right, on = _merged(join, found, right)
        found.append(right)
        if join.args.get("on") is not None:
            on += conjuncts(read(join.args["on"], self._columns(found)))
        if side != "LEFT":
            self.conditions += on
            return
        # A condition on rows that are joined only says which are partners.
        inner = self.conditions[conditions:]
        del self.conditions[conditions:]
        self.left_joins.append(LeftJoin(occurrence, frozenset([*inner, *on])))

    def _query(self, query: exp.Expr, scope: Scope, is_one: bool) -> _Read:
        """The columns of a query in FROM, whose rows may have to be those of one occurrence."""
        before = len(self.tables), len(self.conditions), len(self.left_joins)
        try:
            names, terms = self._queries.merge(self, query, scope)
            is_table = len(self.tables) == before[0] + 1 and len(self.left_joins) == before[2]
            if not is_one or (is_table and all(term.column is not None for term in terms)):
                return names, terms
        except Unmatched:
            pass  # it is a table of its own, or is refused as one
        del self.tables[before[0] :], self.conditions[before[1] :], self.left_joins[before[2] :]
        rows = self._queries.derive(query, scope).at(len(self.tables))
        self._add_table(rows.source)
        self.conditions += rows.conditions
        return rows.names, tuple(map(column_term, rows.columns))

    def _add_table(self, table: Source) -> None:
        if len(self.tables) >= _MOST_TABLES:
            raise Unmatched(QUERY, f"it reads more than {_MOST_TABLES} tables")
        self.tables.append(table)

    def _relation(self, node: exp.Expr, scope: Scope, is_one: bool = False) -> Columns:
        called, renamed = alias_of(node)
        if isinstance(node, exp.Subquery):
            _refuse_more(node, {"this", "alias"})
            names, terms = self._query(node.this, scope, is_one)
            return columns_called((called,), renamed or names, terms)
        if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
            raise Unmatched(QUERY, "it reads what is no table", node.sql("spark"))
        _refuse_more(node, _OF_A_TABLE)
        parts = tuple(part.name for part in node.parts)
        qualifiers = (called,) if called else parts
        known = scope.named.get(parts[0].lower()) if len(parts) == 1 else None
        if known is not None:
            query, where, columns = known
            names, terms = self._query(query, where, is_one)
            return columns_called(qualifiers, renamed or columns or names, terms)
        found = self._relations.find(parts, scope.home)
        if isinstance(found, Query):
            _, terms = self._query(found.tree, Scope(found.home), is_one)
            return columns_called(qualifiers, renamed or found.columns, terms)
        if not isinstance(found, Table):
            raise Unmatched(QUERY, "it reads what is no table", node.sql("spark"))
        occurrence = len(self.tables)
        self._add_table(found.name)
        shown = tuple(name for name, _ in found.columns)
        terms = tuple(column_term(ColumnOf(occurrence, name, kind)) for name, kind in found.columns)
        return columns_called(qualifiers, renamed or shown, terms)


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
    return replace(right, using=tuple(name.lower() for name in names)), on


def _refuse_more(node: exp.Expr, known: frozenset[str] | set[str]) -> None:
    more = [name for name, value in node.args.items() if value and name not in known]
    if more:
        raise Unmatched(QUERY, f"a relation has {more[0].rstrip('_')}", node.sql("spark"))
