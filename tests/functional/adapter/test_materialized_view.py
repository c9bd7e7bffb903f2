"""dbt-tests-adapter: materialized views.

A statement that these suites send outside of any dbt command is no lazy read, so what they say of
rows that appear only after a refresh holds for us too.
"""

from __future__ import annotations

from typing import Any

from dbt.tests.adapter.materialized_view.basic import MaterializedViewBasic
from dbt.tests.adapter.materialized_view.changes import (
    MaterializedViewChanges,
    MaterializedViewChangesApplyMixin,
    MaterializedViewChangesContinueMixin,
    MaterializedViewChangesFailMixin,
)
from dbt.tests.util import get_model_file, set_model_file


def relation_type(project: Any, relation: Any) -> str | None:
    """What the adapter says the relation is."""
    adapter = project.adapter
    with adapter.connection_named("relation_type"):
        adapter.cache.clear()
        schema = adapter.Relation.create(schema=relation.schema, database=relation.database)
        found = {r.identifier: str(r.type) for r in adapter.list_relations_without_caching(schema)}
    return found.get(relation.identifier)


class TestMaterializedViewBasic(MaterializedViewBasic):
    @staticmethod
    def insert_record(project: Any, table: Any, record: tuple[int, int]) -> None:
        project.run_sql(f"insert into {table} values ({record[0]}, {record[1]})")

    @staticmethod
    def refresh_materialized_view(project: Any, materialized_view: Any) -> None:
        project.run_sql(f"refresh materialized view {materialized_view}")

    @staticmethod
    def query_row_count(project: Any, relation: Any) -> int:
        return int(project.run_sql(f"select count(*) from {relation}", fetch="one")[0])

    @staticmethod
    def query_relation_type(project: Any, relation: Any) -> str | None:
        return relation_type(project, relation)


class Changes(MaterializedViewChanges):
    @staticmethod
    def _config(project: Any, view: Any) -> tuple[str, str, str]:
        rows = project.run_sql(f"show create table {view}", fetch="one")[0]
        adapter = project.adapter
        from dbt.adapters.spark_mv.sql.names import TableName
        from dbt.adapters.spark_mv.views.registry import load_view

        with adapter.connection_named("config"):
            relations = adapter.connections.materialized_views.engine.relations
            found = load_view(relations, TableName("local", (view.schema,), view.identifier))
        return str(found.options.refresh_interval_minutes), found.definition.query, str(rows)

    @classmethod
    def check_start_state(cls, project: Any, materialized_view: Any) -> None:
        interval, query, _ = cls._config(project, materialized_view)
        assert interval == "30" and "where" not in query

    @staticmethod
    def change_config_via_alter(project: Any, materialized_view: Any) -> None:
        text = get_model_file(project, materialized_view)
        changed = text.replace(
            "materialized='materialized_view',",
            "materialized='materialized_view', refresh_interval_minutes=45,",
        )
        set_model_file(project, materialized_view, changed)

    @classmethod
    def check_state_alter_change_is_applied(cls, project: Any, materialized_view: Any) -> None:
        assert cls._config(project, materialized_view)[0] == "45"

    @staticmethod
    def change_config_via_replace(project: Any, materialized_view: Any) -> None:
        text = get_model_file(project, materialized_view)
        changed = text.replace(
            "materialized='materialized_view',",
            "materialized='materialized_view', partition_by=['id'],",
        )
        set_model_file(project, materialized_view, changed)

    @classmethod
    def check_state_replace_change_is_applied(cls, project: Any, materialized_view: Any) -> None:
        from dbt.adapters.spark_mv.sql.names import TableName
        from dbt.adapters.spark_mv.views.registry import load_view

        adapter, view = project.adapter, materialized_view
        with adapter.connection_named("layout"):
            relations = adapter.connections.materialized_views.engine.relations
            found = load_view(relations, TableName("local", (view.schema,), view.identifier))
            rows = project.run_sql(f"show create table {found.storage.sql}", fetch="one")[0]
        assert found.layout.partition_by == ("id",) and "PARTITIONED BY (id)" in rows

    @staticmethod
    def query_relation_type(project: Any, relation: Any) -> str | None:
        return relation_type(project, relation)


class TestChangesApply(Changes, MaterializedViewChangesApplyMixin):
    pass


class TestChangesContinue(Changes, MaterializedViewChangesContinueMixin):
    pass


class TestChangesFail(Changes, MaterializedViewChangesFailMixin):
    pass
