"""Observes a materialized view as it is now: label, sources, versions, verdict."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dbt.adapters.spark_mv.catalog import iceberg, table_heads
from dbt.adapters.spark_mv.catalog.resolver import Resolver
from dbt.adapters.spark_mv.catalog.versions import Version, Versions
from dbt.adapters.spark_mv.config.option_types import NEVER
from dbt.adapters.spark_mv.config.options import Options
from dbt.adapters.spark_mv.core import clock, reasons
from dbt.adapters.spark_mv.core.executor import Executor, SnapshotFacts, TableFacts, client_for
from dbt.adapters.spark_mv.metadata.invalidations import missed_answer, untrusted
from dbt.adapters.spark_mv.metadata.log import PATIENCE, MetadataLog
from dbt.adapters.spark_mv.metadata.projection import ViewState
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.state.freshness import (
    Freshness,
    Label,
    Verdict,
    expired,
    judge,
    newest_build,
    read_label,
)
from dbt.adapters.spark_mv.state.pinned_versions import Heads, PinnedVersions
from dbt.adapters.spark_mv.views.clock import reads_clock
from dbt.adapters.spark_mv.views.definition import Definition, MaterializedView
from dbt.adapters.spark_mv.views.dependencies import Expander
from dbt.adapters.spark_mv.views.expansion import Expansion
from dbt.adapters.spark_mv.views.registry import load_view
from dbt.adapters.spark_mv.views.volatile import names_files


@dataclass(frozen=True)
class Observation:
    """What was seen. `head` is the storage table's main snapshot, `current` the definition with
    the tables and view texts that it reads now; `instant`, in epoch seconds, is when rows that are
    computed now are to be right. `below` is what would be seen if the storage table were taken back
    to its newest build, over which something else has written."""

    view: MaterializedView
    current: Definition
    expansion: Expansion
    versions: dict[TableName, Version]
    label: Label | None
    head: SnapshotFacts | None
    storage_exists: bool
    storage_schema_id: int | None
    verdict: Verdict
    instant: float
    below: Observation | None = None

    @property
    def instant_us(self) -> int:
        """The instant in epoch microseconds, as the label has it."""
        return round(self.instant * 1e6)


class Observer:
    """Reads the state of materialized views; changes nothing."""

    def __init__(
        self, executor: Executor, resolver: Resolver, versions: Versions, log: MetadataLog
    ) -> None:
        self._executor = executor
        self._log = log
        self._resolver = resolver
        self._versions = versions
        self._same_rows: dict[tuple[TableName, Version, Version], bool] = {}
        # What may be asked for in one statement, and need not be asked for again.
        self._tables: dict[TableName, list[TableName]] = {}
        self._chains: dict[TableName, list[SnapshotFacts]] = {}

    def observe(self, view: MaterializedView, pinned: PinnedVersions | None = None) -> Observation:
        """The label first, versions after it: a label is then never newer than what it is
        compared with."""
        with self._resolver.remembered():
            return self._observation(view, pinned, None)

    def observe_pinned(self, view: MaterializedView, pinned: PinnedVersions) -> Observation:
        """As `observe`, with the rows that are read if those of another view were found right by
        versions in `pinned`. Where they have been written since the storage table is not pinned any
        more."""
        with self._resolver.remembered():
            head = pinned.head(view.storage)
            found = self._observation(view, pinned, head)
            if head is None or found.head is not None and found.head.snapshot_id == head[0]:
                return found
            pinned.forget([view.storage])
            return self._observation(view, pinned, None)

    def has_moved(self, observation: Observation) -> bool:
        """Whether any base table has another version now than when it was observed."""
        names = list(observation.versions)
        with self._resolver.remembered():
            found = self._versions.read(names, self._heads(names))
        return observation.versions != found

    def _observation(
        self,
        view: MaterializedView,
        pinned: PinnedVersions | None,
        stored: table_heads.Head | None,
    ) -> Observation:
        """`stored` is the head of the storage table, if it is known."""
        instant = clock.now() if pinned is None else pinned.instant
        exists, stored = (True, stored) if stored is not None else self._stored(view.storage)
        chain = self._chain(view.storage, stored) if exists else []
        label = read_label(chain)
        build = label or self._build_below(view.storage, chain)
        expansion, heads = self._expanded(view)
        if pinned is None:
            versions = self._versions.read(expansion.tables, heads, expansion.facts)
        else:
            versions = pinned.read(expansion, build, self._versions, heads)
        current = replace(
            view.definition,
            tables=tuple(str(table) for table in expansion.tables),
            views=expansion.views,
        )
        seen = Observation(
            view,
            current,
            expansion,
            versions,
            None,
            chain[0] if chain else None,
            exists,
            self._schema_id(view.storage, stored) if exists else None,
            Verdict(Freshness.NEVER_BUILT, reasons.NEVER_BUILT),
            instant,
        )
        if not exists:
            return seen
        found = self._judged(seen, label)
        if label is not None or build is None:
            return found
        return replace(found, below=self._judged(replace(seen, head=build.snapshot), build))

    def _stored(self, storage: TableName) -> tuple[bool, table_heads.Head | None]:
        """Whether a storage table exists, and its head."""
        heads, facts = self._heads([storage]), self._resolver.lookup(storage)
        return isinstance(facts, TableFacts), heads.get(storage) or _head_of(facts)

    def _expanded(self, view: MaterializedView) -> tuple[Expansion, Heads]:
        """What a view reads, and heads of what it read when it was looked at before."""
        heads = self._heads(self._tables.get(view.name, []))
        owner, definition = str(view.name), view.definition
        walk = Expander(self._resolver, owner, tolerate_missing=True, settings=definition.settings)
        expansion = walk.expand(definition.query, definition.home)
        self._tables[view.name] = expansion.tables
        return expansion, heads

    def _build_below(self, storage: TableName, chain: list[SnapshotFacts]) -> Label | None:
        if not chain:
            return None
        whole = iceberg.main_chain(self._executor, storage)
        is_same = whole and whole[0].snapshot_id == chain[0].snapshot_id
        return newest_build(whole) if is_same else None

    def _judged(self, seen: Observation, label: Label | None) -> Observation:
        """What was seen, as the rows of this label are by it."""
        view, current, versions = seen.view, seen.current, seen.versions
        declared = seen.expansion.declared_types
        verdict = judge(label, current.hash, seen.storage_schema_id, versions, declared)
        verdict = self._without_neutral_changes(verdict, view.name, label, current, versions)
        if label is None:
            return replace(seen, verdict=verdict)
        verdict = _with_expiry(verdict, current, view.options, label, seen.instant)
        verdict = self._with_invalidation(verdict, view, label)
        # Time never goes back for a view, whatever the clocks of its writers show.
        instant = max(seen.instant, label.evaluated_at)
        return replace(seen, label=label, verdict=verdict, instant=instant)

    def observe_with_upstream(self, view: MaterializedView) -> Observation:
        """As `observe`, but a view over a materialized view that is not fresh is not fresh
        either."""
        observation = self.observe(view)
        if not observation.verdict.is_fresh:
            return observation
        for name in observation.expansion.storages:
            upstream = load_view(self._resolver, name)
            found = self.observe_with_upstream(upstream).verdict
            if not found.is_fresh:
                reason = reasons.upstream_not_fresh(str(name), found.freshness.value)
                freshness = (
                    Freshness.STALE if found.freshness is Freshness.STALE else Freshness.UNKNOWN
                )
                return replace(observation, verdict=Verdict(freshness, reason))
        return observation

    def _heads(self, names: list[TableName]) -> Heads:
        """Heads of those names that were Iceberg tables before and still are; only where SQL has to
        be asked, one statement for all instead of one for each."""
        names = [name for name in names if client_for(self._executor, name.catalog) is None]
        tables = [name for name in names if self._resolver.was_iceberg(name)]
        if not tables:
            return {}
        found = table_heads.heads_if_tables(self._executor, tables)
        self._resolver.assume_iceberg(found)
        return found

    def _chain(self, storage: TableName, head: table_heads.Head | None) -> list[SnapshotFacts]:
        """The labelled chain; a snapshot never changes, so that of a known head is known."""
        remembered = self._chains.get(storage)
        if remembered and head is not None and remembered[0].snapshot_id == head[0]:
            return remembered
        chain = self._chains[storage] = iceberg.labelled_chain(self._executor, storage)
        return chain

    def _schema_id(self, name: TableName, head: table_heads.Head | None) -> int | None:
        if head is None:
            head = table_heads.heads(self._executor, [name]).get(name)
        return head[1] if head else None

    def _without_neutral_changes(
        self,
        verdict: Verdict,
        view: TableName,
        label: Label | None,
        current: Definition,
        versions: dict[TableName, Version],
    ) -> Verdict:
        if verdict.freshness is not Freshness.STALE or not verdict.changed or label is None:
            return verdict
        if any(map(names_files, current.texts)):
            return verdict  # a compaction changes what it returns
        changed = tuple(
            name
            for name in verdict.changed
            if not self._has_same_rows(view, name, label.sources[name], versions[name])
        )
        if not changed:
            return Verdict(Freshness.FRESH, reasons.EQUIVALENT_VERSIONS)
        reason = reasons.base_table_changed([name.shown for name in changed])
        return Verdict(Freshness.STALE, reason, changed)

    def _with_invalidation(self, verdict: Verdict, view: MaterializedView, label: Label) -> Verdict:
        """What versions and the clock say, and then whoever does not trust the rows."""
        known = self._known(view, label)
        if known is None or not (verdict.is_fresh or verdict.is_comparable):
            return verdict
        stale = replace(verdict, freshness=Freshness.STALE, invalidated=True)
        missed, found = missed_answer(known.answered, label.trusted_since), known.invalidated
        if missed is not None:
            return replace(stale, reason=reasons.invalidated_before(missed.at))
        if found is None:
            return verdict
        what, by = str(found.payload.get("what")), str(found.payload.get("by", found.writer))
        rest = untrusted(known.invalidations.values()) if verdict.is_fresh else None
        return replace(stale, reason=reasons.invalidated(what, by, found.at), untrusted=rest)

    def _known(self, view: MaterializedView, label: Label) -> ViewState | None:
        """What the metadata says of the view; anew if another process may have made its rows."""
        found = self._log.state().views.get(view.name)
        if found is not None and missed_answer(found.answered, label.trusted_since) is not None:
            self._log.reload_if_moved(PATIENCE)
            found = self._log.state().views.get(view.name)
        return found if found is not None and found.id == view.id else None

    def _has_same_rows(self, view: TableName, name: TableName, old: Version, new: Version) -> bool:
        key = (name, old, new)
        if key not in self._same_rows:
            self._same_rows[key] = self._find_same_rows(view, name, old, new)
        return self._same_rows[key]

    def _find_same_rows(self, view: TableName, name: TableName, old: Version, new: Version) -> bool:
        """Whether only commits without a change of rows lie between two versions. The old one, or
        others between them, may be expired: what was found before they were is remembered."""
        if not old.snapshot_id or not new.snapshot_id or not old.has_columns_of(new):
            return False
        same = self._log.same_as(name, old.snapshot_id)
        starts = [replace(old, snapshot_id=found) for found in (old.snapshot_id, *sorted(same))]
        found = new.snapshot_id in same or any(
            self._versions.rows_unchanged(name, start, new) for start in dict.fromkeys(starts)
        )
        if found:
            self._log.equate(view, name, old.snapshot_id, new.snapshot_id)
        return found


def _head_of(facts: object) -> table_heads.Head | None:
    """The head of an Iceberg table, if its facts say it."""
    if not isinstance(facts, TableFacts) or facts.schema_id is None:
        return None
    return facts.snapshot_id, facts.schema_id


def _with_expiry(
    verdict: Verdict, current: Definition, options: Options, label: Label, now: float
) -> Verdict:
    """What versions say of the rows, and then the clock."""
    if not verdict.is_fresh:
        return verdict
    reads = options.expiry != NEVER and any(map(reads_clock, current.texts))
    reason = expired(label, now, reads, options.max_age_seconds)
    return verdict if reason is None else Verdict(Freshness.STALE, reason, expired=True)
