"""Settings that change results belong to the definition; none is left behind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.spark_mv.glue.dbt_errors import MaterializedViewFailure
from tests.functional.materialized_view.warehouse import Warehouse, assert_same

WATCHED = (
    "spark.sql.session.timeZone",
    "spark.sql.ansi.enabled",
    "spark.sql.caseSensitive",
    "spark.sql.sources.partitionOverwriteMode",
    "spark.sql.variable.substitute",
)


def settings(lake: Warehouse) -> dict[str, str]:
    rows = lake.sql("set")
    return {str(row[0]): str(row[1]) for row in rows}


@pytest.fixture
def setting(lake: Warehouse) -> Any:
    """Sets a setting of the user's session; the former value comes back afterwards."""
    former: dict[str, str] = {}

    def change(key: str, value: str) -> None:
        ((_, old),) = lake.sql(f"set {key}")
        former.setdefault(key, str(old))
        lake.sql(f"set {key} = {value}")

    yield change
    for key, value in former.items():
        lake.sql(f"set {key} = {value}")
    lake.sql("drop materialized view if exists @.v")


def test_nothing_is_left_behind(lake: Warehouse) -> None:
    """Creation, refresh, read, alteration and removal change no setting and no current schema."""
    before = settings(lake), lake.sql("select current_catalog(), current_schema()")
    lake.sql("create materialized view @.v as select id from @.orders")
    lake.spark("insert into @.orders values (90, 'pia', 1)")
    lake.sql("select * from @.v")
    lake.sql("refresh materialized view @.v complete")
    lake.sql("alter materialized view @.v set options (refresh_interval_minutes = 5)")
    lake.sql("drop materialized view @.v")
    assert (settings(lake), lake.sql("select current_catalog(), current_schema()")) == before


def test_nothing_is_left_behind_by_a_failure(lake: Warehouse) -> None:
    """The same after a refresh that fails."""
    before = settings(lake)
    with pytest.raises(Exception, match="no luck"):
        lake.sql(
            "create materialized view @.v as "
            "select case when id > 0 then raise_error('no luck') else 1 end as x from @.orders"
        )
    assert settings(lake) == before


def test_names_of_utc(lake: Warehouse, setting: Any) -> None:
    """Machines call it by one of many names: that is no other definition, a zone is."""
    create = "create or replace materialized view @.v as select id, hour(now()) as h from @.orders"
    setting("spark.sql.session.timeZone", "Etc/UTC")
    lake.sql(create)
    storage = lake.storage("v")
    for name in ("UTC", "GMT", "Z", "Etc/UCT", "+00:00"):
        setting("spark.sql.session.timeZone", name)
        lake.sql(create)
        assert lake.storage("v") == storage
    setting("spark.sql.session.timeZone", "Europe/London")
    lake.sql(create)
    assert lake.storage("v") != storage


@pytest.mark.behaviour("X28", "D18")
def test_time_zone(lake: Warehouse, setting: Any) -> None:
    """Hours are those of the zone in which the view was created, at every refresh."""
    lake.spark("create or replace table @.moments (at timestamp) using iceberg")
    lake.spark("insert into @.moments values (timestamp '2026-01-01 00:30:00Z')")
    setting("spark.sql.session.timeZone", "Asia/Tokyo")
    lake.sql(
        "create materialized view @.v as select hour(at) as h, cast(at as date) as d from @.moments"
    )
    assert lake.sql("select h from @.v") == [(9,)]
    setting("spark.sql.session.timeZone", "America/New_York")
    lake.sql("insert into @.moments values (timestamp '2026-01-01 20:30:00Z')")
    assert sorted(lake.sql("select h, string(d) from @.v")) == [
        (5, "2026-01-02"),
        (9, "2026-01-01"),
    ]
    assert lake.freshness("v") == "FRESH"


def test_sum_that_did_not_fit(lake: Warehouse, setting: Any) -> None:
    """Without ANSI mode it is NULL; it is recomputed once its rows go, not added to."""
    setting("spark.sql.ansi.enabled", "false")
    lake.spark("create table @.large (k int, v decimal(38,2)) using iceberg")
    lake.spark("insert into @.large values (1, 9e35), (1, 9.1e35), (2, 1)")
    query = "select k, sum(v) as s from @.large group by k"
    lake.sql(f"create materialized view @.sums options (refresh_method = 'fast') as {query}")
    assert (1, None) in lake.spark("select * from @.sums")
    lake.spark("insert into @.large values (2, 5)")
    lake.sql("refresh materialized view @.sums")
    assert_same(lake, "select * from @.sums", query)
    lake.spark("delete from @.large where v = 9.1e35")
    with pytest.raises(MaterializedViewFailure, match="a sum does not fit its type"):
        lake.sql("refresh materialized view @.sums")
    lake.sql("refresh materialized view @.sums complete")
    assert_same(lake, "select * from @.sums", query)


