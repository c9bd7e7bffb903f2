"""A project with one view of each kind that keeps something for later in the warehouse."""

from __future__ import annotations

import json

SALES = "{{ source('raw', 'sales') }}"
FAST, PARTITION, COMPLETE, AUTO = "fast", "partition", "complete", "auto"

# name -> (method, more of the config, query); the methods but `auto` are the only ones allowed.
VIEWS = {
    "totals": (
        FAST,
        "",
        f"select shop, count(*) as n, sum(amount) as total, avg(amount) as mean, min(amount) as "
        f"low, max(amount) as high from {SALES} group by shop",
    ),
    "by_city": (
        FAST,
        "",
        f"select p.city, count(*) as n, sum(s.amount) as total from {SALES} s "
        "join {{ source('raw', 'shops') }} p on s.shop = p.name group by p.city",
    ),
    "unmatched": (
        FAST,
        "",
        f"select s.id, p.city from {SALES} s left join {{{{ source('raw', 'shops') }}}} p "
        "on s.shop = p.name",
    ),
    "frequent": (
        FAST,
        "",
        f"select shop, avg(amount) as mean from {SALES} group by shop having count(*) > 1",
    ),
    "dearest": (FAST, "", f"select id, amount from {SALES} order by amount desc, id limit 3"),
    "newest": (
        FAST,
        "",
        "select id, shop, amount from (select *, row_number() over (partition by shop "
        f"order by amount desc, id) as k from {SALES}) numbered where k = 1",
    ),
    "through": (
        FAST,
        "",
        "select shop, sum(amount) as total from {{ ref('positive') }} group by 1",
    ),
    "kept": (
        FAST,
        "max_staleness='INTERVAL 1 HOUR', unique_key='id', tags=['old'], warn_after={'count': 1, "
        "'period': 'day'}, tblproperties={'made_by': 'ann'}, cluster_by='id', "
        "refresh_interval_minutes=60, float_additive=true",
        f"select id, amount * 2 as twice from {SALES}",
    ),
    "by_shop": (PARTITION, "partition_by='shop'", f"select shop, id, amount from {SALES}"),
    "ranked": (
        PARTITION,
        "partition_by=['shop', 'id'], static_partition_by=['shop']",
        f"select shop, id, rank() over (partition by shop order by amount, id) as k from {SALES}",
    ),
    "whole": (COMPLETE, "", f"select count(*) as n from {SALES}"),
    "most": (AUTO, "", "select max(total) as total from {{ ref('totals') }}"),
    "fragile": (
        AUTO,
        "",
        "select id, case when amount < 0 then raise_error('negative') else amount end as amount "
        "from {{ source('raw', 'shaky') }}",
    ),
    "resting": (AUTO, "", f"select id from {SALES}"),
    "gone": (AUTO, "", f"select id from {SALES}"),
}
# What is left when the earlier version has ended; those with a method that it has to keep.
LEFT = [*(name for name in VIEWS if name != "gone"), "again"]
STRICT = {name: method for name, (method, _, _) in VIEWS.items() if method in (FAST, PARTITION)}

OPTIONS = {
    "max_staleness": "INTERVAL 1 HOUR",
    "refresh_interval_minutes": "60",
    "float_additive": "true",
    "refresh_method": "fast",
    "tags": '["old"]',
    "unique_key": '["id"]',
}

FILES = {
    "models/sources.yml": "sources: [{name: raw, schema: '{{ target.schema }}', tables: "
    "[{name: sales}, {name: shops}, {name: shaky}]}]",
    "models/positive.sql": "{{ config(materialized='view') }} "
    f"select * from {SALES} where amount > 0",
    "macros/run_sql.sql": "{% macro run_sql(statement) %}{% do run_query(statement) %}"
    "{% endmacro %}",
    **{
        f"models/{name}.sql": "{{ config(materialized='bq_materialized_view', "
        f"refresh_method='{method}'{', ' + more if more else ''}) }}}}\n{query}\n"
        for name, (method, more, query) in VIEWS.items()
    },
}
TABLES = (
    "create table @.sales (id bigint, shop string, amount bigint) using iceberg "
    "partitioned by (shop)",
    "create table @.shops (name string, city string) using iceberg",
    "create table @.shaky (id bigint, amount bigint) using iceberg",
    "insert into @.sales values (1, 'a', 10), (2, 'a', 20), (3, 'b', 30), (4, 'c', 5), (5, 'd', 1)",
    "insert into @.shops values ('a', 'Rome'), ('b', 'Oslo'), ('c', 'Oslo')",
    "insert into @.shaky values (1, 1)",
)


def operation(name: str, **arguments: object) -> list[str]:
    """The words of a `dbt run-operation`."""
    return ["run-operation", name, "--args", json.dumps(arguments)]


def statement(text: str) -> list[str]:
    """The words that run a statement through dbt."""
    return operation("run_sql", statement=text)


def history(schema: str) -> list[list[str]]:
    """What the earlier version does: builds, refreshes in every way, and all kinds of events."""
    return [
        ["run"],
        statement(f"insert into {schema}.sales values (6, 'a', 40), (7, 'e', 2)"),
        operation("refresh"),
        statement(f"alter materialized view {schema}.whole set options (enable_refresh = true)"),
        statement(f"create materialized view {schema}.again as select id from {schema}.sales"),
        statement(
            f"create or replace materialized view {schema}.again "
            f"as select max(id) as top from {schema}.sales"
        ),
        operation("suspend", view="resting"),
        operation("drop_mv", view="gone"),
        statement(f"insert into {schema}.sales values (8, 'b', 50)"),
        statement(f"insert into {schema}.shaky values (2, -1)"),
        operation("refresh", view="fragile"),
        operation("status"),
    ]
