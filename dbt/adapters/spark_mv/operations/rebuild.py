"""Registers again what the catalog holds: for lost, damaged or foreign metadata."""

from __future__ import annotations

from dbt.adapters.spark_mv.catalog import iceberg
from dbt.adapters.spark_mv.core.errors import CorruptMetadata, StatementFailed
from dbt.adapters.spark_mv.core.executor import ViewFacts
from dbt.adapters.spark_mv.refresh.registration import register, unregister
from dbt.adapters.spark_mv.refresh.services import Engine
from dbt.adapters.spark_mv.sql.names import TableName, listed_parts, quote_parts
from dbt.adapters.spark_mv.state.freshness import read_label
from dbt.adapters.spark_mv.state.observation import Look
from dbt.adapters.spark_mv.views.definition import (
    MaterializedView,
    from_properties,
    is_materialized_view,
)


def rebuild_metadata(engine: Engine, catalog: str) -> list[tuple[TableName, str]]:
    """Register every materialized view of a catalog; forget those that are gone.

    Returns what was done to each: REGISTERED, FORGOTTEN or the error that its properties give.
    """
    with engine.memory.open_store() as store:
        store.create()
    done: list[tuple[TableName, str]] = []
    found: set[TableName] = set()
    for name in _views(engine, catalog):
        facts = engine.relations.lookup(name)
        if not isinstance(facts, ViewFacts) or not is_materialized_view(facts.properties):
            continue
        found.add(name)
        try:
            view = from_properties(name, facts.properties)
        except CorruptMetadata as error:
            done.append((name, error.problem))
            continue
        _register(engine, view)
        done.append((name, "REGISTERED"))
    for known in list(engine.memory.state().views.values()):
        gone = known.name.catalog == catalog and known.name not in found
        # It may have been created since the catalog was listed.
        if gone and engine.relations.lookup(known.name) is None:
            unregister(engine.memory, known.id, known.name)
            done.append((known.name, "FORGOTTEN"))
    return done


def _register(engine: Engine, view: MaterializedView) -> None:
    look = engine.observer.look(view)
    register(engine, view, look.expansion, None)
    _remember_build(engine, look)


def _remember_build(engine: Engine, look: Look) -> None:
    label = (
        read_label(iceberg.labelled_chain(engine.executor, look.view.storage))
        if (look.storage_exists)
        else None
    )
    if label is None:
        return
    engine.history.succeeded(
        look.view,
        label.refresh_id,
        [label.snapshot] if label.snapshot else [],
        table_catalog=look.view.name.catalog,
        table_schema=look.view.name.schema,
        table_name=look.view.name.name,
        started_us=int(label.evaluated_at * 1e6),
        method=label.method,
        reason="REBUILT: found in the storage table's label",
        to={str(name): str(version) for name, version in label.sources.items()},
        evaluated_ms=int(label.evaluated_at * 1000),
        watermark=int(label.evaluated_at * 1000),
        stale=not look.verdict.is_fresh,
    )


def _views(engine: Engine, catalog: str) -> list[TableName]:
    found = []
    for schema, *_ in engine.executor.query(f"SHOW SCHEMAS IN {quote_parts((catalog,))}"):
        namespace = listed_parts(str(schema))
        try:
            rows = engine.executor.query(f"SHOW VIEWS IN {quote_parts((catalog, *namespace))}")
        except StatementFailed:
            continue
        found += [TableName(catalog, namespace, str(row[1])) for row in rows if not row[2]]
    return found
