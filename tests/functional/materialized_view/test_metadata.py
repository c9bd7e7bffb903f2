"""What can be asked of the metadata, and what happens when it is lost or damaged."""

from __future__ import annotations

import pytest

from dbt.adapters.spark_mv.metadata import log
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

QUERY = "select customer, sum(amount) as total from @.orders group by customer"
NINE = [
    ("table_catalog", "string"),
    ("table_schema", "string"),
    ("table_name", "string"),
    ("last_refresh_time", "timestamp"),
    ("refresh_watermark", "timestamp"),
    ("enable_refresh", "boolean"),
    ("refresh_interval_minutes", "bigint"),
    ("last_modified_time", "timestamp"),
    ("is_stale", "boolean"),
]
LISTING = "select * from @.information_schema.materialized_views"


def described(lake: Warehouse, query: str) -> list[tuple[str, str]]:
    lake.sql(f"create or replace temporary view listing as {query}")
    rows = lake.sql("describe listing")
    lake.sql("drop view listing")
    return [(row[0], row[1]) for row in rows]


@pytest.mark.behaviour("B8")
def test_no_views_at_all(lake: Warehouse) -> None:
    """Nine columns, no rows, and no metadata schema is made for asking."""
    assert lake.sql(LISTING) == []
    assert described(lake, LISTING) == NINE
    assert lake.events() is None


@pytest.fixture
def views(lake: Warehouse) -> None:
    lake.sql(f"create or replace materialized view @.one as {QUERY}")
    lake.sql(
        "create or replace materialized view @.two options (enable_refresh = false, "
        "refresh_interval_minutes = 60, tags = '[\"daily\"]') as select total from @.one"
    )
    lake.sql("refresh materialized view @.two")


@pytest.mark.behaviour("A12", "B9", "X4")
def test_information_schema(lake: Warehouse, views: None) -> None:
    """The nine columns of this schema, defaults and configured values."""
    assert described(lake, LISTING) == NINE
    columns = "table_catalog, table_schema, table_name, enable_refresh, refresh_interval_minutes"
    rows = lake.sql(LISTING.replace("*", columns))
    assert sorted(rows) == [
        ("local", lake.schema, "one", True, 30),
        ("local", lake.schema, "two", False, 60),
    ]
    lake.sql("insert into @.orders values (40, 'kim', 1)")
    stale = lake.sql(f"{LISTING} where is_stale order by table_name")
    assert [row[2] for row in stale] == ["one", "two"]
    assert all(row[3] >= row[4] and row[7] for row in stale)


@pytest.mark.parametrize(
    "name",
    [
        "information_schema /* of views */ . materialized_views",
        "INFORMATION_SCHEMA -- of views\n.`Materialized_Views`",
        "`information_schema`\n.materialized_views",
    ],
)
def test_information_schema_is_found(lake: Warehouse, views: None, name: str) -> None:
    """Whatever stands between its words."""
    assert lake.sql(f"select count(*) from @.{name}") == [(2,)]


@pytest.mark.behaviour("B8")
def test_information_schema_is_of_one_schema(lake: Warehouse, views: None) -> None:
    """Qualified by another schema it has no rows; unqualified it is the current schema's."""
    assert lake.sql("select * from default.information_schema.materialized_views") == []
    lake.sql(f"use local.{lake.schema}")
    try:
        found = lake.sql("select m.table_name from INFORMATION_SCHEMA.MATERIALIZED_VIEWS as m")
    finally:
        lake.sql("use local.default")
    assert sorted(found) == [("one",), ("two",)]


def test_metadata_views(lake: Warehouse, views: None) -> None:
    """Each view has the columns that it promises."""

    def columns(view: str) -> str:
        return " ".join(row[0] for row in lake.spark(f"describe @meta.{view}"))

    assert columns("materialized_views").split() == [name for name, _ in NINE]
    assert columns("mv_status") == (
        "table_catalog table_schema table_name storage_table definition definition_hash options "
        "status status_reason stale_since last_refresh_method last_refresh_reason "
        "last_refresh_seconds rows bytes consecutive_failures next_refresh_time expires_at "
        "can_be_fast can_be_by_partition"
    )
    assert columns("mv_dependencies_graph") == (
        "table_catalog table_schema table_name source_catalog source_schema source_name "
        "source_kind depth pinned_version pinned_at"
    )
    assert columns("mv_refresh_history") == (
        "refresh_id table_catalog table_schema table_name trigger requested_method method reason "
        "state started_at ended_at seconds from_versions to_versions rows_inserted rows_updated "
        "rows_deleted error owner_host owner_pid invocation_id estimate"
    )
    assert columns("table_options") == (
        "table_schema table_name option_name option_type option_value"
    )
    assert columns("mv_events").split()[:9] == (
        "event_id at view_id view_name kind refresh_id payload invocation_id writer".split()
    )


