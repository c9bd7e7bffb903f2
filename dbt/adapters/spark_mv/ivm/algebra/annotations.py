"""What one pass notes on a node for a later one; copies of the node have it too.

>>> from sqlglot import parse_one
>>> IS_CHECKED: Annotation[bool] = Annotation("mv_checked")
>>> call = parse_one("SUM(x)")
>>> IS_CHECKED.of(call), IS_CHECKED.put(call, True), IS_CHECKED.of(call.copy())
(None, None, True)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar, cast

from sqlglot import exp

T = TypeVar("T")


@dataclass(frozen=True)
class Annotation(Generic[T]):
    """A kind of note; its key is its own in the `meta` of all nodes."""

    key: str

    def put(self, node: exp.Expr, value: T) -> None:
        """Note a value on a node."""
        node.meta[self.key] = value

    def of(self, node: exp.Expr) -> T | None:
        """The value that was noted on a node, or on what it is a copy of; None if there is none."""
        return cast("T | None", node.meta.get(self.key))
