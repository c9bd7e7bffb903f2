"""Reads expressions with subqueries in them.

A subquery is a term that is known by a digest of all that decides its rows. Its arguments are the
columns of the query around it that it names. It is printed of its normal form, so that what is true
of other terms, that their functions are known and their operators in parentheses, is true of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.block import Block, Derived
from dbt.adapters.spark_mv.rewrite.derived import rows_of
from dbt.adapters.spark_mv.rewrite.reading.expressions import read
from dbt.adapters.spark_mv.rewrite.reading.functions import Columns
from dbt.adapters.spark_mv.rewrite.reading.scopes import Scope
from dbt.adapters.spark_mv.rewrite.terms import (
    AS_TEST,
    DIGEST,
    INNER,
    OUTER,
    TABLE,
    Term,
    binary,
    made,
    replaced,
    tree_of,
)
from dbt.adapters.spark_mv.rewrite.unmatched import QUERY, Unmatched
from dbt.adapters.spark_mv.sql.names import TableName

# What a subquery is used for: its one value, a list for IN, or whether it has rows.
VALUE, LIST, TEST = KINDS = ("value", "list", "test")
_PLACE = "mv_subquery_"
# Spark may read the operand of such an operator as one of another.
_LOOSE = (exp.Binary, exp.Between, exp.Is)


class Blocks(Protocol):
    """Reads the queries in expressions."""

    def inner(self, query: exp.Expr, scope: Scope, outer: Columns) -> Block:
        """The block of a subquery; `outer` reads the columns that it does not have itself."""
        ...


class Expressions:
    """Reads the expressions of one query, whose subqueries have names of this scope."""

    def __init__(self, blocks: Blocks, scope: Scope) -> None:
        self._blocks = blocks
        self._scope = scope

    def read(self, node: exp.Expr, columns: Columns) -> Term:
        """The term that an expression is. Raises `Unmatched`."""
        if node.find(exp.Query) is None:
            return read(node, columns)
        known: dict[str, Term] = {}
        node = exp.Paren(this=node.copy())
        for found in _subqueries(node):
            name = f"{_PLACE}{len(known)}"
            known[name] = self._term(found, columns)
            found.replace(exp.column(name))
        return read(node, lambda column: known.get(column.name) or columns(column))

    def _term(self, node: exp.Expr, columns: Columns) -> Term:
        if isinstance(node, exp.In):
            if isinstance(node.parent, _LOOSE) and not isinstance(node.parent, exp.Connector):
                raise Unmatched(
                    QUERY, "Spark may group operators in another way", node.sql("spark")
                )
            block, outer = self._block(node.args["query"], columns)
            args = (read(node.this, columns), *outer)
            kept = exp.In(query=exp.Subquery(this=_select(block, node.args["query"], LIST)))
            kept.meta[AS_TEST] = _as_test(block, args)
            return made(kept, args, (("this", False), *((OUTER, True),) * len(outer)))
        is_test = isinstance(node, exp.Exists)
        block, outer = self._block(node.this, columns)
        query = _select(block, node.this, TEST if is_test else VALUE)
        test = exp.Exists(this=query) if is_test else exp.Subquery(this=query)
        return made(test, outer, ((OUTER, True),) * len(outer))

    def _block(self, node: exp.Expr, columns: Columns) -> tuple[Block, tuple[Term, ...]]:
        """A subquery, and the columns around it that it names, in the order of their places."""
        outer: dict[str, tuple[Term, Term]] = {}

        def named(column: exp.Column) -> Term:
            term = columns(column)
            if term.has_calls:
                raise Unmatched(QUERY, "a subquery is about groups", column.sql("spark"))
            return outer.setdefault(term.key, (term, _place(len(outer))))[1]

        block = self._blocks.inner(node, self._scope, named)
        # They are numbered in an order that is not that of the text.
        found = [outer[key] for key in sorted(outer)]
        numbers = {place.key: number for number, (_, place) in enumerate(found)}
        return _numbered(block, numbers), tuple(term for term, _ in found)


def _numbered(block: Block, numbers: Mapping[str, int]) -> Block:
    """A subquery in which places, by their keys, have these numbers."""
    places = {key: _place(number) for key, number in numbers.items()}
    return block.changed(lambda term: replaced(term, lambda part: places.get(part.key)))


def _as_test(block: Block, args: Sequence[Term]) -> tuple[str, tuple[int, ...]] | None:
    """IN with a subquery as EXISTS, which is true where it is: the digest of that, and which of the
    arguments it has; None if it is not known to be one."""
    asked, found = args[0].column, block.outputs[0].term
    if asked is None or found.column is None or found.column.type != asked.type:
        return None
    if block.having or block.keys == ():
        return None
    places = [_place(-1), *(_place(number) for number in range(len(args) - 1))]
    equal = binary(exp.EQ, found, places[0])
    once = {arg.key: number for number, arg in enumerate(args)}
    ordered = sorted(once)
    numbers = {place.key: ordered.index(arg.key) for place, arg in zip(places, args, strict=True)}
    test = replace(block, keys=None, conditions=(*block.conditions, equal))
    return digests_of(_numbered(test, numbers))[TEST], tuple(once[key] for key in ordered)


def _select(block: Block, query: exp.Expr, kind: str) -> exp.Select:
    """A subquery as it is printed, of one column if it is not just tested for rows."""
    _refuse_unprintable(block, query, kind)
    made_of = _tree(block, rows_of(block, limits=False).source.key)
    made_of.meta[DIGEST] = digests_of(block)[kind]
    return made_of


def digests_of(block: Block) -> dict[str, str]:
    """By what a subquery is known, by what it is used for."""
    rows = rows_of(block, limits=False)
    names = [column.name for column in rows.columns]
    return {kind: repr((kind, rows.source.key, names if kind != TEST else [])) for kind in KINDS}


def _place(number: int) -> Term:
    """What stands for a column of the query around a subquery."""
    return made(exp.Parameter(this=exp.Literal.number(number)))


def _subqueries(node: exp.Expr) -> list[exp.Expr]:
    """The outermost subqueries of an expression, with the test that they are part of."""
    ahead, found = [node], []
    while ahead:
        one = ahead.pop()
        is_in = isinstance(one, exp.In) and one.args.get("query")
        if is_in or isinstance(one, (exp.Exists, exp.Query)):
            found.append(one)
        else:
            ahead += list(one.iter_expressions())
    return found


def _refuse_unprintable(block: Block, query: exp.Expr, kind: str) -> None:
    has_more = block.sets or block.has_windows or block.left_joins or block.limit
    if has_more or any(isinstance(table, Derived) for table in block.tables):
        raise Unmatched(QUERY, "a subquery does more than select and group", query.sql("spark"))
    if kind != TEST and len(block.outputs) != 1:
        raise Unmatched(QUERY, "a subquery has several columns", query.sql("spark"))
    if any(not key.columns for key in block.keys or ()):
        raise Unmatched(QUERY, "a subquery groups by a constant", query.sql("spark"))


def _tree(block: Block, digest: str) -> exp.Select:
    """A block over its tables, which go by names that no other block has."""

    def alias(occurrence: int) -> str:
        return f"{INNER}{digest[:8]}_{occurrence}"

    def show(term: Term) -> exp.Expr | None:
        if term.column is None:
            return None
        return exp.column(term.column.name, table=alias(term.column.occurrence), quoted=True)

    def shown(term: Term) -> exp.Expr:
        return tree_of(term, show)

    tables = []
    for number, table in enumerate(block.tables):
        assert isinstance(table, TableName), "others are refused"
        place = exp.Table(this=exp.Var(this=table.sql), alias=exp.to_identifier(alias(number)))
        place.meta[TABLE] = table
        tables.append(place)
    outputs = [
        exp.alias_(shown(output.term), f"c{number}") for number, output in enumerate(block.outputs)
    ]
    made_of = exp.select(*outputs).from_(tables[0])
    for place in tables[1:]:
        made_of = made_of.join(place, join_type="cross")
    if block.conditions:
        made_of = made_of.where(*map(shown, block.conditions))
    if block.keys:
        made_of = made_of.group_by(*map(shown, block.keys))
    return made_of.having(*map(shown, block.having)) if block.having else made_of
