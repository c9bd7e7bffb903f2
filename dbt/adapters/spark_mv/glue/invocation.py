"""Where a statement comes from in dbt: the command, the node, its connection."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dbt_common.events.contextvars import get_node_info

from dbt import selected_resources
from dbt.adapters.spark_mv.catalog.resolver import Resolver
from dbt.adapters.spark_mv.core.errors import StatementFailed
from dbt.adapters.spark_mv.core.executor import Executor, QueryPlan, Row
from dbt.adapters.spark_mv.planning.request import DBT_RUN, MANUAL
from dbt.adapters.spark_mv.sql.names import Namespace, TableName, in_schema
from dbt.adapters.spark_mv.sql.reads import references_of
from dbt.adapters.spark_mv.views.settings import ALWAYS_KEPT, kept

_GATED_COMMANDS = frozenset(
    {"run", "build", "test", "seed", "snapshot", "show", "run-operation", "clone", "freshness"}
)
_NOT_SET = "<undefined>"
_RUNNING_COMMANDS = frozenset({"run", "build", "snapshot", "seed", "test"})


class Invocation:
    """The dbt command that is running; `config` is its RuntimeConfig, or less in dbt debug."""

    def __init__(self, config: Any) -> None:
        self._arguments = getattr(config, "args", None)

    def _argument(self, name: str) -> Any:
        value = getattr(self._arguments, name, None)
        return value if value is not None else getattr(self._arguments, name.lower(), None)

    @property
    def command(self) -> str:
        """The dbt command, such as run or show."""
        return str(getattr(self._arguments, "which", "") or "")

    @property
    def gates_reads(self) -> bool:
        """Whether statements of this command make what they read fresh."""
        return self.command in _GATED_COMMANDS and not self.is_reduced

    @property
    def is_reduced(self) -> bool:
        """Whether refs are rendered to a part of their rows."""
        return self._says("EMPTY") or self._says("SAMPLE")

    @property
    def defers(self) -> bool:
        """Whether refs may be rendered to relations of another state."""
        return self._says("DEFER")

    def _says(self, flag: str) -> bool:
        return self.command in _RUNNING_COMMANDS and bool(self._argument(flag))

    @property
    def full_refresh(self) -> bool:
        """Whether --full-refresh was said."""
        return bool(self._argument("FULL_REFRESH"))

    @property
    def trigger(self) -> str:
        """How the history names refreshes of this command."""
        return DBT_RUN if self.command in _RUNNING_COMMANDS else MANUAL


def selected_relations(manifest: Any) -> set[tuple[str, str]]:
    """Schema and name, in lower case, of what the nodes make that this command runs."""
    nodes = getattr(manifest, "nodes", None) or {}
    found = (nodes.get(node) for node in selected_resources.SELECTED_RESOURCES)
    return {
        (str(node.schema).lower(), str(node.alias).lower()) for node in found if node is not None
    }


def reads_deferred(manifest: Any, node: Any, sql: str) -> bool:
    """Whether the query of a node reads a relation to which dbt has deferred, or may."""
    nodes = getattr(manifest, "nodes", None) or {}
    parents = nodes.values() if node is None else _parents(nodes, node)
    others = (getattr(parent, "defer_relation", None) for parent in parents)
    own = {(str(node.schema).lower(), str(node.alias).lower()) for node in nodes.values()}
    deferred = {
        (str(other.schema).lower(), str(other.alias).lower()) for other in others if other
    } - own
    reads = references_of(sql)
    if reads is None:
        return bool(deferred)
    names = (tuple(part.lower() for part in found.parts[-2:]) for found in reads.references)
    return not deferred.isdisjoint(names)


def _parents(nodes: Mapping[str, Any], node: Any) -> Iterator[Any]:
    """What a node refs, also by the ephemeral models whose text is in its own."""
    for name in node.depends_on.nodes:
        parent = nodes.get(name)
        if parent is not None:
            yield parent
            if parent.config.materialized == "ephemeral":
                yield from _parents(nodes, parent)


class NodeContext:
    """One statement's context, as the pipeline asks for it."""

    def __init__(
        self,
        invocation: Invocation,
        user: Executor,
        memo: threading.local,
        manifest: Any,
        rewrites: bool = True,
    ) -> None:
        self._user = user
        self._memo = memo
        self._manifest = manifest
        self._invocation = invocation
        self.trigger = invocation.trigger
        self.gates_reads = invocation.gates_reads and not _is_unit_test()
        node = self._node()
        said = node.config.get("query_rewrite") if node is not None else None
        is_test = getattr(node, "resource_type", None) == "test"
        self.rewrites_reads = (
            rewrites
            and self.gates_reads
            and not invocation.defers
            and said is not False
            # A test may compare a view with its own query.
            and (not is_test or said is True)
        )
        self.needs_rewriting = said == "required" and self.rewrites_reads
        self.reader = "" if node is None else f"{node.schema}.{node.alias}: "
        self.rebuilds = bool(getattr(memo, "rebuilds", False))
        self.replaces: TableName | None = getattr(memo, "replaces", None)
        self._home: Namespace | None = None

    def is_reduced(self) -> bool:
        """Whether refs are rendered to a part of their rows."""
        return self._invocation.is_reduced

    def is_deferred(self, query: str) -> bool:
        """Whether a query reads a relation to which dbt has deferred."""
        return self._invocation.defers and reads_deferred(self._manifest, self._node(), query)

    def namespace(self) -> Namespace:
        """Where the user's connection looks up unqualified names: asked once for a statement, or
        where it takes one until it says USE."""
        if self._user.catalog is not None:
            if self._home is None:
                self._home = Resolver(self._user).current_namespace()
            return self._home
        known: Namespace | None = getattr(self._memo, "namespace", None)
        if known is None:
            known = self._memo.namespace = Resolver(self._user).current_namespace()
        return known

    def settings(self) -> Mapping[str, str]:
        """The settings of the user's connection that change what a query returns."""
        client = self._user.catalog
        if client is not None:
            always = {key: client.setting(key) for key in ALWAYS_KEPT}
            return kept({**client.settings(), **always}.items())
        return self._settings_by_statements()

    def _settings_by_statements(self) -> Mapping[str, str]:
        found = {str(row[0]): str(row[1]) for row in self._user.query("SET")}
        for key in ALWAYS_KEPT:
            if key not in found:
                try:
                    found[key] = str(self._user.query(f"SET {key}")[0][1])
                except StatementFailed:
                    continue
        return kept(found.items())

    def values_of(self, keys: Sequence[str]) -> list[str]:
        """What settings of which Spark knows nothing are set to; empty if they are not."""
        client = self._user.catalog
        if client is not None:
            known = client.settings()
            return [known.get(key, "") for key in keys]
        found = [str(self._user.query(f"SET {key}")[0][1]) for key in keys]
        return ["" if value == _NOT_SET else value for value in found]

    def plan(self, query: str) -> QueryPlan | None:
        """What the user's session would do for a query, where the JVM is in this process."""
        client = self._user.catalog
        return None if client is None else client.plan(query)

    def ask(self, sql: str) -> list[Row]:
        """Run a statement in the user's session; raises `StatementFailed`."""
        return self._user.query(sql)

    def declared_reads(self) -> Sequence[tuple[str, ...]]:
        """Relations that the manifest says the running node refs."""
        nodes = getattr(self._manifest, "nodes", {})
        depends_on = getattr(self._node(), "depends_on", None)
        found = [nodes.get(name) for name in getattr(depends_on, "nodes", ())]
        return [in_schema(node.schema, node.alias) for node in found if node is not None]

    def _node(self) -> Any:
        """The node that is running; None without one."""
        unique_id = get_node_info().get("unique_id")
        return getattr(self._manifest, "nodes", {}).get(unique_id)


def is_data_test() -> bool:
    """Whether the node of this thread is a data test."""
    return _unique_id().startswith("test.")


def _is_unit_test() -> bool:
    return _unique_id().startswith("unit_test.")


def _unique_id() -> str:
    return str(get_node_info().get("unique_id", ""))
