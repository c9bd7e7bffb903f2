"""Blocks whose rows are those of a query that is compared as a whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.block import Block, Output, Sorted
from dbt.adapters.spark_mv.rewrite.derived import (
    DerivedRows,
    have_known_types,
    have_same_types,
    rows_of,
    set_of,
    union_of,
)
from dbt.adapters.spark_mv.rewrite.reading.scopes import sorting, unwrapped
from dbt.adapters.spark_mv.rewrite.terms import Term, column_term
from dbt.adapters.spark_mv.rewrite.unmatched import QUERY, Unmatched

_OF_A_SET = frozenset({"this", "expression", "distinct", "with_", "order"})


def whole(block: Block) -> Block:
    """A block that returns what another does, as a selection of its rows."""
    rows = rows_of(replace(block, order=(), limit=()))
    terms = {
        output.term.key: column_term(column)
        for output, column in zip(block.outputs, rows.columns, strict=True)
    }
    order = tuple(_sorted(item, terms) for item in block.order)
    return replace(_selection(rows), order=order, limit=block.limit)


def distinct(block: Block, select: exp.Select) -> Block:
    """The block with DISTINCT."""
    if select.args["distinct"].args.get("on"):
        raise Unmatched(QUERY, "it has a DISTINCT of some columns", "DISTINCT ON")
    keys = {output.term.key: output.term for output in block.outputs}
    is_plain = not block.sets and not block.has_windows
    if is_plain and block.keys is not None and {term.key for term in block.keys} <= keys.keys():
        return block  # each group is a row of its own
    if not is_plain or block.keys is not None:
        block = whole(block)
        keys = {output.term.key: output.term for output in block.outputs}
    return replace(block, keys=tuple(keys.values()))


def set_rows(query: exp.SetOperation, rows: Callable[[exp.Expr], DerivedRows]) -> DerivedRows:
    """The rows of a set operation; `rows` reads one of its branches. Raises `Unmatched`."""
    more = [name for name in _said(query) if name not in _OF_A_SET]
    if more:
        raise Unmatched(QUERY, f"a union has {more[0].rstrip('_')}", query.sql("spark"))
    kind, is_distinct = type(query).__name__.upper(), bool(query.args.get("distinct"))
    if kind != "UNION":
        return set_of(f"{kind} {is_distinct}", [rows(query.this), rows(query.expression)])
    branches = [rows(branch) for branch in _branches(query, is_distinct)]
    is_one = have_known_types(branches) and (not is_distinct or have_same_types(branches))
    if len(branches) > 2 and not is_one:
        # Values are converted for each two of them, one after the other.
        branches = [rows(query.this), rows(query.expression)]
    return set_of(f"{kind} {is_distinct}", branches) if is_distinct else union_of(branches)


def _branches(query: exp.SetOperation, is_distinct: bool) -> list[exp.Expr]:
    """The branches of a union and of unions in it; each row once is that of all together."""
    branches: list[exp.Expr] = []
    ahead: list[exp.Expr] = [query.expression, query.this]
    known = {"this", "expression", "distinct"} if is_distinct else {"this", "expression"}
    while ahead:
        found = unwrapped(ahead.pop())
        if isinstance(found, exp.Union) and set(_said(found)) <= known:
            ahead += [found.expression, found.this]
        else:
            branches.append(found)
    return branches


def _said(node: exp.Expr) -> list[str]:
    return [name for name, value in node.args.items() if value]


def forms_of_set(
    query: exp.SetOperation, rows: Callable[[exp.SetOperation], DerivedRows]
) -> tuple[Block, ...]:
    """The block of a set operation, which may have ORDER BY and LIMIT; of a UNION also that which
    makes one of equal rows of UNION ALL. `rows` reads a set operation without these."""
    bare = query.copy()
    for name in ("order", "limit", "offset"):
        bare.set(name, None)
    whole_set = _ordered_set(rows(bare), query)
    if type(query) is not exp.Union or not query.args.get("distinct"):
        return (whole_set,)
    ahead: list[exp.Expr] = [bare]
    while ahead:
        found = unwrapped(ahead.pop())
        if isinstance(found, exp.Union) and set(_said(found)) <= _OF_A_SET - {"with_", "order"}:
            found.set("distinct", False)
            ahead += [found.this, found.expression]
    every_row = _ordered_set(rows(bare), query)
    keys = {output.term.key: output.term for output in every_row.outputs}
    return (whole_set, replace(every_row, keys=tuple(keys.values())))


def _ordered_set(rows: DerivedRows, query: exp.SetOperation) -> Block:
    names = {name.lower() for name in rows.names}
    items = sorting(query, 0 if "all" in names else len(rows.names))
    for item in items:
        inner = item.this
        is_number = isinstance(inner, exp.Literal) and not inner.is_string
        is_named = isinstance(inner, exp.Column) and inner.sql("spark").strip("`").lower() in names
        if not (is_number or is_named):
            raise Unmatched(
                QUERY, "a union is sorted by what it does not return", item.sql("spark")
            )
    limits = tuple(query.args[name] for name in ("limit", "offset") if query.args.get(name))
    return replace(
        _selection(rows), order=tuple(Sorted(item, None) for item in items), limit=limits
    )


def _selection(rows: DerivedRows) -> Block:
    outputs = (
        Output.called(name, column_term(column))
        for name, column in zip(rows.names, rows.columns, strict=True)
    )
    return Block((rows.source,), rows.conditions, (), tuple(outputs))


def _sorted(item: Sorted, terms: dict[str, Term]) -> Sorted:
    if item.term is None:
        return item
    if item.term.key not in terms:
        text = "it is sorted by what it does not return"
        raise Unmatched(QUERY, text, item.node.sql("spark"))
    return Sorted(item.node, terms[item.term.key])