@pytest.mark.behaviour("X28")
@pytest.mark.parametrize(("ansi", "expected"), [("true", None), ("false", [(1,), (None,)])])
def test_ansi(lake: Warehouse, setting: Any, ansi: str, expected: Any) -> None:
    """Whether a bad cast is an error or NULL is a matter of the definition."""
    lake.spark("create or replace table @.texts (t string) using iceberg")
    lake.spark("insert into @.texts values ('1')")
    setting("spark.sql.ansi.enabled", ansi)
    lake.sql("create materialized view @.v as select cast(t as int) as n from @.texts")
    setting("spark.sql.ansi.enabled", "false" if ansi == "true" else "true")
    lake.spark("insert into @.texts values ('x')")
    if expected is None:
        with pytest.raises(Exception, match="CAST_INVALID_INPUT"):
            lake.sql("select n from @.v")
    else:
        assert sorted(lake.sql("select n from @.v"), key=str, reverse=True) == [(None,), (1,)]


@pytest.mark.behaviour("X28")
def test_case_sensitivity(lake: Warehouse, setting: Any) -> None:
    """A column that only letter case tells from another stays the one that was meant."""
    lake.spark("set spark.sql.caseSensitive = true")
    lake.spark("create or replace table @.cases (a int, A int) using iceberg")
    lake.spark("insert into @.cases values (1, 2)")
    setting("spark.sql.caseSensitive", "true")
    lake.sql("create materialized view @.v as select A as upper_one from @.cases")
    setting("spark.sql.caseSensitive", "false")
    lake.spark("insert into @.cases values (3, 4)")
    lake.sql("refresh materialized view @.v")
    assert sorted(lake.spark("select upper_one from @.v")) == [(2,), (4,)]
    lake.spark("set spark.sql.caseSensitive = false")


@pytest.mark.behaviour("X28")
def test_every_setting_that_spark_keeps(lake: Warehouse, setting: Any) -> None:
    """What Spark keeps with a view of its own belongs to a definition, at every refresh."""
    setting("spark.sql.timestampType", "TIMESTAMP_NTZ")
    setting("spark.sql.legacy.sizeOfNull", "true")
    query = "select id, timestamp '2026-01-01 00:00:00' as at, size(array()) as n from @.orders"
    lake.sql(f"create materialized view @.v as {query}")
    setting("spark.sql.timestampType", "TIMESTAMP_LTZ")
    assert lake.freshness("v") == "FRESH"
    lake.spark("insert into @.orders values (95, 'pia', 1)")
    lake.sql("select * from @.v")
    assert lake.freshness("v") == "FRESH"
    types = {row[0]: row[1] for row in lake.spark("describe table @.v")}
    assert types["at"] == "timestamp_ntz"


# Settings that change what a text means: of its literals, names and operators, or of what it calls.
MEANINGS = {
    "spark.sql.ansi.doubleQuotedIdentifiers": (
        ("true", "false"),
        'select "customer" as c, count(*) as n from @."orders" group by "customer"',
    ),
    "spark.sql.parser.escapedStringLiterals": (
        ("true", "false"),
        r"select id, length('a\tb') as n from @.orders",
    ),
    "spark.sql.legacy.setopsPrecedence.enabled": (
        ("true", "false"),
        "select id from @.orders union all select id + 1 from @.orders intersect select 0",
    ),
    "spark.sql.decimalOperations.allowPrecisionLoss": (
        ("false", "true"),
        "select id, cast(amount as decimal(38, 18)) * cast(id as decimal(38, 18)) as p "
        "from @.orders",
    ),
    "spark.sql.legacy.timeParserPolicy": (
        ("LEGACY", "CORRECTED"),
        "select id, try_to_timestamp(concat('2026-1-', id % 9 + 1), 'yyyy-MM-dd') as at "
        "from @.orders",
    ),
    "spark.sql.legacy.statisticalAggregate": (
        ("true", "false"),
        "select id, stddev_samp(amount) as s from @.orders group by id",
    ),
    "spark.sql.mapKeyDedupPolicy": (
        ("LAST_WIN", "EXCEPTION"),
        "select id, map_from_arrays(array(1, 1), array(0, id))[1] as m from @.orders",
    ),
    "spark.sql.session.timeZone": (
        ("Pacific/Chatham", "America/St_Johns"),
        "select hour(timestamp_seconds(id)) as h, count(*) as n from @.orders group by 1",
    ),
}


