"""`dbt seed` of a seed that exists: one commit, or none, and always the rows of the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.functional.concurrency.processes import Watcher
from tests.functional.materialized_view.dbt_project import DbtProject
from tests.functional.materialized_view.warehouse import Warehouse

ONE = "id,name,at\n1,one,2024-01-01 10:00:00\n2,,2024-01-02 11:00:00\n3,it's,\n"
TWO = ONE + "4,four,2024-01-04 12:00:00\n"
CONFIG = "{{ config(materialized='bq_materialized_view') }}\n"
BATCHES = "{% macro spark_mv__get_batch_size() %}{{ return(2) }}{% endmacro %}"


@pytest.fixture
def project(lake: Warehouse, tmp_path: Path) -> DbtProject:
    for name in lake.relations():
        if name[1].startswith("items"):
            lake.spark(f"drop table if exists @.{name[1]}")
    made = DbtProject(tmp_path, lake)
    made.write({"seeds/items.csv": ONE})
    made.write({"models/named.sql": CONFIG + "select id, name from {{ ref('items') }}"})
    return made


def seeded(project: DbtProject, *options: str) -> str:
    """What was done: the word of the result."""
    return str(project.dbt("seed", *options).result("items").adapter_response["code"])


def commits(lake: Warehouse) -> int:
    ((found,),) = lake.spark("select count(*) from @.items.snapshots")
    return int(found)


def rows(lake: Warehouse) -> list[Any]:
    return sorted(lake.spark("select id, name, cast(at as string) from @.items"), key=str)


RIGHT = [
    (1, "one", "2024-01-01 10:00:00"),
    (2, None, "2024-01-02 11:00:00"),
    (3, "it's", None),
]
RIGHT_OF_TWO = [*RIGHT, (4, "four", "2024-01-04 12:00:00")]


@pytest.mark.parametrize("batches", [False, True])
def test_one_commit_or_none(project: DbtProject, lake: Warehouse, batches: bool) -> None:
    """A file that has not changed is not written again, and views over it stay fresh; of one that
    has, refreshes are fast."""
    if batches:
        project.write({"macros/batches.sql": BATCHES})
    assert seeded(project) == "INSERT"
    project.dbt("run")
    before = commits(lake)
    assert (before, rows(lake)) == (1, RIGHT)
    assert seeded(project) == "UNCHANGED"
    assert commits(lake) == before and lake.freshness("named") == "FRESH"
    project.write({"seeds/items.csv": TWO})
    assert seeded(project) == "INSERT"
    assert commits(lake) == before + 1 and lake.freshness("named") == "STALE"
    assert rows(lake) == RIGHT_OF_TWO
    project.operation("refresh", view="named", method="fast")
    assert lake.history("named", "method")[-1] == ("fast",)
    assert sorted(lake.spark("select * from @.named")) == sorted(row[:2] for row in RIGHT_OF_TWO)
    assert seeded(project, "--full-refresh") == "CREATE"
    assert (seeded(project), rows(lake)) == ("UNCHANGED", RIGHT_OF_TWO)
    assert [name for _, name in lake.relations() if name.startswith("items")] == ["items"]


@pytest.mark.parametrize("batches", [False, True])
def test_readers(project: DbtProject, lake: Warehouse, batches: bool) -> None:
    """Others always find one of the two: no empty table, none at all, or half of one."""
    if batches:
        project.write({"macros/batches.sql": BATCHES})
    seeded(project)
    with Watcher(lake, "select count(*) from @.items") as watcher:
        for text, options in ((TWO, ()), (ONE, ("--full-refresh",)), (TWO, ()), (ONE, ())):
            project.write({"seeds/items.csv": text})
            seeded(project, *options)
    assert watcher.errors == []
    assert all(found in ([[3]], [[4]]) for found in watcher.seen) and len(watcher.seen) == 2


BY_OTHERS = {
    "inserted": "insert into @.items values (9, 'nine', null)",
    "deleted": "delete from @.items where id = 1",
    "emptied": "truncate table @.items",
    "a column": "alter table @.items add column more int",
    "another name": "alter table @.items rename column name to other",
    "another type": "alter table @.items alter column id type bigint",
    "no column": "alter table @.items drop column name",
    "no table": "drop table @.items",
    "another table": "create or replace table @.items using iceberg as select 1 as id",
}


@pytest.mark.parametrize("what", BY_OTHERS)
def test_changed_by_others(project: DbtProject, lake: Warehouse, what: str) -> None:
    """The table is what the file says again."""
    project.write({"seeds/properties.yml": column_types("int")})
    seeded(project)
    lake.spark(BY_OTHERS[what])
    assert seeded(project) == "INSERT"
    assert rows(lake) == RIGHT
    described = lake.spark("describe table @.items")
    assert [row[:2] for row in described] == [("id", "int"), ("name", "string"), TIME]
    assert seeded(project) == "UNCHANGED"


TIME = ("at", "timestamp")


def column_types(kind: str, config: str = "") -> str:
    return f"seeds: [{{name: items, config: {{column_types: {{id: {kind}}} {config}}}}}]"


CONFIGS = {
    "type": column_types("bigint"),
    "partitions": column_types("int", ", partition_by: [id]"),
    "properties": column_types("int", ", tblproperties: {a: b}"),
    "comment": column_types("int", ", description: new, persist_docs: {relation: true}"),
}


@pytest.mark.parametrize("what", CONFIGS)
def test_other_configuration(project: DbtProject, lake: Warehouse, what: str) -> None:
    """What else the project says of the table is put into force."""
    project.write({"seeds/properties.yml": column_types("int")})
    seeded(project)
    text = CONFIGS[what]
    if what == "comment":
        text = text.replace(", description: new", "").replace("items,", "items, description: new,")
    project.write({"seeds/properties.yml": text})
    assert seeded(project) == "INSERT"
    assert rows(lake) == RIGHT
    told = str(lake.spark("describe table extended @.items"))
    expected = {
        "type": "bigint",
        "partitions": "# Partition",
        "properties": "a=b",
        "comment": "new",
    }
    assert expected[what] in told
    project.write({"seeds/properties.yml": column_types("int")})
    assert seeded(project) == "INSERT"
    assert "a=b" not in str(lake.spark("describe table extended @.items"))
    assert (seeded(project), rows(lake)) == ("UNCHANGED", RIGHT)


def test_compacted(project: DbtProject, lake: Warehouse) -> None:
    """A rewrite of files changes no row: there is nothing to do."""
    seeded(project)
    options = "options => map('rewrite-all', 'true')"
    lake.spark(f"call local.system.rewrite_data_files('{lake.schema}.items', {options})")
    assert commits(lake) == 2
    assert seeded(project) == "UNCHANGED"


def test_other_zone(project: DbtProject, lake: Warehouse) -> None:
    """The same text is another moment in another time zone, and the moments are written."""
    seeded(project)
    project.write({"dbt_project.yml": (project.folder / "dbt_project.yml").read_text() + HOOK})
    assert seeded(project) == "INSERT"
    ((moment,),) = lake.spark("select unix_seconds(at) from @.items where id = 1")
    assert moment == 1704082500  # 2024-01-01 10:00 where it is 04:15 UTC
    assert seeded(project) == "UNCHANGED"


HOOK = """seeds:
  +pre-hook: set spark.sql.session.timeZone=Asia/Kathmandu
