"""What a live view stands for: everything behind its materialized view."""

from __future__ import annotations

import json
from dataclasses import dataclass

from dbt.adapters.spark_mv.catalog.resolver import Resolver
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.views.definition import MaterializedView
from dbt.adapters.spark_mv.views.dependencies import Expander
from dbt.adapters.spark_mv.views.registry import load_view


@dataclass(frozen=True)
class Sources:
    """Everything behind a view: the views whose queries it stands for, itself first, the base
    tables below all of them, and what defines the views and the logical ones between."""

    views: tuple[MaterializedView, ...]
    tables: tuple[TableName, ...]
    definitions: tuple[str, ...]


def sources_of(resolver: Resolver, view: MaterializedView) -> Sources:
    """What is behind a view now."""
    views, tables, said = [view], dict[TableName, None](), list[str]()
    for found in views:
        owner, definition = str(found.name), found.definition
        expander = Expander(resolver, owner, tolerate_missing=True, settings=definition.settings)
        expansion = expander.expand(definition.query, definition.home)
        storages = set(expansion.storages.values())
        tables.update(dict.fromkeys(t for t in expansion.tables if t not in storages))
        said += [owner, definition.hash, json.dumps(expansion.views, sort_keys=True)]
        said.append(expansion.declared_types or "")
        known = {each.name for each in views}
        views += [load_view(resolver, n) for n in expansion.storages if n not in known]
    return Sources(tuple(views), tuple(tables), tuple(said))
