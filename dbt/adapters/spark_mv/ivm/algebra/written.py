"""Parts of a query as their author wrote them, whatever a rewriting makes of them.

`remember` notes at each node of a parsed tree what it was; copies of a node keep the note, and a
column that a rewriting puts in the place of an expression gets it by `standing_for`.

>>> from sqlglot import parse_one
>>> tree = parse_one("SELECT sum(amount) AS total FROM orders", dialect="spark")
>>> remember(tree)
>>> amount = tree.find(exp.Column)
>>> invented = exp.column("o__amount", table="mv_join_o_c", quoted=True)
>>> _ = amount.replace(standing_for(invented, amount))
>>> print(tree.expressions[0].sql("spark"))
SUM(`mv_join_o_c`.`o__amount`) AS total
>>> print(as_written(tree.expressions[0]))
SUM(amount) AS total
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeVar

from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra.annotations import Annotation

_INVENTED = re.compile(r"mv_|_col_\d|_\d+$")
_PLAIN = re.compile(r"[A-Za-z_]\w*")
_Tree = TypeVar("_Tree", bound=exp.Expr)


@dataclass(frozen=True)
class Written:
    """What a node was in the tree that was parsed; copies of the node share it."""

    node: exp.Expr

    def __deepcopy__(self, known: dict[int, object]) -> Written:
        return self


_WRITTEN: Annotation[Written] = Annotation("mv_written")


def remember(tree: exp.Expr) -> None:
    """Note at each node of a parsed tree what its author wrote."""
    for node, original in zip(list(tree.walk()), list(tree.copy().walk()), strict=True):
        _WRITTEN.put(node, Written(original))


def standing_for(node: _Tree, original: exp.Expr) -> _Tree:
    """`node`, which is shown to people as what `original` was written as."""
    note = _WRITTEN.of(original)
    if note is not None:
        _WRITTEN.put(node, note)
    return node


def as_written(part: exp.Expr) -> str:
    """The text of a part of a query as its author knows it; empty if nothing else can be said of
    it than names that a rewriting made."""

    def back(node: exp.Expr) -> exp.Expr:
        note = _WRITTEN.of(node)
        if note is None:
            return node
        found = note.node.copy()
        if isinstance(found, exp.Query):
            found.set("with_", None)
        return standing_for(found, node)

    shown = part.copy().transform(back)
    kept = {id(node) for known in _noted(shown) for node in known.walk()}
    for name in shown.find_all(exp.Identifier):
        if id(name) in kept:
            continue
        if _INVENTED.match(name.name):
            return ""
        name.set("quoted", not _PLAIN.fullmatch(name.name))
    return shown.sql("spark")


def _noted(tree: exp.Expr) -> list[exp.Expr]:
    walked = tree.walk(prune=lambda node: _WRITTEN.of(node) is not None)
    return [node for node in walked if _WRITTEN.of(node) is not None]
