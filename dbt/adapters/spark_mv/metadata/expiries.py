"""When stored rows become others by the clock alone, as the metadata say; `metadata.tables` says it
in SQL, too."""

from __future__ import annotations

from dbt.adapters.spark_mv.metadata.projection import State, ViewState
from dbt.adapters.spark_mv.sql.names import TableName


def expires_us(view: ViewState) -> int | None:
    """When the rows of the last build are others, or too old, in epoch microseconds; None if that
    is never, or not known."""
    build = view.last_build.payload if view.last_build else {}
    evaluated, max_age = build.get("evaluated_ms"), view.payload.get("max_age_us")
    too_old = None
    if isinstance(evaluated, int) and isinstance(max_age, int):
        too_old = evaluated * 1000 + max_age
    return _first([build.get("expires_us"), too_old])


def first_expiry(state: State, name: TableName, own: int | None) -> int | None:
    """When rows that are right until `own`, or those of a view that they are computed from, become
    others, in epoch microseconds."""
    view = state.views.get(name)
    read = (state.views.get(source) for source in (view.sources if view else ()))
    return _first([own, *(expires_us(one) for one in read if one is not None)])


def _first(ends: list[object]) -> int | None:
    return min((end for end in ends if isinstance(end, int)), default=None)
