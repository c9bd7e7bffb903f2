"""What dbt's macros and hooks call on the adapter; each method hands over to the container."""

from __future__ import annotations

from typing import Any

from dbt.adapters.base import available
from dbt_common.events.base_types import EventLevel
from dbt_common.events.functions import fire_event
from dbt_common.events.types import Note

from dbt.adapters.spark_mv.config.model import create_statement, parse_statement
from dbt.adapters.spark_mv.glue.container import Container
from dbt.adapters.spark_mv.glue.container_methods import ContainerMethods
from dbt.adapters.spark_mv.glue.dbt_errors import MaterializedViewFailure, dbt_errors
from dbt.adapters.spark_mv.glue.model_names import with_relations
from dbt.adapters.spark_mv.glue.relation_configs import MaterializedViewConfigChangeCollection
from dbt.adapters.spark_mv.glue.without_spark import answer_of_files
from dbt.adapters.spark_mv.operations.report import Report
from dbt.adapters.spark_mv.operations.verify import differences_query, differing_rows
from dbt.adapters.spark_mv.sql.names import literal
from dbt.adapters.spark_mv.views.changes import DEFINITION, changes_of
from dbt.adapters.spark_mv.views.definition import MaterializedView
from dbt.adapters.spark_mv.views.registry import load_view


class MaterializedViewMethods(ContainerMethods):
    """Mixed into the adapter before dbt-spark's class."""

    def start_node(self, config: Any) -> None:
        """Make ready what a node reads before its materialization drops anything."""
        model = getattr(config, "model", None)
        container = self._container()
        full_refresh = getattr(model.config, "full_refresh", None) if model is not None else None
        if full_refresh is None:
            full_refresh = bool(container.invocation.full_refresh)
        with dbt_errors():
            container.start_node(rebuilds=bool(full_refresh))
            sql = getattr(model, "compiled_code", None)
            context = container.context()
            if getattr(model, "language", "sql") != "sql":
                container.pipeline.make_declared_ready(context)
            elif sql:
                container.pipeline.make_ready(sql, context)

    def end_node(self) -> None:
        """Write the events of a node."""
        self._container().end_node()

    @available
    def create_materialized_view_sql(
        self, relation: Any, sql: str, model: dict[str, Any], query_columns: list[str] | None = None
    ) -> str:
        """The CREATE OR REPLACE MATERIALIZED VIEW statement of a model."""
        with dbt_errors():
            return create_statement(relation.render(), sql, model, query_columns or ())

    @available
    def materialized_view_changes(
        self, relation: Any, sql: str, model: dict[str, Any]
    ) -> MaterializedViewConfigChangeCollection:
        """How a model differs from its materialized view."""
        with dbt_errors():
            container = self._container()
            context = container.context()
            if context.is_reduced():
                return MaterializedViewConfigChangeCollection.of([DEFINITION])
            view = load_view(container.services.resolver, self._name(relation))
            names = [column.name for column in view.definition.columns]
            statement = parse_statement(create_statement(relation.render(), sql, model, names))
            return MaterializedViewConfigChangeCollection.of(
                changes_of(view, statement, context.namespace(), context.settings())
            )

    @available
    def run_materialized_view_operation(self, operation: str, arguments: dict[str, Any]) -> None:
        """Run an operation, print its table, fail if anything in it failed."""
        if "view" in arguments:
            view = with_relations(arguments["view"], self._project_nodes())
            arguments = {**arguments, "view": view}
        with dbt_errors():
            report = self._without_spark(operation, arguments)
            if report is None:
                report = self._with_spark(operation, arguments)
        for line in report.lines():
            fire_event(Note(msg=line), level=EventLevel.INFO)
        if report.failures:
            raise MaterializedViewFailure("\n".join(report.failures))

    def _without_spark(self, operation: str, arguments: dict[str, Any]) -> Report | None:
        if self.connections.has_materialized_views:
            return None
        schemas = self._project_schemas()
        return answer_of_files(self.config.credentials, operation, arguments, schemas)

    def _with_spark(self, operation: str, arguments: dict[str, Any]) -> Report:
        container = self._container()
        if operation == "rebuild_metadata":
            arguments = {"catalog": container.context().namespace().catalog}
        return container.operation(operation)(**arguments)

    def materialized_view_stats(self, relation: Any) -> dict[str, Any]:
        """Statistics of a materialized view for the docs catalog."""
        container = self._container()
        name = self._name(relation)
        found = container.statistics(name)
        return {
            f"stats:{key}:{part}": value
            for key, (label, text) in found.items()
            for part, value in (
                ("label", label),
                ("value", text),
                ("description", f"{label} of the materialized view"),
                ("include", True),
            )
        }

    @available
    def freshness_failures_query(self, relation: Any) -> str:
        """A query with one row if a materialized view is not fresh; none if it is, or if this
        command builds views of a part of the rows."""
        with dbt_errors():
            container = self._container()
            if container.context().is_reduced():
                return "select 1 where false"
            view = self._tested_view(container, relation)
            verdict = container.services.observer.observe_with_upstream(view).verdict
        return (
            f"select {literal(verdict.freshness.value)} as freshness, "
            f"{literal(str(verdict.reason.text))} as reason"
            + (" where false" if verdict.is_fresh else "")
        )

    @available
    def differences_query(self, relation: Any) -> str:
        """A query with one row for each stored row that differs from the view's query."""
        with dbt_errors():
            container = self._container()
            view = self._tested_view(container, relation)
            is_same = dict(view.definition.settings) == dict(container.context().settings())
            compared = differences_query if is_same else differing_rows
            return compared(container.services, view)

    def _tested_view(self, container: Container, relation: Any) -> MaterializedView:
        """The materialized view of a relation, or the one that a plain view (a clone) reads."""
        name = self._name(relation)
        behind = container.gate.views_behind(name) or ()
        return load_view(container.services.resolver, behind[0] if len(behind) == 1 else name)