def test_table_options(lake: Warehouse, views: None) -> None:
    """Options as they are set, with BigQuery's types."""
    rows = lake.spark("select * from @meta.table_options where table_name = 'two'")
    found = {name: (kind, value) for _, _, name, kind, value in rows}
    assert found["enable_refresh"] == ("BOOL", "false")
    assert found["refresh_interval_minutes"] == ("INT64", "60")
    assert found["when_stale"] == ("STRING", "refresh")


def test_edges_to_a_materialized_view(lake: Warehouse, views: None) -> None:
    """A view over another is an edge of its own kind, pinned by the version of the storage."""
    ((name, kind, depth, pinned),) = lake.spark(
        "select source_name, source_kind, depth, pinned_version from @meta.mv_dependencies_graph "
        "where table_name = 'two' and depth = 1"
    )
    assert (name, kind, depth) == ("one", "MATERIALIZED_VIEW", 1)
    assert pinned is not None


@pytest.mark.behaviour("D9", "D22", "D39")
def test_history_of_a_refresh(lake: Warehouse, views: None) -> None:
    """Every column of a finished refresh is filled."""
    lake.sql("insert into @.orders values (41, 'kim', 1)")
    lake.sql("select * from @.one")
    row = lake.history(
        "one",
        "method, reason, started_at <= ended_at, seconds >= 0, rows_inserted > 0, error, "
        "owner_host is not null, owner_pid > 0, size(from_versions), size(to_versions)",
    )[-1]
    assert row[0] == "complete" and row[1].startswith("BASE_TABLE_CHANGED")
    assert row[2:] == (True, True, True, None, True, True, 1, 1)


@pytest.mark.behaviour("D4", "D44")
def test_row_deleted(lake: Warehouse, views: None) -> None:
    """A refresh, a read and a creation register the view again, by what it says of itself."""
    for statement in (
        "refresh materialized view @.one",
        "select * from @.one",
        f"create or replace materialized view @.one as {QUERY}",
    ):
        lake.spark("delete from @meta.mv_events where view_name like '%.one'")
        lake.spark("insert into @.orders values (42, 'kim', 1)")
        lake.restart()
        lake.sql(statement)
        assert_same(lake, "select * from @.one", QUERY)
        assert lake.value("select count(*) from @meta.mv_status where table_name = 'one'") == 1


def test_reads_without_metadata(lake: Warehouse, views: None) -> None:
    """Lost metadata: reads are still right, by the view's own label."""
    lake.spark("delete from @meta.mv_events where view_name like '%.one'")
    lake.spark("insert into @.orders values (43, 'kim', 1)")
    lake.restart()
    rows = lake.sql("select * from @.one")
    assert sorted(rows) == sorted(lake.spark(QUERY))
    lake.sql(f"create or replace materialized view @.one as {QUERY}")


