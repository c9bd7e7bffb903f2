"""Reads FROM: tables, and queries that are no more than selections of tables and so become part of
the block that reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.block import Block, LeftJoin, Output, Source
from dbt.adapters.spark_mv.rewrite.conditions.conjuncts import conjuncts
from dbt.adapters.spark_mv.rewrite.derived import DerivedRows, full_join, rows_of
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
    known_column,
    with_columns,
)
from dbt.adapters.spark_mv.rewrite.reading.subqueries import Expressions
from dbt.adapters.spark_mv.rewrite.reading.using import (
    equal_by_using,
    is_natural,
    merge_by_using,
    of_any,
    of_left,
    of_right,
    shown_column,
)
from dbt.adapters.spark_mv.rewrite.terms import ColumnOf, Term, column_term, negated
from dbt.adapters.spark_mv.rewrite.unmatched import QUERY, Unmatched

_MOST_TABLES = 12
_OF_A_TABLE = frozenset({"this", "db", "catalog", "alias"})
_JOINS = {
    "": ("", "INNER", "CROSS"),
    "LEFT": ("", "OUTER"),
    "RIGHT": ("", "OUTER"),
    "FULL": ("", "OUTER"),
}
_OF_OTHER_JOINS = ("hint", "match_condition")
_TESTS = ("SEMI", "ANTI")
# What the relations before a join are called where it only tests for partners.
_BEFORE = "mv_before"
_Read = tuple[tuple[str, ...], tuple[Term, ...]]


@dataclass(frozen=True)
class _Mark:
    """How much had been read at some time."""

    tables: int
    conditions: int
    left_joins: int


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
        begun = self._end
        found = [self._relation(start.this, scope)]
        for join in select.args.get("joins") or ():
            self._join(join, found, scope, begun)
        return found

    @property
    def _end(self) -> _Mark:
        return _Mark(len(self.tables), len(self.conditions), len(self.left_joins))

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

    def _join(self, join: exp.Join, found: list[Columns], scope: Scope, begun: _Mark) -> None:
        side, kind = (join.args.get("side") or "").upper(), (join.args.get("kind") or "").upper()
        is_test = side in ("", "LEFT") and kind in _TESTS and bool(_conditions(join))
        is_known = is_test or kind in _JOINS.get(side, ())
        is_known = is_known and (not join.method or (is_natural(join) and not is_test))
        if not is_known or any(join.args.get(name) for name in _OF_OTHER_JOINS):
            raise Unmatched(QUERY, "it has a join of another kind", join.sql("spark"))
        if is_test:
            self._test(join, kind, found, scope)
        elif side == "FULL":
            self._join_full(join, found, scope, begun)
        elif side == "RIGHT":
            self._join_right(join, found, scope, begun)
        else:
            self._join_rows(join, found, scope, side == "LEFT")

    def _join_rows(
        self, join: exp.Join, found: list[Columns], scope: Scope, is_outer: bool
    ) -> None:
        before = self._end
        found.append(self._relation(join.this, scope, is_outer))
        on = self._on(join, found, None if is_outer else scope)
        if is_outer:
            partners = (*self._conditions_since(before), *on)
            self.left_joins.append(LeftJoin(before.tables, partners))
        else:
            self.conditions += on
        merge_by_using(join, found, of_left)

    def _on(
        self, join: exp.Join, found: list[Columns], scope: Scope | None = None
    ) -> tuple[Term, ...]:
        """The conditions of a join; with a `scope` they may have subqueries."""
        if join.args.get("using") or is_natural(join):
            return equal_by_using(join, found)
        node = join.args.get("on")
        reader = Expressions(self._queries, scope).read if scope is not None else read
        return conjuncts(reader(node, self._columns(found))) if node is not None else ()

    def _join_right(self, join: exp.Join, found: list[Columns], scope: Scope, begun: _Mark) -> None:
        """What stands before a RIGHT JOIN is joined by LEFT JOIN to what comes after it."""
        if not self._is_one(begun, [term for one in found for term in one.terms]):
            self._add_rows(self._taken(found, begun), found)
        inner = self._conditions_since(begun)
        found.append(self._relation(join.this, scope))
        partners = (*inner, *self._on(join, found))
        self.left_joins.append(LeftJoin(begun.tables, partners))
        merge_by_using(join, found, of_right)

    def _join_full(self, join: exp.Join, found: list[Columns], scope: Scope, begun: _Mark) -> None:
        """The rows of a FULL JOIN are those of a table of its own."""
        left = self._taken(found, begun)
        found.append(self._relation(join.this, scope))
        right = self._taken(found[-1:], begun)
        sides = with_columns(found, (*left.columns, *right.at(1).columns))
        self._add_rows(full_join(left, right, self._on(join, sides)), found)
        merge_by_using(join, found, of_any)

    def _is_one(self, begun: _Mark, terms: Sequence[Term]) -> bool:
        """Whether what was read since then is one occurrence, and these are columns of it."""
        now = self._end
        is_table = now.tables == begun.tables + 1 and now.left_joins == begun.left_joins
        return is_table and all(term.column is not None for term in terms)

    def _conditions_since(self, begun: _Mark) -> list[Term]:
        """Takes out conditions on rows that are joined: they only say which are partners."""
        found = self.conditions[begun.conditions :]
        del self.conditions[begun.conditions :]
        return found

    def _add_rows(self, rows: DerivedRows, found: list[Columns]) -> None:
        """Add rows as a table that has all columns of these relations."""
        rows = rows.at(len(self.tables))
        self._add_table(rows.source)
        found[:] = with_columns(found, rows.columns)

    def _taken(self, found: Sequence[Columns], begun: _Mark) -> DerivedRows:
        """Takes out what was read since then, as the rows of a query with these columns."""
        pairs = (pair for one in found for pair in zip(one.names, one.terms, strict=True))
        outputs = [Output(name, term) for name, term in pairs]
        block = Block(
            tuple(self.tables[begun.tables :]),
            tuple(self.conditions[begun.conditions :]),
            tuple(self.left_joins[begun.left_joins :]),
            tuple(outputs),
        )
        self._forget(begun)
        numbers = {begun.tables + n: n for n in range(len(block.tables))}
        return rows_of(block.renumbered(numbers), limits=False)

    def _test(self, join: exp.Join, kind: str, found: list[Columns], scope: Scope) -> None:
        """SEMI and ANTI JOIN are conditions: that there is a partner, or none."""
        merge_by_using(join, found, shown_column)
        query = exp.select("1").from_(join.this.copy())
        if join.args.get("on") is not None:
            query = query.where(join.args["on"].copy())
        for column in join.args.get("using") or ():
            pair = [exp.column(column.name, table, quoted=True) for table in (None, _BEFORE)]
            query = query.where(exp.EQ(this=pair[0], expression=pair[1]))
        known = self._columns(found)

        def columns(node: exp.Column) -> Term:
            is_before = node.table == _BEFORE
            return known(exp.column(node.name, quoted=True) if is_before else node)

        test = Expressions(self._queries, scope).read(exp.Exists(this=query), columns)
        self.conditions.append(test if kind == "SEMI" else negated(test))

    def _forget(self, begun: _Mark) -> None:
        del self.tables[begun.tables :]
        del self.conditions[begun.conditions :]
        del self.left_joins[begun.left_joins :]

    def _query(self, query: exp.Expr, scope: Scope, is_one: bool) -> _Read:
        """The columns of a query in FROM, whose rows may have to be those of one occurrence."""
        before = self._end
        try:
            names, terms = self._queries.merge(self, query, scope)
            if not is_one or self._is_one(before, terms):
                return names, terms
        except Unmatched:
            pass  # it is a table of its own, or is refused as one
        self._forget(before)
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


def _conditions(join: exp.Join) -> object:
    return join.args.get("on") or join.args.get("using")


def _refuse_more(node: exp.Expr, known: frozenset[str] | set[str]) -> None:
    more = [name for name, value in node.args.items() if value and name not in known]
    if more:
        raise Unmatched(QUERY, f"a relation has {more[0].rstrip('_')}", node.sql("spark"))