on-run-end: reset spark.sql.session.timeZone
"""


def test_empty_file(project: DbtProject, lake: Warehouse) -> None:
    """No rows are rows like others."""
    seeded(project)
    project.write({"seeds/items.csv": "id,name,at\n"})
    assert seeded(project) == "INSERT"
    assert lake.spark("select * from @.items") == []
    assert seeded(project) == "UNCHANGED"


@pytest.mark.parametrize("other", ["view", "materialized view"])
def test_views_stay(project: DbtProject, lake: Warehouse, other: str) -> None:
    """A view that has the name of a seed is not replaced, and the error names the way out."""
    create = f"create {other} @.items as select id from @.orders"
    (lake.sql if other == "materialized view" else lake.spark)(create)
    text = project.dbt("seed", fails=True).text
    assert f"it is a {other}" in text
    assert ("drop_mv" in text) == (other == "materialized view")
    lake.sql(f"drop {other} @.items")


def test_many_at_once(project: DbtProject, lake: Warehouse) -> None:
    """Threads of a command share a session, and each seed gets its own label."""
    names = [f"items_{number}" for number in range(6)]
    for number, name in enumerate(names):
        project.write({f"seeds/{name}.csv": f"id\n{number}\n"})
    project.dbt("seed", "--threads", "4")
    for name in names:
        ((label,),) = lake.spark(f"select summary['mv.seed'] from @.{name}.snapshots")
        assert label
    results = project.dbt("seed", "--threads", "4").results.results
    assert {result.adapter_response["code"] for result in results} == {"UNCHANGED"}


def test_wrong_type(project: DbtProject, lake: Warehouse) -> None:
    """Spark's error, and the old rows."""
    seeded(project)
    project.write({"seeds/properties.yml": column_types("decimal(99)")})
    text = project.dbt("seed", fails=True).text
    assert "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION" in text and "Traceback" not in text
    assert rows(lake) == RIGHT


