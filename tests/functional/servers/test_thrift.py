"""The demo project through a Thrift server."""

from tests.functional.servers import checks
from tests.functional.servers.conftest import Place
from tests.functional.servers.processes import Client


def test_builds_of_spark_in_the_process_are_fresh(thrift: Client) -> None:
    checks.assert_all_fresh(thrift)


def test_build_again(thrift: Client) -> None:
    checks.assert_builds_again(thrift, with_tests=True)


def test_versions_are_those_of_spark_in_the_process(thrift: Client) -> None:
    checks.assert_same_versions(thrift)


def test_change_outside_dbt(thrift: Client) -> None:
    checks.assert_follows_changes(thrift)


def test_operations(thrift: Client) -> None:
    checks.assert_operations(thrift)


def test_a_base_table_with_a_backtick(thrift: Client, place: Place) -> None:
    """Its name is in the label of each refresh, which the server gets as a setting."""
    (place.project / "macros" / "run_sql.sql").write_text(checks.RUN_SQL)
    create = "create materialized view analytics.ticked as select id from raw.`a``b`"
    thrift.sql("create table raw.`a``b` (id bigint) using iceberg")
    thrift.operation("run_sql", statement=create)
    thrift.sql("insert into raw.`a``b` values (1)")
    assert thrift.rows("select * from analytics.ticked") == [[1]]
    thrift.operation("drop_mv", view="ticked")
    thrift.sql("drop table raw.`a``b`")


def test_names_with_catalogs(thrift: Client, place: Place) -> None:
    checks.assert_names_with_catalogs(thrift, place.project)


def test_comments_with_quotes(thrift: Client, place: Place) -> None:
    checks.assert_comments_with_quotes(thrift, place.project)


def test_seeds(thrift: Client, place: Place) -> None:
    checks.assert_seeds(thrift, place.project, "iceberg", "INSERT")


def test_spark_in_the_process_finds_fresh_views(thrift: Client, embedded: Client) -> None:
    checks.assert_all_fresh(thrift)
    checks.assert_all_fresh(embedded)
