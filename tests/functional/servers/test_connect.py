"""The demo project through a Spark Connect server."""

from tests.functional.servers import checks
from tests.functional.servers.conftest import Place
from tests.functional.servers.processes import Client
from tests.sampling import only_whole


def test_builds_of_spark_in_the_process_are_fresh(connect: Client) -> None:
    checks.assert_all_fresh(connect)


@only_whole
def test_build_again(connect: Client) -> None:
    checks.assert_builds_again(connect)


def test_versions_are_those_of_spark_in_the_process(connect: Client) -> None:
    checks.assert_same_versions(connect)


def test_change_outside_dbt(connect: Client) -> None:
    checks.assert_follows_changes(connect)


def test_operations(connect: Client) -> None:
    checks.assert_operations(connect)


def test_names_with_catalogs(connect: Client, place: Place) -> None:
    checks.assert_names_with_catalogs(connect, place.project)


def test_comments_with_quotes(connect: Client, place: Place) -> None:
    checks.assert_comments_with_quotes(connect, place.project)


def test_seeds(connect: Client, place: Place) -> None:
    checks.assert_seeds(connect, place.project, "iceberg", "INSERT")


def test_spark_in_the_process_finds_fresh_views(connect: Client, embedded: Client) -> None:
    checks.assert_all_fresh(connect)
    checks.assert_all_fresh(embedded)


def test_sessions_are_not_collected(connect: Client) -> None:
    """PySpark ends a collected session, and waits for locks: at times for its own thread."""
    assert connect.collected_sessions() == 0
