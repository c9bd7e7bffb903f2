"""What Spark says of a query that sqlglot has read, and what is kept of it with the view.

Asking takes longer than a small refresh, and every command is a new process. So what it says is
kept, for as long as the tables have the same columns and the same programs ask.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sized
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

import sqlglot
from sqlglot import exp

from dbt.adapters.spark_mv.__version__ import version
from dbt.adapters.spark_mv.core.errors import StatementFailed
from dbt.adapters.spark_mv.core.executor import Executor
from dbt.adapters.spark_mv.expiry.crossings import Written
from dbt.adapters.spark_mv.ivm.algebra import aggregates
from dbt.adapters.spark_mv.ivm.algebra.terms import TABLE, not_fast
from dbt.adapters.spark_mv.ivm.program import Program
from dbt.adapters.spark_mv.planning.plan_text import comparable
from dbt.adapters.spark_mv.sql.names import TableName, quote
from dbt.adapters.spark_mv.sql.plans import WHOLE_PLANS, plan_of
from dbt.adapters.spark_mv.sql.reads import parse
from dbt.adapters.spark_mv.views.definition import Definition

# Names of tables begin so that a query does not name apart.
OWN_NAME = "mv_own_"
# Without the name that a table has anyway, which would hide that of its schema.
_WRITTEN = re.compile(rf"\b({TABLE}\d+)\b(?: AS (`(?:[^`]|``)+`))?")
_PRINTED = re.compile(rf"`({TABLE}\d+)`(?= AS )")

Columns = dict[str, list[list[str]]]
_OF_SPARK = "Class: org.apache.spark.sql.catalyst."
# Spark shows the columns of what it computes of VALUES while it plans, and not their values.
SHOWN_PLANS = {
    **WHOLE_PLANS,
    "spark.sql.optimizer.excludedRules": (
        "org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation"
    ),
}
# Spark writes out each expression where it is used, also one that is used twice and is not cheap.
_WRITTEN_OUT = {"spark.sql.optimizer.collapseProjectAlwaysInline": "true"}
_MOST_COPIES = 1_000


@dataclass
class PlanFacts:
    """What Spark said of one definition, whose hash is `of`: `by` names the programs, `columns`
    the names and types of the tables' columns, `reads` is a digest of the query with the texts of
    the logical views that it reads, and their conversions, empty if it reads none; `types` are
    those of the columns of each query that was asked about.

    `confirmed` says that Spark plans the query that was understood as the one that was written.
    """

    of: str
    by: str
    columns: Columns
    reads: str = ""
    types: dict[str, list[str]] = field(default_factory=dict)
    confirmed: bool = False

    def to_json(self) -> dict[str, Any]:
        """As the view's properties keep it."""
        return dict(vars(self))

    def has_types_of(self, kept: Mapping[str, Any]) -> bool:
        """Whether columns that the tables had when others were kept have the types of then."""
        then: Columns = kept.get("columns", {})
        return all(
            column in self.columns.get(table, ())
            for table, listed in then.items()
            for column in listed
        )


def facts_of(
    definition: Definition, by: str, text: str, columns: Columns, kept: Mapping[str, Any]
) -> PlanFacts:
    """What is known of a definition before Spark is asked: what was kept, as far as it still holds.
    `text` is the query with placeholders for its tables, whose `columns` these are."""
    reads = hashlib.sha256(text.encode()).hexdigest()[:16] if definition.views else ""
    found = PlanFacts(definition.hash, by, columns, reads)
    asked = {"of": found.of, "by": by, "columns": columns, "reads": reads}
    if {"reads": "", **{key: kept[key] for key in asked if key in kept}} == asked:
        found.types = dict(kept.get("types", {}))
        found.confirmed = kept.get("confirmed") is True
    return found


def programs(executor: Executor) -> str:
    """The versions of the programs on which it depends."""
    client = executor.catalog
    if client is not None:
        spark = client.spark_version()
    else:
        ((text,),) = executor.query("SELECT version()")
        spark = str(text).split()[0]
    return f"{version} {sqlglot.__version__} {spark}"


def refuse_unknown_functions(session: Executor, program: Program) -> None:
    """Raise `NotFast` for a function that is not Spark's own, as nobody knows what its value is of,
    and for an aggregate that is taken for a function of one row."""
    calls = {call.name.lower(): call for call in program.query.find_all(exp.Anonymous)}
    for name, call in sorted(calls.items()):
        try:
            lines = [str(row[0]) for row in session.query(f"DESCRIBE FUNCTION {quote(name)}")]
        except StatementFailed:
            lines = []
        line = next((line for line in lines if line.startswith(_OF_SPARK)), None)
        if line is None:
            raise not_fast("USER_FUNCTION", f"{name} is not one of Spark's own functions")
        if ".aggregate." in line and aggregates.is_scalar(call):
            raise not_fast("NOT_UNDERSTOOD", f"{name} is not known to be an aggregate", call)


