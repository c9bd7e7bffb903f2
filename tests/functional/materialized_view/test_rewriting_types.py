"""Rewriting where types and time zones are not what they seem: whatever is answered is right."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.functional.materialized_view.rewritten import explained
from tests.functional.materialized_view.warehouse import Warehouse
from tests.sampling import sample

# Each with a day of which it has something to say: midnights and hours that are not there, or
# twice; a day that is not there; a zone of which Python and Java do not say the same.
ZONES = {
    "America/Sao_Paulo": "2018-11-04",
    "America/Havana": "2018-11-04",
    "America/St_Johns": "2010-03-14",
    "Pacific/Apia": "2011-12-30",
    "Australia/Lord_Howe": "2021-04-04",
    "EET": "1975-07-15",
}
STARTS = (
    "date_trunc('HOUR', ts)",
    "date_trunc('DAY', ts)",
    "to_date(ts)",
    "date_trunc('MONTH', ts)",
    "date_trunc('HOUR', n)",
    "date_trunc('DAY', n)",
    "date_trunc('DAY', d)",
    "date_trunc('MONTH', d)",
    "trunc(d, 'MM')",
    "ts",
    "d",
)
ASKED = ("{t}", "hour({t})", "day({t})", "to_date({t})", "month({t})", "date_trunc('DAY', {t})")
ASKED += ("date_trunc('MONTH', {t})", "weekofyear({t})", "last_day({t})", "year({t})")
RANGES = (
    "{t} >= '{day}'",
    "{t} < '{day} 00:00:00'",
    "{t} >= timestamp'{day} 01:00:00'",
    "{t} >= date'{day}' and {t} < date_add(date'{day}', 1)",
    "{t} between '{day}' and '{day} 12:30:00.5'",
)


def queries(start: str, day: str) -> list[str]:
    column = start[start.index("(") + 1 :].split(",")[-1].strip(" )") if "(" in start else start
    column = "d" if "trunc(d" in start else column
    asked = [one.format(t=column) for one in ASKED if column != "d" or not one.startswith("hour")]
    found = [f"select {one} as k, count(*) as n from @.moments group by {one}" for one in asked]
    for condition in RANGES:
        where = condition.format(t=column, day=day)
        found.append(f"select count(*) as n, max(v) as v from @.moments where {where}")
    return found


SAMPLE = ("America/Havana",)


@pytest.mark.parametrize("zone", sample(SAMPLE, [zone for zone in ZONES if zone not in SAMPLE]))
def test_zones(shop: Warehouse, zone: str) -> None:
    """Every beginning of a unit, every function of time, and bounds about a strange day."""
    day = ZONES[zone]
    for run in (shop.sql, shop.spark):
        run(f"set time zone '{zone}'")
    shop.spark(
        "create or replace table @.moments using iceberg as select cast(ts as timestamp_ntz) as n, "
        f"ts, to_date(ts) as d, id % 4 as v from (select id, timestamp'{day} 12:00:00' + "
        "make_dt_interval(0, 0, 20 * cast(id % 400 - 200 as int)) as ts from range(4000))"
    )
    answered = 0
    for number, start in enumerate(STARTS):
        shop.sql(
            f"create or replace materialized view @.starts as select {start} as k, count(*) as n, "
            f"max(v) as v, {number} as c from @.moments group by {start}"
        )
        command = shop.command()
        for query in queries(start, day):
            used = [row for row in explained(shop, query, command)[1:] if row[2]]
            answered += len(used)
            if used:
                assert Counter(command.sql(query)) == Counter(shop.spark(query)), (start, query)
    assert answered >= 25
    shop.sql("drop materialized view @.starts")


VIEWS = {
    "narrow": "select cast(b as smallint) as x, a, cast(a as tinyint) as y, count(*) as k "
    "from @.base group by 1, 2, 3",
    "letters": "select cast(s as string collate UTF8_LCASE) as c, a, count(*) as k from @.base "
    "group by 1, 2",
    "zeros": "select a, f, count(*) as k from @.base group by a, f",
    "too_large": "select a, sum(big) as t, count(big) as c from @.base group by a, b",
    "products": "select a, b, sum(price * (1 - rate)) as t from @.base group by a, b",
}
TYPED = (
    "select count(*) from @.seen where x * x > 40000",
    "select x * x, count(*) from @.seen group by 1",
    "select c, count(*) from @.seen group by c",
    "select cast(b as smallint) * cast(b as smallint), count(*) from @.base group by 1",
    "select count(*) from @.base where cast(s as string collate UTF8_LCASE) = 'AB'",
    "select count(distinct cast(s as string collate UTF8_LCASE)) from @.base",
    "select cast(min(f) as string), cast(max(f) as string) from @.base",
    "select f + 1, count(*) from @.base group by 1",
    "select f, count(*) from @.base where f = 0 group by f",
    "select a % 2, sum(big) from @.base group by 1",
    "select sum(big) from @.base where a < 3",
    "select a, sum(price * (1 - rate)) as t from @.base group by a",
    "select sum(price * (1 - rate)) filter (where b = 100) as t from @.base",
)
# Answered, and not only left as they are.
MUST = TYPED[-2:]


def test_types(shop: Warehouse) -> None:
    """SMALLINT that wraps, letters that are equal in two cases, two zeros, sums too large."""
    shop.spark(
        "create or replace table @.base using iceberg as select cast(id % 6 as int) as a, "
        "cast(id % 5 * 100 as int) as b, if(id % 3 = 0, 'AB', 'ab') as s, "
        "if(id % 2 = 0, double('-0.0'), double('0.0')) * if(id % 6 < 3, 1, id) as f, "
        "if(id % 6 = 4, cast('9e37' as decimal(38, 0)), cast(id as decimal(38, 0))) as big, "
        "cast(id as decimal(15, 2)) as price, cast(0.05 as decimal(15, 2)) as rate "
        "from range(6000)"
    )
    shop.spark(
        "create or replace view @.seen as select a, cast(b as smallint) as x, "
        "cast(s as string collate UTF8_LCASE) as c from @.base"
    )
    for name, query in VIEWS.items():
        shop.sql(f"create materialized view @.{name} as {query}")
    shop.sql(
        "create materialized view @.over as select a, x, c, count(*) as k from @.seen group by all"
    )
    command = shop.command()
    used = set()
    for query in TYPED:
        if any(row[2] for row in explained(shop, query, command)[1:]):
            used.add(query)
        assert Counter(command.sql(query)) == Counter(shop.spark(query)), query
    assert set(MUST) <= used


def test_logical_views_convert(shop: Warehouse) -> None:
    """A view declares INT and STRING; a materialized view over it is of these, too."""
    shop.spark(
        "create or replace table @.few_rows using iceberg as select id * 100 as b from range(5)"
    )
    shop.spark(
        "create or replace view @.converted as select cast(b as smallint) as x, "
        "cast(if(b > 100, 'AB', 'ab') as string collate UTF8_LCASE) as c from @.few_rows"
    )
    for name, query in {
        "squares": "select x, x * x as square from @.converted",
        "cases": "select c, count(*) as n from @.converted group by c",
    }.items():
        shop.sql(f"create materialized view @.{name} as {query}")
        assert Counter(shop.spark(f"select * from @.{name}")) == Counter(shop.spark(query))
        shop.spark("insert into @.few_rows values (30000)")
        assert Counter(shop.apart(f"select * from @.{name}")) == Counter(shop.spark(query))
        assert shop.operation("verify", view=name).rows[0][1] == "OK"


# Queries over structures, and whether a view has to answer them.
OF_FIELDS = {
    "select e.p.os.name, count(*) as n from @.structs e where p.f29 = 1 group by e.p.os.name": True,
    "select p.OS.Major + 1 as next, max(p.f0) as most from @.structs where p.os.name > 'n1' "
    "group by 1": True,
    "select s.os.major, sum(s.f0) as t from (select p as s from @.structs) as q "
    "group by s.os.major": True,
    "select p.small * p.small as wraps, count(*) as n from @.structs group by 1": False,
    "select p.zero, cast(p.zero as string) as shown, count(*) as n from @.structs "
    "group by 1, 2": False,
    "select p.os, count(*) as n from @.structs where id > 3005 group by p.os": True,
}


def test_fields(shop: Warehouse) -> None:
    """Also of a structure with more fields than Spark prints; SMALLINT and two zeros in one."""
    fields = ", ".join(f"'f{n}', cast(id % {n + 2} as int)" for n in range(30))
    shop.spark(
        "create or replace table @.structs using iceberg as select id, named_struct('os', "
        "named_struct('name', concat('n', id % 3), 'Major', cast(id % 4 as int)), 'zero', "
        f"if(id % 2 = 0, double('-0.0'), double('0.0')), {fields}, 'small', "
        "cast(id % 300 as smallint)) as p from range(4000)"
    )
    shop.sql(
        "create materialized view @.by_field as select p.os.name, p.os.major, p.f29, p.os, "
        "max(p.f0) as most, sum(p.f0) as t, count(*) as n from @.structs group by all"
    )
    shop.sql("create materialized view @.whole as select id, p from @.structs where id > 3000")
    command = shop.command()
    for query, answered in OF_FIELDS.items():
        used = [row[1] for row in explained(shop, query, command)[1:] if row[2]]
        assert used or not answered, query
        assert Counter(command.sql(query)) == Counter(shop.spark(query)), (query, used)
