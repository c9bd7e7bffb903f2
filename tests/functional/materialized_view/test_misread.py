"""Forms of SQL that sqlglot reads, or prints, as something else than Spark; one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from dbt.adapters.spark_mv.glue.dbt_errors import MaterializedViewFailure
from dbt.adapters.spark_mv.ivm.algebra import misread
from dbt.adapters.spark_mv.planning import analyzer
from dbt.adapters.spark_mv.sql import parser, spark_functions
from dbt.adapters.spark_mv.sql.plans import WHOLE_PLANS
from tests.functional.materialized_view.warehouse import Warehouse, is_right

Patch = pytest.MonkeyPatch
FORMS = {
    "a star counted with others": "select g, count(*, a) as n from @.t group by g",
    "a star counted with a constant": "select count(*, 1) as n from @.t",
    "a star counted in a window": "select id, count(*, a) over (partition by g) as n from @.t",
    "a list that is tested": (
        "select id from @.t where exists (select explode(ys) from @.u where u.id = t.id)"
    ),
    "a list that is tested beside another condition": (
        "select id from @.t where a > 4 or exists (select explode(ys) from @.u where u.id = t.id)"
    ),
    "no list that is tested": (
        "select id from @.t where not exists (select distinct explode(ys) from @.u "
        "where size(ys) = 0 limit 1)"
    ),
    "a list of groups that is tested": (
        "select id from @.t where exists (select inline(array(struct(v))) from @.u "
        "where v > 5 group by v)"
    ),
    "a union that is tested": (
        "select id from @.t where exists (select explode(ys) from @.u where u.id = 2 union all "
        "select 1 from @.u where v > 1000)"
    ),
    "an interval of two units": (
        "select t.id, y from @.t cross join values (timestamp'2024-01-31 10:00:00' - "
        "interval 1 hour 2 minutes) as v(y)"
    ),
    "an interval of two units below": (
        "select t.id, w.y from @.t join (select k, date'2024-03-31' - interval 1 year 2 months "
        "as y from values (1), (11), (12) as v(k)) w on w.k = t.id"
    ),
    "an interval of a column": "select id, ts - interval 1 hour 2 minutes as y from @.t",
    "an interval with two signs": "select id, ts - interval '1' hour -2 minutes as y from @.t",
    "constants of VALUES": (
        "select t.id, w.x from @.t join (select k, upper(concat(x, 'b')) as x from values "
        "(1, 'a'), (11, 'c') as v(k, x)) w on w.k = t.id"
    ),
    "times of a day": (
        "select t.id, x from @.t join (select k, cast(x as string) as x from values "
        "(1, time'12:00:00'), (11, time'01:00:00') as v(k, x)) w on w.k = t.id"
    ),
    "names of what a function makes": (
        "select distinct inline_outer(array(struct(id, a))) as (p, q) from @.t"
    ),
}


@pytest.fixture
def tables(lake: Warehouse) -> Warehouse:
    """A warehouse with rows of which some have no array, or an empty one."""
    for text in (
        "drop table if exists @.t",
        "drop table if exists @.u",
        "create table @.t (id bigint, a int, g string, ts timestamp) using iceberg",
        "insert into @.t values (1, 1, 'p', timestamp'2024-01-31 10:00:00'), (2, null, 'q', null), "
        "(3, null, null, timestamp'2024-02-29 00:30:00'), (3, 5, 'q', null)",
        "create table @.u (id bigint, v int, ys array<int>) using iceberg",
        "insert into @.u values (1, 7, array(1, 2)), (2, null, array()), (3, 9, null), "
        "(11, 1, array(null))",
    ):
        lake.spark(text)
    return lake


def wrong(lake: Warehouse, name: str, query: str) -> list[str]:
    """When a view has other rows than its query: when it is made, or after a refresh that is as
    fast as it may be."""
    lake.sql(f"create or replace materialized view @.{name} as {query}")
    found = [] if is_right(lake, name, query) else ["made"]
    lake.spark(
        "insert into @.t values (11, 4, 'p', timestamp'2024-02-01 09:01:00'), (2, null, 'q', null)"
    )
    try:
        lake.sql(f"refresh materialized view @.{name} fast")
    except MaterializedViewFailure as error:
        assert "cannot be refreshed fast" in str(error)
        lake.sql(f"refresh materialized view @.{name}")
    return found if is_right(lake, name, query) else [*found, "refreshed"]


@pytest.mark.behaviour("A15", "X23")
@pytest.mark.parametrize("name", FORMS)
def test_rows(tables: Warehouse, name: str) -> None:
    assert wrong(tables, name.replace(" ", "_"), FORMS[name]) == []


def _nothing(module: object, name: str) -> Callable[[Patch], None]:
    return lambda patch: patch.setattr(module, name, lambda *arguments: None)


def _as_they_are(patch: Patch) -> None:
    patch.setattr(parser, "_with_sums", lambda tokens: tokens)
    patch.setattr(misread, "_refuse_unseen_values", lambda query: None)


def _values_unseen(patch: Patch) -> None:
    """Signs are lost, and plans do not show it."""
    patch.setattr(parser, "_with_sums", lambda tokens: tokens)
    patch.setattr(analyzer, "SHOWN_PLANS", WHOLE_PLANS)


MUTANTS: dict[str, Callable[[Patch], None]] = {
    "a star counted with others": _nothing(misread, "_refuse_stars"),
    "a list that is tested": _nothing(misread, "_refuse_dropped_rows"),
    "an interval of two units": _as_they_are,
    "an interval of two units below": _values_unseen,
}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_wrong(tables: Warehouse, name: str, monkeypatch: Patch) -> None:
    MUTANTS[name](monkeypatch)
    # Of a text that was read before it is known what it is.
    query = FORMS[name].replace("select", "select 1 as one,", 1)
    assert wrong(tables, f"mutant_{name.replace(' ', '_')}", query)


WEEKS = (
    "select id, to_timestamp(s, 'YYYY-MM-dd') as d from @.texts",
    "select id, from_unixtime(id + 1735516800, 'YYYY-MM-dd') as d from @.texts",
    "select id, date_format(date_add(date'2024-12-29', int(id)), 'YYYY-MM-dd') as d from @.texts",
)


@pytest.fixture
def texts(lake: Warehouse) -> Iterator[Warehouse]:
    """A warehouse whose sessions know years of weeks."""
    for run in (lake.sql, lake.spark):
        run("set spark.sql.legacy.timeParserPolicy = LEGACY")
    lake.spark("create or replace table @.texts (id bigint, s string) using iceberg")
    lake.spark("insert into @.texts values (1, '2024-05-17')")
    yield lake
    for run in (lake.sql, lake.spark):
        run("reset spark.sql.legacy.timeParserPolicy")


def other_days(lake: Warehouse, name: str, query: str) -> bool:
    """Whether a row that came has another day after a fast refresh."""
    lake.sql(f"create or replace materialized view @.{name} as {query}")
    lake.spark("insert into @.texts values (2, '2023-05-17')")
    lake.sql(f"refresh materialized view @.{name} fast")
    return not is_right(lake, name, query)


@pytest.mark.parametrize("query", WEEKS)
def test_years_of_weeks(texts: Warehouse, query: str) -> None:
    """Plans are compared in lower case, where their years and those of days are the same."""
    assert not other_days(texts, "by_week", query)


def test_years_of_weeks_matter(texts: Warehouse, monkeypatch: Patch) -> None:
    for name in spark_functions._WITH_FORMAT:
        monkeypatch.delitem(spark_functions.BUILDERS, name)
    assert other_days(texts, "by_other_week", WEEKS[0].replace(" as d", " as e"))
