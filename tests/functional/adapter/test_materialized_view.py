"""dbt-tests-adapter: materialized views.

A statement that these suites send outside of any dbt command is no lazy read, so what they say of
rows that appear only after a refresh holds for us too.
"""

from __future__ import annotations

from typing import Any

import pytest
from dbt.tests.adapter.materialized_view.basic import MaterializedViewBasic
from dbt.tests.adapter.materialized_view.changes import (
    MaterializedViewChanges,
    MaterializedViewChangesApplyMixin,
    MaterializedViewChangesContinueMixin,
    MaterializedViewChangesFailMixin,
)
from dbt.tests.util import get_model_file, run_dbt, set_model_file

from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.views.definition import MaterializedView
from dbt.adapters.spark_mv.views.registry import load_view


def relation_type(project: Any, relation: Any) -> str | None:
    """What the adapter says the relation is."""
    adapter = project.adapter
    with adapter.connection_named("relation_type"):
        adapter.cache.clear()
        schema = adapter.Relation.create(schema=relation.schema, database=relation.database)
        found = {r.identifier: str(r.type) for r in adapter.list_relations_without_caching(schema)}
    return found.get(relation.identifier)


class _DropsSchemaByAdapter:
    @pytest.fixture(scope="function", autouse=True)
    def setup(self, project: Any, my_materialized_view: Any) -> Any:
        # As the base does, which also sends DROP SCHEMA CASCADE past dbt: no Iceberg catalog can.
        run_dbt(["seed"])
        run_dbt(["run", "--models", my_materialized_view.identifier, "--full-refresh"])
        initial_model = get_model_file(project, my_materialized_view)
        yield
        set_model_file(project, my_materialized_view, initial_model)
        project.drop_test_schema()
        project.create_test_schema()


class TestMaterializedViewBasic(_DropsSchemaByAdapter, MaterializedViewBasic):
    @staticmethod
    def insert_record(project: Any, table: Any, record: tuple[int, int]) -> None:
        project.run_sql(f"insert into {table} values ({record[0]}, {record[1]})")

    @staticmethod
    def refresh_materialized_view(project: Any, materialized_view: Any) -> None:
        with project.adapter.connection_named("refresh"):
            project.adapter.execute(f"refresh materialized view {materialized_view}")

    @staticmethod
    def query_row_count(project: Any, relation: Any) -> int:
        return int(project.run_sql(f"select count(*) from {relation}", fetch="one")[0])

    @staticmethod
    def query_relation_type(project: Any, relation: Any) -> str | None:
        return relation_type(project, relation)


class Changes(_DropsSchemaByAdapter, MaterializedViewChanges):
    @staticmethod
    def _view(project: Any, view: Any) -> MaterializedView:
        adapter = project.adapter
        with adapter.connection_named("view"):
            resolver = adapter.connections.materialized_views.services.resolver
            return load_view(resolver, TableName("local", (view.schema,), view.identifier))

    @classmethod
    def check_start_state(cls, project: Any, materialized_view: Any) -> None:
        found = cls._view(project, materialized_view)
        assert found.options.refresh_interval_minutes == 30
        assert found.layout.partition_by == ()

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
        assert cls._view(project, materialized_view).options.refresh_interval_minutes == 45

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
        found = cls._view(project, materialized_view)
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
