"""How the adapter's methods reach the container."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from dbt.adapters.base.meta import AdapterMeta

from dbt.adapters.spark_mv.glue.container import Container
from dbt.adapters.spark_mv.sql.names import TableName, parse_name


class ContainerMethods(metaclass=AdapterMeta):
    """What the methods that are mixed into the adapter have in common."""

    connections: Any
    config: Any

    def _container(self) -> Container:
        container: Container = self.connections.materialized_views
        manifest = getattr(self, "_macro_resolver", None)
        container.choice.target_schema = self.config.credentials.schema
        if manifest is not container.manifest:
            container.choice.schemas = self._project_schemas()
            # Where the catalog cannot be asked as a whole, the project's schemas are.
            sources = getattr(manifest, "sources", {}) or {}
            read = {source.schema for source in sources.values()}
            container.services.schemas = tuple(sorted(read.union(container.choice.all_schemas())))
            # Last: other threads take it for a sign that the rest is there.
            container.manifest = manifest
        return container

    def _project_nodes(self) -> Collection[Any]:
        nodes = getattr(getattr(self, "_macro_resolver", None), "nodes", {}) or {}
        return nodes.values()

    def _project_schemas(self) -> set[str]:
        """The schemas of the project's nodes."""
        return {node.schema for node in self._project_nodes()}

    def _name(self, relation: Any) -> TableName:
        container = self._container()
        parts = parse_name(relation.render())
        return container.services.resolver.resolve(parts, container.context().namespace())
