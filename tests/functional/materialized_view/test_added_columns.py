"""Columns that a base table gets are no reason to compute everything again: the query means what it
meant, unless one of its names, or a place that it counts, is that of a new column."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator

import pytest

from dbt.adapters.spark_mv.core.executor import ColumnFacts
from dbt.adapters.spark_mv.glue.dbt_errors import MaterializedViewFailure
from dbt.adapters.spark_mv.planning import plan_check
from dbt.adapters.spark_mv.planning.analyzer import Analyzer
from dbt.adapters.spark_mv.spark import held_tables
from tests.functional.materialized_view.by_statements import reach_by_statements
from tests.functional.materialized_view.warehouse import Warehouse
from tests.sampling import sample, sample_of

# Queries that mean the same whatever further columns their tables have.
SAME = {
    "sums": "select k, count(*) as n, sum(v) as s from @.t group by k",
    "rows": "select k, v from @.t where v > 3",
    "imports": "with a as (select * from @.t), b as (select * from @.u), "
    "c as (select a.k, a.v, b.w from a join b on a.k = b.k) select * from c",
    "outer": "select t.k, t.v, u.w from @.t left join @.u on t.k = u.k",
    "union": "with a as (select * from @.t), b as (select * from @.u) "
    "select k, v from a union all select k, w from b",
    "distinct": "select distinct k from @.t",
    "extremes": "with a as (select * from @.t) select k, min(v) as l, max(v) as h from a "
    "group by k",
    "newest": "select k, v, row_number() over (partition by k order by v, id) as r from @.t",
    "first": "select id, k, v from @.t order by v desc, id limit 3",
    "anti": "select k, v from @.t where not exists (select 1 from @.u where u.k = t.k)",
    "numbers": "select k, count(distinct v) as n from @.t group by 1",
    "clock": "select k, v from @.t where at < current_timestamp()",
    "places": "with a(one, two) as (select k, v from @.t) select two, count(*) as n from a "
    "group by two",
    "view": "select k, sum(v) as s from @.listed group by k",
    "staged": "select k, sum(v) as s from @.staged group by k",
    "upstream": "select s, count(*) as n from @.below group by s",
}
TAKEN = sample_of(
    SAME,
    (
        "rows",
        "outer",
        "distinct",
        "extremes",
        "newest",
        "first",
        "anti",
        "numbers",
        "places",
        "view",
    ),
)
# A new column `x` of both tables is one that the query names, or lists.
OTHER = {
    "every": "select * from @.t",
    "alias": "select id, v + 1 as x, x * 2 as y from @.t",
    "correlated": "select o.k, o.v from (select k, v, v % 4 as x from @.t) o "
    "where exists (select 1 from @.u i where i.k = o.k and x > 1)",
    "all different": "select count(*) as n from (select distinct * from @.t)",
    "natural": "select k, v, w from @.t natural join (select k, w, k % 3 as x from @.u)",
    "struct": "select to_json(struct(*)) as j from @.t",
    "hash": "select id, hash(*) as h from @.t",
    "counted": "select count(distinct *) as n from @.t",
}
ADDED = {
    "last": "alter table @.t add column x int; alter table @.u add column x int",
    "first": "alter table @.t add column x int first; alter table @.u add column x int after k",
    "several": "alter table @.t add columns (x int, y struct<a: int>); "
    "alter table @.u add column x int; alter table @.u add column z string",
    "and gone": "alter table @.t add column x int; alter table @.t drop column x; "
    "alter table @.u add column x int",
}
WRITES = {
    "rows": "insert into @.t by name select 50 as id, 1 as k, 7 as v, timestamp'2024-01-01' as at; "
    "insert into @.u by name select 1 as k, 9 as w",
    "changes": "update @.t set v = v + 100 where id % 3 = 0; delete from @.t where id = 4; "
    "insert into @.u by name select 2 as k, 9 as w",
    "merge": "merge into @.t using (select 5 as id) s on t.id = s.id when matched then update "
    "set k = 2, v = 1; delete from @.u where k = 1",
}
LAYOUTS = {
    "copied": "",
    "deleted": "tblproperties ('format-version' = '2', 'write.delete.mode' = 'merge-on-read', "
    "'write.update.mode' = 'merge-on-read', 'write.merge.mode' = 'merge-on-read')",
    "tracked": "tblproperties ('format-version' = '3', 'write.delete.mode' = 'merge-on-read', "
    "'write.update.mode' = 'merge-on-read', 'write.merge.mode' = 'merge-on-read')",
    "divided": "partitioned by (k)",
}


def run(lake: Warehouse, statements: str) -> None:
    for statement in statements.split("; "):
        lake.spark(statement)


def _make(lake: Warehouse, layout: str = "") -> None:
    lake.spark(
        f"create or replace table @.t using iceberg {layout} as select cast(id as int) as id, "
        "cast(id % 4 as int) as k, cast(id % 7 as int) as v, "
        "timestamp'2024-01-01' + make_dt_interval(cast(id as int)) as at from range(20)"
    )
    lake.spark(
        f"create or replace table @.u using iceberg {layout} as select cast(id % 3 as int) as k, "
        "cast(id as int) as w from range(6)"
    )
    lake.spark("create or replace view @.listed as select k, v from @.t")
    lake.spark(
        "create or replace view @.staged as with a as (select * from @.t), "
        "b as (select k, v + 1 as v from a) select * from b"
    )
    lake.sql(
        "create or replace materialized view @.below as select k, sum(v) as s from @.t group by k"
    )


FIRST = [("last", "copied"), ("first", "tracked")]
OTHERS = [pair for pair in itertools.product(ADDED, LAYOUTS) if pair not in FIRST]
# What else becomes of the columns of `t`.
ALTERED = {
    "came back": "alter table @.t drop column v; alter table @.t add column v int",
    "gone": "alter table @.t drop column at",
    "others' names": "alter table @.t rename column v to z; alter table @.t rename column id to v; "
    "alter table @.t rename column z to id",
    "wider": "alter table @.t alter column v type bigint",
    "renamed": "alter table @.t rename column at to since",
}
GROUPED = "select k, count(v) as n, sum(v) as s from @.t group by k"


@pytest.fixture
def base(lake: Warehouse) -> Iterator[Warehouse]:
    _make(lake)
    yield lake


def _rows(lake: Warehouse, query: str) -> Counter[tuple[object, ...]]:
    return Counter(lake.spark(query))


def _refresh(lake: Warehouse, view: str) -> str:
    """Why a fast refresh failed, if it did."""
    try:
        lake.sql(f"refresh materialized view @.{view} fast")
    except MaterializedViewFailure as error:
        return str(error)
    return ""


@pytest.mark.parametrize(("added", "layout"), sample(FIRST, OTHERS))
def test_nothing_is_computed_again(lake: Warehouse, added: str, layout: str) -> None:
    """Every query by every write: all are refreshed fast, in a new process as in the same one."""
    _make(lake, LAYOUTS[layout])
    for name, query in TAKEN.items():
        lake.sql(f"create or replace materialized view @.{name}_v as {query}")
    run(lake, ADDED[added])
    for number, write in enumerate(WRITES.values()):
        run(lake, write)
        if number == 1:
            lake.restart()
        for name, query in TAKEN.items():
            assert not _refresh(lake, f"{name}_v"), name
            assert _rows(lake, f"select * from @.{name}_v") == _rows(lake, query), name


def test_partitions(base: Warehouse) -> None:
    base.sql(f"create or replace materialized view @.m partitioned by (k) as {GROUPED}")
    run(base, ADDED["last"])
    base.spark("delete from @.t where k = 1 and id > 5")
    base.sql("refresh materialized view @.m partition")
    assert _rows(base, "select * from @.m") == _rows(base, GROUPED)


@pytest.mark.parametrize("in_new_process", [False, True])
def test_new_columns_that_matter(base: Warehouse, in_new_process: bool) -> None:
    names = {name: f"v{number}" for number, name in enumerate(OTHER)}
    for name, view in names.items():
        base.sql(f"create or replace materialized view @.{view} as {OTHER[name]}")
    run(base, ADDED["last"])
    run(base, WRITES["changes"])
    if in_new_process:
        base.restart()
    for name, view in names.items():
        assert _refresh(base, view), name
        assert Counter(base.sql(f"select * from @.{view}")) == _rows(base, OTHER[name]), name


def test_which_columns_matter_is_found_out_again(
    base: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Analyzer, "forget_altered", lambda *arguments: None)
    base.restart()
    base.sql(f"create or replace materialized view @.m as {OTHER['correlated']}")
    base.spark("delete from @.t where id = 2")
    assert not _refresh(base, "m")
    run(base, ADDED["last"])
    run(base, "update @.u set x = 2; update @.t set v = v + 1 where id = 3")
    assert not _refresh(base, "m"), "the mutant is not caught"
    assert _rows(base, "select * from @.m") != _rows(base, OTHER["correlated"])


def _branches(lake: Warehouse) -> str:
    """A union in which new columns move others."""
    for table in ("one", "two"):
        lake.spark(f"create or replace table @.{table} using iceberg as select 1 as k, 2 as w")
    query = (
        "select w, row_number() over (partition by w % 2 order by w) as r "
        "from (select * from @.one union all select * from @.two)"
    )
    lake.sql(f"create or replace materialized view @.m as {query}")
    lake.spark("alter table @.one add column x int")
    lake.spark("alter table @.two add column x int first")
    lake.spark("insert into @.one values (4, 5, 6)")
    lake.spark("insert into @.two values (7, 8, 9)")
    return query


def test_places(lake: Warehouse) -> None:
    query = _branches(lake)
    failure = _refresh(lake, "m")
    assert "SCHEMA_CHANGED" in failure
    assert Counter(lake.sql("select * from @.m")) == _rows(lake, query)


def test_places_matter(lake: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_check, "_tells_by_place", lambda select: False)
    lake.restart()
    query = _branches(lake)
    assert not _refresh(lake, "m"), "the mutant is not caught"
    assert _rows(lake, "select * from @.m") != _rows(lake, query)


@pytest.mark.parametrize("altered", ALTERED)
def test_columns_that_are_others(base: Warehouse, altered: str) -> None:
    base.sql(f"create or replace materialized view @.m as {GROUPED}")
    run(base, ALTERED[altered])
    base.spark("insert into @.t by name select 1 as k, 5 as v")
    base.restart()
    failure = _refresh(base, "m")
    assert "SCHEMA_CHANGED" in failure or "OTHER_LAYOUT" in failure
    assert Counter(base.sql("select * from @.m")) == _rows(base, GROUPED)


def test_a_column_is_not_its_name(base: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    def by_name(fields: list[dict[str, str]]) -> tuple[ColumnFacts, ...]:
        return tuple(ColumnFacts(0, field["name"], "", False) for field in fields)

    monkeypatch.setattr(held_tables, "column_facts", by_name)
    base.sql(f"create or replace materialized view @.m as {GROUPED}")
    run(base, ALTERED["came back"])
    base.spark("insert into @.t by name select 1 as k, 5 as v")
    assert not _refresh(base, "m"), "the mutant is not caught"
    assert _rows(base, "select * from @.m") != _rows(base, GROUPED)


def test_statements_do_not_tell(base: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a catalog client nobody says which column is which."""
    reach_by_statements(monkeypatch)
    base.sql(f"create or replace materialized view @.m as {GROUPED}")
    run(base, ADDED["last"])
    run(base, WRITES["changes"])
    base.restart()
    failure = _refresh(base, "m")
    assert "SCHEMA_CHANGED" in failure
    assert Counter(base.sql("select * from @.m")) == _rows(base, GROUPED)
