"""`refresh_policy: on_write`: who writes refreshes, when the node has ended."""

from __future__ import annotations

import pytest

from tests.functional.materialized_view.dbt_project import DbtProject
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

CONFIG = "{{ config(materialized='bq_materialized_view', refresh_policy='%s') }}\n"
COUNT = "select n, count(*) as found from {{ ref('numbers') }} group by n"
FILES = {
    "models/numbers.sql": """
        {{ config(materialized='table', post_hook=[
          "insert into {{ this }} values (7)", "insert into {{ this }} values (8)"]) }}
        select 1 as n""",
    "models/eager.sql": CONFIG % "on_write" + COUNT,
    "models/above.sql": CONFIG % "on_write" + "select sum(found) as found from {{ ref('eager') }}",
    "models/lazy.sql": CONFIG % "on_read" + COUNT,
    "models/slow.sql": CONFIG % "scheduled" + COUNT,
}


def triggers(lake: Warehouse, view: str) -> list[str]:
    return [row[0] for row in lake.history(view, "trigger")]


@pytest.mark.behaviour("E13", "E18")
def test_who_refreshes(lake: Warehouse, project: DbtProject) -> None:
    """The writer for one policy, once for all its statements; the reader for the other."""
    project.dbt("run")
    views = ("eager", "above", "lazy", "slow")
    # The command builds them anyway, so none is refreshed twice.
    assert {view: triggers(lake, view) for view in views} == dict.fromkeys(views, ["DBT_RUN"])
    project.dbt("run", "--select", "numbers")
    assert triggers(lake, "eager") == ["DBT_RUN", "WRITE"]
    assert triggers(lake, "above") == ["DBT_RUN", "WRITE"]
    assert [lake.freshness(view) for view in views] == ["FRESH", "FRESH", "STALE", "STALE"]
    assert_same(
        lake, "select * from @.eager", "select n, count(*) as found from @.numbers group by n"
    )
    project.dbt("run", "--select", "eager", "--full-refresh")
    assert triggers(lake, "above") == ["DBT_RUN", "WRITE", "WRITE"]
    assert lake.freshness("above") == "FRESH"
    project.dbt("show", "--inline", "select * from {{ ref('lazy') }}")
    assert triggers(lake, "lazy") == ["DBT_RUN", "READ"]
    project.dbt("show", "--inline", "select * from {{ ref('eager') }}")
    assert triggers(lake, "eager") == ["DBT_RUN", "WRITE", "DBT_RUN"]


@pytest.mark.behaviour("E15")
def test_who_has_paid(lake: Warehouse, project: DbtProject) -> None:
    """By view and trigger; readers waited for the refreshes that a read began."""
    report = lake.operation("history", summary=True)
    found = {(row[1], row[2]): row[3:] for row in report.rows}
    assert report.columns[3:] == ("refreshes", "failed", "seconds", "readers_waited")
    assert found[("eager", "WRITE")][:2] == (1, 0)
    assert found[("eager", "WRITE")][3] == 0.0
    count, failed, seconds, waited = found[("lazy", "READ")]
    assert (count, failed) == (1, 0)
    assert seconds == waited > 0
    run = project.dbt("run-operation", "history", "--args", "{summary: true}")
    assert "readers_waited" in run.text


@pytest.mark.behaviour("E13")
def test_a_refresh_that_fails(lake: Warehouse, project: DbtProject) -> None:
    """The node has written its rows, so it is no failure of its own; a warning names the view."""
    project.write({"models/numbers.sql": "{{ config(materialized='table') }} select 'x' as n"})
    project.write(
        {"models/eager.sql": CONFIG % "on_write" + "select n + 1 as m from {{ ref('numbers') }}"}
    )
    project.write({"models/numbers.sql": "{{ config(materialized='table') }} select 1 as n"})
    project.dbt("run", "--select", "numbers eager")
    project.write({"models/numbers.sql": "{{ config(materialized='table') }} select 1 as other"})
    run = project.dbt("run", "--select", "numbers")
    assert "What was written is there; its next read tries again." in run.text
    assert lake.spark("select other from @.numbers") == [(1,)]
