"""What a query of groups returns beside what it groups by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.block import Block
from dbt.adapters.spark_mv.rewrite.derive import Deriver
from dbt.adapters.spark_mv.rewrite.stored import is_inexact
from dbt.adapters.spark_mv.rewrite.terms import INNER, Term
from dbt.adapters.spark_mv.rewrite.text import Answer
from dbt.adapters.spark_mv.rewrite.unmatched import NO_COLUMN, NOT_DERIVABLE, Unmatched


def keys_of_returned(answer: Answer, terms: Sequence[Term]) -> tuple[exp.Expr, ...]:
    """The keys, and columns that are returned as they are stored: such a column is a function of
    the keys of the query, whatever columns these are computed from."""
    keys = list(answer.keys or ())
    trees = [*(tree for _, tree in answer.outputs), *answer.having, *answer.order]
    for number, tree in enumerate(trees):
        columns = terms[number].columns if number < len(terms) else set()
        for column in _loose(tree, keys):
            # One value of a key may be several that are equal, each with another such column.
            if any(is_inexact(one.type) for one in columns) or not _is_column(tree, column):
                raise Unmatched(
                    NO_COLUMN, "a column is not computed from what is grouped by", tree.sql("spark")
                )
            keys.append(tree)
    return tuple(keys)


def keys_of_sets(answer: Answer, query: Block, deriver: Deriver) -> tuple[exp.Expr, ...]:
    """The parts of a GROUP BY of sets of keys.

    In a part of the groups a key is NULL, and with it whatever Spark finds to be equal to it. So
    what is not the same in the query has to be written in different ways, and nothing be returned
    that is not computed from keys. Raises `Unmatched`.
    """
    keys = [deriver.tree(term) for term in query.keys or ()]
    has_constant = any(tree.find(exp.Column) is None for tree in keys)
    if not keys or has_constant or _are_written_alike(query, deriver):
        raise Unmatched(NOT_DERIVABLE, "keys of its sets are constants, or equal each other")
    for tree in (*(tree for _, tree in answer.outputs), *answer.having, *answer.order):
        if _loose(tree, list(keys)):
            text = "a column is not computed from the keys of its sets"
            raise Unmatched(NO_COLUMN, text, tree.sql("spark"))
    return tuple(deriver.tree(term) for term in query.sets)


def _are_written_alike(query: Block, deriver: Deriver) -> bool:
    """Whether two terms, or parts of terms, that are not the same are written in one way: columns
    that equal each other, units of time that are told by one column."""
    written: dict[str, str] = {}
    order = (item.term for item in query.order if item.term is not None)
    shown = (output.term for output in query.outputs)
    for term in (*(query.keys or ()), *shown, *query.having, *order):
        for part in _outside_calls(term):
            try:
                text = deriver.tree(part).sql("spark")
            except Unmatched:
                continue  # it is written by what it is a part of
            if written.setdefault(text, part.key) != part.key:
                return True
    return False


def _outside_calls(term: Term) -> Iterator[Term]:
    if not term.call:
        yield term
        for arg in term.args:
            yield from _outside_calls(arg)


def calls_aggregate(tree: exp.Expr) -> bool:
    """Whether an expression makes one row of several, as what is in its subqueries does not."""
    if isinstance(tree, exp.Query):
        return False
    return isinstance(tree, exp.AggFunc) or any(map(calls_aggregate, tree.iter_expressions()))


def _is_column(tree: exp.Expr, column: exp.Column) -> bool:
    return tree is column or (isinstance(tree, exp.Cast) and tree.this is column)


def _loose(tree: exp.Expr, keys: list[exp.Expr]) -> list[exp.Column]:
    """The columns of a tree that are neither in a key nor in an aggregate function."""
    ahead, found = [tree], []
    while ahead:
        node = ahead.pop()
        if node in keys or (isinstance(node, exp.AggFunc) and not _is_of_window(node)):
            continue
        if isinstance(node, exp.Column) and node.table and not node.table.startswith(INNER):
            found.append(node)
        ahead += list(node.iter_expressions())
    return found


def _is_of_window(node: exp.Expr) -> bool:
    return isinstance(node.parent, exp.Window) and node.parent.this is node
