"""Set operations whose branches return other types than the whole, of which one branch changes."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest

from dbt.adapters.spark_mv.ivm import analysis
from tests.functional.materialized_view.warehouse import Warehouse
from tests.sampling import sample

# The types of a column on both sides, and values of them of which some are equal as the type of
# the whole.
TYPES = {
    "whole_and_decimal": ("int", "decimal(10,2)", ("1", "7"), ("1.00", "2.50")),
    "decimals": ("decimal(5,1)", "decimal(9,3)", ("1.5", "2.0"), ("1.500", "2.125")),
    "whole_and_double": ("bigint", "double", ("1", "3"), ("1.0", "2.5")),
    "days_and_moments": (
        "date",
        "timestamp",
        ("date'2024-01-01'", "date'2024-02-02'"),
        ("timestamp'2024-01-01 00:00:00'", "timestamp'2024-01-01 10:00:00'"),
    ),
    "texts_and_whole": ("string", "int", ("'1'", "'x'"), ("1", "2")),
    "fields": (
        "struct<a: int>",
        "struct<b: int>",
        ("named_struct('a', 1)", "named_struct('a', 2)"),
        ("named_struct('b', 1)", "named_struct('b', 3)"),
    ),
    "lists": ("array<int>", "array<bigint>", ("array(1)", "array(2)"), ("array(1L)", "array(3L)")),
}
OPERATIONS = ("union all", "union", "except", "intersect", "except all", "intersect all")
# What is computed of the column of the whole.
AROUND = {
    "rows": "select id, x from ({}) d",
    "texts": "select id, cast(x as string) as t, md5(cast(x as string)) as k from ({}) d",
    "groups": "select cast(x as string) as t, count(*) as n, max(id) as m from ({}) d group by 1",
    "types": "select typeof(x) as k, count(*) as n from ({}) d group by 1",
    "joined": "select d.id, w.word from ({}) d join @.words w on w.x = cast(d.x as string)",
    "nested": "select id, cast(x as string) as t from ({} union all select id, '9' as x from "
    "@.one) d",
}
ALWAYS = [
    *(("union all", "texts", kind) for kind in TYPES),
    *(("union all", around, "whole_and_decimal") for around in AROUND),
    *((operation, "texts", "whole_and_decimal") for operation in OPERATIONS),
    ("union", "groups", "decimals"),
]
OTHERS = [case for case in product(OPERATIONS, AROUND, TYPES) if case not in ALWAYS]
CHANGES = (
    "insert into @.one values (1, {one[0]}), (7, {one[1]})",
    "insert into @.two values (1, {two[0]}), (8, {two[1]}), (8, {two[1]})",
    "delete from @.one where id = 7",
    "delete from @.two where id = 1",
)


def _tables(lake: Warehouse, kind: str) -> None:
    one, two, ones, twos = TYPES[kind]
    for name, column, values in (("one", one, ones), ("two", two, twos)):
        lake.spark(f"create or replace table @.{name} (id int, x {column}) using iceberg")
        rows = ", ".join(f"({n}, {value})" for n, value in enumerate((*values, values[0]), 1))
        lake.spark(f"insert into @.{name} values {rows}")
    lake.spark("create or replace table @.words (x string, word string) using iceberg")
    lake.spark("insert into @.words values ('7', 'wrong'), ('7.00', 'seven'), ('1.00', 'one')")


def _query(operation: str, around: str) -> str:
    return AROUND[around].replace(
        "{}", f"select id, x from @.one {operation} select id, x from @.two"
    )


def _assert_kept(lake: Warehouse, kind: str, query: str, method: str, layout: str = "") -> None:
    _tables(lake, kind)
    lake.restart()
    lake.sql(f"create or replace materialized view @.both {layout} as {query}")
    for change in CHANGES:
        _, _, one, two = TYPES[kind]
        lake.spark(change.format(one=one, two=two))
        lake.sql(f"refresh materialized view @.both {method}")
        rows, right = (Counter(map(str, lake.spark(q))) for q in ("select * from @.both", query))
        assert rows == right, change
    assert [method for method, *_ in lake.history("both", "method")][-1] == method


@pytest.mark.parametrize(("operation", "around", "kind"), sample(ALWAYS, OTHERS))
def test_fast(lake: Warehouse, operation: str, around: str, kind: str) -> None:
    _assert_kept(lake, kind, _query(operation, around), "fast")


def test_by_partition(lake: Warehouse) -> None:
    """Partitions are told by values of the type of the whole."""
    _assert_kept(
        lake,
        "whole_and_decimal",
        "select cast(x as string) as p, count(*) as n from (select id, x from @.one union all "
        "select id, x from @.two) d group by 1",
        "partition",
        "partitioned by (p)",
    )


def test_branches_are_cast(lake: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: branches keep their types."""
    monkeypatch.setattr(analysis, "with_common_types", lambda query, types_of: query)
    with pytest.raises(AssertionError):
        _assert_kept(lake, "whole_and_decimal", _query("union all", "texts"), "fast")
