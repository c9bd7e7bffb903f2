"""The option `expires_at_expr`: rows say by themselves when they will be others.

Rows and the label that says so belong into one publish, and the label goes into a commit. So the
expression is asked of the rows that were written, before they are published, and a commit without
rows follows, which has the label.
"""

from __future__ import annotations

from dataclasses import replace

from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.sql.names import quote
from dbt.adapters.spark_mv.state.freshness import Expiry, Label
from dbt.adapters.spark_mv.views import storage_sql
from dbt.adapters.spark_mv.views.definition import MaterializedView

LABEL_CONF = "spark.sql.iceberg.snapshot-property."


def label_settings(label: Label) -> dict[str, str]:
    """Session settings under which a commit carries the label."""
    return {LABEL_CONF + key: value for key, value in label.to_summary().items()}


def with_row_expiry(
    services: Services, view: MaterializedView, label: Label, branch: str | None
) -> Label:
    """The label of rows that were written, to a branch or to a new table, with the time that
    `expires_at_expr` has for them; it has been committed if it is another one."""
    expression = view.options.expires_at_expr
    if expression is None:
        return label
    settings = {**view.definition.settings}
    with services.executor.isolated(settings) as session:
        ((at,),) = session.query(_earliest(view, expression, label.evaluated_us, branch))
    known = label.expiry or Expiry(None)
    if at is None or (known.at is not None and known.at <= int(at)):
        return label
    found = replace(known, at=int(at), by=f"expires_at_expr ({expression})")
    labelled = replace(label, expiry=found)
    with services.executor.isolated({**settings, **label_settings(labelled)}) as session:
        session.query(storage_sql.write_nothing(view, branch))
    return labelled


def _earliest(view: MaterializedView, expression: str, now_us: int, branch: str | None) -> str:
    value, rows = quote("mv_expires"), storage_sql.stored_rows(view, branch)
    values = f"SELECT CAST(({expression}) AS TIMESTAMP_LTZ) AS {value} FROM ({rows}) AS stored"
    return (
        f"SELECT unix_micros(min({value})) FROM ({values}) AS mv_rows "
        f"WHERE {value} > timestamp_micros({now_us}L)"
    )
