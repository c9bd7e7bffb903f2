"""What the client of a session says of its settings is what SET says, to servers, too."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from dbt.adapters.spark_mv.glue.invocation import NodeContext
from dbt.adapters.spark_mv.spark.clients import HandleExecutor
from dbt.adapters.spark_mv.spark.session import SessionConnection, spark_session
from dbt.adapters.spark_mv.spark.session_client import setting_of
from dbt.adapters.spark_mv.views.settings import ALWAYS_KEPT, is_kept
from tests.functional.materialized_view.warehouse import Warehouse

# The last one is not part of a definition.
SET_BY_USERS = {
    "spark.sql.session.timeZone": "Asia/Tokyo",
    "spark.sql.caseSensitive": "true",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.shuffle.partitions": "3",
}


@pytest.fixture(params=["none set", "some set"])
def chosen(lake: Warehouse, request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    """Settings of the user's session that are made; the former values come back afterwards."""
    made = SET_BY_USERS if request.param == "some set" else {}
    former = {key: lake.sql(f"set {key}")[0][1] for key in made}
    for key, value in made.items():
        lake.sql(f"set {key} = {value}")
    yield {key: value for key, value in made.items() if key != "spark.sql.shuffle.partitions"}
    for key, value in former.items():
        lake.sql(f"set {key} = {value}")


def test_settings_of_a_definition(lake: Warehouse, chosen: dict[str, str]) -> None:
    """A view has one definition, whoever asks; settings that are always kept are in it if nobody
    has set them."""
    command = lake.command()
    command.sql("select 1")
    by_client = command.core.context().settings()
    connection = SessionConnection(spark_session(lake.credentials))
    user = HandleExecutor(lambda: connection, command.core.services.executor.isolated)
    by_statements = NodeContext(command.core.invocation, user, threading.local(), None).settings()
    assert by_client == by_statements
    assert set(ALWAYS_KEPT) <= by_client.keys() and chosen.items() <= by_client.items()
    assert "spark.sql.shuffle.partitions" not in by_client


def test_every_setting(lake: Warehouse, chosen: dict[str, str]) -> None:
    """Each setting that Spark lists, set or not, and one that it does not have."""
    session = spark_session(lake.credentials)
    listed = {row[0] for row in lake.sql("set -v")}
    assert len(listed) > 100
    keys = sorted({*listed, *SET_BY_USERS, *ALWAYS_KEPT, "spark.sql.catalog.nowhere"})
    said = {key: lake.sql(f"set `{key}`")[0][1] for key in keys}
    assert chosen.items() <= said.items() and said["spark.sql.catalog.nowhere"] == "<undefined>"
    hidden = {key for key, value in said.items() if "redacted" in value}
    assert not any(is_kept(key) for key in hidden)
    said = {key: value for key, value in said.items() if key not in hidden}
    known = {key: setting_of(session, key) for key in said}
    assert known == {key: None if value == "<undefined>" else value for key, value in said.items()}
