"""Backups: what a new relation replaces is renamed, and dropped when the new one is there.

The replaced relation is kept under dbt's name for backups. One rule tells what to do with it
whatever died before: what has its own name is complete, so the backup can go; if nothing has that
name, the backup is the relation.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from dbt.adapters.spark_mv.catalog import iceberg
from dbt.adapters.spark_mv.catalog.resolver import Facts, Resolver
from dbt.adapters.spark_mv.core.errors import CorruptMetadata, PublishRefused
from dbt.adapters.spark_mv.core.executor import Executor, TableFacts, ViewFacts
from dbt.adapters.spark_mv.core.failpoints import reached
from dbt.adapters.spark_mv.refresh.live.live_views import drop_live_view
from dbt.adapters.spark_mv.refresh.registration import ensure_registered, unregister
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.refresh.staging import discard
from dbt.adapters.spark_mv.sql.names import STORAGE_NAME, TableName
from dbt.adapters.spark_mv.views import storage_sql
from dbt.adapters.spark_mv.views.definition import MaterializedView
from dbt.adapters.spark_mv.views.recognition import is_materialized_view
from dbt.adapters.spark_mv.views.registry import find_view, load_view

BACKUP = "__dbt_backup"


def backup_of(name: TableName) -> TableName:
    """The name of the backup of a relation."""
    return name.sibling(name.name + BACKUP)


def is_backup(view: MaterializedView) -> bool:
    """Whether a materialized view has its backup's name, and its storage table that of its own."""
    stored = STORAGE_NAME.match(view.storage.name)
    own = view.name.name.removesuffix(BACKUP)
    return own != view.name.name and stored is not None and stored["view"] == own


def has_id(resolver: Resolver, name: TableName, view_id: str) -> bool:
    """Whether what has this name at the moment is the materialized view of this id."""
    facts = resolver.lookup(name)
    if not isinstance(facts, ViewFacts) or not is_materialized_view(facts):
        return False
    return facts.properties["mv.id"] == view_id


def move_to_backup(executor: Executor, resolver: Resolver, name: TableName) -> None:
    """Give a relation its backup's name, if there is one; a materialized view stays one."""
    facts = _facts(resolver, name)
    if facts is not None:
        _rename(executor, name, backup_of(name), facts)
        reached("backed_up.after")


def restore_backup(services: Services, name: TableName) -> bool:
    """Give a backup the relation's name again; False without one, or if something has the name."""
    facts = _facts(services.resolver, backup_of(name))
    if facts is None or _facts(services.resolver, name) is not None:
        return False
    _rename(services.executor, backup_of(name), name, facts)
    if isinstance(facts, ViewFacts) and is_materialized_view(facts):
        # Another process in between may have not found it, and forgotten it.
        services.log.reload_if_moved()
        with suppress(CorruptMetadata):
            ensure_registered(services, load_view(services.resolver, name))
    return True


@contextmanager
def moved_to_backup(services: Services, name: TableName) -> Iterator[None]:
    """Inside the block the name is free; if the block fails, the relation has it again."""
    move_to_backup(services.executor, services.resolver, name)
    try:
        yield
    except BaseException:
        restore_backup(services, name)
        raise


def swap_in(services: Services, built: TableName, name: TableName) -> None:
    """Give a relation that is complete the name of another one, which is dropped then."""
    facts = _facts(services.resolver, built)
    if facts is None:
        raise PublishRefused(
            f"{name}: what was built for it is gone; another run of the model has dropped it.",
            "Run the model again, when no other run of it is under way.",
        )
    with moved_to_backup(services, name):
        _rename(services.executor, built, name, facts)
    reached("swapped_in.after")
    services.log.mark_dependents(name, "REPLACE")
    drop_backup(services, name)


def drop_backup(services: Services, name: TableName) -> None:
    """Drop the backup of a relation, if there is one, with all that belongs to it.

    Its name goes last: whoever dies before that leaves what the next one can end.
    """
    backup = backup_of(name)
    facts = _facts(services.resolver, backup)
    if isinstance(facts, TableFacts):
        purge = facts.provider == iceberg.FORMAT
        services.executor.query(storage_sql.drop_table(backup, purge))
    elif facts is not None:
        if is_materialized_view(facts):
            _drop_storages(services, name, facts)
            reached("storage_dropped.after")
        services.executor.query(storage_sql.drop_view(backup))


def _drop_storages(services: Services, name: TableName, replaced: ViewFacts) -> None:
    log, view_id = services.log, replaced.properties["mv.id"]
    drop_live_view(services.executor, services.resolver, name, view_id)
    storages = {name.sibling(replaced.properties["mv.storage_table"])}
    try:
        now = find_view(services.resolver, name)
    except CorruptMetadata:
        return
    if now is None:
        storages |= log.state().built.get(name.full, {}).keys()
    unregister(log, view_id, name)
    for storage in sorted(storages - ({now.storage} if now is not None else set())):
        discard(services.executor, storage)
        services.history.storage_dropped(view_id, name, storage)
    log.flush()


def _facts(resolver: Resolver, name: TableName) -> Facts | None:
    resolver.forget()
    return resolver.lookup(name)


def _rename(executor: Executor, name: TableName, new: TableName, facts: Facts) -> None:
    executor.query(storage_sql.rename(name, new, isinstance(facts, ViewFacts)))
