"""Compares our reading of a definition with the relations in Spark's own analysed plan."""

from __future__ import annotations

from dbt.adapters.spark_mv.core.errors import DependencyMismatch, NotAQuery, StatementFailed
from dbt.adapters.spark_mv.core.executor import Executor
from dbt.adapters.spark_mv.sql.names import use
from dbt.adapters.spark_mv.sql.plans import plan_of, relations_of_plan
from dbt.adapters.spark_mv.views.definition import Definition
from dbt.adapters.spark_mv.views.expansion import Expansion


def check_against_spark(
    executor: Executor, owner: str, definition: Definition, expansion: Expansion
) -> None:
    """Raise `DependencyMismatch` if Spark would read a table that we do not know of, `NotAQuery` if
    it cannot plan the query."""
    home = definition.home
    with executor.isolated(definition.settings) as session:
        session.query(use(home))
        try:
            plan = plan_of(session.query(f"EXPLAIN EXTENDED {definition.query}"))
        except StatementFailed as error:
            raise NotAQuery(
                f"Spark cannot plan the query of {owner}: {error}",
                "Write it in another way: it has to run by itself.",
            ) from None
    ours = {".".join(table.parts) for table in expansion.tables}
    theirs = relations_of_plan(plan)
    # A plan shows names as they were written, some catalogs have them in lower case only.
    if {name.lower() for name in theirs} - {name.lower() for name in ours}:
        raise DependencyMismatch(
            f"{owner}: its text names the base tables [{', '.join(sorted(ours))}] but Spark "
            f"would read [{', '.join(sorted(theirs))}].",
            "Write each table's name in full (schema.name); please report the query.",
        )
