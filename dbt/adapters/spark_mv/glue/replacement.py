"""The dbt side of taking a relation's place: what was there goes when the new one is complete."""

from __future__ import annotations

from typing import Any

from dbt.adapters.base import available
from dbt.adapters.contracts.relation import RelationType

from dbt.adapters.spark_mv.catalog.resolver import Facts
from dbt.adapters.spark_mv.core.executor import ViewFacts
from dbt.adapters.spark_mv.glue.container_methods import ContainerMethods
from dbt.adapters.spark_mv.glue.dbt_errors import dbt_errors
from dbt.adapters.spark_mv.refresh import backups
from dbt.adapters.spark_mv.views import storage_sql
from dbt.adapters.spark_mv.views.recognition import is_materialized_view
from dbt.adapters.spark_mv.views.registry import find_view

INTERMEDIATE = "__dbt_tmp"
PACKAGE = "dbt_spark_mv"
_VIEWS = ("bq_materialized_view", "materialized_view")
_ELSEWHERE = (None, "ephemeral", "test", "unit")
# Materializations of ours that build under another name first.
_BUILD_ASIDE = ("table", "incremental", "clone", "seed")


class ReplacementMethods(ContainerMethods):
    """Mixed into the adapter before dbt-spark's class."""

    cache: Any
    get_relation: Any
    cache_added: Any
    cache_dropped: Any

    def end_replacement(self, config: Any) -> None:
        """End what an earlier run of this model began and could not end; refuse a relation that
        another version of the adapter has made."""
        model = config.model
        self._container().restored(False)
        if _kind(model) in _ELSEWHERE:
            return
        if _kind(model) not in _VIEWS:
            self._refuse_other_format(model)
        for suffix in (backups.BACKUP, INTERMEDIATE):
            left = self.get_relation(model.database, model.schema, model.alias + suffix)
            if left is None or self._is_of_a_node(model.schema, left.identifier):
                continue
            with dbt_errors():
                self._end(left.incorporate(path={"identifier": model.alias}), left, suffix)

    def _refuse_other_format(self, model: Any) -> None:
        """What another version of the adapter has made is refused before anything is built."""
        relation = self.get_relation(model.database, model.schema, model.alias)
        if relation is not None and relation.is_materialized_view:
            with dbt_errors():
                find_view(self._container().services.resolver, self._name(relation))

    def _end(self, target: Any, left: Any, suffix: str) -> None:
        container, name = self._container(), self._name(target)
        services = container.services
        container.gate.forget_all()
        self.cache_dropped(left)
        if suffix == INTERMEDIATE:
            drop = storage_sql.drop_view if left.is_view else _drop_table(left)
            services.executor.query(drop(self._name(left)))
        elif backups.restore_backup(services, name):
            container.restored(True)
            self.cache_dropped(target)
            self.cache_added(target.incorporate(type=_type_of(services.resolver.lookup(name))))
        else:
            backups.drop_backup(services, name)

    def _is_of_a_node(self, schema: str, identifier: str) -> bool:
        manifest = self._container().manifest
        nodes = [
            *getattr(manifest, "nodes", {}).values(),
            *getattr(manifest, "sources", {}).values(),
        ]
        return any(
            node.schema == schema and identifier == getattr(node, "alias", node.identifier)
            for node in nodes
        )

    def move_to_backup(self, config: Any) -> Any:
        """Free a model's name for a materialization that knows nothing of building aside.

        Returns what was moved, for `drop_or_restore_backup`.
        """
        model = config.model
        kind = "clone" if self._container().invocation.command == "clone" else _kind(model)
        if kind in (*_ELSEWHERE, *_VIEWS) or self._builds_in_staging(kind):
            return None
        relation = self.get_relation(model.database, model.schema, model.alias)
        is_in_the_way = relation is not None and (
            relation.is_materialized_view or (kind == "view" and relation.is_table)
        )
        if not is_in_the_way:
            return None
        with dbt_errors():
            services = self._container().services
            backups.move_to_backup(services.executor, services.resolver, self._name(relation))
        self._container().gate.forget_all()
        self.cache_dropped(relation)
        return relation

    def _builds_in_staging(self, kind: str) -> bool:
        """Whether the project uses our own materialization of this kind."""
        find = getattr(self._container().manifest, "find_materialization_macro_by_name", None)
        if kind not in _BUILD_ASIDE or find is None:
            return kind in _BUILD_ASIDE
        macro = find(self.config.project_name, kind, "spark_mv")
        return macro is not None and macro.package_name == PACKAGE

    def drop_or_restore_backup(self, relation: Any) -> None:
        """End what `move_to_backup` began."""
        if not isinstance(relation, self.Relation):  # type: ignore[attr-defined]
            return
        container, name = self._container(), self._name(relation)
        container.gate.forget_all()
        with dbt_errors():
            if backups.restore_backup(container.services, name):
                self.cache_dropped(relation)
                self.cache_added(relation)
            else:
                backups.drop_backup(container.services, name)

    @available
    def swap_in(self, built: Any, target: Any) -> None:
        """Give a relation that is complete its name; what has the name now is dropped then."""
        container = self._container()
        with dbt_errors():
            backups.swap_in(container.services, self._name(built), self._name(target))
        container.gate.forget_all()
        self.cache_dropped(built)
        self.cache_dropped(target)

    @available
    def allow_replacing(self, relation: Any) -> None:
        """Let CREATE OR REPLACE MATERIALIZED VIEW take the place of this table or view."""
        self._container().allow_replacing(self._name(relation))

    @available
    def as_it_is(self, relation: Any) -> Any:
        """A relation of the cache as the catalog has it, where a hook may have dropped it, or
        another program replaced it; None if there is none."""
        if relation is None:
            return None
        facts = self._container().services.resolver.lookup(self._name(relation))
        if facts is not None:
            return relation.incorporate(type=_type_of(facts))
        self.cache_dropped(relation)
        return None

    @available
    def was_restored(self) -> bool:
        """Whether this node found what it replaces where an earlier run had moved it."""
        return self._container().was_restored()


def _kind(model: Any) -> Any:
    return getattr(getattr(model, "config", None), "materialized", None)


def _type_of(facts: Facts | None) -> RelationType:
    if not isinstance(facts, ViewFacts):
        return RelationType.Table
    return RelationType.MaterializedView if is_materialized_view(facts) else RelationType.View


def _drop_table(relation: Any) -> Any:
    return lambda name: storage_sql.drop_table(name, bool(relation.is_iceberg))