@pytest.mark.behaviour("X28")
@pytest.mark.parametrize("key", MEANINGS)
def test_meaning_of_a_text(lake: Warehouse, setting: Any, key: str) -> None:
    """A refresh of any kind, by a session that is set otherwise, means what was meant."""
    (value, other), query = MEANINGS[key]
    setting("spark.sql.ansi.enabled", "true")
    setting(key, value)
    lake.sql(f"create materialized view @.v as {query}")
    for change in (
        "insert into @.orders values (96, 'pia', 1)",
        "delete from @.orders where id=96",
    ):
        setting(key, other)
        lake.spark(change)
        lake.sql("select * from @.v")
        assert lake.freshness("v") == "FRESH"
        ((_, former),) = lake.spark("set spark.sql.ansi.enabled")
        lake.spark("set spark.sql.ansi.enabled = true")
        lake.spark(f"set {key} = {value}")
        try:
            assert_same(lake, "select * from @.v", query)
        finally:
            lake.spark(f"reset {key}")
            lake.spark(f"set spark.sql.ansi.enabled = {former}")


def test_partition_overwrite_mode(lake: Warehouse, setting: Any) -> None:
    """A session left on DYNAMIC does not keep partitions that have vanished."""
    lake.spark("create or replace table @.days (d int, v int) using iceberg")
    lake.spark("insert into @.days values (1, 1), (2, 2)")
    setting("spark.sql.sources.partitionOverwriteMode", "DYNAMIC")
    lake.sql("create materialized view @.v partitioned by (d) as select d, v from @.days")
    lake.spark("delete from @.days where d = 1")
    lake.sql("select * from @.v")
    assert_same(lake, "select * from @.v", "select d, v from @.days")
    lake.spark("delete from @.days")
    lake.sql("select * from @.v")
    assert lake.value("select count(*) from @.v") == 0
    assert lake.freshness("v") == "FRESH"


def test_substitution(lake: Warehouse, setting: Any) -> None:
    """`${env:..}` in a definition is text, then and at every refresh."""
    query = "select id, '${env:PATH} ${spark.master}' as t from @.orders"
    lake.sql(f"create materialized view @.v as {query}")
    lake.spark("insert into @.orders values (91, 'pia', 1)")
    lake.sql("select * from @.v")
    expected = "${env:PATH} ${spark.master}"
    found = lake.sql("select distinct length(t) from @.v")
    assert found == [(len(expected),)]


def test_widened_types(lake: Warehouse, setting: Any) -> None:
    """Types are those of a table of the same query: Iceberg, also its views, has no tinyint."""
    query = "select cast(id as tinyint) as t, cast(id as smallint) as s, id from @.orders"
    lake.sql(f"create materialized view @.v as {query}")
    lake.spark(f"create table @.plain using iceberg as {lake.text(query)}")
    expected = [row[:2] for row in lake.spark("describe @.plain")]
    assert [row[:2] for row in lake.spark("describe @.v")] == expected
    assert_same(lake, "select * from @.v", query)
    lake.spark("insert into @.orders values (92, 'pia', 1)")
    lake.sql("select * from @.v")
    assert_same(lake, "select * from @.v", query)


TYPES = (
    "select cast(1.5 as decimal(10, 2)) as d, 1.5D as x, float(1.5) as f, true as b, 'é' as t, "
    "x'00ff' as y, date '2026-01-01' as dt, timestamp '2026-01-01 00:00:00' as ts, "
    "timestamp_ntz '2026-01-01 00:00:00' as n, array(1, null) as a, map('k', 1) as m, "
    "named_struct('p', 1, 'Q', array(named_struct('r', 's'))) as st, cast('c' as char(3)) as c, "
    "cast('v' as varchar(5)) as vc, id as `odd name.é`, id as `select` from @.orders"
)


@pytest.mark.behaviour("X22", "C23", "E6")
def test_types_and_names(lake: Warehouse, setting: Any) -> None:
    """Names and types are exactly the query's; nothing else is in sight."""
    lake.sql(f"create materialized view @.v as {TYPES}")
    expected = [row[:2] for row in lake.spark(f"describe query {lake.text(TYPES)}")]
    assert [row[:2] for row in lake.spark("describe @.v")] == expected
    names = "d, x, f, b, t, y, dt, ts, n, a, to_json(m), to_json(st), c, vc, `odd name.é`, `select`"
    assert_same(lake, f"select {names} from @.v", f"select {names} from ({TYPES})")


def test_two_targets_in_one_process(lake: Warehouse, tmp_path: Path) -> None:
    """Our own sessions have the catalogs of their target, not those that Spark was started with."""
    other = Warehouse({**lake.target, "path": str(tmp_path / "other")}, "elsewhere")
    other.spark("create table @.t (k int) using iceberg")
    other.sql("create materialized view @.v as select k from @.t")
    other.spark("insert into @.t values (1)")
    assert other.sql("select k from @.v") == [(1,)]
    assert list((tmp_path / "other" / "elsewhere").glob("v__mv_*"))
    assert not lake.spark("show schemas in local like 'elsewhere*'")
