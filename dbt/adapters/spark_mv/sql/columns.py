"""Columns by which equal rows are put together, so that each value stays what it was."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dbt.adapters.spark_mv.sql.names import quote

_FLOATING = re.compile(r"\b(?:float|double)\b")


@dataclass(frozen=True)
class Columns:
    """Columns by which equal rows are put together, and those of them that hold floating point
    numbers: GROUP BY takes -0.0 for 0.0, which are other values in a row, so texts tell them apart.
    """

    names: tuple[str, ...]
    floating: frozenset[str] = frozenset()

    @property
    def listed(self) -> str:
        """The columns as SQL lists them."""
        return ", ".join(map(quote, self.names))

    @property
    def kept(self) -> str:
        """The columns of rows that were put together: GROUP BY itself returns 0.0 for -0.0."""
        return ", ".join(
            f"ANY_VALUE({quote(name)}) AS {quote(name)}" if name in self.floating else quote(name)
            for name in self.names
        )

    @property
    def keys(self) -> str:
        """What the rows are grouped by."""
        texts = (f"CAST({quote(name)} AS STRING)" for name in sorted(self.floating))
        return ", ".join([*map(quote, self.names), *texts])


def columns_of(names: Sequence[str], types: Sequence[str]) -> Columns:
    """Columns of these Spark types; of those without a type, at the end, none is floating."""
    pairs = zip(names, types, strict=False)
    return Columns(tuple(names), frozenset(name for name, kind in pairs if _FLOATING.search(kind)))
