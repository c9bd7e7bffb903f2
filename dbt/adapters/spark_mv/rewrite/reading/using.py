"""Reads USING and NATURAL: conditions, and columns that belong to no side.

As Spark does: `k` is that of the left side, of RIGHT JOIN that of the right one, and of FULL JOIN
the first of both that is not NULL; it comes first in a star. `l.k` and `r.k` are still what they
are, and come first in `l.*` and `r.*`, before all those that are not what `k` is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.reading.expressions import read
from dbt.adapters.spark_mv.rewrite.reading.scopes import Columns, Named
from dbt.adapters.spark_mv.rewrite.terms import Term, binary
from dbt.adapters.spark_mv.rewrite.unmatched import QUERY, Unmatched

Merge = Callable[[Sequence[Columns], str], Named]


def equal_by_using(join: exp.Join, found: Sequence[Columns]) -> tuple[Term, ...]:
    """The conditions of USING, of which the last relation is the right side."""
    names = _names(join, found)
    pairs = ((of_left(found, name)[1], of_right(found, name)[1]) for name in names)
    return tuple(binary(exp.EQ, left, right) for left, right in pairs)


def merge_by_using(join: exp.Join, found: list[Columns], merge: Merge) -> None:
    """Add the columns of USING, if a join has it, as a relation before all others, of which they
    are then only found by the names of these. `merge` says what a name stands for."""
    names = _names(join, found)
    if names:
        merged = [merge(found, name) for name in names]
        first = Columns((), tuple(name for name, _ in merged), tuple(term for _, term in merged))
        found[:] = [first, *(_without(one, merged) for one in found)]


def shown_column(relations: Sequence[Columns], name: str) -> Named:
    """The column of this name, in lower case, as it is written; raises `Unmatched` if there is not
    one."""
    found = [pair for one in relations for pair in one.shown if pair[0].lower() == name]
    if len(found) != 1:
        raise Unmatched(QUERY, "a side of USING has not one column of the name", name)
    return found[0]


def of_left(relations: Sequence[Columns], name: str) -> Named:
    """That of the left side."""
    return shown_column(relations[:-1], name)


def of_right(relations: Sequence[Columns], name: str) -> Named:
    """That of the right side."""
    return shown_column(relations[-1:], name)


def of_any(relations: Sequence[Columns], name: str) -> Named:
    """That of the left side, or where it is NULL of the right one."""
    (shown, left), (_, right) = of_left(relations, name), of_right(relations, name)
    node = exp.Coalesce(this=exp.column("l"), expressions=[exp.column("r")])
    return shown, read(node, lambda column: left if column.name == "l" else right)


def is_natural(join: exp.Join) -> bool:
    """Whether a join is USING of all columns that both sides have."""
    return (join.method or "").upper() == "NATURAL"


def _names(join: exp.Join, found: Sequence[Columns]) -> list[str]:
    if not is_natural(join):
        return [column.name.lower() for column in join.args.get("using") or ()]
    *left, right = found
    # Spark compares these as they are written, unlike all other names.
    others = {name for name, _ in right.shown}
    named = [name for one in left for name, _ in one.shown]
    if "" in others or "" in named:
        raise Unmatched(QUERY, "a side of NATURAL has a column without a name")
    return list(dict.fromkeys(name.lower() for name in named if name in others))


def _without(one: Columns, merged: Sequence[Named]) -> Columns:
    """A relation of whose columns these are shown before it, if it has them. They come first in its
    own star: those that are not what is shown before all, others after such ones. What an earlier
    USING has put there stays in its order."""
    names, terms = [name.lower() for name, _ in merged], {term.key for _, term in merged}
    before, after = one.pairs[: one.lost], one.pairs[one.lost :]
    ours = [pair for name in names for pair in after if pair[0].lower() == name]
    lost = [(name, term) for name, term in ours if term.key not in terms]
    first = [*lost, *before]
    shown = [pair for pair in ours if pair not in lost]
    pairs = [*first, *shown, *(pair for pair in after if pair not in ours)]
    return replace(
        one,
        names=tuple(name for name, _ in pairs),
        terms=tuple(term for _, term in pairs),
        hidden=one.hidden.union(names),
        lost=len(first),
    )
