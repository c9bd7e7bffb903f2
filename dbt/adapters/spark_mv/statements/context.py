"""What statements need to know of the connection and the node that they come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from dbt.adapters.spark_mv.core.executor import QueryPlan, Row
from dbt.adapters.spark_mv.sql.names import Namespace, TableName


class StatementContext(Protocol):
    """Where a statement comes from.

    `trigger` is how the history names refreshes for it, `reader` what a log calls it. `gates_reads`
    says whether what it reads is made fresh first, `rewrites_reads` whether views that it does not
    name may answer it, `needs_rewriting` that it must not run otherwise. `rebuilds` says that dbt
    was told to rebuild everything; `replaces` is the table or view that the node may make a
    materialized view of.
    """

    trigger: str
    reader: str
    gates_reads: bool
    rewrites_reads: bool
    needs_rewriting: bool
    rebuilds: bool
    replaces: TableName | None

    def is_reduced(self) -> bool:
        """Whether queries read a part of the rows only (--empty, --sample)."""
        ...

    def is_deferred(self, query: str) -> bool:
        """Whether a query reads relations of another state than its model would (--defer)."""
        ...

    def namespace(self) -> Namespace:
        """Where unqualified names are looked up."""
        ...

    def settings(self) -> Mapping[str, str]:
        """Session settings that change what a query returns."""
        ...

    def values_of(self, keys: Sequence[str]) -> list[str]:
        """What settings of which Spark knows nothing are set to in the session of the statement;
        empty if they are not."""
        ...

    def plan(self, query: str) -> QueryPlan | None:
        """What the session of the statement would do for a query; None where that takes more than
        one statement. Raises `StatementFailed` if Spark refuses it."""
        ...

    def ask(self, sql: str) -> list[Row]:
        """Run a statement in the session of the statement; raises `StatementFailed`."""
        ...

    def declared_reads(self) -> Sequence[tuple[str, ...]]:
        """What dbt's manifest says the node reads."""
        ...
