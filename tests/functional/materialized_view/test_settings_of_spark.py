"""Every setting that Spark knows, against those that Spark itself keeps with a view."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pyspark.errors import PySparkException

from dbt.adapters.spark_mv.spark.session import spark_session
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.views import settings
from dbt.adapters.spark_mv.views.registry import load_view
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

PREFIX = "view.sqlConfig."
# Spark keeps these, too, and a definition does not: they say where, how and for whom it runs.
LEFT_OUT = (
    *settings._OF_THE_PLACE,
    *settings._OF_THE_CLIENT,
    *settings._OF_THE_START,
    "spark.sql.optimizer.disableHints",
    "spark.sql.hive.convertCTAS",
    "spark.sql.hive.convertMetastoreAsNullable",
    "spark.sql.hive.convertMetastoreInsertDir",
)


def elements(collection: Any) -> Iterator[Any]:
    """Those of a collection of Java's or Scala's."""
    iterator = collection.iterator()
    while iterator.hasNext():
        yield iterator.next()


@contextmanager
def everything_set(session: Any) -> Iterator[set[str]]:
    """Each setting that can be set in a session is, to what it is anyway; yields their names."""
    entries = getattr(session._jvm.org.apache.spark.sql.internal, "SQLConf$")
    defaults = {
        entry.key(): entry.defaultValueString()
        for entry in elements(getattr(entries, "MODULE$").getConfigEntries())
    }
    there, done = set(session.conf.getAll), set()
    for key, value in defaults.items():
        if key.startswith("spark.sql.") and not value.startswith("<") and key not in there:
            try:
                session.conf.set(key, value)
            except PySparkException:
                continue  # fixed when Spark started, or worth what another one is
            done.add(key)
    try:
        yield there | done
    finally:
        for key in done:
            session.conf.unset(key)


def kept_by_spark(session: Any) -> set[str]:
    """Names of the settings that Spark keeps with a view that is made now."""
    session.sql("create or replace view spark_catalog.default.of_spark as select 1 as one")
    name = session._jvm.org.apache.spark.sql.catalyst.TableIdentifier("of_spark")
    catalog = session._jsparkSession.sessionState().catalog()
    properties = catalog.getTempViewOrPermanentTableMetadata(name).properties()
    found = {str(key) for key in elements(properties.keys())}
    session.sql("drop view spark_catalog.default.of_spark")
    return {key.removeprefix(PREFIX) for key in found if key.startswith(PREFIX)}


@pytest.mark.behaviour("X28")
def test_what_spark_keeps(lake: Warehouse) -> None:
    """Nothing that Spark keeps is missing but for reasons, and nothing else is kept."""
    query = "select customer, count(*) as n from @.orders group by customer"
    session = spark_session(lake.credentials)
    with everything_set(session) as names:
        of_spark = kept_by_spark(session)
        lake.sql(f"create materialized view @.v as {query}")
    assert len(names) > 500
    relations = lake.command().core.services.resolver
    found = set(load_view(relations, TableName("local", (lake.schema,), "v")).definition.settings)
    assert len(found) > 300
    assert found <= of_spark
    assert [key for key in sorted(of_spark - found) if not key.startswith(LEFT_OUT)] == []
    lake.restart()
    for change in (
        "insert into @.orders values (97, 'pia', 1)",
        "delete from @.orders where id=97",
    ):
        lake.spark(change)
        lake.sql("select * from @.v")
        assert lake.freshness("v") == "FRESH"
        assert_same(lake, "select * from @.v", query)
