"""Tables of format version 3 whose rows have types that cannot be compared: nothing is netted."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.functional.materialized_view.warehouse import Warehouse
from tests.sampling import sample

QUERY = "select k, tags['a'] as a, count(*) as n, sum(v) as s from @.{t} group by k, tags['a']"
MERGE_ON_READ = ", ".join(
    f"'write.{kind}.mode'='merge-on-read'" for kind in ("delete", "update", "merge")
)
CHANGES = (
    "update @.{t} set v = v + 1 where k = 1",
    "delete from @.{t} where v = 30",
    "insert into @.{t} values (4, 40, map('a', 4)), (1, 10, null), (1, 10, null)",
    "merge into @.{t} t using (select 1 as m union all select 9) s on t.k = s.m "
    "when matched then update set v = 5 "
    "when not matched then insert (k, v, tags) values (9, 9, map('a', 9))",
    "call local.system.rewrite_data_files(table => '{schema}.{t}', "
    "options => map('min-input-files', '1'))",
    "update @.{t} set k = null where k = 4",
    "insert overwrite @.{t} select k, v, tags from @.{t} where v < 40",
    "delete from @.{t} where v < 6",
    "delete from @.{t} where k is null or true",
)


@pytest.mark.parametrize("table", sample(["partitioned"], ["version_3", "upgraded"]))
def test_rows(lake: Warehouse, table: str) -> None:
    """One change after the other, each refreshed fast."""
    version = 2 if table == "upgraded" else 3
    parts = "partitioned by (k)" if table == "partitioned" else ""
    lake.spark(
        f"create table @.{table} (k int, v int, tags map<string,int>) using iceberg {parts} "
        f"tblproperties ('format-version'='{version}', {MERGE_ON_READ})"
    )
    lake.spark(
        f"insert into @.{table} values (1, 10, map('a', 1)), (1, 20, null), (2, 30, map('b', 1)), "
        "(3, 30, map('a', cast(null as int)))"
    )
    lake.spark(f"delete from @.{table} where v = 20")
    query = QUERY.format(t=table)
    name = f"of_{table}"
    lake.sql(f"create materialized view @.{name} options (refresh_method = 'fast') as {query}")
    if table == "upgraded":
        lake.spark(f"alter table @.{table} set tblproperties ('format-version'='3')")
    ways = set()
    for change in CHANGES:
        lake.spark(change.format(t=table, schema=lake.schema))
        lake.restart()
        ways |= {row[0] for row in lake.sql(f"explain materialized view @.{name}")}
        lake.sql(f"refresh materialized view @.{name}")
        assert Counter(lake.spark(f"select * from @.{name}")) == Counter(lake.spark(query)), change
    assert any("added files and deleted positions" in line for line in ways)
    assert any("row ids of both versions" in line for line in ways)
    assert {row[0] for row in lake.history(name, "method")[1:]} <= {"fast", "none"}
