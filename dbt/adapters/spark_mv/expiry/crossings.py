"""The clock in the analysis of a definition, and what has changed because time has passed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timezone, tzinfo

from sqlglot import exp

from dbt.adapters.spark_mv.catalog.change_sets import UNWRITTEN, Change, netted
from dbt.adapters.spark_mv.core.executor import Executor
from dbt.adapters.spark_mv.expiry.next_change import ExpiryFinder
from dbt.adapters.spark_mv.ivm.algebra.terms import WEIGHT, not_fast
from dbt.adapters.spark_mv.ivm.rewrite.clock_columns import (
    ClockColumns,
    compared_values,
    with_clock_columns,
    without_clock_columns,
)
from dbt.adapters.spark_mv.sql.columns import Columns, columns_of
from dbt.adapters.spark_mv.sql.names import TableName, quote
from dbt.adapters.spark_mv.sql.reads import parse
from dbt.adapters.spark_mv.state.freshness import Label
from dbt.adapters.spark_mv.state.observation import Observation
from dbt.adapters.spark_mv.views import clock as clocks
from dbt.adapters.spark_mv.views.clock import Moment
from dbt.adapters.spark_mv.views.definition import Definition

_PLAIN = re.compile(r"`([A-Za-z_]\w*)`")


@dataclass(frozen=True)
class Clock:
    """The columns that are comparisons with the clock, by table of a program, and the time zone in
    which they are made."""

    columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    zone: tzinfo = timezone.utc

    def of(self, table: str) -> tuple[str, ...]:
        """The names of the columns of a table."""
        return tuple(self.columns.get(table, ()))

    def reads(self, table: str) -> tuple[str, ...]:
        """The columns of a table that are compared."""
        texts = self.columns.get(table, {}).values()
        trees = [parse(f"SELECT {text}") for text in texts]
        found = (c for tree in trees if tree for c in tree.find_all(exp.Column))
        return tuple(dict.fromkeys(c.name for c in found if c.name not in clocks.PLACEHOLDERS))

    def written_out(self, query: str) -> str:
        """A query over tables of a program as it is at the beginning of 1970, over tables that do
        not have the columns."""
        if not self.columns:
            return query
        return without_clock_columns(query, {table: self.at(table, 0) for table in self.columns})

    def readable(self, text: str) -> str:
        """A text about the query with the comparisons themselves, and names as one writes them."""
        if not self.columns:
            return text
        for name, compared in (pair for named in self.columns.values() for pair in named.items()):
            written = clocks.shown(compared)
            # A backslash in a pattern's replacement would be one of its own.
            named = rf"(?:`?\w+`?\.)?`?\b{name}\b`?"
            text = re.sub(named, written.replace("\\", r"\\"), text)
        return _PLAIN.sub(r"\1", text)

    def at(self, table: str, us: int) -> dict[str, str]:
        """The SQL of the columns of a table at an instant in epoch microseconds."""
        moment = Moment(us, self.zone)
        named = self.columns.get(table, {})
        return {name: f"({clocks.filled(text, moment)})" for name, text in named.items()}


@dataclass(frozen=True)
class Written:
    """The query of a definition over tables `mv_table_<n>`, to be analysed; if it is not as it was
    written the `original` at the beginning of 1970, and the clock that it reads as columns."""

    text: str
    original: str | None = None
    clock: Clock = Clock()


def clock_as_columns(
    expiries: ExpiryFinder,
    definition: Definition,
    text: str,
    columns: Mapping[str, list[list[str]]],
) -> Written:
    """A query that reads the clock as one that does not; raises `NotFast` if there is none."""
    moment = expiries.moment(definition, 0)
    if moment is None or any(clocks.moment_texts(one) for one in definition.texts):
        raise not_fast("CLOCK_NOT_CLEAR", "only Spark can say what it reads of the clock")
    canonical = clocks.canonical(text)
    names = {table: [name for name, _ in listed] for table, listed in columns.items()}
    called = clocks.placed(canonical, lambda reads: f"{reads}()")
    found: ClockColumns
    text, found = with_clock_columns(called, names)
    return Written(text, clocks.at_moment(canonical, moment), Clock(found, moment.zone))


def crossed_rows(
    executor: Executor,
    observation: Observation,
    label: Label,
    clock: Clock,
    tables: Mapping[str, TableName],
) -> dict[TableName, int]:
    """How many rows of each table, as it was, compare with the clock in another way now; tables
    without such rows are left out. Asks Spark, if any row may have crossed.

    The label says when the next row of the result crosses. Rows that were in no result yet may
    cross earlier, and then meet what somebody has written: the rows as they were must say so.
    """
    since, until = label.evaluated_us, observation.instant_us
    ends = label.expiry.at if label.expiry is not None and not label.expiry.is_at_once else since
    is_before = ends is None or until < ends
    if not clock.columns or (is_before and not observation.verdict.changed):
        return {}
    found: dict[TableName, int] = {}
    with executor.isolated(observation.view.definition.settings) as session:
        for name in clock.columns:
            table = tables[name]
            is_same = table not in observation.verdict.changed
            version = (observation.versions if is_same else label.sources)[table]
            rows = f"{table.sql} VERSION AS OF {version.snapshot_id}"
            condition = _has_crossed(clock, name, since, until)
            ((count,),) = session.query(f"SELECT count(*) FROM {rows} WHERE {condition}")
            if count:
                found[table] = int(count)
    return found


def _has_crossed(clock: Clock, table: str, since: int, until: int) -> str:
    """SQL of the condition that a comparison of a row has another result at one instant than at the
    other."""
    before, after = clock.at(table, since), clock.at(table, until)
    crossed = " OR ".join(f"NOT ({before[name]} <=> {after[name]})" for name in before)
    between = _between(clock, table, since, until)
    # Files without such values are then not read.
    return f"({between}) AND ({crossed})" if between else crossed


def _between(clock: Clock, table: str, since: int, until: int) -> str:
    """A condition on columns that holds for every row that has crossed; empty if none is known.

    A comparison of a column with the clock has another result only if the value lies between what
    the clock said at the one instant and at the other.
    """
    pairs = [compared_values(text) for text in clock.columns.get(table, {}).values()]
    if any(found is None for found in pairs):
        return ""
    moments = Moment(since, clock.zone), Moment(until, clock.zone)
    ranges: dict[str, None] = {}
    for value, of_clock in (pair for found in pairs for pair in found or ()):
        ends = ", ".join(clocks.filled(of_clock, moment) for moment in moments)
        ranges[f"{value} BETWEEN least({ends}) AND greatest({ends})"] = None
    return " OR ".join(ranges)


def changed_with_clock(
    clock: Clock,
    table: str,
    change: Change,
    columns: Columns,
    instants: tuple[int, int],
    nets: bool,
) -> str:
    """A query of the changed rows of a table that has columns of the clock: those that were written
    are seen at the second instant, those that were there and crossed are taken away as they were at
    the first, and come as they are at the second."""
    since, until = instants
    before, after = clock.at(table, since), clock.at(table, until)
    parts: list[str] = []
    if change.way != UNWRITTEN:
        shown = ", ".join(
            f"{after[name]} AS {quote(name)}" if name in after else quote(name)
            for name in columns.names
        )
        names = dict.fromkeys([*(n for n in columns.names if n not in after), *clock.reads(table)])
        rows = change.sql(columns_of(tuple(names), ()), WEIGHT, nets=False)
        parts.append(f"SELECT {shown}, {WEIGHT} FROM ({rows})")
    if change.crossed:
        ends = (
            ", ".join([*(f"'{n}', {values[n]}" for n in after), f"'{WEIGHT}', {weight}"])
            for values, weight in ((after, 1), (before, -1))
        )
        both = ", ".join(f"named_struct({end})" for end in ends)
        parts.append(
            f"SELECT {columns.listed}, {WEIGHT} FROM {change.table.sql} VERSION AS OF "
            f"{change.old.snapshot_id} LATERAL VIEW inline(array({both})) mv_crossed "
            f"WHERE {_has_crossed(clock, table, since, until)}"
        )
    inner = " UNION ALL ".join(parts)
    if change.inserts_only or not nets:
        return inner
    return netted(inner, columns, WEIGHT)
