"""A block that is answered by a view."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.stored import StoredView
from dbt.adapters.spark_mv.sql.names import TableName


@dataclass(frozen=True)
class Missing:
    """A table that the view lacks, by its occurrence; `on` are the conditions of a LEFT JOIN, None
    if it is joined by those of the block."""

    occurrence: int
    table: TableName
    on: tuple[exp.Expr, ...] | None


@dataclass(frozen=True)
class Answer:
    """A block over the storage table of a view, to which the `missing` tables are joined; `keys` is
    None if there is nothing to group."""

    view: StoredView
    outputs: tuple[tuple[str, exp.Expr], ...]
    missing: tuple[Missing, ...]
    conditions: tuple[exp.Expr, ...]
    keys: tuple[exp.Expr, ...] | None
    having: tuple[exp.Expr, ...]
    order: tuple[exp.Expr, ...]
    limit: tuple[exp.Expr, ...]
