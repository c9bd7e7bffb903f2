"""The demo project through a Thrift server."""

from tests.functional.servers import checks
from tests.functional.servers.processes import Client


def test_builds_of_spark_in_the_process_are_fresh(thrift: Client) -> None:
    checks.assert_all_fresh(thrift)


def test_build_twice(thrift: Client) -> None:
    checks.assert_builds_twice(thrift)


def test_versions_are_those_of_spark_in_the_process(thrift: Client) -> None:
    checks.assert_same_versions(thrift)


def test_change_outside_dbt(thrift: Client) -> None:
    checks.assert_follows_changes(thrift)


def test_operations(thrift: Client) -> None:
    checks.assert_operations(thrift)


def test_spark_in_the_process_finds_fresh_views(thrift: Client, embedded: Client) -> None:
    checks.assert_all_fresh(thrift)
    checks.assert_all_fresh(embedded)
