"""What the text of EXPLAIN EXTENDED says of a statement."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from dbt.adapters.spark_mv.core.errors import StatementFailed
from dbt.adapters.spark_mv.sql.names import unquoted
from dbt.adapters.spark_mv.sql.words import name_at, words_of

# Spark prints 25 columns and says of the others how many there are.
WHOLE_PLANS = {"spark.sql.debug.maxToStringFields": "100000"}
_NUMBERED = re.compile(r"#\d+L?|@[0-9a-f]+|Lambda\$[\w/$]*")
# CTEs are numbered through the life of a Spark.
_CTE = re.compile(r"(CTERelation(?:Def|Ref) )(\d+)")
_REFUSED = "org.apache.spark."
# What the message of an error has in it whose statement Spark could not parse.
NO_SYNTAX = "[PARSE_SYNTAX_ERROR]"
_FAILED = "Error occurred during query planning"
_RELATIONS = (
    re.compile(r"RelationV2\[.*?\] (\S.*)$", re.M),
    re.compile(r"\bRelation (\S+?)\[.*\] \w+$", re.M),
    re.compile(r"HiveTableRelation \[(`[^\]]+?`),", re.M),
)


def plan_of(rows: Iterable[Sequence[object]]) -> str:
    """The text that EXPLAIN returned; raises `StatementFailed` if it says that there is no plan."""
    text = "\n".join(str(row[0]) for row in rows)
    if text.startswith(_FAILED):
        raise StatementFailed(text.removeprefix(_FAILED).strip(" :\n"))
    return text


def relations_of_plan(plan: str) -> set[str]:
    """Full names of the tables in the analysed part of EXPLAIN EXTENDED's text."""
    analysed = _analysed(plan)
    found = {name for pattern in _RELATIONS for name in pattern.findall(analysed)}
    return {unquoted(name).strip() for name in found}


def tables_of_plan(plan: str) -> list[tuple[str, ...]] | None:
    """The parts of the names of the tables in the analysed plan, each once; None if there is no
    analysed plan, because Spark refuses the statement."""
    analysed = _analysed(plan)
    if not analysed.strip() or is_refused_plan(plan):
        return None
    found = dict.fromkeys(name for pattern in _RELATIONS for name in pattern.findall(analysed))
    return [name_at(words_of(name), 0)[0] for name in found]


def is_refused_plan(plan: str) -> bool:
    """Whether Spark says that the statement has no meaning, and would not run it either."""
    return _analysed(plan).lstrip().startswith(_REFUSED)


def _analysed(plan: str) -> str:
    analysed = plan.partition("== Analyzed Logical Plan ==")[2]
    return analysed.partition("== Optimized Logical Plan ==")[0]


def refusal_of(plan: str) -> str:
    """The first line of what Spark says against a statement that it refuses."""
    lines = (line for line in plan.splitlines() if line.startswith(_REFUSED))
    return next(lines, "it has no plan").partition(": ")[2] or "it has no plan"


def comparable_plan(plan: str) -> str:
    """The analysed plan without what differs between two explanations of one query."""
    numbers: dict[str, str] = {}

    def renumbered(found: re.Match[str]) -> str:
        return found[1] + numbers.setdefault(found[2], str(len(numbers)))

    return _CTE.sub(renumbered, _NUMBERED.sub("", _analysed(plan))).strip()
