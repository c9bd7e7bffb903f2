"""Clauses and outputs that stand beside what a view is asked for."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.functional.materialized_view.rewritten import of_small_tables, reasons_of, views_of
from tests.functional.materialized_view.warehouse import Warehouse

VIEWS = {
    # Of aggregate functions of which nothing is known, beside others.
    "newest": "select shop, kind, max_by(city, id) as last, collect_set(city) as cities, "
    "first(city) filter (where id > 9) as early, count(*) as n, sum(id) as total "
    "from @.sold group by shop, kind",
    # Functions around such aggregates, and those of which only the name is known.
    "worked": "select shop, kind, array_sort(collect_set(city)) as sorted, "
    "concat_ws(',', collect_list(city)) as listed, "
    "transform(collect_list(id), i -> i + 1) as more, "
    "struct(min(id) as least, max_by(city, id) as last) as ends, try_sum(id) as tried, "
    "percentile_cont(0.5) within group (order by id) as middle, histogram_numeric(id, 3) as h, "
    "approx_count_distinct(id) as ids, sum(kind) as kinds from @.sold group by shop, kind",
    "of_all": "select shop, array_sort(collect_set(kind)) as kinds, count(*) as n, "
    "from_json(concat('[', kind, ']'), 'array<int>') as k from @.sold group by all",
    # Rows that are made of a group.
    "exploded": "select shop, explode(collect_set(kind)) as kind, count(*) as n from @.sold "
    "group by shop",
    "stacked": "select shop, stack(2, max_by(city, id), min_by(city, id)) as c, max(id) as most "
    "from @.sold group by shop",
    # Of all rows, which only its aggregate functions say.
    "tried": "select try_sum(id) as total, percentile_cont(0.5) within group (order by id) as m "
    "from @.sold",
    "few": "select id, shop, kind from @.sold where shop in (1, 2)",
    "ranked": "select shop, mode(city) as usual, count(*) as n, "
    "rank() over (order by count(*), shop) as r from @.sold group by shop",
    "several": "select shop, kind, collect_list(id) as ids, count(*) as n from @.sold "
    "group by rollup (shop, kind)",
    "inside": "select shop, n from (select shop, any_value(city) as some, count(*) as n "
    "from @.sold group by shop)",
}
ANSWERED = {
    "select shop, count(*) as n from @.sold group by shop having count(*) > 10": {
        *("newest", "inside", "ranked")
    },
    "select kind, sum(id) as total, count(*) from @.sold where kind & 1 = 1 group by kind": {
        "newest"
    },
    "select shop, kind, count(*) as n from @.sold group by shop, kind "
    "grouping sets ((shop, kind), (kind))": {"newest"},
    "select shop, kind, count(*) as n from @.sold group by rollup (shop, kind)": {
        *("several", "newest")
    },
    "select shop, sum(kind) as kinds from @.sold group by shop": {"worked", "newest"},
    "select shop, kind, approx_count_distinct(id) as ids from @.sold where kind > 1 "
    "group by shop, kind": {"worked"},
    "select * except (city) from @.sold where shop = 1": {"few"},
    "select * except (city) from @.sold where shop = 1 order by all limit 7": {"few"},
    "select s.* except (city, kind) from @.sold as s where shop = 2 and kind > 1": {"few"},
    "select * except (city) from @.sold where shop = 1 except select 1, 1, 1": {"few"},
    "select * except (city) from @.sold where shop = 2 union all select 1L, 1, 1": {"few"},
    "select id from @.sold where shop = 1 and cast(kind as string) like any ('1%', '%2')": {"few"},
    "select shop, count(*) as n, rank() over (order by count(*), shop) as r from @.sold "
    "group by shop": {"newest", "ranked", "inside"},
}
LEFT_ALONE = {
    "select max(id) as most from @.sold": "NOT_DERIVABLE",
    "select id from @.sold where city = 'c1'": "NOT_DERIVABLE",
    "select shop, kind, max_by(city, id) as last from @.sold group by shop, kind": "NOT_SUPPORTED",
    "select shop, mode(city) as usual from @.sold group by shop": "NOT_SUPPORTED",
    "select shop, count(*) from @.sold group by shop, kind grouping sets ((shop))": "NOT_SUPPORTED",
    "select distinct last from (select shop, max_by(city, id) as last from @.sold "
    "group by shop)": "NOT_SUPPORTED",
}


@pytest.fixture(scope="module")
def sold(lake: Warehouse) -> Warehouse:
    made = of_small_tables(lake)
    made.spark(
        "create table @.sold using iceberg as select id, cast(id % 11 % 6 as int) as shop, "
        "cast(if(id % 13 = 0, null, id % 5) as int) as kind, concat('c', id % 40) as city "
        "from range(4000)"
    )
    for name, query in VIEWS.items():
        made.sql(f"create materialized view @.{name} as {query}")
    return made


@pytest.mark.behaviour("C20")
@pytest.mark.parametrize("query", ANSWERED)
def test_answered(sold: Warehouse, query: str) -> None:
    (found,) = views_of(sold, query)
    assert found in ANSWERED[query]
    assert Counter(sold.apart(query)) == Counter(sold.spark(query))


@pytest.mark.parametrize("query", LEFT_ALONE)
def test_left_alone(sold: Warehouse, query: str) -> None:
    assert views_of(sold, query) == []
    assert any(LEFT_ALONE[query] in reason for reason in reasons_of(sold, query))


def test_one_view_alone(sold: Warehouse) -> None:
    """Each view answers a query by its columns of which something is known."""
    for name, query in VIEWS.items():
        for other in VIEWS:
            used = "true" if other == name else "false"
            sold.sql(
                f"alter materialized view @.{other} set options (use_in_query_rewrite = {used})"
            )
        asked = [text for text, names in ANSWERED.items() if name in names]
        assert [text for text in asked if views_of(sold, text) != [name]] == [], query
        for text in asked:
            assert Counter(sold.apart(text)) == Counter(sold.spark(text))
