"""Which texts of tests say what holds of a table, and that one step beside them nothing is said."""

from __future__ import annotations

import pytest

from dbt.adapters.spark_mv.catalog.constraints import NOT_NULL, REFERENCES, UNIQUE, Constraint
from dbt.adapters.spark_mv.rewrite.reading.blocks import BlockReader
from dbt.adapters.spark_mv.rewrite.reading.scopes import Scope
from dbt.adapters.spark_mv.rewrite.unmatched import Unmatched
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.sql.reads import parse
from dbt.adapters.spark_mv.statements.rewriting import tested
from tests.unit.rewrite.harness import HOME, Tables

R, S = (TableName("c", ("s",), name) for name in "rs")
COUNTED = (
    "select count(*) as failures, count(*) != 0 as should_warn, count(*) != 0 as should_error "
    "from ({query}) dbt_internal_test"
)
OF_UNIQUE = "select a as unique_field, count(*) as n_records from r where a is not null group by a"
UNIQUE_A = f"{OF_UNIQUE} having count(*) > 1"
NULLS = "select a from r where a is null"
RELATED = (
    "with child as (select a as from_field from r where a is not null), "
    "parent as (select id as to_field from s) select from_field from child "
    "left join parent on child.from_field = parent.to_field where parent.to_field is null"
)
SAID = {
    UNIQUE_A: Constraint(UNIQUE, (R, "a")),
    NULLS: Constraint(NOT_NULL, (R, "a")),
    "select * from (select b as x, g from r) as q where x is null": Constraint(NOT_NULL, (R, "b")),
    RELATED: Constraint(REFERENCES, (R, "a"), (S, "id")),
}
NOTHING = (
    f"{UNIQUE_A} limit 0",
    f"{NULLS} limit 0",
    f"{NULLS} limit 3 offset 3",
    f"{RELATED} limit 0",
    OF_UNIQUE,
    f"{OF_UNIQUE} having count(*) > 2",
    f"{OF_UNIQUE} having count(*) > 1 and max(b) > 0",
    f"{OF_UNIQUE} having count(b) > 1",
    f"{UNIQUE_A.replace('where', 'where b > 1 and')}",
    f"{UNIQUE_A.replace('group by a', 'group by a, b')}",
    f"{UNIQUE_A.replace('group by a', 'group by rollup (a)')}",
    "select a + 1, count(*) from r where a + 1 is not null group by a + 1 having count(*) > 1",
    "select a, count(*) from r join s using (a) where a is not null group by a having count(*) > 1",
    UNIQUE_A.replace("from r", "from (select * from r where b > 0) as q"),
    UNIQUE_A.replace("from r", "from (select distinct a from r) as q"),
    UNIQUE_A.replace("from r", "from (select a from r limit 5) as q"),
    UNIQUE_A.replace("from r", "from (select a, count(*) from r group by a) as q"),
    "select a from r where a is null and b > 1",
    "select a from r where a is null or b is null",
    "select distinct a from r where a is null",
    "select max(a) from r where a is null",
    RELATED.replace("from r where", "from r where b > 1 and"),
    RELATED.replace("from s", "from s where c > 1"),
    RELATED.replace("parent.to_field is null", "child.from_field is null"),
    RELATED.replace("= parent.to_field", "= parent.to_field and from_field > 1"),
    RELATED.replace("left join", "join"),
)
AROUND = (
    "select count(*) as failures from ({query}) dbt_internal_test where false",
    "select count(*) as failures from ({query}) dbt_internal_test having count(*) > 5",
    "select count(*) as failures from ({query}) dbt_internal_test limit 0",
    "select count(*) as failures from ({query}) dbt_internal_test group by a",
    "select count(a) as failures from ({query}) dbt_internal_test",
    "select max(a) as failures from ({query}) dbt_internal_test",
    "select count(*) as failures from ({query}) another",
    "select count(*) as failures from ({query}) dbt_internal_test tablesample (1 rows)",
    "with r as (select * from s) select count(*) as failures from ({query}) dbt_internal_test",
)


def said(text: str) -> list[Constraint]:
    query = tested._query_of(parse(text))
    if query is None:
        return []
    try:
        return list(tested._constraints(BlockReader(Tables()).forms(query, Scope(HOME))[0]))
    except Unmatched:
        return []


@pytest.mark.parametrize("query", SAID)
def test_said(query: str) -> None:
    assert said(COUNTED.format(query=query)) == [SAID[query]]


@pytest.mark.parametrize("query", NOTHING)
def test_nothing_is_said(query: str) -> None:
    assert said(COUNTED.format(query=query)) == []


@pytest.mark.parametrize("text", AROUND)
def test_nothing_is_said_by_what_stands_around(text: str) -> None:
    assert said(text.format(query=NULLS)) == []
