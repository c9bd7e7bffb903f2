"""Finds materialized views in the catalog by the properties of their views: the truth."""

from __future__ import annotations

from dbt.adapters.spark_mv.catalog.resolver import Facts, Resolver
from dbt.adapters.spark_mv.core.errors import UnknownMaterializedView
from dbt.adapters.spark_mv.core.executor import ViewFacts
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.views.definition import MaterializedView, from_properties
from dbt.adapters.spark_mv.views.recognition import is_materialized_view


def find_view(resolver: Resolver, name: TableName) -> MaterializedView | None:
    """The materialized view of this name, None if the name is free or something else has it."""
    return view_of(name, resolver.lookup(name))


def view_of(name: TableName, facts: Facts | None) -> MaterializedView | None:
    """The materialized view of this name by what it is in the catalog, None if it is none."""
    if not isinstance(facts, ViewFacts) or not is_materialized_view(facts):
        return None
    return from_properties(name, facts.properties)


def load_view(resolver: Resolver, name: TableName) -> MaterializedView:
    """The materialized view of this name; raises `UnknownMaterializedView`."""
    view = find_view(resolver, name)
    if view is not None:
        return view
    facts, kind = resolver.lookup(name), "is no materialized view"
    if facts is None:
        kind = "does not exist"
    elif isinstance(facts, ViewFacts) and "mv.id" in facts.properties:
        raise UnknownMaterializedView(
            f"{name} is no materialized view any more: another program has replaced its view.",
            "Run its model again, or drop the view.",
        )
    raise UnknownMaterializedView(
        f"{name} {kind}.", "`dbt run-operation status` lists the materialized views that exist."
    )
