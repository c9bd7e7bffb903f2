"""CACHE TABLE keeps rows that a refresh does not reach: what is cached of a view's stored rows is
dropped once they are others."""

from __future__ import annotations

from collections.abc import Iterable

from dbt.adapters.spark_mv.catalog import iceberg
from dbt.adapters.spark_mv.catalog.resolver import Resolver
from dbt.adapters.spark_mv.core.executor import Executor
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.statements.context import StatementContext
from dbt.adapters.spark_mv.views.registry import find_view


class CachedPlans:
    """What is known of cached plans in one command."""

    def __init__(self, executor: Executor, resolver: Resolver) -> None:
        self._executor, self._resolver = executor, resolver
        # Snapshots of storage tables for which nothing older is cached.
        self._clean: dict[TableName, str] = {}

    def made(self, views: Iterable[TableName]) -> None:
        """A statement is about to cache rows of these views, which are fresh."""
        self._clean.update(self._heads(views))

    def drop_outdated(self, views: Iterable[TableName], context: StatementContext) -> None:
        """Drop what is cached of older rows of these views; such cached views are read again."""
        client = self._executor.catalog
        if not (self._clean if client is None else client.has_cached_plans()):
            return
        for storage, head in self._heads(views).items():
            if self._clean.get(storage) != head:
                context.ask(f"UNCACHE TABLE IF EXISTS {storage.sql}")
                self._clean[storage] = head

    def _heads(self, views: Iterable[TableName]) -> dict[TableName, str]:
        found: dict[TableName, str] = {}
        for name in views:
            view = find_view(self._resolver, name)
            chain = iceberg.main_chain(self._executor, view.storage, 1) if view else []
            if view is not None and chain:
                found[view.storage] = chain[0].snapshot_id
        return found
