"""Statements that write the rows of some keys of a view in place of the stored ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dbt.adapters.spark_mv.sql.literals import type_sql, value_sql
from dbt.adapters.spark_mv.sql.names import quote
from dbt.adapters.spark_mv.views import storage_sql
from dbt.adapters.spark_mv.views.definition import STORED, MaterializedView

# The values of some columns, in their order.
Key = Sequence[Any]


def key_writes(
    view: MaterializedView, branch: str, query: str, columns: Sequence[str], values: Sequence[Key]
) -> list[str]:
    """The statements that put the rows with some values of columns, as a query of all rows has
    them, in place of the stored ones."""
    stored = storage_sql.stored_columns(view)
    types = types_of(view, columns)
    asked = _condition(columns, types, values, {name: quote(name) for name in stored})
    rows = f"SELECT * FROM (\n{query}\n) AS mv_all WHERE {asked}"
    return [
        storage_sql.take_away(view, branch, _is_listed(columns, types, values, stored)),
        storage_sql.write_storage(view, branch, rows, storage_sql.NO_ROWS),
    ]


def types_of(view: MaterializedView, columns: Sequence[str]) -> list[str]:
    """The types of some columns of a view, in their order."""
    types = {column.name.lower(): column.type for column in view.definition.columns}
    return [types[column.lower()] for column in columns]


def _condition(
    columns: Sequence[str], types: Sequence[str], values: Sequence[Key], names: dict[str, str]
) -> str:
    """Whether a row has one of the values; `names` says how each column is called."""
    called = {name.lower(): text for name, text in names.items()}
    alternatives = (
        " AND ".join(
            _is_value(called[column.lower()], value, kind)
            for column, value, kind in zip(columns, key, types, strict=True)
        )
        for key in values
    )
    return " OR ".join(f"({text})" for text in alternatives)


def _is_value(column: str, value: Any, kind: str) -> str:
    is_zero = kind.lower() in ("float", "double") and _is_zero(value)
    # Iceberg, which a condition on the column itself is pushed to, tells -0.0 from 0.0.
    read = f"({column} + CAST(0 AS {kind}))" if is_zero else column
    return f"{read} <=> CAST({value_sql(value)} AS {type_sql(kind)})"


def _is_zero(value: Any) -> bool:
    try:
        return float(value) == 0
    except (TypeError, ValueError):
        return False


def _is_listed(
    columns: Sequence[str], types: Sequence[str], values: Sequence[Key], stored: dict[str, str]
) -> str:
    """Whether a stored row has one of the values, as a subquery: by a plain condition Iceberg drops
    files whole, in a commit without the label of this refresh."""
    called = {name.lower(): column for name, column in stored.items()}
    rows = (
        ", ".join(
            f"CAST({value_sql(value)} AS {type_sql(kind)})"
            for value, kind in zip(key, types, strict=True)
        )
        for key in values
    )
    names = [f"mv_key_{number}" for number in range(len(types))]
    same = (
        f"{STORED}.{quote(called[column.lower()])} <=> mv_keys.{name}"
        for column, name in zip(columns, names, strict=True)
    )
    listed = ", ".join(f"({row})" for row in rows)
    return (
        f"EXISTS (SELECT 1 FROM VALUES {listed} AS mv_keys({', '.join(names)}) "
        f"WHERE {' AND '.join(same)})"
    )
