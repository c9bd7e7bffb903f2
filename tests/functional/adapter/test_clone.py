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
_DESCRIBED = """
models:
  - name: counted
    columns: [{name: n, description: "how many: the seed's rows"}]
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
        assert self.is_view_of_ours(project, other_schema)

    def shown(self, schema):
        found = run_dbt(["show", "--inline", f"select n from {schema}.counted"])
        return int(found.results[0].agate_table.rows[0][0])

    def is_view_of_ours(self, project, schema):
        kinds = project.run_sql(f"show tblproperties {schema}.counted", fetch="all")
        return any(row[0] == "mv.storage_table" for row in kinds)


class TestCloneThatFails(TestCloneOfMaterializedViews):
    """What has the name stays until its clone is there; and what is cloned is not refreshed."""

    @pytest.fixture(scope="class")
    def models(self):
        return {"counted.sql": _VIEW, "schema.yml": _DESCRIBED}

    @pytest.fixture(scope="class")
    def project_config_update(self, unique_schema):
        return {
            "seeds": {"schema": "seeds", "quote_columns": False},
            "models": {"+persist_docs": {"relation": True, "columns": True}},
        }

    def test_clone(self, project, unique_schema, other_schema):
        project.create_test_schema(other_schema)
        run_dbt(["seed"])
        run_dbt(["run"])
        self.copy_state(project.project_root)
        run_dbt(["build", "--target", "otherschema"])
        clone = ["clone", "--state", "state", "--target", "otherschema", "--full-refresh"]
        clone += ["-s", "counted"]

        dropped = f"{{view: {unique_schema}.counted}}"
        run_dbt(["run-operation", "drop_mv", "--args", dropped])
        failed = run_dbt(clone, expect_pass=False)
        assert [str(result.status) for result in failed] == ["error"]
        assert self.is_view_of_ours(project, other_schema)

        run_dbt(["run"])
        seed = f"{unique_schema}_seeds.seed"
        project.run_sql(f"insert into {seed} select * from {seed}")
        stored = self.stored(project, unique_schema)
        run_dbt(clone)
        assert self.stored(project, unique_schema) == stored
        assert not self.is_view_of_ours(project, other_schema)
        described = project.run_sql(f"describe {other_schema}.counted", fetch="all")
        assert described[0][2] == "how many: the seed's rows"

    def stored(self, project, schema):
        """What another program reads."""
        return project.run_sql(f"select n from {schema}.counted", fetch="one")[0]
