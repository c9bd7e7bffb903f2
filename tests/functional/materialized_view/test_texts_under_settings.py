"""Texts and moments that the program writes into statements, which run under the settings of views:
some of these say what a backslash in a literal is, and which type is called TIMESTAMP."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from tests.functional.materialized_view.warehouse import Warehouse

ROW_LEVEL = "'write.update.mode'='merge-on-read', 'write.delete.mode'='merge-on-read'"
TABLE = f"(id int, s string) using iceberg {{}} tblproperties ('format-version'='2', {ROW_LEVEL})"
TEXTS = ("a'b", "c\\d", "e${x}f", "g\\'h", 'i"j', "k\\nl", "x")
# A view, and the options that have it refreshed in one way.
VIEWS = {
    "by_partition": "partitioned by (s) options (refresh_method = 'partition') "
    "as select s, id from @.plain",
    "of_partitions": "options (refresh_method = 'fast') as select id, s from @.parted",
    "of_groups": "options (refresh_method = 'fast') as select s, sum(id) as n "
    "from @.parted group by s",
    "of_odd_files": "options (refresh_method = 'fast') as select id, s from @.`it's \\`",
}


@pytest.fixture(scope="module", params=["true", "false"])
def escaped(request: pytest.FixtureRequest, lake: Warehouse) -> Iterator[Warehouse]:
    """Views that were made with escapes in literals, or without."""
    tables = {"@.plain": "", "@.parted": "partitioned by (s)", "@.`it's \\`": ""}
    frame = lake._outside.createDataFrame(list(enumerate(TEXTS)), "id int, s string")
    frame.createOrReplaceTempView("odd_texts")
    for table, layout in tables.items():
        lake.spark(f"create table {table} {TABLE.format(layout)}")
        lake.spark(f"insert into {table} select * from odd_texts")
    lake.sql(f"set spark.sql.parser.escapedStringLiterals={request.param}")
    for name, rest in VIEWS.items():
        lake.sql(f"create materialized view @.{name} {rest}")
    lake.sql("reset spark.sql.parser.escapedStringLiterals")
    yield lake
    for name in VIEWS:
        lake.sql(f"drop materialized view @.{name}")
    for table in tables:
        lake.spark(f"drop table {table}")


CHANGES = {
    "update": "update {} set id = id + 100 where id < 6",
    "insert": "insert into {} select id + 50, s from odd_texts",
    "delete": "delete from {} where id > 103",
}


@pytest.mark.parametrize("change", CHANGES)
def test_changes_of_odd_texts(escaped: Warehouse, change: str) -> None:
    lake = escaped
    for table in ("@.plain", "@.parted", "@.`it's \\`"):
        lake.spark(CHANGES[change].format(table))
    lake.restart()
    for name, rest in VIEWS.items():
        query = rest[rest.index(" as select ") + 4 :]
        found = Counter(lake.sql(f"select * from @.{name}"))
        assert found == Counter(lake.spark(query)), name
        (verified,) = lake.operation("verify", view=f"{lake.schema}.{name}").rows
        assert verified[1] == "OK", name
    methods = {row[4] for row in lake.operation("history", view=f"{lake.schema}.by_partition").rows}
    assert methods <= {"complete", "partition"}


def test_keys_that_are_odd_texts(lake: Warehouse) -> None:
    """A refresh of keys computes their rows again."""
    lake.sql("set spark.sql.parser.escapedStringLiterals=true")
    lake._outside.createDataFrame(list(enumerate(TEXTS)), "id int, s string").writeTo(
        f"{lake.schema}.keyed"
    ).using("iceberg").create()
    lake.sql("create materialized view @.k options (unique_key = 's') as select s, id from @.keyed")
    lake.sql("reset spark.sql.parser.escapedStringLiterals")
    lake.spark(f"update {lake.storage('k')} set id = -1")
    lake.restart()
    lake.operation("refresh", view=f"{lake.schema}.k", keys=list(TEXTS))
    assert Counter(lake.spark("select * from @.k")) == Counter(
        lake.spark("select s, id from @.keyed")
    )


# Half past one in London, for the second time; an hour before it was half past one, too.
MOMENT = "timestamp_ltz'2026-10-25 01:30:00Z'"


@pytest.fixture(scope="module")
def local(lake: Warehouse) -> Iterator[Warehouse]:
    """A session in which TIMESTAMP has no zone."""
    lake.spark("create table @.moments (id int, ts timestamp_ltz) using iceberg")
    lake.spark(f"insert into @.moments values (1, {MOMENT}), (2, {MOMENT} - interval 1 hour)")
    lake.sql("set spark.sql.session.timeZone=Europe/London")
    lake.sql("set spark.sql.timestampType=TIMESTAMP_NTZ")
    yield lake
    lake.sql("reset spark.sql.session.timeZone")
    lake.sql("reset spark.sql.timestampType")


def test_keys_that_are_instants(local: Warehouse) -> None:
    local.sql(
        "create materialized view @.at options (unique_key = 'ts') as select ts, id from @.moments"
    )
    local.spark(f"update {local.storage('at')} set id = -1")
    local.restart()
    keys = ["2026-10-25T01:30:00Z", "2026-10-25T00:30:00Z"]
    local.operation("refresh", view=f"{local.schema}.at", keys=keys)
    assert sorted(row[1] for row in local.spark("select * from @.at")) == [1, 2]


def test_expiry_of_instants(local: Warehouse) -> None:
    """Times at which rows expire are instants, whatever TIMESTAMP is."""
    for name, rest in {
        "soon": "options (expires_at_expr = 'ts') as select ts, id from @.moments",
        "past": "as select id from @.moments where ts < now()",
    }.items():
        local.sql(f"create materialized view @.{name} {rest}")
        local.restart()
        assert local.freshness(name) == "FRESH", name
