from __future__ import annotations

from typing import Any

import pytest

from dbt.adapters.spark_mv.core.errors import InvalidStatement, MaterializedViewError
from dbt.adapters.spark_mv.sql.dialect import (
    AlterView,
    CreateView,
    DropView,
    ExplainView,
    RefreshView,
    parse_view_statement,
)


def test_create_with_every_clause() -> None:
    found = parse_view_statement(
        "CREATE OR REPLACE MATERIALIZED VIEW db.v (a COMMENT 'it''s', `b c`) "
        "PARTITIONED BY (a, bucket(4, `b c`)) CLUSTER BY (a) COMMENT 'about' "
        "OPTIONS (enable_refresh = FALSE, refresh_interval_minutes = 60, "
        "max_staleness = 'INTERVAL 4 HOUR', x = NULL, y = -1.5)\nAS  SELECT 1 AS a -- end"
    )
    assert isinstance(found, CreateView)
    assert found.parts == ("db", "v") and found.or_replace and not found.if_not_exists
    assert [name for name, _ in found.columns] == ["a", "b c"]
    assert found.columns[1][1] is None
    assert found.partition_by == ("a", "bucket(4, `b c`)") and found.cluster_by == ("a",)
    assert found.comment == "about"
    assert found.options == {
        "enable_refresh": False,
        "refresh_interval_minutes": 60,
        "max_staleness": "INTERVAL 4 HOUR",
        "x": None,
        "y": -1.5,
    }
    assert found.query == "SELECT 1 AS a -- end"


def test_shortest_create() -> None:
    found = parse_view_statement("create materialized view if not exists v as select 1")
    assert found == CreateView(("v",), "select 1", if_not_exists=True)


def test_the_query_is_kept_to_the_letter() -> None:
    query = "with a as (\n select 'as' AS `as`\t) select * from a /* é */;"
    found = parse_view_statement(f"create materialized view v as {query}")
    assert isinstance(found, CreateView) and found.query == query


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("'it''s'", "it's"),
        ('"x""y"', 'x"y'),
        ('"it\'s"', "it's"),
        ("r'x''y'", "x'y"),
        ('r"x""y"', 'x"y'),
    ],
)
def test_quotes_in_strings(written: str, text: str) -> None:
    found = parse_view_statement(f"create materialized view v comment {written} as select 1")
    assert isinstance(found, CreateView) and found.comment == text


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("refresh materialized view db.v", RefreshView(("db", "v"))),
        ("REFRESH MATERIALIZED VIEW db.v WITH SYNC MODE", RefreshView(("db", "v"))),
        ("refresh materialized view v complete nowait", RefreshView(("v",), "complete", True)),
        ("refresh materialized view v with sync mode fast", RefreshView(("v",), "fast")),
        ("refresh materialized view `a b`.`c`;", RefreshView(("a b", "c"))),
        ("REFRESH /* x */ MATERIALIZED -- y\n VIEW db.v", RefreshView(("db", "v"))),
        ("refresh/**/materialized/* a /* b */ c */view--\n\n v -- end", RefreshView(("v",))),
        (
            "-- x\ncreate -- a\n or /* b */ replace\n materialized /* c */ view v as select 1",
            CreateView(("v",), "select 1", or_replace=True),
        ),
        ("create\n\tmaterialized\r\nview v as select 1", CreateView(("v",), "select 1")),
        ("alter /* x */ materialized\nview v set options (a = 1)", AlterView(("v",), {"a": 1})),
        ("drop -- x\nmaterialized/**/view if exists v", DropView(("v",), True)),
        ("/* x */ explain /* y */ materialized -- z\n view v", ExplainView(("v",))),
        ("call /* x */ bq -- y\n . refresh_materialized_view ('v')", RefreshView(("v",))),
        ("call bq.refresh_materialized_view('db.v')", RefreshView(("db", "v"))),
        ("CALL BQ.REFRESH_MATERIALIZED_VIEW('`d b`.v')", RefreshView(("d b", "v"))),
        ("alter materialized view v set options (a = 1)", AlterView(("v",), {"a": 1})),
        ("alter materialized view v set options ()", AlterView(("v",), {})),
        ("drop materialized view v", DropView(("v",))),
        ("drop materialized view if exists db.v", DropView(("db", "v"), True)),
        ("explain materialized view v", ExplainView(("v",))),
        ("/* c */ refresh -- x\n materialized view v", RefreshView(("v",))),
    ],
)
def test_other_verbs(sql: str, expected: object) -> None:
    assert parse_view_statement(sql) == expected


@pytest.mark.parametrize(
    "sql",
    [
        "select 1",
        "select 'refresh materialized view v'",
        "-- create materialized view v as select 1\nselect 1",
        "create view materialized_view as select 1",
        "create or replace view v as select 'materialized view'",
        "create table t as select 'materialized view' as x",
        "select * from information_schema.materialized_views",
    ],
)
def test_ordinary_statements(sql: str) -> None:
    assert parse_view_statement(sql) is None