DOCUMENTED = """
seeds:
  - name: items
    config: {persist_docs: {relation: true, columns: true}, contract: {enforced: true}}
    columns: [{name: id, data_type: bigint, description: "it's"}, {name: name, data_type: string}]
"""


def test_comments_of_columns(project: DbtProject, lake: Warehouse) -> None:
    """They are altered once the rows are there, and then no more: views stay fresh."""
    project.write({"seeds/properties.yml": DOCUMENTED})
    seeded(project)
    project.dbt("run")
    assert [seeded(project), seeded(project)] == ["UNCHANGED"] * 2
    assert lake.freshness("named") == "FRESH"
    project.write({"seeds/items.csv": TWO})
    assert (seeded(project), rows(lake)) == ("INSERT", RIGHT_OF_TWO)
    assert lake.spark("describe table @.items")[0][2] == "it's"
    project.write({"seeds/properties.yml": DOCUMENTED.replace("it's", "other")})
    assert seeded(project) == "UNCHANGED"
    assert lake.spark("describe table @.items")[0][2] == "other"


def test_no_table_beside(project: DbtProject, lake: Warehouse) -> None:
    """Rows of several statements come together in no table that another process could have."""
    project.write({"macros/batches.sql": BATCHES})
    seeded(project)
    lake.spark("create or replace table @.items__dbt_tmp using iceberg as select 42 as precious")
    other = "models/items__dbt_tmp.sql"
    project.write({other: "select 42 as precious", "seeds/items.csv": TWO})
    assert seeded(project, "--full-refresh") == "CREATE"
    assert lake.spark("select * from @.items__dbt_tmp") == [(42,)]
    assert rows(lake) == RIGHT_OF_TWO


READ_OTHERWISE = ("parser.escapedStringLiterals", "ansi.enabled", "ansi.doubleQuotedIdentifiers")


@pytest.mark.parametrize("setting", [f"spark.sql.{name}" for name in READ_OTHERWISE])
def test_texts_under_settings(project: DbtProject, lake: Warehouse, setting: str) -> None:
    """A cell is what the file says, whatever a backslash means in a literal."""
    hooks = f"on-run-start: set {setting}=true\non-run-end: reset {setting}\n"
    project.write({"dbt_project.yml": (project.folder / "dbt_project.yml").read_text() + hooks})
    cells = ["it's", "back\\slash", "${spark.master}", 'say "no"']
    lines = "\n".join('"' + cell.replace('"', '""') + '"' for cell in cells)
    project.write({"seeds/items.csv": f"`na`me\n{lines}\n"})
    assert [seeded(project), seeded(project)] == ["INSERT", "UNCHANGED"]
    assert {name for (name,) in lake.spark("select * from @.items")} == set(cells)


def test_branch_of_the_session(project: DbtProject, lake: Warehouse) -> None:
    """Rows of main say nothing of those of the branch that the session reads."""
    properties = column_types("int", ", tblproperties: {write.wap.enabled: true}")
    project.write({"seeds/properties.yml": properties})
    seeded(project)
    lake.spark("alter table @.items create branch w")
    lake.spark("insert into @.items.branch_w values (77, 'foreign', null)")
    hooks = "on-run-start: set spark.wap.branch=w\non-run-end: reset spark.wap.branch\n"
    project.write({"dbt_project.yml": (project.folder / "dbt_project.yml").read_text() + hooks})
    assert seeded(project) == "INSERT"
    assert sorted(lake.spark("select id from @.items version as of 'w'")) == [(1,), (2,), (3,)]
