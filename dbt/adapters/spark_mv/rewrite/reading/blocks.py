"""Reads a SELECT into the normal form of a block, through the queries and logical views in it that
only select."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.block import Block, Output, Sorted
from dbt.adapters.spark_mv.rewrite.conditions.conjuncts import conjuncts
from dbt.adapters.spark_mv.rewrite.derived import DerivedRows, rows_of
from dbt.adapters.spark_mv.rewrite.outer import with_partners
from dbt.adapters.spark_mv.rewrite.reading.expressions import read
from dbt.adapters.spark_mv.rewrite.reading.functions import Columns as ColumnTerms
from dbt.adapters.spark_mv.rewrite.reading.functions import Read
from dbt.adapters.spark_mv.rewrite.reading.grouping import keys_of, with_having, with_ids
from dbt.adapters.spark_mv.rewrite.reading.output_names import name_of
from dbt.adapters.spark_mv.rewrite.reading.scopes import (
    Columns,
    Query,
    Relations,
    Scope,
    Table,
    column_in,
    columns_called,
    known_column,
    query_of,
    select_of,
    sorting,
    unwrapped,
)
from dbt.adapters.spark_mv.rewrite.reading.sources import Sources
from dbt.adapters.spark_mv.rewrite.reading.stars import starred
from dbt.adapters.spark_mv.rewrite.reading.subqueries import Expressions
from dbt.adapters.spark_mv.rewrite.reading.wholes import distinct, forms_of_set, set_rows, whole
from dbt.adapters.spark_mv.rewrite.terms import UNKNOWN, Term, made
from dbt.adapters.spark_mv.rewrite.unmatched import QUERY, Unmatched
from dbt.adapters.spark_mv.sql.names import Namespace
from dbt.adapters.spark_mv.sql.spark_functions import aggregate, is_of_group

# Of columns, in all that a query returns.
_MOST_USES = 4_000


class BlockReader:
    """Reads blocks; `relations` finds what their names stand for. With `skips` the block of a query
    may have outputs that are aggregate functions of which nothing is known."""

    def __init__(self, relations: Relations, skips: bool = False) -> None:
        self._relations = relations
        self._skips = skips
        self._found: dict[tuple[tuple[str, ...], Namespace], Table | Query | None] = {}
        # With the trees, so that no other one has the id of one.
        self._known: dict[int, tuple[exp.Expr, Block | Unmatched]] = {}

    def forms(
        self, query: exp.Expr, scope: Scope, outer: ColumnTerms | None = None
    ) -> tuple[Block, ...]:
        """The normal form of a query, in which no term depends on other rows than its own or those
        of its group; and if it has windows, or groups by sets of keys, also that in which these are
        as they are written, to be computed of whatever gives its rows. Raises `Unmatched` if it
        has none. `outer` reads the columns that it does not have itself."""
        self._found, self._known = {}, {}
        try:
            query = unwrapped(query)
            if isinstance(query, exp.SetOperation):
                return forms_of_set(query, lambda bare: self._rows_of_set(bare, scope))
            made = self._raw(query, scope, outer)
        except RecursionError:
            raise Unmatched(QUERY, "its expressions are too deep") from None
        if made.sets and made.has_windows:
            return (whole(made),)
        return (whole(made), made) if made.sets or made.has_windows else (made,)

    def find(self, parts: tuple[str, ...], home: Namespace) -> Table | Query | None:
        """The relation of a written name."""
        if (parts, home) not in self._found:
            self._found[parts, home] = self._relations.find(parts, home)
        return self._found[parts, home]

    def derive(self, query: exp.Expr, scope: Scope) -> DerivedRows:
        """A query as a table of its own."""
        return self._rows(unwrapped(query), scope)

    def _rows(self, query: exp.Expr, scope: Scope, limits: bool = True) -> DerivedRows:
        if isinstance(query, exp.SetOperation):
            return self._rows_of_set(query, scope)
        block = self._raw(query, scope)
        if block.limit:
            raise Unmatched(QUERY, "a query in FROM has a LIMIT", query.sql("spark"))
        return rows_of(block, limits)

    def _rows_of_set(self, query: exp.SetOperation, scope: Scope) -> DerivedRows:
        inner = scope.inside(query)
        return set_rows(query, lambda branch: self._rows(unwrapped(branch), inner, False))

    def _raw(self, query: exp.Expr, scope: Scope, outer: ColumnTerms | None = None) -> Block:
        """The block with its windows and sets of keys, each query read once."""
        known = self._known.get(id(query))
        if known is None:
            try:
                known = query, self._read(query, scope, outer)
            except Unmatched as error:
                known = query, error
            self._known[id(query)] = known
        if isinstance(known[1], Unmatched):
            raise known[1]
        return known[1]

    def inner(self, query: exp.Expr, scope: Scope, outer: ColumnTerms) -> Block:
        """The block of a subquery; `outer` reads the columns that it does not have itself."""
        return self._read(unwrapped(query), scope, outer)

    def _read(self, query: exp.Expr, scope: Scope, outer: ColumnTerms | None = None) -> Block:
        select = select_of(query)
        inner = scope.inside(select)
        nested = self._nested_groups(select, inner)
        if nested is not None:
            return _over_groups(select, *nested)
        sources = Sources(self, self, outer)
        relations = sources.read(select, inner)
        items = self._filtered(select, sources, relations, inner)
        keys, sets = keys_of(select, items, relations)
        if keys is None and _has_calls(items):
            keys = ()
        made = Block(
            tuple(sources.tables),
            tuple(sources.conditions),
            tuple(sources.left_joins),
            tuple(items),
            keys,
            sets=sets,
        )
        columns = partial(_of_having, select=select, made=made, relations=relations)
        made = with_having(with_partners(made), self._having(select, columns, inner))
        made = with_ids(_ordered(made, select, items, relations))
        return distinct(made, select) if select.args.get("distinct") is not None else made

    def merge(
        self, sources: Sources, query: exp.Expr, scope: Scope
    ) -> tuple[tuple[str, ...], tuple[Term, ...]]:
        """Make a query in FROM part of the block, if all it does is to select."""
        select = select_of(query)
        if select.args.get("limit") or select.args.get("offset") or _is_grouped(select):
            raise Unmatched(QUERY, "a query in FROM does more than select", select.sql("spark"))
        inner = scope.inside(select)
        relations = sources.read(select, inner)
        items = self._filtered(select, sources, relations, inner)
        return tuple(item.outer_name for item in items), tuple(item.term for item in items)

    def _filtered(
        self, select: exp.Select, sources: Sources, relations: list[Columns], scope: Scope
    ) -> list[Output]:
        where = select.args.get("where")
        if where is not None:
            sources.add_conditions(where.this, relations, scope)
        reader = Expressions(self, scope).read
        if self._skips and not select.args.get("distinct"):
            reader = partial(_read_or_skip, reader, bool(select.args.get("group")))
        return _outputs(select, relations, reader)

    def _having(self, select: exp.Select, columns: ColumnTerms, scope: Scope) -> tuple[Term, ...]:
        having = select.args.get("having")
        if having is None:
            return ()
        return conjuncts(Expressions(self, scope).read(having.this, columns))

    def _nested_groups(self, select: exp.Select, scope: Scope) -> tuple[Block, Columns] | None:
        """The grouped block that a query only filters and projects, and what that returns."""
        start = select.args.get("from_")
        if start is None or select.args.get("joins") or _is_grouped(select):
            return None
        query, where, names, called = query_of(start.this, scope, self.find)
        if query is None or not isinstance(unwrapped(query), exp.Select):
            return None
        below = select_of(query)
        if below.args.get("limit") or below.args.get("offset"):
            return None
        block = self._raw(below, where)
        if block.keys is None or block.sets or block.has_windows:
            return None
        shown = names or tuple(output.outer_name for output in block.outputs)
        terms = tuple(output.term for output in block.outputs)
        return replace(block, order=(), limit=()), columns_called(called, shown, terms)


def _over_groups(select: exp.Select, below: Block, columns: Columns) -> Block:
    """A projection and filter of groups: their columns, and a HAVING."""
    relations = [columns]
    where = select.args.get("where")
    items = _outputs(select, relations)
    having: tuple[Term, ...] = ()
    if where is not None:
        having = conjuncts(read(where.this, lambda column: known_column(relations, column)))
    made = with_having(replace(below, outputs=tuple(items)), having)
    return _ordered(made, select, items, relations)


def _is_grouped(select: exp.Select) -> bool:
    if any(select.args.get(name) for name in ("group", "having", "distinct")):
        return True
    parts = (part for item in select.expressions for part in item.walk())
    return any(isinstance(part, exp.Window) or aggregate(part) is not None for part in parts)


def _has_calls(items: Sequence[Output]) -> bool:
    return any(item.term.has_calls for item in items)


def _read_or_skip(reader: Read, has_keys: bool, node: exp.Expr, columns: ColumnTerms) -> Term:
    """The term of an output; one that has an aggregate function in it may be `UNKNOWN`."""
    try:
        return reader(node, columns)
    except Unmatched:
        if not is_of_group(node, has_keys):
            raise
        return made(exp.Anonymous(this=node.sql("spark")), call=UNKNOWN)


def _outputs(
    select: exp.Select, relations: list[Columns], reader: Callable[..., Term] = read
) -> list[Output]:
    """The columns that are selected; a name may be that of one before."""
    items: list[Output] = []

    def columns(node: exp.Column) -> Term:
        found = column_in(relations, node)
        if found is None and len(node.parts) == 1:
            named = [one.term for one in items if one.name.lower() == node.name.lower()]
            found = named[0] if len(named) == 1 else None
        return found if found is not None else known_column(relations, node)

    for node in select.expressions:
        if isinstance(node, exp.Star) or isinstance(node.unalias().this, exp.Star):
            if isinstance(node.unalias(), (exp.Star, exp.Column)):
                items += starred(node, relations)
                continue
        term = reader(node.unalias(), columns)
        name, maybe = name_of(node, relations)
        items.append(Output(name, term, maybe))
    if sum(item.term.uses for item in items) > _MOST_USES:
        raise Unmatched(QUERY, "its expressions are too large")
    return items


def _named_or_column(node: exp.Column, items: Sequence[Output], relations: list[Columns]) -> Term:
    """What a name stands for after SELECT: an output, or a column."""
    column = column_in(relations, node)
    named = []
    if len(node.parts) == 1:
        if any(one.may_be_called(node.name) for one in items):
            text = "only Spark knows what an output is called"
            raise Unmatched(QUERY, text, node.sql("spark"))
        named = [one.term for one in items if one.name.lower() == node.name.lower()]
    found = {term.key: term for term in (*named, *([column] if column is not None else ()))}
    if len(found) > 1:
        raise Unmatched(QUERY, "a name is that of an output and of a column", node.sql("spark"))
    return next(iter(found.values())) if found else known_column(relations, node)


def _of_having(node: exp.Column, select: exp.Select, made: Block, relations: list[Columns]) -> Term:
    """The same in HAVING. What is aggregated there, or a key by itself, is a column, whatever
    outputs are called; what is no part of a key is an output, if one has its name."""
    found = column_in(relations, node)
    if found is not None and (node.find_ancestor(exp.AggFunc) or len(node.parts) > 1):
        return found
    is_here = not made.sets and node.find_ancestor(exp.Select) is select
    if found is None or made.keys is None or not is_here:
        return _named_or_column(node, made.outputs, relations)
    if found in made.keys:
        return found
    names = {name.lower() for one in made.outputs for name in (one.name, one.maybe)}
    is_part = any(found.columns & key.columns for key in made.keys)
    is_column = is_part or node.name.lower() not in names
    return _named_or_column(node, made.outputs, relations if is_column else [])


def _ordered(
    block: Block, select: exp.Select, items: Sequence[Output], relations: list[Columns]
) -> Block:
    found, names = [], {item.name.lower() for item in items if item.name}
    is_taken = any(one.find((), "all") for one in relations) or "all" in names
    for node in sorting(select, 0 if is_taken else len(items)):
        inner = node.this
        is_number = isinstance(inner, exp.Literal) and not inner.is_string
        is_named = isinstance(inner, exp.Column) and len(inner.parts) == 1
        if is_number or (is_named and inner.name.lower() in names):
            found.append(Sorted(node, None))
            continue
        term = read(inner, lambda column: _named_or_column(column, items, relations))
        found.append(Sorted(node, term))
    limits = [select.args[name] for name in ("limit", "offset") if select.args.get(name)]
    return replace(block, order=tuple(found), limit=tuple(limits))
