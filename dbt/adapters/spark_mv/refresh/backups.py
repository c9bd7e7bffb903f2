"""What a new relation takes the place of is moved aside, and dropped when the new one is there.

The former relation waits under dbt's name for backups. One rule tells what to do with it whatever
died before: what has its own name is complete, so the backup can go; if nothing has that name, the
backup is the relation.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from dbt.adapters.spark_mv.catalog import iceberg
from dbt.adapters.spark_mv.catalog.resolver import Facts
from dbt.adapters.spark_mv.core.errors import CorruptMetadata
from dbt.adapters.spark_mv.core.executor import TableFacts, ViewFacts
from dbt.adapters.spark_mv.core.failpoints import reached
from dbt.adapters.spark_mv.refresh.registration import ensure_registered, unregister
from dbt.adapters.spark_mv.refresh.services import Engine
from dbt.adapters.spark_mv.refresh.staging import discard
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.views import storage_sql
from dbt.adapters.spark_mv.views.definition import is_materialized_view
from dbt.adapters.spark_mv.views.registry import find_view, load_view

BACKUP = "__dbt_backup"


def backup_of(name: TableName) -> TableName:
    """The name under which a relation waits that has been moved aside."""
    return name.sibling(name.name + BACKUP)


def move_aside(engine: Engine, name: TableName) -> None:
    """Give a relation its backup's name, if there is one; a materialized view stays one."""
    facts = _facts(engine, name)
    if facts is not None:
        _rename(engine, name, backup_of(name), facts)
        reached("moved_aside.after")


def put_back(engine: Engine, name: TableName) -> bool:
    """Give a backup the relation's name again, if nothing else has it; False if that is so."""
    facts = _facts(engine, backup_of(name))
    if facts is None or _facts(engine, name) is not None:
        return False
    _rename(engine, backup_of(name), name, facts)
    if isinstance(facts, ViewFacts) and is_materialized_view(facts.properties):
        # Whoever swept meanwhile has not found it, and forgotten it.
        with suppress(CorruptMetadata):
            ensure_registered(engine, load_view(engine.relations, name))
    return True


@contextmanager
def moved_aside(engine: Engine, name: TableName) -> Iterator[None]:
    """Inside the block the name is free; if the block fails, the relation has it again."""
    move_aside(engine, name)
    try:
        yield
    except BaseException:
        put_back(engine, name)
        raise


def swap_in(engine: Engine, built: TableName, name: TableName) -> None:
    """Give a relation that is complete the name of another one, which is dropped then."""
    facts = _facts(engine, built)
    assert facts is not None
    with moved_aside(engine, name):
        _rename(engine, built, name, facts)
    reached("swapped_in.after")
    engine.memory.mark_dependents(name, "REPLACE")
    drop_backup(engine, name)


def drop_backup(engine: Engine, name: TableName) -> None:
    """Drop the backup of a relation, if there is one, with all that belongs to it.

    Its name goes last: whoever dies before that leaves what the next one can end.
    """
    backup = backup_of(name)
    facts = _facts(engine, backup)
    if isinstance(facts, TableFacts):
        purge = facts.provider == iceberg.FORMAT
        engine.executor.query(storage_sql.drop_table(backup, purge))
    elif facts is not None:
        if is_materialized_view(facts.properties):
            _drop_storages(engine, name, facts)
            reached("storage_dropped.after")
        engine.executor.query(storage_sql.drop_view(backup))


def _drop_storages(engine: Engine, name: TableName, former: ViewFacts) -> None:
    memory, view_id = engine.memory, former.properties["mv.id"]
    storages = {name.sibling(former.properties["mv.storage_table"])}
    now = None
    try:
        now = find_view(engine.relations, name)
    except CorruptMetadata:
        return
    if now is None:
        storages |= memory.state().built.get(name.full, set())
    unregister(memory, view_id, name)
    for storage in sorted(storages - ({now.storage} if now is not None else set())):
        discard(engine, storage)
        engine.history.storage_dropped(view_id, name, storage)
    memory.flush()


def _facts(engine: Engine, name: TableName) -> Facts | None:
    engine.relations.forget()
    return engine.relations.lookup(name)


def _rename(engine: Engine, name: TableName, new: TableName, facts: Facts) -> None:
    engine.executor.query(storage_sql.rename(name, new, isinstance(facts, ViewFacts)))
