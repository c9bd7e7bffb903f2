"""Compares our reading of a definition with the relations in Spark's own analysed plan."""

from __future__ import annotations

import re

from dbt.adapters.spark_mv.errors import DependencyMismatch
from dbt.adapters.spark_mv.executor import Executor
from dbt.adapters.spark_mv.sql.names import quote_parts
from dbt.adapters.spark_mv.views.definition import Definition
from dbt.adapters.spark_mv.views.dependencies import Expansion

_RELATIONS = (
    re.compile(r"RelationV2\[.*?\] (\S.*)$", re.M),
    re.compile(r"\bRelation (\S+?)\[.*\] \w+$", re.M),
    re.compile(r"HiveTableRelation \[(`[^\]]+?`),", re.M),
)


def check_against_spark(
    executor: Executor, owner: str, definition: Definition, expansion: Expansion
) -> None:
    """Raise `DependencyMismatch` if Spark would read a table that we do not know of."""
    home = definition.home
    with executor.isolated(definition.settings) as session:
        session.query(f"USE {quote_parts((home.catalog, *home.namespace))}")
        ((plan,),) = session.query(f"EXPLAIN EXTENDED {definition.query}")
    ours = {".".join(table.parts) for table in expansion.tables}
    theirs = relations_of_plan(plan)
    if theirs - ours:
        raise DependencyMismatch(
            f"{owner}: we found the base tables [{', '.join(sorted(ours))}] but Spark would read "
            f"[{', '.join(sorted(theirs))}].",
            "Write each table's name in full (schema.name); please report the query.",
        )


def relations_of_plan(plan: str) -> set[str]:
    """Full names of the tables in the analysed part of EXPLAIN EXTENDED's text."""
    analysed = plan.partition("== Analyzed Logical Plan ==")[2]
    analysed = analysed.partition("== Optimized Logical Plan ==")[0]
    found = {name for pattern in _RELATIONS for name in pattern.findall(analysed)}
    return {name.replace("`", "").strip() for name in found}
