"""First commands of a project at the same moment: each creates the schemas that are not there."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from dbt.adapters.base import BaseRelation
from dbt.adapters.spark.impl import SparkAdapter
from dbt_common.exceptions import DbtDatabaseError

from dbt.adapters.spark_mv.catalog.resolver import Resolver
from dbt.adapters.spark_mv.impl import SparkMVAdapter
from dbt.adapters.spark_mv.metadata.store import MetadataStore
from dbt.adapters.spark_mv.sql.names import TableName
from tests.functional.materialized_view.warehouse import Warehouse

TOGETHER, ROUNDS, MOST_ROUNDS = 3, 6, 50


def _at_once(function: Callable[[], Any]) -> None:
    barrier = threading.Barrier(TOGETHER)

    def run(_: int) -> None:
        barrier.wait()
        function()

    with ThreadPoolExecutor(TOGETHER) as pool:
        list(pool.map(run, range(TOGETHER)))


def test_metadata(lake: Warehouse) -> None:
    """Each makes the schema, the table and the views of the metadata."""
    own = lake.command().core.services.executor
    for number in range(ROUNDS):
        events = TableName("local", (f"{lake.schema}_meta_{number}",), "mv_events")

        def create(events: TableName = events) -> None:
            with own.isolated({}) as session:
                MetadataStore(session, Resolver(session), events).create()

        _at_once(create)
        assert lake.spark(f"select count(*) from local.{events.namespace[0]}.mv_status") == [(0,)]


def test_of_models(lake: Warehouse, monkeypatch: Any) -> None:
    """What dbt asks for before the first model."""

    def in_a_session(adapter: Any, relation: Any) -> None:
        with executor.isolated({}) as session:
            try:
                session.query(f"create schema if not exists {relation.schema}")
            except Exception as error:
                failed.append(error)
                raise DbtDatabaseError(str(error)) from None

    executor = lake.command().core.services.executor
    failed: list[Exception] = []
    monkeypatch.setattr(SparkAdapter, "create_schema", in_a_session)
    adapter = SparkMVAdapter.__new__(SparkMVAdapter)
    for number in range(MOST_ROUNDS):
        if failed and number >= ROUNDS:
            break
        name = f"{lake.schema}_models_{number}"
        relation = BaseRelation.create(schema=name)
        _at_once(lambda relation=relation: adapter.create_schema(relation))
        assert (name,) in [row[:1] for row in lake.spark("show schemas")]
    assert failed, "nobody was in the way of another"
