"""Lifecycle events: a view was created, replaced, given other options, dropped."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from dbt.adapters.spark_mv.catalog.resolver import Resolver
from dbt.adapters.spark_mv.config.schedule import schedule_from_json, schedule_json
from dbt.adapters.spark_mv.metadata import events as kinds
from dbt.adapters.spark_mv.metadata.events import new_event
from dbt.adapters.spark_mv.metadata.log import MetadataLog
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.views.definition import MaterializedView
from dbt.adapters.spark_mv.views.expansion import Expansion


def _payload(view: MaterializedView, expansion: Expansion) -> dict[str, Any]:
    max_age = view.options.max_age_seconds
    return {
        "parts": list(view.name.parts),
        "table_catalog": view.name.catalog,
        "table_schema": view.name.schema,
        "table_name": view.name.name,
        "storage_table": view.storage.name,
        "definition": view.definition.query,
        "definition_hash": view.definition_hash,
        "options": asdict(view.options),
        "layout": asdict(view.layout),
        "max_age_us": None if max_age is None else round(max_age * 1e6),
        "methods": dict(view.methods),
        "sources": [
            {
                "catalog": source.name.catalog,
                "schema": source.name.schema,
                "name": source.name.name,
                "parts": list(source.name.parts),
                "kind": source.kind,
                "depth": source.depth,
                "table": str(expansion.storages.get(source.name, source.name)),
            }
            for source in expansion.sources
        ],
    }


def _schedule(log: MetadataLog, view: MaterializedView, at: int) -> dict[str, Any]:
    """A schedule that stays the same keeps the time at which it is due."""
    known = log.state().views.get(view.name)
    same = (
        known is not None
        and known.id == view.id
        and schedule_from_json(known.payload.get("schedule")) == view.schedule
    )
    return schedule_json(view.schedule, at, known.scheduled_next if known and same else None)


def register(
    resolver: Resolver,
    log: MetadataLog,
    view: MaterializedView,
    expansion: Expansion,
    replaced: MaterializedView | None,
    kind: str | None = None,
) -> None:
    """Record a view that is in the catalog now."""
    kind = kind or (kinds.REPLACED if replaced else kinds.CREATED)
    _record(log, view, kind, _payload(view, expansion))
    resolver.forget()
    if resolver.lookup(view.name) is None:
        # Dropped by somebody who could not know of this registration.
        unregister(log, view.id, view.name)


def ensure_registered(services: Services, view: MaterializedView) -> None:
    """Record a view that the metadata does not know: its creator died, or they were lost."""
    if _is_known(services.log, view):
        return
    services.log.reload_if_moved()
    if not _is_known(services.log, view):
        register(
            services.resolver, services.log, view, services.observer.observe(view).expansion, None
        )


def _is_known(log: MetadataLog, view: MaterializedView) -> bool:
    known = log.state().views.get(view.name)
    return known is not None and known.id == view.id


def unregister(log: MetadataLog, view_id: str, name: TableName) -> None:
    """Record that a view is gone."""
    log.record(
        new_event(
            kinds.DROPPED,
            view_id,
            name.full,
            invocation_id=log.invocation_id,
        )
    )


def _record(log: MetadataLog, view: MaterializedView, kind: str, payload: dict[str, Any]) -> None:
    event = new_event(kind, view.id, view.name.full, invocation_id=log.invocation_id)
    schedule = _schedule(log, view, event.at)
    log.record(replace(event, payload={**payload, "schedule": schedule}))
