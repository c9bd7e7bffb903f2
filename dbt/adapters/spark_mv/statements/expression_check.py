"""Refuses an `expires_at_expr` that does not say of a row, from its columns, when it expires."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.spark_mv.core.errors import InvalidOption, StatementFailed
from dbt.adapters.spark_mv.core.executor import Executor
from dbt.adapters.spark_mv.sql.literals import type_sql
from dbt.adapters.spark_mv.sql.names import quote
from dbt.adapters.spark_mv.sql.reads import parse
from dbt.adapters.spark_mv.views import storage_sql
from dbt.adapters.spark_mv.views.clock import reads_clock
from dbt.adapters.spark_mv.views.definition import MaterializedView
from dbt.adapters.spark_mv.views.volatile import unstable

_WAY_OUT = (
    "Write an expression over the columns of the view, such as `start_time - INTERVAL 7 DAYS`."
)


def check_expression(executor: Executor, view: MaterializedView) -> None:
    """Raise `InvalidOption` unless `expires_at_expr` makes a time of the columns of a row."""
    expression = view.options.expires_at_expr
    if expression is None:
        return
    tree = parse(f"SELECT {expression}")
    found = tree.find(exp.AggFunc, exp.Window, exp.Subquery, exp.From) if tree is not None else None
    if tree is None or found is not None or len(tree.args["expressions"]) != 1:
        raise _invalid(view, "is not one expression of the columns of a row")
    if reads_clock(expression) or unstable(expression):
        raise _invalid(view, "has another value each time")
    columns = ", ".join(
        f"CAST(NULL AS {type_sql(column.type)}) AS {quote(column.name)}"
        for column in view.definition.columns
    )
    query = f"SELECT CAST(({expression}) AS TIMESTAMP_LTZ) FROM (SELECT {columns}) AS stored"
    try:
        with executor.isolated(view.definition.settings) as session:
            session.query(storage_sql.describe_query(query))
    except StatementFailed as error:
        raise _invalid(view, f"makes no time: {error.problem}") from None


def _invalid(view: MaterializedView, why: str) -> InvalidOption:
    text = view.options.expires_at_expr
    return InvalidOption(f"{view.name}: expires_at_expr {text!r} {why}.", _WAY_OUT)
