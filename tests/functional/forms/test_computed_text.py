"""Texts that Spark makes of a statement before it runs it: every way x every statement."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import pytest

from dbt.adapters.spark_mv.glue.dbt_errors import MaterializedViewFailure
from dbt.adapters.spark_mv.spark.session import spark_session
from dbt.adapters.spark_mv.statements import pipeline
from tests.functional.materialized_view.warehouse import Command, Warehouse

QUERY = "select id as k, count(*) as n from @.orders group by id"
_ids = count(1000)


@dataclass(frozen=True)
class Way:
    """How a name is computed: what runs first, and what stands for the name."""

    before: tuple[str, ...]
    name: str


WAYS = {
    "name": Way(("set computed={schema}.{name}",), "${computed}"),
    "spark's": Way(("set computed={schema}.{name}",), "${spark:computed}"),
    "schema": Way(("set computed={schema}",), "${computed}.{name}"),
    "last part": Way(("set computed={name}",), "{schema}.${computed}"),
    "in backticks": Way(("set computed={name}",), "`{schema}`.`${computed}`"),
    "with backticks": Way(("set computed=`{name}`",), "{schema}.${computed}"),
    "in two steps": Way(("set inner={name}", "set computed=.${inner}"), "{schema}${computed}"),
    "identifier": Way((), "identifier('{schema}.{name}')"),
    "in parts": Way((), "IDENTIFIER ( '{schema}' || '.{name}' )"),
    "concat": Way((), "identifier(concat('{schema}', '.', '{name}'))"),
    "function": Way((), "identifier(lower('{schema}') || replace('.-', '-', '{name}'))"),
    "of a variable": Way(
        ("declare or replace variable named string default '{schema}.{name}'",),
        "identifier(named)",
    ),
    "of both": Way(("set computed={name}",), "identifier('{schema}.${computed}')"),
}
WRITES = (
    "insert into {} select 1, 2",
    "insert into table {} values (1, 2)",
    "insert overwrite {} select 1, 2",
    "with c as (select 1 as a, 2 as b) insert into {} select * from c",
    "delete from {} where k = 1",
    "update {} set n = 1",
    "merge into {} t using (select 1 as k) s on t.k = s.k when matched then delete",
    "drop table {}",
    "truncate table {}",
    "alter table {} add column z int",
    'execute immediate "delete from {} where k = 1"',
)
READS = (
    "select * from {}",
    "select count(*) from (select k from {} where n > 0) s",
    "with c as (select * from {}) select k from c",
    "insert into @.copied select k from {}",
    "create or replace temporary view computed_view as select * from {}",
)


@pytest.fixture(scope="module", autouse=True)
def views(lake: Warehouse) -> None:
    lake.sql(f"create materialized view @.mv as {QUERY}")
    lake.spark("create table @.copied (k bigint) using iceberg")


@pytest.fixture
def command(lake: Warehouse) -> Iterator[Command]:
    """An open run-operation, in which no node refs anything; nobody is warned."""
    made = lake.command("run-operation")
    alerts: list[str] = []
    made.core.services.alert = alerts.append
    yield made
    assert not alerts
    made.flush()


def computed(lake: Warehouse, command: Command, way: str, sql: str, name: str) -> str:
    """The statement about the relation, whose name is computed this way."""
    found = WAYS[way]

    def named(text: str) -> str:
        return text.replace("{schema}", lake.schema).replace("{name}", name)

    for statement in found.before:
        command.sql(named(statement))
    return sql.replace("{}", named(found.name))


@pytest.mark.parametrize("sql", WRITES)
@pytest.mark.parametrize("way", WAYS)
def test_writes_are_refused(lake: Warehouse, command: Command, way: str, sql: str) -> None:
    """A view and its rows are changed by refresh only, whoever says the name."""
    before, rows = lake.build_of("mv"), lake.spark("select * from @.mv")
    storage = lake.storage("mv").split(".")[-1].strip("`")
    names = [storage] if "drop" in sql else ["mv", storage]
    for name in names:
        with pytest.raises(MaterializedViewFailure, match=r"mv is a materialized view"):
            command.sql(computed(lake, command, way, sql, name))
    assert lake.build_of("mv") == before
    assert lake.spark("select * from @.mv") == rows


@pytest.mark.parametrize("way", ["name", "identifier"])
def test_what_spark_reads_matters(
    lake: Warehouse, command: Command, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the text alone nobody would know what is written."""
    monkeypatch.setattr(pipeline, "may_be_computed", lambda sql: False)
    storage = lake.storage("mv").split(".")[-1].strip("`")
    command.sql(computed(lake, command, way, "delete from {} where k__mv < -1", storage))


@pytest.mark.parametrize("sql", READS)
@pytest.mark.parametrize("way", WAYS)
def test_reads_are_gated(lake: Warehouse, command: Command, way: str, sql: str) -> None:
    statement = computed(lake, command, way, sql, "mv")
    lake.spark(f"insert into @.orders values ({next(_ids)}, 'eve', 1)")
    command.sql(statement)
    assert lake.freshness("mv") == "FRESH"


