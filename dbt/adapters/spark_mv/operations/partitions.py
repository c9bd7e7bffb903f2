"""Operations that show of which partitions a view is made, and which of them are stale."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from dbt.adapters.spark_mv.operations.choice import Choice
from dbt.adapters.spark_mv.operations.report import Report
from dbt.adapters.spark_mv.planning.partition_lineage import PartitionLineage
from dbt.adapters.spark_mv.statements.listings.table_functions import COLUMNS, rows_of


class Partitions:
    """The table functions mv_dependencies and stale_partitions as operations."""

    def __init__(self, lineage: PartitionLineage, choice: Choice) -> None:
        self._lineage = lineage
        self._choice = choice

    def mv_dependencies(self, view: Any = None) -> Report:
        """For each partition of a view the partitions of base tables that it is computed from."""
        return self._report("mv_dependencies", view)

    def stale_partitions(self, view: Any = None) -> Report:
        """Each partition of a view, and whether it is stale."""
        return self._report("stale_partitions", view)

    def _report(self, function: str, view: Any) -> Report:
        columns = COLUMNS[function]
        kinds = list(columns.values())
        rows = [
            tuple(_shown(value, kind) for value, kind in zip(row, kinds, strict=True))
            for state in self._choice.named(view)
            for row in rows_of(self._lineage, function, state.name)
        ]
        return Report(tuple(columns), tuple(rows), notes=() if rows else ("no partitions",))


def _shown(value: Any, kind: str) -> Any:
    if kind != "TIMESTAMP" or value is None:
        return value
    return datetime.fromtimestamp(value / 1000, timezone.utc).isoformat(" ", "milliseconds")
