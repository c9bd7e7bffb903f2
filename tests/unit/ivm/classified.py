"""What the classifier says of constructs, as the rows of docs/supported_queries.md need it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from dbt.adapters.spark_mv.core.reasons import Reason
from dbt.adapters.spark_mv.ivm.algebra.terms import Context, NotFast
from dbt.adapters.spark_mv.ivm.partitions.lineage import changed_keys
from dbt.adapters.spark_mv.planning.analysis import Analysis
from dbt.adapters.spark_mv.views.definition import Definition
from tests.unit.ivm.constructs import ANEW, ROWS, Construct
from tests.unit.ivm.constructs_added import ADDED
from tests.unit.ivm.constructs_partition import PARTITIONED
from tests.unit.ivm.constructs_refused import REFUSED
from tests.unit.ivm.constructs_texts import OF_CLOCK_AND_TEXTS
from tests.unit.ivm.shop import against, analysis_of, definition_of

FORMS = (*ROWS, *ADDED, *ANEW, *REFUSED, *OF_CLOCK_AND_TEXTS)
ANY, SOME, NONE = "any column", "some columns", "no"
# Columns of these types cannot steer, or be partitioned by, whatever the query does with them.
_NEVER_BY = ("boolean", "map<", "array<")


@dataclass(frozen=True)
class Verdict:
    """What is said of one example: how it is refreshed fast, or the reason against it; the reason
    against adding to its groups; the columns that it can be partitioned by, and whether all can."""

    how: str
    reason: Reason | None
    not_added: Reason | None
    columns: tuple[str, ...]
    all_columns: bool

    @property
    def by_partition(self) -> str:
        """By how many of its columns it can be partitioned."""
        return ANY if self.all_columns else SOME if self.columns else NONE

    @property
    def outcome(self) -> tuple[str, Reason | None, str]:
        """What all examples of a construct have to share."""
        return "" if self.reason else self.how, self.reason, self.by_partition


@cache
def verdicts(construct: Construct) -> list[Verdict]:
    """What is said of its examples."""
    return [_verdict(construct, example) for example in construct.examples]


def _verdict(construct: Construct, example: str) -> Verdict:
    definition = definition_of(example, dict(construct.settings))
    found = analysis_of(definition, construct.plans_otherwise)
    program = found.program if isinstance(found, Analysis) else None
    tried = [column.name for column in definition.columns if not column.type.startswith(_NEVER_BY)]
    columns = tuple(name for name in tried if _against_column(definition, found, name) is None)
    return Verdict(
        str(program) if program is not None else "",
        without_clause(against("fast", definition, found)),
        without_clause(program.why_not_added) if program is not None else None,
        columns,
        len(columns) == len(tried),
    )


@cache
def against_partition(construct: Construct) -> list[Reason | None]:
    """What stands, for each example, against partitions by the column that it is about."""
    found = []
    for example in construct.examples:
        definition = definition_of(example, dict(construct.settings))
        named = (construct.partition_by,) if construct.partition_by else ()
        found.append(_against_column(definition, analysis_of(definition), *named))
    return [without_clause(reason) for reason in found]


def _against_column(
    definition: Definition, found: Analysis | Reason, *partition_by: str
) -> Reason | None:
    """What stands against partitions, whichever tables change."""
    reason = against("partition", definition, found, *partition_by)
    if reason is not None or isinstance(found, Reason):
        return reason
    try:
        changed_keys(found.program.query, partition_by, Context(frozenset(found.tables)))
    except NotFast as error:
        return error.reason
    return None


def without_clause(reason: Reason | None) -> Reason | None:
    """A reason without the part of the query that it shows."""
    return Reason(reason.code, reason.text) if reason is not None else None


__all__ = ["ANY", "FORMS", "NONE", "PARTITIONED", "SOME", "against_partition", "verdicts"]
