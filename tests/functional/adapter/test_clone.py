"""dbt-tests-adapter: clone, which makes views, as there are no clones of Iceberg tables."""

import pytest
from dbt.tests.adapter.dbt_clone.test_dbt_clone import BaseClone, BaseCloneNotPossible
from dbt.tests.util import run_dbt

_VIEW = """
{{ config(materialized='bq_materialized_view') }}
select count(*) as n from {{ ref('seed') }}
"""
_TESTS = """
models:
  - name: counted
    data_tests: [is_fresh, matches_its_query]
"""


@pytest.fixture(autouse=True)
def manifests(monkeypatch):
    """The state of a target is its manifest."""
    monkeypatch.setenv("DBT_WRITE_JSON", "true")


class TestCloneNotPossible(BaseCloneNotPossible):
    pass


class TestCloneOfMaterializedViews(BaseClone):
    """Rows of the clone are those of the view, which a read of either refreshes."""

    @pytest.fixture(scope="class")
    def models(self):
        return {"counted.sql": _VIEW, "schema.yml": _TESTS}

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {}

    def test_clone(self, project, unique_schema, other_schema):
        project.create_test_schema(other_schema)
        run_dbt(["seed"])
        run_dbt(["run"])
        self.copy_state(project.project_root)
        clone = ["clone", "--state", "state", "--target", "otherschema"]
        seed = f"{unique_schema}_seeds.seed"
        for flags in ([], ["--full-refresh"]):
            run_dbt([*clone, *flags])
            before = self.shown(other_schema)
            project.run_sql(f"insert into {seed} select * from {seed}")
            tested = run_dbt(["test", "--target", "otherschema"], expect_pass=False)
            assert sorted(str(result.status) for result in tested) == ["fail", "pass"]
            assert self.shown(other_schema) == 2 * before
            assert len(run_dbt(["test", "--target", "otherschema"])) == 2
            # What is there stays, and is dropped for its clone if everything is to be made anew.
            run_dbt(["run", "--target", "otherschema", "-s", "counted"])

        run_dbt(clone)
        kinds = project.run_sql(f"show tblproperties {other_schema}.counted", fetch="all")
        assert any(row[0] == "mv.storage_table" for row in kinds)

    def shown(self, schema):
        found = run_dbt(["show", "--inline", f"select n from {schema}.counted"])
        return int(found.results[0].agate_table.rows[0][0])
