"""Joins read those files of a table that can have partners among the rows that were appended."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.functional.materialized_view.warehouse import Warehouse

# By type: keys of rows that are there, and of those that come.
KEYS = {
    "int": ("1, 2, 3, null", "4, 2, 9"),
    "bigint": ("-1, 2, 30000000000, null", "30000000000, 30000000001"),
    "date": ("date'2024-01-01', date'1969-12-31', null", "date'1969-12-31', date'2024-02-29'"),
    "decimal(12,3)": ("1.5, 2.25, -7, null", "2.25, 1234567.125"),
    "string": ("'a', 'b', 'ß', null", "'b', 'c'"),
}
QUERIES = {
    "inner": "select a.k, a.v, b.w from @.a_{n} a join @.b_{n} b on a.k = b.k",
    "outer": "select a.k, count(b.w) as n, sum(a.v) as s from @.a_{n} a left join @.b_{n} b "
    "on a.k = b.k group by a.k",
    "semi": "select k, v from @.a_{n} a where exists (select 1 from @.b_{n} b where b.k = a.k)",
}


def bounded(lake: Warehouse, view: str) -> list[str]:
    """The lines of the statement of the next refresh that restrict what is read."""
    lines = [str(row[0]) for row in lake.sql(f"explain materialized view @.{view}")]
    return [line for line in lines if "BETWEEN " in line]


@pytest.mark.parametrize("number", range(len(KEYS)))
def test_keys(lake: Warehouse, number: int) -> None:
    """Keys of each type come to either table, NULL among them or not; the rows are right."""
    kind, (there, coming) = list(KEYS.items())[number]
    for table, value in (("a", "v"), ("b", "w")):
        lake.spark(f"create table @.{table}_{number} (k {kind}, {value} int) using iceberg")
        lake.spark(
            f"insert into @.{table}_{number} "
            f"select cast(k as {kind}), 1 from (select explode(array({there})) as k)"
        )
    for name, query in QUERIES.items():
        lake.sql(
            f"create materialized view @.{name}_{number} options (refresh_method = 'fast') "
            f"as {query.format(n=number)}"
        )
    seen = 0
    for table, extra in (("b", ""), ("a", ", null")):
        lake.spark(
            f"insert into @.{table}_{number} "
            f"select cast(k as {kind}), 2 from (select explode(array({coming}{extra})) as k)"
        )
        lake.restart()
        lines = bounded(lake, f"inner_{number}")
        seen += len(lines)
        assert all(("IS NULL" in line) == bool(extra) for line in lines)
        for name, query in QUERIES.items():
            lake.sql(f"refresh materialized view @.{name}_{number}")
            shown = Counter(lake.spark(f"select * from @.{name}_{number}"))
            assert shown == Counter(lake.spark(query.format(n=number))), (name, table, extra)
            assert lake.history(f"{name}_{number}", "method")[-1] == ("fast",)
    assert (seen > 0) == (kind != "string")


def test_files_are_left_out(lake: Warehouse) -> None:
    """Files of the other table without partners of the new rows are not read."""
    lake.spark("create table @.facts (k bigint, v int) using iceberg")
    for first in (0, 1000, 2000):
        lake.spark(f"insert into @.facts select {first} + id, 1 from range(10)")
    lake.spark("create table @.parts (k bigint, p string) using iceberg")
    lake.spark("insert into @.parts values (5, 'five')")
    query = "select p, v from @.facts f join @.parts d on f.k = d.k"
    lake.sql(f"create materialized view @.of_part options (refresh_method = 'fast') as {query}")
    lake.spark("insert into @.parts values (1003, 'a'), (1007, 'b')")
    (line,) = bounded(lake, "of_part")
    assert "`k` BETWEEN 1003 AND 1007" in line
    plan = lake.value(
        f"explain select f.v from @.facts f join (select k from @.parts where {condition(line)}) d "
        "on f.k = d.k"
    )
    assert "k >= 1003" in plan.split("table=")[1]
    lake.sql("refresh materialized view @.of_part")
    assert Counter(lake.spark("select * from @.of_part")) == Counter(lake.spark(query))


def condition(line: str) -> str:
    """The condition that a line of a statement ends in."""
    return line[line.index("`k` BETWEEN") :].strip(" )")


def test_unknown_bounds(lake: Warehouse) -> None:
    """Of columns without metrics nothing is known, so nothing is left out."""
    for table in ("c", "d"):
        lake.spark(
            f"create table @.{table} (k int, v int) using iceberg "
            "tblproperties ('write.metadata.metrics.default'='none')"
        )
        lake.spark(f"insert into @.{table} values (1, 1), (2, 2)")
    query = "select c.k, d.v from @.c join @.d on c.k = d.k"
    lake.sql(f"create materialized view @.unknown options (refresh_method = 'fast') as {query}")
    lake.spark("insert into @.c values (2, 5)")
    assert not bounded(lake, "unknown")
    lake.sql("refresh materialized view @.unknown")
    assert Counter(lake.spark("select * from @.unknown")) == Counter(lake.spark(query))
