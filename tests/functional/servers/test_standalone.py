"""The demo project on a standalone cluster."""

from tests.functional.servers import checks
from tests.functional.servers.processes import Client
from tests.sampling import only_whole


def test_builds_of_spark_in_the_process_are_fresh(standalone: Client) -> None:
    checks.assert_all_fresh(standalone)


@only_whole
def test_build_again(standalone: Client) -> None:
    checks.assert_builds_again(standalone)


def test_versions_are_those_of_spark_in_the_process(standalone: Client) -> None:
    checks.assert_same_versions(standalone)


def test_change_outside_dbt(standalone: Client) -> None:
    checks.assert_follows_changes(standalone)


def test_operations(standalone: Client) -> None:
    checks.assert_operations(standalone)


def test_spark_in_the_process_finds_fresh_views(standalone: Client, embedded: Client) -> None:
    checks.assert_all_fresh(standalone)
    checks.assert_all_fresh(embedded)