def confirm(
    session: Executor, texts: tuple[str, str], outputs: Sized, definition: Definition
) -> None:
    """Raise `NotFast` unless Spark plans both texts of the query of a definition, which returns
    these columns, alike.

    What is computed of a column beside it, as in `SELECT a + 1 AS b, b * 2`, is printed with the
    expression of that in its place, as Spark plans it with a setting of its own.
    """
    (original, printed), width = texts, len(outputs)
    differing = _difference(session, original, printed, width)
    tree = parse(printed) if differing is not None else None
    if tree is not None and _copies(tree) <= _MOST_COPIES:
        with session.isolated({**definition.settings, **SHOWN_PLANS, **_WRITTEN_OUT}) as other:
            differing = _difference(other, original, printed, width)
    if differing is not None:
        shown = " and ".join(_around_difference(*differing))
        raise not_fast(
            "NOT_UNDERSTOOD", "Spark plans it in another way than it was understood", shown
        )


def _difference(
    session: Executor, original: str, printed: str, width: int
) -> tuple[str, str] | None:
    """The first lines that differ in the plans of two queries."""
    plan, other = (comparable(_plan(session, query, width)) for query in (original, printed))
    lines = zip_longest(plan, other, fillvalue="")
    return next((pair for pair in lines if pair[0] != pair[1]), None)


def _copies(node: exp.Expr) -> int:
    """How often an expression may stand in another, if each is written out where it is used."""
    inner = max((_copies(child) for child in node.iter_expressions()), default=1)
    if not isinstance(node, exp.Select):
        return inner
    used = Counter(c.sql() for item in node.expressions for c in item.find_all(exp.Column))
    return inner * max(used.values(), default=1)


def _around_difference(one: str, two: str) -> tuple[str, str]:
    start = max(
        0, next((n for n, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), 0) - 20
    )
    return repr(one[start : start + 80]), repr(two[start : start + 80])


def _plan(session: Executor, query: str, width: int) -> str:
    names = ", ".join(f"c{number}" for number in range(width))
    return plan_of(session.query(f"EXPLAIN SELECT * FROM (\n{query}\n) AS mv_plan({names})"))


def texts_to_plan(
    written: Written, program: Program, tables: Mapping[str, TableName]
) -> tuple[str, str]:
    """A query as it was written and as it was understood, for Spark to plan."""
    original = written.original or written.text
    read = written.clock.written_out(program.read)
    return (
        _WRITTEN.sub(lambda found: _as_written(tables, found), original),
        _PRINTED.sub(lambda found: tables[found.group(1)].sql, read),
    )


def _as_written(tables: Mapping[str, TableName], found: re.Match[str]) -> str:
    table, alias = tables[found.group(1)], found.group(2)
    is_ours = alias in (None, quote(table.name)) or alias.startswith(f"`{OWN_NAME}")
    return table.sql if is_ours else f"{table.sql} AS {alias}"


def needed_columns(
    text: str, facts: PlanFacts, kept: Mapping[str, Any], used: Mapping[str, frozenset[str]]
) -> dict[str, frozenset[str]] | None:
    """The columns of each table with which a query means what it does now, whichever of the others
    there are; None if that is not known.

    With fewer columns to choose from, a name means the same as before, as long as that is there.
    Columns that are only listed (`*`), and which nothing uses, do not matter unless others
    are told by their places. The text of a logical view depends on what its tables have: it is
    known to be the same with the columns that they had when it was `kept`, and with more.
    """
    tree = parse(text)
    if tree is None or any(map(_tells_by_place, tree.find_all(exp.Select))):
        return None
    if not facts.reads:
        return dict(used)
    if (kept.get("of"), kept.get("reads")) != (facts.of, facts.reads):
        return None
    then = kept["columns"]
    return {name: used[name] | {column for column, _ in then[name]} for name in used}


def _tells_by_place(select: exp.Select) -> bool:
    """Whether columns that a query lists by `*` have places that matter, as in a branch of a set
    operation."""
    holder = select.parent
    while isinstance(holder, exp.Subquery):
        holder = holder.parent
    return select.is_star and isinstance(holder, exp.SetOperation)