@pytest.mark.parametrize(
    "sql",
    [
        "create materialized view",
        "create materialized view v",
        "create materialized view v select 1",
        "create materialized view v options as select 1",
        "create materialized view v options (a) as select 1",
        "create materialized view v options (a = ) as select 1",
        "create materialized view v options (a = b) as select 1",
        "create materialized view v options (a = 1, a = 2) as select 1",
        "create materialized view v options (a = 1 as select 1",
        "create materialized view v partitioned by a as select 1",
        "create materialized view v partitioned by () as select 1",
        "create materialized view v partitioned by (a,,b) as select 1",
        "create materialized view v partitioned by (,a) as select 1",
        "create materialized view v cluster by (a,) as select 1",
        "create materialized view v (x.y) as select 1",
        "create materialized view v options (a = -true) as select 1",
        "create materialized view v options (a = -null) as select 1",
        "create materialized view v options (a = - -1) as select 1",
        "create materialized view v options (a = -'1') as select 1",
        "create materialized view v options (a = -) as select 1",
        "create materialized view v options (a = -",
        "create materialized view v partitioned by (a) partitioned by (b) as select 1",
        "create materialized view v cluster by (a) comment 'x' cluster by (a) as select 1",
        "create materialized view v comment 'x' comment 'y' as select 1",
        "create materialized view v comment 'x'\"y\" as select 1",
        "create materialized view v comment \"x\"'y' as select 1",
        "create materialized view v comment 'x'r'y' as select 1",
        "create materialized view v (a, as select 1",
        "refresh materialized view",
        "refresh materialized view v with async mode",
        "refresh materialized view v sometimes",
        "refresh materialized view v complete fast",
        "refresh materialized view 'v'",
        "alter materialized view v",
        "alter materialized view v rename to w",
        "alter materialized view v schedule cron '0 6 * * *'",
        "alter materialized view v add schedule",
        "alter materialized view v add schedule cron",
        "alter materialized view v add schedule cron '0 6 * * *' at time zone",
        "alter materialized view v add schedule cron '0 6 * * *' set options (a = 1)",
        "alter materialized view v alter schedule every hour",
        "alter materialized view v alter schedule every true hours",
        "alter materialized view v alter schedule every 1.5 hours",
        "alter materialized view v alter schedule every 2 months",
        "alter materialized view v drop schedule",
        "create materialized view v schedule every 1 hour schedule every 2 hours as select 1",
        "create materialized view v options (schedule = '') schedule cron '' as select 1",
        "create materialized view v schedule cron '' options (schedule = '') as select 1",
        "create materialized view v schedule every 1 day options (refresh_interval_minutes = 5) "
        "as select 1",
        "drop materialized view v cascade",
        "explain materialized view",
        "call bq.refresh_materialized_view",
        "call bq.refresh_materialized_view()",
        "call bq.refresh_materialized_view(v)",
        "call bq.refresh_materialized_view(1)",
        "call bq.refresh_materialized_view('a', 'b')",
        "call bq.refresh_materialized_view('a' 'b')",
        "call bq.refresh_materialized_view('a') as x",
        "call bq.refresh_materialized_view('not a name')",
    ],
)
def test_statements_that_cannot_be_read(sql: str) -> None:
    with pytest.raises(MaterializedViewError) as caught:
        parse_view_statement(sql)
    assert caught.value.way_out


def test_or_replace_and_if_not_exists_contradict_each_other() -> None:
    with pytest.raises(InvalidStatement, match="contradicts itself"):
        parse_view_statement("create or replace materialized view if not exists v as select 1")


def test_errors_say_where() -> None:
    with pytest.raises(InvalidStatement, match="'sometimes'"):
        parse_view_statement("refresh materialized view v sometimes")
    with pytest.raises(InvalidStatement, match="at the end"):
        parse_view_statement("create materialized view v")


@pytest.mark.parametrize(
    ("clause", "options"),
    [
        ("cron '0 6 * * *'", {"schedule": {"cron": "0 6 * * *"}}),
        (
            "REFRESH CRON '0 0 6 * * ?' AT TIME ZONE 'Europe/Berlin'",
            {"schedule": {"cron": "0 0 6 * * ?", "time_zone_value": "Europe/Berlin"}},
        ),
        ("every 90 minutes", {"schedule": None, "refresh_interval_minutes": 90}),
        ("refresh every 1 hour", {"schedule": None, "refresh_interval_minutes": 60}),
        ("every 2 days", {"schedule": None, "refresh_interval_minutes": 2880}),
        ("every 1 week", {"schedule": None, "refresh_interval_minutes": 10080}),
    ],
)
def test_schedules(clause: str, options: dict[str, Any]) -> None:
    """The clause of Databricks' says the same in each statement that may have it."""
    for words in ("add", "alter"):
        found = parse_view_statement(f"alter materialized view v {words} schedule {clause}")
        assert found == AlterView(("v",), options)
    made = parse_view_statement(
        f"create materialized view v schedule {clause} comment 'x' options (tags = 'a') as select 1"
    )
    assert isinstance(made, CreateView)
    assert (made.comment, made.options) == ("x", {**options, "tags": "a"})
