"""Operators beside each other without parentheses, which Spark and sqlglot group in other ways."""

from __future__ import annotations

from sqlglot import exp

# Of these, one after the other without parentheses, Spark takes the first one first, and predicates
# after all of them.
_COMPARED = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_LOOSE = frozenset((exp.DPipe, *_COMPARED))
_OPEN_PREDICATES = frozenset((exp.Between, exp.Like, exp.ILike, exp.RegexpLike))
_TIGHT = frozenset((exp.In, exp.Is, *_OPEN_PREDICATES, *_COMPARED))
_ADDED = (exp.Add, exp.Sub)
_OF_BITS = frozenset((exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor))
# Around operands of these sqlglot writes parentheses where there are none.
_WRAPPED = (exp.NullSafeEQ, exp.NullSafeNEQ)


def may_be_grouped_otherwise(node: exp.Expr) -> bool:
    """Whether an operator may have other operands for Spark than for sqlglot.

    Source: Spark's grammar, in which a predicate follows a value that comparisons are parts of, and
    texts that stand behind a predicate belong to its last value.
    """
    if type(node) in _OF_BITS:
        # One binds more tightly than another for Spark, and all less than sums.
        return any(isinstance(one, exp.Binary) for one in (node.this, node.expression))
    if type(node) not in _LOOSE:
        return False
    if isinstance(node, exp.DPipe):
        operands = {type(node.this), type(node.expression)}
        return isinstance(node.expression, _ADDED) or not operands.isdisjoint(_OF_BITS)
    is_wrapped = isinstance(node, _WRAPPED)
    left, right = (_bare(one, is_wrapped) for one in (node.this, node.expression))
    # What ends with a value would go on behind it.
    return type(left) in _OPEN_PREDICATES or type(right) in _TIGHT


def _bare(node: exp.Expr, is_wrapped: bool) -> exp.Expr:
    """An operand without NOT, and without parentheses that nobody may have written."""
    while isinstance(node, exp.Not) or (is_wrapped and isinstance(node, exp.Paren)):
        node = node.this
    return node
