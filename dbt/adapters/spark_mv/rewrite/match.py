"""Is a block answered by a view? Holds the normal forms of both against each other.

The rules follow J. Goldstein and P.-A. Larson, "Optimizing queries using materialized views: a
practical, scalable solution" (SIGMOD 2001), with roll-ups through what the storage table holds
beside the columns of the view.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from sqlglot import exp

from dbt.adapters.spark_mv.catalog.constraints import Constraint
from dbt.adapters.spark_mv.rewrite.aggregates.calls import StoredCalls
from dbt.adapters.spark_mv.rewrite.block import Block, Derived
from dbt.adapters.spark_mv.rewrite.conditions.facts import Facts, facts_of
from dbt.adapters.spark_mv.rewrite.conditions.stand_ins import stand_in
from dbt.adapters.spark_mv.rewrite.derive import Calls, Deriver, no_calls
from dbt.adapters.spark_mv.rewrite.extra import without_extra, without_nulls
from dbt.adapters.spark_mv.rewrite.occurrences import maps
from dbt.adapters.spark_mv.rewrite.outer import as_outer
from dbt.adapters.spark_mv.rewrite.returned import calls_aggregate, keys_of_returned, keys_of_sets
from dbt.adapters.spark_mv.rewrite.rows import RowsTest, implies
from dbt.adapters.spark_mv.rewrite.stored import StoredView
from dbt.adapters.spark_mv.rewrite.terms import ColumnOf, Term, binary, counted_rows, made, replaced
from dbt.adapters.spark_mv.rewrite.text import Answer, Missing
from dbt.adapters.spark_mv.rewrite.united import rest_of, united
from dbt.adapters.spark_mv.rewrite.unmatched import (
    NOT_COVERED,
    NOT_DERIVABLE,
    OTHER_TABLES,
    QUERY,
    VIEW,
    Unmatched,
)

_HAS_ROWS = binary(exp.LTE, made(exp.Literal.number(1)), counted_rows())


@dataclass(frozen=True)
class Known:
    """What is known of the tables: how many rows the one table of a query has at most, None if that
    is not known, and what holds for their rows. With `unites` a view is to be united with rows that
    it leaves out."""

    most_rows: int | None = None
    held: Collection[Constraint] = ()
    unites: bool = False


def match(forms: Sequence[Block], view: StoredView, known: Known) -> Answer:
    """How a block, in one of its normal forms, is answered by the view; raises `Unmatched` with the
    reason if it is not."""
    last: Unmatched | None = None
    for query, kept in product(forms, [view, *([view.rows] if view.rows is not None else [])]):
        for less in without_extra(kept, Counter(query.tables), known.held):
            try:
                return _match(query, less, known)
            except Unmatched as error:
                last = error if last is None or last.reason.code == OTHER_TABLES else last
            except RecursionError:
                raise Unmatched(QUERY, "its expressions are too deep") from None
    if last is None:
        is_whole = any(isinstance(table, Derived) for table in view.block.tables)
        text = "the query lacks its windows, unions, full joins or sets of keys, or has others"
        raise Unmatched(
            OTHER_TABLES, text if is_whole else "it reads tables that the query does not read"
        )
    raise last


def _match(query: Block, view: StoredView, known: Known) -> Answer:
    if view.block.limit:
        raise Unmatched(VIEW, "the view has a LIMIT")
    if view.facts.is_empty:
        raise Unmatched(VIEW, "no row can meet all conditions of the view")
    last: Unmatched | None = None
    for occurrences in maps(query, view.block):
        try:
            return _answer(query, view, occurrences, known)
        except Unmatched as error:
            last = last or error
    assert last is not None, "all its tables are among those of the query"
    raise last


def _answer(query: Block, view: StoredView, occurrences: dict[int, int], known: Known) -> Answer:
    """How the view answers the block by one assignment of occurrences."""
    mapped, taken = view.renumbered(occurrences), set(occurrences.values())
    last: Unmatched | None = None
    for form in (query, *as_outer(query, mapped.block.left_joins, view.zone)):
        facts = form.facts(view.zone)
        try:
            kept = united(mapped, form, facts, taken) if known.unites else mapped
            assumed = kept.assumed | without_nulls(kept, facts, known.held)
            answer = _Attempt(form, facts, kept, taken, known.most_rows).answer()
            _refuse_captured(answer, kept)
            return replace(answer, assumed=assumed, rest=rest_of(kept))
        except Unmatched as error:
            last = last or error
    assert last is not None, "the block itself is tried"
    raise last


def _refuse_captured(answer: Answer, view: StoredView) -> None:
    """Refuse columns of a query around that would, or might, be fields of columns here."""
    stored, around = {column.name.lower() for column in view.columns}, answer.relations_around
    for name in around if answer.missing else around & stored:
        raise Unmatched(QUERY, "a relation around it may have the name of a column here", name)


class _Attempt:
    """One assignment of occurrences."""

    def __init__(
        self,
        query: Block,
        facts: Facts,
        view: StoredView,
        taken: set[int],
        most_rows: int | None,
    ) -> None:
        self._query, self._facts, self._view = query, facts, view
        self._missing = [n for n in range(len(query.tables)) if n not in taken]
        self._most_rows = most_rows if len(query.tables) == 1 else None
        self._by_view = Deriver(view, view.facts, self._missing)
        # A key that is a constant is no key of a set of keys.
        self._by_query = Deriver(view, facts, self._missing, pins=not query.sets)

    def answer(self) -> Answer:
        """The block over the storage table; raises `Unmatched`."""
        self._check_joins()
        rows = RowsTest(self._facts, self._view.facts)
        if not self._facts.is_empty:
            rows.check()
        self._check_groups()
        conditions = rows.compensation(self._by_view, self._by_query)
        if self._query.keys is None:
            self._refuse_view_having()
            return self._made(conditions, None, (), no_calls)
        if self._view.block.keys is None:
            return self._grouped(conditions, lambda call: None)
        if not self._query.sets and self._has_equal_groups():
            return self._of_equal_groups(conditions)
        return self._of_finer_groups(conditions)

    def _missing_tables(self) -> Iterator[Missing]:
        """Tables that are joined to the view; those of left joins may need those of inner ones."""
        joins = {join.occurrence: join for join in self._query.left_joins}
        inner = [number for number in self._missing if number not in joins]
        for number in (*inner, *(one for one in joins if one in self._missing)):
            table = self._query.tables[number]
            if isinstance(table, Derived):
                raise Unmatched(
                    OTHER_TABLES, "the view lacks a part of the query, which is a query"
                )
            join = joins.get(number)
            # One may keep another from failing, so they stay in their order.
            on = tuple(map(self._by_view.tree, join.on)) if join else ()
            yield Missing(number, table, on if join else None)

    def _check_joins(self) -> None:
        wanted, kept = set(self._query.left_joins), set(self._view.block.left_joins)
        lacking = {join.occurrence for join in wanted - kept}
        if not kept <= wanted or not lacking <= set(self._missing):
            raise Unmatched(NOT_COVERED, "their outer joins differ")

    def _check_groups(self) -> None:
        # One group of all rows is there even if these are not.
        is_set = self._query.is_set and self._view.block.keys != ()
        if self._query.keys is None and self._view.block.keys is not None and not is_set:
            raise Unmatched(NOT_DERIVABLE, "the view has groups, and the query wants rows")

    def _refuse_view_having(self) -> None:
        if self._view.block.having:
            raise Unmatched(NOT_COVERED, "the view leaves out groups by its HAVING")

    def _reduced(self, keys: tuple[Term, ...]) -> set[str]:
        """Keys without those that have one value."""
        found = set()
        for term in keys:
            normal = self._facts.normal(term)
            ranges = [self._facts.range_of(column) for column in normal.columns]
            if not all(one is not None and one.point is not None for one in ranges):
                found.add(normal.key)
        return found

    def _has_equal_groups(self) -> bool:
        query, view = self._query.keys, self._view.block.keys
        assert query is not None and view is not None
        if self._missing or self._view.is_split or bool(query) != bool(view):
            return False
        return self._reduced(query) == self._reduced(view)

    def _of_equal_groups(self, conditions: list[exp.Expr]) -> Answer:
        if not self._query.keys and conditions:
            raise Unmatched(NOT_DERIVABLE, "the view has one group, of other rows than the query")
        asked = (*self._query.conditions, *self._of_groups(self._query.having))
        if self._query.keys:
            asked = (*asked, *self._of_groups([_HAS_ROWS]))
        kept = self._of_groups(self._view.block.having)
        if kept and not implies(facts_of(asked, self._view.zone), kept):
            self._refuse_view_having()
        calls = self._stored_calls(again=False)
        return self._made([*conditions, *self._having(calls)], None, (), calls)

    def _of_groups(self, having: Sequence[Term]) -> list[Term]:
        """Conditions on groups as conditions on columns."""

        def column(term: Term) -> Term | None:
            if not term.call:
                return None
            found = self._by_query.stored(term)
            kind = "bigint" if term.call == "COUNT" else "" if found is None else found[1]
            return stand_in(term, kind)

        return [replaced(self._facts.normal(term), column) for term in having]

    def _of_finer_groups(self, conditions: list[exp.Expr]) -> Answer:
        self._refuse_view_having()
        if not self._view.block.keys:
            raise Unmatched(NOT_DERIVABLE, "the view has one group, and the query wants others")
        self._by_query = self._by_query.of_coarser_groups()
        return self._grouped(conditions, self._stored_calls(again=True))

    def _grouped(self, conditions: list[exp.Expr], calls: Calls) -> Answer:
        made = self._made(conditions, self._keys(), self._having(calls), calls)
        trees = [*(tree for _, tree in made.outputs), *made.having]
        if not self._query.keys and not any(map(calls_aggregate, trees)):
            raise Unmatched(NOT_DERIVABLE, "it makes one row of all, and calls no aggregate")
        if self._query.sets:
            return replace(made, keys=keys_of_sets(made, self._query, self._by_query))
        terms = [*(output.term for output in self._query.outputs), *self._query.having]
        return replace(made, keys=keys_of_returned(made, terms))

    def _stored_calls(self, again: bool) -> Calls:
        missing = set(self._missing)
        may_be_of_no_rows = not self._query.keys or bool(self._query.sets)
        writer = StoredCalls(self._by_query, self._facts, again, may_be_of_no_rows, self._most_rows)

        def write(call: Term) -> exp.Expr:
            of_missing = any(column.occurrence in missing for column in _counted(call))
            if of_missing and not (call.distinct or call.call in ("MIN", "MAX")):
                text = "it counts rows of a table that the view lacks"
                raise Unmatched(NOT_DERIVABLE, text, str(call))
            return writer.write(call)

        return write

    def _keys(self) -> tuple[exp.Expr, ...]:
        """What to group by; a constant would be the number of a column."""
        trees = [self._by_query.tree(term) for term in self._query.keys or ()]
        found = [tree for tree in trees if tree.find(exp.Column) is not None]
        if trees and not found:
            # A group of no rows is none; without GROUP BY it would be one.
            return (exp.cast(exp.Literal.string(""), "string"),)
        return tuple(found)

    def _having(self, calls: Calls) -> tuple[exp.Expr, ...]:
        return tuple(self._by_query.tree(term, calls) for term in self._query.having)

    def _made(
        self,
        conditions: list[exp.Expr],
        keys: tuple[exp.Expr, ...] | None,
        having: tuple[exp.Expr, ...],
        calls: Calls,
    ) -> Answer:
        query = self._query
        outputs = tuple((one.name, self._by_query.tree(one.term, calls)) for one in query.outputs)
        order = []
        for item in query.order:
            node = item.node.copy()
            if item.term is not None:
                node.set("this", self._by_query.tree(item.term, calls))
            order.append(node)
        missing = tuple(self._missing_tables())
        return Answer(
            self._view,
            outputs,
            missing,
            (*self._view.only, *conditions),
            keys,
            having,
            tuple(order),
            query.limit,
        )


def _counted(call: Term) -> set[ColumnOf]:
    """The columns whose rows a call counts: those of the value in a CASE, whatever its condition
    is about, which has one value for each stored group and partner."""
    argument = call.args[0] if call.args else None
    if argument is None or type(argument.node) is not exp.Case or len(argument.args) != 3:
        return call.columns
    return argument.args[1].columns | argument.args[2].columns
