"""Keeps storage tables and metadata small, without touching freshness, history or refreshes."""

from __future__ import annotations

import time
from collections.abc import Iterable

from dbt.adapters.spark_mv.catalog import iceberg, maintenance
from dbt.adapters.spark_mv.catalog.versions import Version
from dbt.adapters.spark_mv.core.errors import MaterializedViewError, StatementFailed
from dbt.adapters.spark_mv.core.executor import Executor
from dbt.adapters.spark_mv.metadata.log import MetadataLog
from dbt.adapters.spark_mv.metadata.projection import ViewState, fold
from dbt.adapters.spark_mv.metadata.retention import kept
from dbt.adapters.spark_mv.metadata.store import KEPT_SNAPSHOTS, MetadataStore
from dbt.adapters.spark_mv.refresh.lock import RefreshLock
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.state.freshness import LABEL_ID
from dbt.adapters.spark_mv.views.registry import find_view

# Iceberg removes no orphans younger than a day: files of a running write are like them.
_ORPHAN_AGE = 3 * 86400.0
_KEPT_SNAPSHOTS = 5
Row = tuple[str, str, int | None, int | None, int | None]


def maintain_view(services: Services, state: ViewState, keep_seconds: float) -> Row:
    """Compact the storage table of a view and expire what is older than `keep_seconds`.

    It takes the right to refresh first: a compaction moves main, and would undo a refresh.
    """
    view = find_view(services.resolver, state.name)
    chain = [] if view is None else iceberg.main_chain(services.executor, view.storage, 1)
    if view is None or not chain:
        return (str(state.name), "nothing to do", None, None, None)
    lock = services.refresh_locks.acquire(view.storage, chain[0].snapshot_id)
    if not isinstance(lock, RefreshLock):
        return (str(state.name), "skipped: a refresh is running", None, None, None)
    try:
        counts = _maintain(services.executor, view.storage, keep_seconds)
    finally:
        services.refresh_locks.release(lock)
    if view.options.live:
        services.live.renew(view)
    return (str(state.name), "done", *counts)


def maintain_metadata(
    executor: Executor, log: MetadataLog, keep_seconds: float, keep_history_seconds: float
) -> tuple[Row, int] | None:
    """The same for the event table, and how many events were forgotten; None without metadata."""
    log.flush()
    with log.open_store() as store:
        if store.version() is None:
            return None
        name = store.events
        forgotten = _forget(store, int((time.time() - keep_history_seconds) * 1e6))
    compacted = _compact(executor, name)
    before = time.time() - keep_seconds
    expired = maintenance.expire(executor, name, before, KEPT_SNAPSHOTS)
    orphans = maintenance.remove_orphans(executor, name, time.time() - _ORPHAN_AGE)
    return (str(name), "done", compacted, expired, orphans), forgotten


def _forget(store: MetadataStore, before_us: int) -> int:
    """Events about refreshes that ended before a time, and of views that are gone, make history
    only."""
    version = store.version()
    events = store.load()
    old = {event.event_id for event in events if event.at < before_us}
    staying = old & kept(events, fold(events), before_us)
    if staying != old and version is not None:
        store.forget(before_us, staying, version)
    return len(old - staying)


def _maintain(executor: Executor, storage: TableName, keep_seconds: float) -> tuple[int, int, int]:
    compacted = _compact(executor, storage)
    chain = iceberg.main_chain(executor, storage)
    labelled = next((i for i, s in enumerate(chain) if LABEL_ID in s.summary), len(chain) - 1)
    # A compaction has no label of its own: the snapshot whose label it inherits must stay.
    retain = max(_KEPT_SNAPSHOTS, labelled + 1)
    now = time.time()
    expired = maintenance.expire(executor, storage, now - keep_seconds, retain)
    orphans = maintenance.remove_orphans(executor, storage, now - _ORPHAN_AGE)
    return compacted, expired, orphans


def _compact(executor: Executor, name: TableName) -> int:
    if maintenance.count_files(executor, name) < maintenance.MIN_FILES:
        return 0
    return maintenance.compact(executor, name)


def oldest_versions(services: Services, views: Iterable[ViewState]) -> list[str]:
    """For each base table the oldest version that a label names, of those that are still kept:
    what `verify` still needs."""
    needed: dict[TableName, tuple[int, str, str]] = {}
    unknown: list[str] = []
    for state in views:
        try:
            view = find_view(services.resolver, state.name)
            label = None if view is None else services.observer.observe(view).label
        except MaterializedViewError as error:
            unknown.append(f"versions that {state.name} needs are not known: {error.problem}")
            continue
        for name, version in label.sources.items() if label else ():
            at = _current_at(services, name, version)
            if at is not None:
                found = (at, str(version.snapshot_id), str(state.name))
                needed[name] = min(needed.get(name, found), found)
    return [
        f"oldest version of {name} still needed: {snapshot} of "
        f"{time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(at / 1000))}, by {view}"
        for name, (at, snapshot, view) in sorted(needed.items(), key=lambda item: item[0].parts)
    ] + unknown


def _current_at(services: Services, name: TableName, version: Version) -> int | None:
    """When a version became the current one, in epoch milliseconds; None if it is not kept."""
    if version.snapshot_id is None:
        return None
    try:
        history = services.versions.history(name)
    except StatementFailed:
        return None
    return next((one.at for one in history if one.snapshot_id == version.snapshot_id), None)
