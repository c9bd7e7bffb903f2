"""What a refresh that starts from the stored rows works with: the query, and what changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from dbt.adapters.spark_mv.catalog import iceberg
from dbt.adapters.spark_mv.catalog.change_sets import (
    COMPARED,
    UNWRITTEN,
    Change,
    change_between,
    schema_changed,
    with_bounds,
)
from dbt.adapters.spark_mv.catalog.resolver import Resolver
from dbt.adapters.spark_mv.core.executor import Executor
from dbt.adapters.spark_mv.core.reasons import Reason
from dbt.adapters.spark_mv.expiry.crossings import changed_with_clock, crossed_rows
from dbt.adapters.spark_mv.ivm.algebra.measures import MAX, MIN
from dbt.adapters.spark_mv.ivm.algebra.terms import CHANGES, OLD, TABLE, WEIGHT
from dbt.adapters.spark_mv.ivm.rewrite.clock_columns import CLOCK_COLUMN
from dbt.adapters.spark_mv.planning.analysis import Analysis
from dbt.adapters.spark_mv.planning.analyzer import Analyzer
from dbt.adapters.spark_mv.planning.pinning import unpinned_tables
from dbt.adapters.spark_mv.sql.columns import Columns, columns_of
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.state.freshness import Label
from dbt.adapters.spark_mv.state.observation import Observation

OTHER_LAYOUT = Reason(
    "OTHER_LAYOUT", "its storage table lacks columns that are needed, or has others of these names"
)


@dataclass(frozen=True)
class Inputs:
    """The analysis of a view's query, and how the change of each changed table is read."""

    analysis: Analysis
    changes: tuple[Change, ...]

    @property
    def changed(self) -> frozenset[str]:
        """The changed tables, by their names in the program."""
        return frozenset(self.analysis.placeholder(change.table) for change in self.changes)

    @property
    def inserts_only(self) -> bool:
        """Whether no row has gone from any of them."""
        return all(change.inserts_only for change in self.changes)

    def bounded(self, executor: Executor, names: Collection[str]) -> Inputs:
        """The inputs with what is known of columns of these names in appended rows."""
        changes = [
            with_bounds(
                executor,
                change,
                [
                    column
                    for column in self.analysis.columns[self.analysis.placeholder(change.table)]
                    if column.lower() in names and not column.startswith(CLOCK_COLUMN)
                ],
            )
            for change in self.changes
        ]
        return replace(self, changes=tuple(changes))

    def queries(self, observation: Observation) -> dict[str, str]:
        """The rows of every table now and before, and the changed rows, by their names."""
        assert observation.label is not None
        since, until = observation.label.evaluated_us, observation.instant_us
        found = self.analysis.current(observation.versions, until)
        for change in self.changes:
            name = self.analysis.placeholder(change.table)
            number, names = name.removeprefix(TABLE), self.analysis.columns[name]
            columns = columns_of(names, self.analysis.types[name])
            found[OLD + number] = self.analysis.rows(name, change.old, since)
            nets = self.analysis.can_group(name) and not self._cancels(change, columns)
            found[CHANGES + number] = (
                changed_with_clock(self.analysis.clock, name, change, columns, (since, until), nets)
                if self.analysis.clock.of(name)
                else change.sql(columns, WEIGHT, nets)
            )
        return found

    def _cancels(self, change: Change, columns: Columns) -> bool:
        """Whether the few rows that came as they went do no harm: they cancel out in sums, but
        make an extreme, or a number that is not finite, be sought anew."""
        additive = self.analysis.program.additive
        if change.found is None or additive is None or columns.floating:
            return False
        return not any(part.function in (MIN, MAX) for part in additive.parts)


def inputs_of(
    executor: Executor, resolver: Resolver, analyzer: Analyzer, observation: Observation
) -> Inputs | Reason:
    """The inputs of a refresh of the view that was observed; why there are none."""
    view, label = observation.view, observation.label
    if label is None or observation.head is None or not observation.verdict.is_comparable:
        return Reason("NO_BASE", "there are no stored rows to start from")
    if any(_is_altered(name, label, observation) for name in observation.verdict.changed):
        analyzer.forget_altered(observation.current, view)
    analysis = analyzer.analysis(observation.current, view)
    if isinstance(analysis, Reason):
        return analysis
    if not analyzer.fits(observation.current, view):
        return OTHER_LAYOUT
    unpinned = unpinned_tables(observation.versions, executor, resolver)
    altered = [name for name in unpinned if _is_altered(name, label, observation)]
    if altered:
        return schema_changed(altered[0])
    if unpinned:
        names = ", ".join(name.shown for name in unpinned)
        return Reason("NOT_PINNED", f"base tables cannot be read at a fixed version: {names}")
    found = _written(executor, observation, label, analysis)
    if isinstance(found, Reason):
        return found
    crossed = crossed_rows(executor, observation, label, analysis.clock, analysis.tables)
    for table in crossed:
        version = observation.versions[table]
        found.setdefault(table, Change(table, version, version, UNWRITTEN, rows=0, compacted=False))
    changes = (replace(found[table], crossed=crossed.get(table, 0)) for table in found)
    return Inputs(analysis, tuple(changes))


def _is_altered(table: TableName, label: Label, observation: Observation) -> bool:
    """Whether a table has other columns than when the stored rows were computed. Until something
    is written to it, it has no version with these."""
    old = label.sources.get(table)
    return old is not None and old.schema_id != observation.versions[table].schema_id


def _written(
    executor: Executor, observation: Observation, label: Label, analysis: Analysis
) -> dict[TableName, Change] | Reason:
    """How the changes are read of those tables that somebody has written to."""
    changes: dict[TableName, Change] = {}
    for table in observation.verdict.changed:
        old, new = label.sources[table], observation.versions[table]
        needed = analysis.needed and analysis.needed[analysis.placeholder(table)]
        found = change_between(executor, table, old, new, needed)
        if isinstance(found, Reason):
            return found
        changes[table] = found
    return changes


def base_rows(executor: Executor, observation: Observation) -> dict[TableName, int]:
    """The rows of each base table, as its newest commit counts them; 0 if none does."""
    return {
        table: _total(executor, table) if version.can_pin else 0
        for table, version in observation.versions.items()
    }


def stored_rows(observation: Observation) -> int:
    """The rows of the storage table, as its newest commit counts them; 0 if it does not."""
    return (observation.head and iceberg.live_rows(observation.head.summary)) or 0


def changed_rows(changes: Sequence[Change], totals: Mapping[TableName, int]) -> int:
    """How many rows the changes list at most, before they are netted."""
    return sum(
        2 * change.crossed
        + (
            int(2 * totals[change.table] * change.share)
            if change.rows is None or change.way == COMPARED
            else change.rows
        )
        for change in changes
    )


def scanned_rows(changes: Sequence[Change], totals: Mapping[TableName, int]) -> int:
    """What it costs to find the changed rows, in rows that are read."""
    return sum(int(totals[change.table] * change.scans) for change in changes)


def _total(executor: Executor, table: TableName) -> int:
    chain = iceberg.main_chain(executor, table, 1)
    return (iceberg.live_rows(chain[0].summary) or 0) if chain else 0
