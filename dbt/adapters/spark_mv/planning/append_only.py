"""Changes that only make groups which are not stored yet, as rows of a new day, or new orders, do.

What is stored then need be neither read nor replaced.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from dbt.adapters.spark_mv.catalog import iceberg
from dbt.adapters.spark_mv.core.executor import Bounds, Executor
from dbt.adapters.spark_mv.ivm.partitions.lineage import owned_tables
from dbt.adapters.spark_mv.planning.inputs import Inputs
from dbt.adapters.spark_mv.state.observation import Observation
from dbt.adapters.spark_mv.views.storage_sql import all_stored_columns


def columns_of_change(inputs: Inputs) -> dict[str, str]:
    """The view's columns whose value a row of the one changed table itself has, in this column of
    the table: what it changes are rows with this value, and no others."""
    program = inputs.analysis.program
    if not inputs.inserts_only or program.groups is None or program.first is not None:
        return {}
    if len(inputs.changes) > 1 or not isinstance(program.query, exp.Select):
        return {}
    (table,) = inputs.changed
    found: dict[str, str] = {}
    for item in program.query.expressions:
        if isinstance(item.unalias(), exp.Column):
            places = owned_tables(program.query, [item.alias_or_name]).get(table, [])
            if len(places) == 1 and isinstance(places[0][0], exp.Column):
                found[item.alias_or_name] = places[0][0].name
    return found


def makes_only_new(
    executor: Executor, observation: Observation, inputs: Inputs, columns: Mapping[str, str]
) -> bool:
    """Whether no stored row can have the values that the changed rows have in one of these columns,
    as `columns_of_change` found them."""
    if not columns or observation.head is None:
        return False
    names = all_stored_columns(observation.view)
    storage, wanted = observation.view.storage, [names[column] for column in columns]
    stored = iceberg.bounds(executor, storage, observation.head.snapshot_id, wanted)
    came = {name.lower(): one for name, one in inputs.changes[0].bounds.items()}
    pairs = [(stored.get(names[own]), came.get(place.lower())) for own, place in columns.items()]
    return any(_are_apart(one, two) for one, two in pairs)


def _are_apart(stored: Bounds | None, came: Bounds | None) -> bool:
    if stored is None or came is None or came.with_null:
        return False
    # Columns of one type have values of one type.
    lower: Any = came.lower
    upper: Any = came.upper
    return bool(lower > stored.upper or upper < stored.lower)
