"""Subqueries as blocks of their own: which columns they have of the queries around them, and
whether it matters how often they have a row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.block import Block, Output
from dbt.adapters.spark_mv.rewrite.reading.functions import Columns
from dbt.adapters.spark_mv.rewrite.terms import AROUND, Term, made
from dbt.adapters.spark_mv.rewrite.unmatched import QUERY, Unmatched

# Names of relations in a rewritten text begin so.
_OURS = "mv_"


def columns_around(query: exp.Expr) -> Columns | None:
    """Reads the columns that a subquery names of the queries around it, which are constants in each
    of its rows; None if there are none around. They are known by the names of their relations, with
    which they are written: others might be columns of the view instead."""
    called = {name.lower() for name in _relations_around(query)}
    if not called:
        return None

    def read(column: exp.Column) -> Term:
        qualifier = column.table.lower()
        is_known = len(column.parts) == 2 and qualifier in called
        if not is_known or qualifier.startswith(_OURS):
            text = "a column is that of no relation in FROM"
            raise Unmatched(QUERY, text, column.sql("spark"))
        kept = exp.column(column.name, table=column.table, quoted=True)
        kept.meta[AROUND] = qualifier
        return made(kept)

    return read


def as_set(block: Block, query: exp.Expr) -> Block:
    """The block of a subquery, if it is asked only which rows it has."""
    around = query.parent
    while isinstance(around, exp.Subquery) and not around.alias:
        around = around.parent
    is_test = isinstance(around, exp.Exists)
    is_list = isinstance(around, exp.In)
    if not (is_test or is_list) or block.keys is not None or block.limit or block.has_windows:
        return block
    outputs = (Output("", made(exp.Literal.number(1))),) if is_test else block.outputs
    return replace(block, outputs=outputs, order=(), is_set=True)


def _relations_around(query: exp.Expr) -> Iterator[str]:
    """The names of relations of all queries in whose expressions a query stands."""
    below, node = query, query.parent
    while node is not None:
        if isinstance(node, (exp.From, exp.Join, exp.With)) or (
            isinstance(node, exp.SetOperation) and below is not query
        ):
            return
        if isinstance(node, exp.Select):
            start, joins = node.args.get("from_"), node.args.get("joins") or ()
            for one in (*([start] if start is not None else ()), *joins):
                yield one.this.alias_or_name
        below, node = node, node.parent
