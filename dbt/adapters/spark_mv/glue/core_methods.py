"""How the adapter's methods reach the core."""

from __future__ import annotations

from typing import Any

from dbt.adapters.base.meta import AdapterMeta

from dbt.adapters.spark_mv.glue.container import Container
from dbt.adapters.spark_mv.sql.names import TableName, parse_name


class CoreMethods(metaclass=AdapterMeta):
    """What the methods that are mixed into the adapter have in common."""

    connections: Any
    config: Any

    def _core(self) -> Container:
        core: Container = self.connections.materialized_views
        core.manifest = getattr(self, "_macro_resolver", None)
        core.choice.target_schema = self.config.credentials.schema
        core.choice.schemas = self._project_schemas()
        if core.services.executor.catalog is None:
            # Where the catalog cannot be asked as a whole, the project's schemas are.
            sources = getattr(core.manifest, "sources", {}) or {}
            read = {source.schema for source in sources.values()}
            core.services.schemas = tuple(sorted(read.union(core.choice.all_schemas())))
        return core

    def _project_schemas(self) -> set[str]:
        """The schemas of the project's nodes."""
        nodes = getattr(getattr(self, "_macro_resolver", None), "nodes", {}) or {}
        return {node.schema for node in nodes.values()}

    def _name(self, relation: Any) -> TableName:
        core = self._core()
        parts = parse_name(relation.render())
        return core.services.resolver.resolve(parts, core.context().namespace())
