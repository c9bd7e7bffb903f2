"""Registers again what the catalog holds: for lost, damaged or foreign metadata."""

from __future__ import annotations

from dbt.adapters.spark_mv.catalog import iceberg
from dbt.adapters.spark_mv.core.errors import CorruptMetadata, StatementFailed
from dbt.adapters.spark_mv.core.executor import Executor, ViewFacts
from dbt.adapters.spark_mv.core.reasons import REBUILT
from dbt.adapters.spark_mv.refresh.backups import BACKUP, is_backup
from dbt.adapters.spark_mv.refresh.history import History, versions_json
from dbt.adapters.spark_mv.refresh.registration import register, unregister
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.sql.names import TableName, listed_parts, quote_parts
from dbt.adapters.spark_mv.state.freshness import read_label, times_of
from dbt.adapters.spark_mv.state.observation import Observation
from dbt.adapters.spark_mv.views.definition import MaterializedView, from_properties
from dbt.adapters.spark_mv.views.recognition import is_materialized_view, storage_of


def rebuild_metadata(services: Services, catalog: str) -> list[tuple[TableName, str]]:
    """Register every materialized view of a catalog; forget those that are gone.

    Returns what was done to each: REGISTERED, FORGOTTEN or the error that its properties give.
    """
    with services.log.open_store() as store:
        store.create()
    done: list[tuple[TableName, str]] = []
    found: set[TableName] = set()
    for name in _views(services.executor, catalog):
        facts = services.resolver.lookup(name)
        if not isinstance(facts, ViewFacts) or not is_materialized_view(facts):
            continue
        found.add(name)
        try:
            view = from_properties(name, facts.properties)
        except CorruptMetadata as error:
            done.append((name, error.problem))
            continue
        if is_backup(view):
            found.add(name.sibling(name.name.removesuffix(BACKUP)))
            continue
        _register(services, view)
        done.append((name, "REGISTERED"))
    for known in list(services.log.state().views.values()):
        gone = known.name.catalog == catalog and known.name not in found
        # It may have been created since the catalog was listed.
        if gone and storage_of(known.name, services.resolver.lookup(known.name)) is None:
            unregister(services.log, known.id, known.name)
            done.append((known.name, "FORGOTTEN"))
    return done


def _register(services: Services, view: MaterializedView) -> None:
    observation = services.observer.observe(view)
    register(services.resolver, services.log, view, observation.expansion, None)
    known = services.log.state().views.get(view.name)
    build = known.last_build if known is not None else None
    label = observation.label
    if build is None or label is None or build.refresh_id != label.refresh_id:
        _remember_build(services.executor, services.history, observation)


def _remember_build(executor: Executor, history: History, observation: Observation) -> None:
    label = (
        read_label(iceberg.labelled_chain(executor, observation.view.storage))
        if (observation.storage_exists)
        else None
    )
    if label is None:
        return
    history.succeeded(
        observation.view,
        label.refresh_id,
        [label.snapshot] if label.snapshot else [],
        table_catalog=observation.view.name.catalog,
        table_schema=observation.view.name.schema,
        table_name=observation.view.name.name,
        started_us=int(label.evaluated_at * 1e6),
        method=label.method,
        reason=str(REBUILT),
        to=versions_json(label.sources),
        **times_of(label),
        stale=not observation.verdict.is_fresh,
    )


def _views(executor: Executor, catalog: str) -> list[TableName]:
    found = []
    for schema, *_ in executor.query(f"SHOW SCHEMAS IN {quote_parts((catalog,))}"):
        namespace = listed_parts(str(schema))
        try:
            rows = executor.query(f"SHOW VIEWS IN {quote_parts((catalog, *namespace))}")
        except StatementFailed:
            continue
        found += [TableName(catalog, namespace, str(row[1])) for row in rows if not row[2]]
    return found
