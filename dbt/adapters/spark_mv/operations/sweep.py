"""Removes what crashes left behind: branches, storage tables, rows that say RUNNING.

Nothing is removed without proof that nobody needs it: its owner is gone, the metadata knows it as
replaced or dropped, or it is older than a refresh may take. A table is ours by its mark, never by
its name alone.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from dbt.adapters.spark_mv.catalog import iceberg
from dbt.adapters.spark_mv.catalog.resolver import Resolver
from dbt.adapters.spark_mv.core.errors import StatementFailed, UnknownCatalog
from dbt.adapters.spark_mv.core.executor import BranchFacts, Executor, ViewFacts
from dbt.adapters.spark_mv.metadata.log import MetadataLog
from dbt.adapters.spark_mv.metadata.payloads import name_of
from dbt.adapters.spark_mv.metadata.projection import ViewState
from dbt.adapters.spark_mv.refresh.backups import backup_of, has_id
from dbt.adapters.spark_mv.refresh.lock import BRANCH, RefreshLocks
from dbt.adapters.spark_mv.refresh.lock_owner import owner_is_dead
from dbt.adapters.spark_mv.refresh.registration import unregister
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.sql.names import STORAGE_NAME, TableName, quote_parts
from dbt.adapters.spark_mv.state.freshness import LABEL_ID
from dbt.adapters.spark_mv.views import storage_sql
from dbt.adapters.spark_mv.views.definition import has_our_format
from dbt.adapters.spark_mv.views.live_sql import LIVE_OF, is_live_view, owner_of
from dbt.adapters.spark_mv.views.recognition import storage_of
from dbt.adapters.spark_mv.views.storage_sql import STORAGE_MARK

_POLL_SECONDS = 1.0
# A view that is renamed between its listing and the look at it has another name in the next one.
_LISTINGS = 5
Rows = list[tuple[str, str]]


def sweep(services: Services, views: Iterable[ViewState], schemas: Iterable[TableName]) -> Rows:
    """Clean up after crashes; `schemas` are given by any table name in each of them.

    Returns what was found, and what was done with it.
    """
    views = list(views)
    services.history.close_dead()
    done: Rows = []
    for schema in dict.fromkeys((*schemas, *(view.name.sibling("x") for view in views))):
        done += _sweep_tables(services, schema)
    for view in views:
        done += _sweep_branches(services, view)
    return done


def _sweep_branches(services: Services, view: ViewState) -> Rows:
    try:
        facts = services.resolver.lookup(view.name)
    except UnknownCatalog:
        what = f"left alone: this session has no catalog {view.name.catalog}"
        return [(f"view {view.name.full}", what)]
    storage = None if facts is None else storage_of(view.name, facts)
    if storage is None:
        return []
    if isinstance(facts, ViewFacts) and not has_our_format(facts.properties):
        return [(f"view {view.name}", "left alone: another version of the adapter made it")]
    done: Rows = []
    for branch, head in iceberg.branches(services.executor, storage).items():
        found = BRANCH.match(branch)
        if found is None:
            continue
        what = "kept: a refresh is running"
        if not _is_held(services.refresh_locks, storage, branch, head):
            iceberg.drop_branches(services.executor, storage, [branch])
            what = "dropped"
        done.append((f"branch {branch} of {storage}", what))
    return done


def _is_held(
    refresh_locks: RefreshLocks, storage: TableName, branch: str, head: BranchFacts
) -> bool:
    # Who made it with an earlier version may be just about to say so, or have died before.
    while busy := refresh_locks.holder_of(storage, branch, head):
        if busy.owner is not None or busy.started is not None:
            return True
        time.sleep(_POLL_SECONDS)
    return False


def _sweep_tables(services: Services, schema: TableName) -> Rows:
    # What is swapped in from now on has not ended yet.
    ended = _ended(services.log, services.timeout)
    try:
        in_use, tables = _storages(services.executor, services.resolver, schema)
    except StatementFailed:  # the schema is gone, and all in it
        return []
    done: Rows = []
    for table in tables:
        known = table.lowered
        if known in in_use:
            continue
        what = "kept: it may still be under construction"
        if ended.get(known) or (
            known not in ended and _is_old(services.executor, services.timeout, table)
        ):
            services.executor.query(storage_sql.drop_storage(table))
            what = "dropped"
        done.append((f"table {table}", what))
    done += _sweep_live_views(services.executor, services.resolver, schema)
    done += _forget_dropped(services.resolver, services.log, schema)
    return done


def _sweep_live_views(executor: Executor, resolver: Resolver, schema: TableName) -> Rows:
    """Those whose materialized view is gone."""
    done: Rows = []
    for name in _views_in(executor, schema):
        facts = resolver.lookup(name)
        if not isinstance(facts, ViewFacts) or not is_live_view(facts.properties):
            continue
        owner, view_id = owner_of(name), facts.properties[LIVE_OF]
        if not any(has_id(resolver, one, view_id) for one in (owner, backup_of(owner))):
            executor.query(storage_sql.drop_view(name))
            done.append((f"live view {name}", "dropped"))
    return done


def _storages(
    executor: Executor, resolver: Resolver, schema: TableName
) -> tuple[set[TableName], list[TableName]]:
    """The storage tables that views have, in lower case, as a catalog may list them so; and all
    that are ours."""
    namespace = quote_parts((schema.catalog, *schema.namespace))
    # Tables first: a view that is swapped in during the sweep then counts, so its table is in use.
    names = [str(row[1]) for row in executor.query(f"SHOW TABLES IN {namespace}")]
    named = [schema.sibling(name) for name in names if STORAGE_NAME.match(name)]
    in_use: set[TableName] = set()
    missing: list[TableName] = []
    for _ in range(_LISTINGS):
        before, missing = missing, []
        for name in _views_in(executor, schema):
            facts = resolver.lookup(name)
            storage = storage_of(name, facts) if isinstance(facts, ViewFacts) else None
            in_use |= {storage.lowered} if storage is not None else set()
            missing += [name] if facts is None else []
        if missing == before:
            listed = [name for name in named if name.lowered in in_use or _is_ours(executor, name)]
            return in_use, listed
    # Views are renamed all the time: any table may be that of one.
    return {name.lowered for name in named}, named


def _views_in(executor: Executor, schema: TableName) -> list[TableName]:
    namespace = quote_parts((schema.catalog, *schema.namespace))
    rows = executor.query(f"SHOW VIEWS IN {namespace}")
    return [schema.sibling(str(row[1])) for row in rows if not row[2]]


def _is_ours(executor: Executor, table: TableName) -> bool:
    """Whether a table has the mark of storage tables or, if it is older than that, a label."""
    try:
        properties = executor.query(f"SHOW TBLPROPERTIES {table.sql}")
        if STORAGE_MARK in {str(row[0]) for row in properties}:
            return True
        chain = iceberg.main_chain(executor, table)
        return any(LABEL_ID in snapshot.summary for snapshot in chain)
    except StatementFailed:  # dropped since, or no table of Iceberg's
        return False


def _ended(log: MetadataLog, timeout: float) -> dict[TableName, bool]:
    """Storage tables that the metadata knows, in lower case, and whether nobody builds them any
    more."""
    log.reload_if_moved()
    state = log.state()
    known = {
        view.name.sibling(str(view.payload.get("storage_table"))).lowered: True
        for view in state.views.values()
    }
    for start in state.started.values():
        storage = name_of({"parts": start.payload.get("storage")})
        if storage is not None:
            runs = start.refresh_id in state.running and not owner_is_dead(start, timeout)
            known[storage.lowered] = known.get(storage.lowered, True) and not runs
    return known


def _is_old(executor: Executor, timeout: float, table: TableName) -> bool:
    chain = iceberg.main_chain(executor, table, 1)
    return bool(chain) and time.time() - chain[0].committed_at / 1000 > timeout


def _forget_dropped(resolver: Resolver, log: MetadataLog, schema: TableName) -> Rows:
    done: Rows = []
    for view in list(log.state().views.values()):
        same = view.name.catalog == schema.catalog and view.name.namespace == schema.namespace
        facts = resolver.lookup(view.name) if same else None
        if same and (facts is None or storage_of(view.name, facts) is None):
            what = "kept: another relation is about to take its place"
            if not has_id(resolver, backup_of(view.name), view.id):
                unregister(log, view.id, view.name)
                what = "forgotten: it is not in the catalog"
            done.append((f"view {view.name}", what))
    return done
