"""Views are verified under the settings that they were made with, whatever those of a command."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.functional.materialized_view.dbt_project import DbtProject
from tests.functional.materialized_view.warehouse import Warehouse

# Views whose rows depend on a setting, with two values of it.
SETTINGS = {
    "days": ("spark.sql.session.timeZone", "America/Havana", "Asia/Tokyo"),
    "hours": ("spark.sql.session.timeZone", "Australia/Lord_Howe", "UTC"),
    "numbers": ("spark.sql.ansi.enabled", "false", "true"),
    "quoted": ("spark.sql.ansi.doubleQuotedIdentifiers", "false", "true"),
    "negative": ("spark.sql.legacy.sizeOfNull", "true", "false"),
}
QUERIES = {
    "days": "select to_date(at) as day, count(*) as n from {} group by to_date(at)",
    "hours": "select id, hour(at) as h, date_trunc('DAY', at) as d from {}",
    "numbers": "select id, cast(word as int) as number from {}",
    "quoted": 'select id, "word" as w from {}',
    "negative": "select id, size(array(id)) as n, size(cast(null as array<int>)) as m from {}",
}
ALSO_ANSI = {"quoted": "true", "negative": "false"}


def _config(name: str, second: bool) -> str:
    setting, *values = SETTINGS[name]
    ansi = ALSO_ANSI.get(name)
    hooks = [f"set {setting}={values[second]}"]
    hooks += [f"set spark.sql.ansi.enabled={ansi}"] if ansi else []
    return f"{{{{ config(materialized='bq_materialized_view', pre_hook={hooks}) }}}}\n"


FILES = {
    f"models/{name}.sql": _config(name, False) + query.format("{{ source('raw', 'moments') }}")
    for name, query in QUERIES.items()
} | {
    "models/models.yml": "models:\n"
    + "".join(f"  - name: {name}\n    data_tests: [matches_its_query]\n" for name in QUERIES),
}


@pytest.fixture(scope="module", autouse=True)
def moments(lake: Warehouse, project: DbtProject) -> None:
    lake.spark("create table @.moments (id int, at timestamp, word string) using iceberg")
    lake.spark(
        "insert into @.moments select id, timestamp'2026-03-08 00:00:00Z' + id * interval 1 hour, "
        "if(id % 3 = 0, 'x', cast(id as string)) from range(48)"
    )
    sources = (project.folder / "models/sources.yml").read_text()
    project.write(
        {"models/sources.yml": sources.replace("tables: [", "tables: [{name: moments}, ")}
    )


def _with_other_settings(lake: Warehouse, name: str) -> None:
    setting, _, other = SETTINGS[name]
    lake.sql(f"set {setting}={other}")


@pytest.mark.behaviour("D29")
@pytest.mark.parametrize("name", SETTINGS)
def test_settings_of_the_view(lake: Warehouse, project: DbtProject, name: str) -> None:
    project.dbt("run", "-s", name)
    _with_other_settings(lake, name)
    project.dbt("test", "-s", f"matches_its_query_{name}_")
    assert "OK" in project.operation("verify", view=name).text
    before = Counter(lake.spark(f"select * from @.{name}"))
    storage = lake.storage(name)
    lake.spark(f"insert into {storage} select * from {storage} limit 1")
    found = project.dbt("test", "-s", f"matches_its_query_{name}_", fails=True)
    assert [result.failures for result in found.results] == [1]
    assert "DIFFERENT" in project.operation("verify", view=name, fails=True).text
    assert "REPAIRED" in project.operation("verify", view=name, repair=True).text
    assert "OK" in project.operation("verify", view=name).text
    assert Counter(lake.spark(f"select * from @.{name}")) == before
