"""One plan of the process says of a query what statements to Spark say."""

from __future__ import annotations

from typing import Any

import pytest

from dbt.adapters.spark_mv.core.errors import StatementFailed
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.statements.rewriting.plans import Plans
from tests.functional.materialized_view.warehouse import Warehouse

TYPES = (
    "a boolean, b tinyint, c smallint, d int, e bigint, f float, g double, h decimal(9, 2), "
    "i date, j timestamp, k timestamp_ntz, l string, m binary, n array<int>, "
    "o map<string, decimal(5, 1)>, p struct<x: int, y: array<struct<z: date>>>"
)
QUERIES = (
    "select * from @.typed",
    "select d, count(*), sum(h) as total, avg(h) from @.typed where d > 3 group by d",
    "with c as (select d from @.typed) select * from c union all select e from @.other",
    "select t.d, o.* from @.typed t join @.other o on o.e = t.e order by 1 limit 3",
    "select d from @.other where e > (select max(e) from @.typed where d < 2)",
    "select d from @.other o where exists (select 1 from @.typed t where t.d = o.d)",
    "select 1 as `two words`, interval 1 day as i, null as n, array(struct(1 as x)) as s",
    "select count(*), max(d) from @.other",
)


class _ByStatements:
    """The same context, of a session that is asked by statements alone."""

    def __init__(self, context: Any) -> None:
        self.ask = context.ask

    def plan(self, query: str) -> None:
        return None


def _context(warehouse: Warehouse) -> Any:
    command = warehouse.command()
    command.connections.set_connection_name("plans")
    return command.core.context()


@pytest.fixture(scope="module")
def planned(lake: Warehouse) -> Warehouse:
    lake.sql(f"create table @.typed ({TYPES}) using iceberg")
    lake.sql("create table @.other using iceberg as select id % 7 as d, id as e from range(50)")
    lake.sql(
        "insert into @.typed (d, e, h) select id % 5, id, cast(id as decimal(9, 2)) from range(30)"
    )
    return lake


@pytest.mark.parametrize("query", QUERIES)
def test_a_plan_says_what_statements_say(planned: Warehouse, query: str) -> None:
    text = planned.text(query)
    context = _context(planned)
    assert context.plan(text) is not None
    here, there = Plans(context), Plans(_ByStatements(context))  # type: ignore[arg-type]
    assert here.columns(text) == there.columns(text)
    assert here.rows(text) == there.rows(text)


def test_what_turns_out_to_be_a_command_does_not_run(planned: Warehouse) -> None:
    text = planned.text("from @.other insert into @.copied select e")
    planned.spark("create table @.copied (e bigint) using iceberg")
    _context(planned).plan(text)
    assert planned.spark("select count(*) from @.copied") == [(0,)]


def test_a_refusal_is_no_stack_trace(planned: Warehouse) -> None:
    context = _context(planned)
    with pytest.raises(StatementFailed, match="nowhere"):
        Plans(context).columns(planned.text("select * from @.nowhere"))


def test_a_query_without_a_plan_reads_no_number_of_rows(planned: Warehouse) -> None:
    """Iceberg cannot tell which partitions IN leaves if one of them is NULL."""
    planned.spark(
        "create table @.parts using iceberg partitioned by (c) as "
        "select 1 as id, cast(null as string) as c union all select 2, 'a'"
    )
    context = _context(planned)
    text = planned.text("select id from @.parts where c in ('a', 'b')")
    for plans in (Plans(context), Plans(_ByStatements(context))):  # type: ignore[arg-type]
        assert plans.columns(text) == (("id", "int"),)
        with pytest.raises(StatementFailed):
            plans.rows(text)


def test_columns_of_a_table_are_those_that_spark_describes(planned: Warehouse) -> None:
    """Also of a structure of so many fields that Spark does not print all of them."""
    fields = ", ".join(f"f{number}: decimal({number + 1}, 1)" for number in range(30))
    planned.spark(f"create table @.wide (s struct<{fields}>, `of it` array<struct<x: timestamp>>)")
    resolver = planned.command().core.services.resolver
    for table in ("typed", "wide"):
        name = TableName("local", (planned.schema,), table)
        described = planned.spark(f"describe query select * from {name.sql}")
        assert resolver.columns(name) == [tuple(row[:2]) for row in described]
