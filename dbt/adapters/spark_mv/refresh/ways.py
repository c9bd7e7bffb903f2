"""The ways in which a view that was looked at can be refreshed, looked into when asked for."""

from __future__ import annotations

from functools import cached_property

from dbt.adapters.spark_mv.reasons import Reason
from dbt.adapters.spark_mv.refresh.engine import Engine
from dbt.adapters.spark_mv.refresh.estimate import slowness
from dbt.adapters.spark_mv.refresh.fast import prepare_fast
from dbt.adapters.spark_mv.refresh.inputs import Inputs, base_rows, inputs_of, stored_rows
from dbt.adapters.spark_mv.refresh.look import Look
from dbt.adapters.spark_mv.refresh.partition import prepare_partition
from dbt.adapters.spark_mv.refresh.plan import FAST, PARTITION, FastQuery, PartitionQuery
from dbt.adapters.spark_mv.sql.names import TableName


class LookedAt:
    """Of one look; `avoid` is why nothing but a complete refresh is to be tried."""

    def __init__(self, engine: Engine, look: Look, avoid: Reason | None = None) -> None:
        self._engine, self._look, self._avoid = engine, look, avoid

    @cached_property
    def _inputs(self) -> Inputs | Reason:
        return self._avoid or inputs_of(self._engine, self._look)

    @cached_property
    def _totals(self) -> dict[TableName, int]:
        return base_rows(self._engine, self._look)

    def _slowness(self, method: str) -> float:
        known = self._engine.memory.view(self._look.view.name)
        return slowness(known.speeds, method) if known else 1.0

    def fast(self) -> FastQuery | Reason:
        """By what changed."""
        found = self._inputs
        if isinstance(found, Reason):
            return found
        slow = self._slowness(FAST)
        return prepare_fast(self._engine, self._look, found, self._totals, slow)

    def partition(self) -> PartitionQuery | Reason:
        """By partitions in which something changed."""
        found = self._inputs
        if isinstance(found, Reason):
            return found
        slow = self._slowness(PARTITION)
        return prepare_partition(self._engine, self._look, found, self._totals, slow)

    def rows(self) -> int:
        """Rows of all base tables, as far as their commits count them."""
        return sum(self._totals.values())

    def stored_rows(self) -> int:
        """Rows of the storage table, as its newest commit counts them."""
        return stored_rows(self._look)