@pytest.mark.parametrize("way", WAYS)
def test_writes_mark(lake: Warehouse, command: Command, way: str) -> None:
    command.sql("select * from @.mv")
    command.flush()
    assert not lake.flag("mv")
    sql = f"insert into {{}} values ({next(_ids)}, 'eve', 1)"
    command.sql(computed(lake, command, way, sql, "orders"))
    command.flush()
    assert lake.flag("mv")


@pytest.mark.parametrize("way", WAYS)
def test_views_are_dropped(lake: Warehouse, command: Command, way: str) -> None:
    """DROP of a view by a computed name leaves no rows behind."""
    lake.sql(f"create or replace materialized view @.gone as {QUERY}")
    storage = lake.storage("gone").split(".")[-1].strip("`")
    command.sql(computed(lake, command, way, "drop view {}", "gone"))
    left = {row[1] for row in lake.spark(f"show tables in {lake.schema} like 'gone*'")}
    assert storage not in left


def test_whole_statements(lake: Warehouse, command: Command) -> None:
    command.sql("set rest=from {schema}.mv where k < 0".replace("{schema}", lake.schema))
    with pytest.raises(MaterializedViewFailure, match=r"mv is a materialized view"):
        command.sql("delete ${rest}")
    lake.spark(f"insert into @.orders values ({next(_ids)}, 'eve', 1)")
    assert command.sql("select k ${rest}") == []
    assert lake.freshness("mv") == "FRESH"


QUOTED = ("k = '1'", 'k = "1"', "k = '\"' or k = \"'\" or k = 1", "k = 1 or 'b\" \"c' = ''")


@pytest.mark.parametrize("value", QUOTED)
def test_values_with_quotes(lake: Warehouse, command: Command, value: str) -> None:
    command.sql("create or replace temporary view keys as select cast(k as string) k from @.mv")
    spark_session(lake.credentials).conf.set("condition", value)
    with pytest.raises(MaterializedViewFailure, match=r"mv is a materialized view"):
        command.sql("delete from @.mv where ${condition}")
    lake.spark(f"insert into @.orders values ({next(_ids)}, 'eve', 1)")
    assert command.sql("select k from keys where ${condition}") == [("1",)]
    assert lake.freshness("mv") == "FRESH"


@pytest.mark.parametrize("value", ["'", '"', 'it\'s "a" b', 'a\'b" "c'])
def test_values_that_nobody_can_tell(lake: Warehouse, command: Command, value: str) -> None:
    """A query reads the views that Spark finds in it; anything else is refused."""
    spark_session(lake.credentials).conf.set("inner", value)
    spark_session(lake.credentials).conf.set("outer", "'' /* ${inner} */")
    lake.spark(f"insert into @.orders values ({next(_ids)}, 'eve', 1)")
    command.sql("select ${outer} from @.mv")
    assert lake.freshness("mv") == "FRESH"
    with pytest.raises(MaterializedViewFailure, match=r"value of \$\{outer\} into a statement"):
        command.sql("delete from @.orders where id < 0 and who = ${outer}")


@pytest.mark.parametrize(
    ("sql", "error"),
    [
        ("select * from @.${circle}", "Circular"),
        ("insert into @.${circle} values (1)", "Circular"),
        ("select * from identifier(uuid())", "NOT_A_CONSTANT"),
        ("select * from identifier((select '@.mv'))", "NOT_A_CONSTANT"),
        ("delete from identifier(nobody)", "NOT_A_CONSTANT"),
    ],
)
def test_refused_by_spark(lake: Warehouse, command: Command, sql: str, error: str) -> None:
    """What Spark would not run is not run, and Spark says why."""
    spark_session(lake.credentials).conf.set("circle", "${circle}")
    with pytest.raises(Exception, match=error):
        command.sql(sql)


def test_without_variables(lake: Warehouse, command: Command) -> None:
    """A session may say that `${..}` is text."""
    command.sql("set spark.sql.variable.substitute=false")
    try:
        assert command.sql("select '${name}', count(*) > 0 from @.mv") == [("${name}", True)]
    finally:
        command.sql("reset spark.sql.variable.substitute")


@pytest.mark.parametrize(
    "sql",
    [
        "begin delete from identifier('{}') where k = 1; end",
        "begin delete from identifier(concat('{}', '')) where k = 1; end",
        "begin execute immediate 'delete from {} where k = 1'; end",
        "execute immediate \"execute immediate 'delete from {} where k = 1'\"",
    ],
)
def test_writes_within_texts(lake: Warehouse, sql: str) -> None:
    """Scripts, and texts within texts, that need no variable."""
    before = lake.build_of("mv")
    for name in (f"{lake.schema}.mv", lake.storage("mv").replace("`", "")):
        with pytest.raises(MaterializedViewFailure, match=r"mv is a materialized view"):
            lake.command("run-operation").sql(sql.replace("{}", name))
    assert lake.build_of("mv") == before
