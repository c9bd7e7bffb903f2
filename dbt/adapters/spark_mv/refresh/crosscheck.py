"""Compares our reading of a definition with the relations in Spark's own analysed plan."""

from __future__ import annotations

import re

from dbt.adapters.spark_mv.errors import DependencyMismatch
from dbt.adapters.spark_mv.executor import Executor
from dbt.adapters.spark_mv.sql.names import quote_parts
from dbt.adapters.spark_mv.sql.words import name_at, words_of
from dbt.adapters.spark_mv.views.definition import Definition
from dbt.adapters.spark_mv.views.dependencies import Expansion

_REFUSED = "org.apache.spark."
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
    analysed = _analysed(plan)
    found = {name for pattern in _RELATIONS for name in pattern.findall(analysed)}
    return {name.replace("`", "").strip() for name in found}


def tables_of_plan(plan: str) -> list[tuple[str, ...]] | None:
    """The parts of the names of the tables in the analysed plan, each once; None if there is no
    analysed plan, because Spark refuses the statement."""
    analysed = _analysed(plan)
    if not analysed.strip() or analysed.lstrip().startswith(_REFUSED):
        return None
    found = dict.fromkeys(name for pattern in _RELATIONS for name in pattern.findall(analysed))
    return [name_at(words_of(name), 0)[0] for name in found]


def _analysed(plan: str) -> str:
    analysed = plan.partition("== Analyzed Logical Plan ==")[2]
    return analysed.partition("== Optimized Logical Plan ==")[0]
