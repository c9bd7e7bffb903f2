"""Words for the rows that are stored, in queries of the rows that will be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra.terms import both, column, exists, no, same
from dbt.adapters.spark_mv.views.definition import STORED

# No column has this name: inside EXISTS, a column goes before a relation outside of it.
REPLACED = "mv_replaced"


@dataclass(frozen=True)
class Replaced:
    """The stored rows that others take the place of: those that agree with a row of the named
    query `by` in these columns, given by their names in the storage table."""

    by: str
    columns: Mapping[str, str]

    def condition(self) -> exp.Expr:
        """Whether a row of mv_stored is one of them."""
        pairs = [
            same(column(STORED, stored), column(REPLACED, name))
            for stored, name in self.columns.items()
        ]
        return exists(exp.alias_(exp.to_table(self.by), REPLACED, table=True), both(pairs))


def kept(names: Sequence[str], unless: exp.Expr) -> exp.Select:
    """The rows of mv_stored that do not meet a condition, with these columns."""
    rows = exp.Select(expressions=[column(STORED, name) for name in names])
    return rows.from_(exp.to_table(STORED)).where(no(unless))