def test_written_together(lake: Warehouse, views: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of a node waits for marks by its writes, not for the events of a refresh."""
    monkeypatch.setattr(log, "_LINGER", 60.0)
    marks, refreshes = (
        f"select count(*) from @meta.mv_events where kind = '{kind}'"
        for kind in ("MARKED_STALE", "REFRESH_SUCCEEDED")
    )
    marked, refreshed = lake.value(marks), lake.value(refreshes)
    command = lake.command()
    command.sql("insert into @.orders values (45, 'kim', 1)")
    command.core.end_node()
    assert lake.value(marks) > marked
    command.sql("refresh materialized view @.one")
    command.core.end_node()
    assert lake.value(refreshes) == refreshed
    command.core.close()
    assert lake.value(refreshes) == refreshed + 1


def drop_metadata(lake: Warehouse) -> None:
    for row in lake.spark(f"show views in {lake.metadata_schema}"):
        lake.spark(f"drop view {lake.metadata_schema}.{row[1]}")
    lake.spark("drop table @meta.mv_events")
    lake.spark(f"drop schema {lake.metadata_schema}")


def rebuild(lake: Warehouse) -> list[tuple[str, str]]:
    command = lake.command("run-operation")
    report = command.core.operation("rebuild_metadata")(catalog="local")
    command.flush()
    return [(str(view), str(result)) for view, result in report.rows]


@pytest.mark.behaviour("D5")
def test_whole_schema_dropped(lake: Warehouse, views: None) -> None:
    """A read after the loss is right, and registers what it reads; rebuilding does the rest."""
    ours = f"where table_schema = '{lake.schema}' order by all"
    all_options = f"select * from @meta.table_options {ours}"
    all_edges = (
        f"select * except (pinned_version, pinned_at) from @meta.mv_dependencies_graph {ours}"
    )
    options, edges = lake.spark(all_options), lake.spark(all_edges)
    drop_metadata(lake)
    lake.spark("insert into @.orders values (44, 'kim', 1)")
    lake.restart()
    assert sorted(lake.sql("select * from @.one")) == sorted(lake.spark(QUERY))
    assert lake.spark("select table_name from @meta.mv_status") == [("one",)]
    found = [row for row in rebuild(lake) if row[0].startswith(f"{lake.schema}.")]
    assert found == [(f"{lake.schema}.{name}", "REGISTERED") for name in ("one", "two")]
    assert lake.spark(all_options) == options
    assert lake.spark(all_edges) == edges
    lake.restart()
    lake.sql("select * from @.two")
    lake.sql("refresh materialized view @.two")
    assert_same(lake, "select * from @.two", f"select total from ({QUERY})")


@pytest.mark.behaviour("B28")
def test_corrupt_row(lake: Warehouse, views: None) -> None:
    """The error names table and row; other views work; rebuilding repairs it."""
    lake.spark(
        "update @meta.mv_events set payload = '{not json' where view_name like '%.one' "
        "and kind in ('CREATED', 'REPLACED', 'OPTIONS_CHANGED')"
    )
    lake.restart()
    with pytest.raises(Exception, match=r"mv_events") as caught:
        lake.sql("refresh materialized view @.one")
    assert "one" in str(caught.value)
    lake.sql("create or replace materialized view @.three as select count(*) as n from @.orders")
    lake.spark("insert into @.orders values (45, 'kim', 1)")
    assert lake.sql("select n from @.three") == [(lake.value("select count(*) from @.orders"),)]
    rebuild(lake)
    lake.restart()
    lake.sql("refresh materialized view @.one")
    assert_same(lake, "select * from @.one", QUERY)
    lake.sql("drop materialized view @.three")


def test_view_with_corrupt_properties(lake: Warehouse, views: None) -> None:
    """A view whose own description is damaged is named; others work."""
    lake.sql("create or replace materialized view @.three as select count(*) as n from @.orders")
    lake.spark("alter view @.three set tblproperties ('mv.options' = 'rubbish')")
    lake.restart()
    with pytest.raises(Exception, match="three"):
        lake.sql("select * from @.three")
    lake.sql("select * from @.one")
    assert_same(lake, "select * from @.one", QUERY)
    lake.spark("drop view @.three")


def test_events_are_immune_to_repetition(lake: Warehouse, views: None) -> None:
    """An append that is repeated changes no view."""

    def seen() -> list[object]:
        return [
            lake.spark(f"select * from @meta.{name} order by all")
            for name in (
                "materialized_views",
                "mv_status",
                "table_options",
                "mv_dependencies_graph",
            )
        ]

    before, history = seen(), lake.value("select count(*) from @meta.mv_refresh_history")
    lake.spark("insert into @meta.mv_events select * from @meta.mv_events")
    assert seen() == before
    assert lake.value("select count(*) from @meta.mv_refresh_history") == history


def test_metadata_can_be_read_in_dbt(lake: Warehouse, views: None) -> None:
    """The metadata is read as any other table, also through the pipeline."""
    rows = lake.sql(
        "select table_name from @meta.mv_status where table_name in ('one', 'two') "
        f"and table_schema = '{lake.schema}' order by table_name"
    )
    assert [name for (name,) in rows] == ["one", "two"]
