"""The partitions that changed, as Iceberg's catalog knows them, against what Spark says of them."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from dbt.adapters.spark_mv.catalog import partition_lists, partitions
from dbt.adapters.spark_mv.sql.names import TableName
from tests.functional.materialized_view.warehouse import Warehouse, assert_same
from tests.sampling import sample

COLUMNS = "id bigint, s string, d date, b boolean, m decimal(9,3), at timestamp, n timestamp_ntz"
ROWS = (
    "(1, 'ann', date'2021-03-04', true, 1.500, timestamp'2021-03-04 05:06:07.120', "
    "timestamp_ntz'2021-03-04 05:06:07')",
    "(2, '', date'1969-12-31', false, -0.001, timestamp'1969-12-31 23:59:59.999999', "
    "timestamp_ntz'1969-12-31 23:59:59.000001')",
    "(-3, 'x%=/y ''z', date'0001-01-01', null, 0, timestamp'1582-10-15 00:00:00', "
    "timestamp_ntz'0999-01-01 00:00:00')",
    "(4, 'ünï', date'9999-12-31', true, 999999.999, timestamp'2262-04-11 23:00:00', null)",
    "(null, null, null, null, null, null, null)",
)
CHANGES = (
    "delete from @.{t} where id = 4",
    "insert into @.{t} values {rows[3]}, {rows[0]}",
    "update @.{t} set s = 'bob', d = date'2020-02-29', m = 2, id = 7 where id = 1",
    "call local.system.rewrite_data_files(table => '{schema}.{t}', "
    "options => map('rewrite-all', 'true'))",
    "delete from @.{t} where s = 'bob' and m = 2",
    "insert into @.{t} values {rows[2]}",
    "update @.{t} set b = not b where id = 2",
    "delete from @.{t} where id is null",
)
SPECS = {
    "whole": "s, d, b, m",
    "of_numbers": "bucket(3, id), truncate(2, s), truncate(10, m), years(d)",
    "of_times": "months(d), hours(at)",
    "by_day": "days(at), n",
    "moments": "at, truncate(5, id), bucket(2, s)",
    "nothing": "",
}
MERGE = "'write.delete.mode'='merge-on-read', 'write.update.mode'='merge-on-read'"
ALWAYS = [(spec, 2, MERGE) for spec in ("whole", "of_times")]
ALWAYS += [(spec, 2, "") for spec in ("of_numbers", "by_day", "nothing")]
OTHERS = [(spec, 3, mode) for spec in SPECS for mode in ("", MERGE)]


def create(lake: Warehouse, table: str, spec: str, version: int, mode: str) -> TableName:
    by = f"partitioned by ({SPECS[spec]})" if SPECS[spec] else ""
    properties = ", ".join(part for part in (f"'format-version'='{version}'", mode) if part)
    lake.spark(
        f"create table @.{table} ({COLUMNS}) using iceberg {by} tblproperties ({properties})"
    )
    lake.spark(f"insert into @.{table} values {', '.join(ROWS)}")
    return TableName("local", (lake.schema,), table)


@pytest.mark.behaviour("C1", "E23")
@pytest.mark.parametrize(("spec", "version", "mode"), sample(ALWAYS, OTHERS))
def test_both_say_the_same(lake: Warehouse, spec: str, version: int, mode: str) -> None:
    """Between any version and a later one, and of each: catalog and Spark name the same."""
    table = f"{spec}_{version}_{'merge' if mode else 'copy'}"
    name = create(lake, table, spec, version, mode)
    versions = [str(lake.snapshot(f"{lake.schema}.{table}"))]
    for change in CHANGES:
        lake.spark(change.format(t=table, rows=ROWS, schema=lake.schema))
        versions.append(str(lake.snapshot(f"{lake.schema}.{table}")))
    executor = lake.command().core.services.executor
    found = partitions.spec_of(executor, name)
    assert found is not None
    pairs = [*pairwise(versions), (versions[0], versions[-1]), (versions[1], versions[5])]
    for old, new in pairs:
        if old == new:
            continue  # a compaction that had nothing to do
        files = partition_lists.changed_files(name, found, old, new)
        by_spark = partition_lists.partitions_of(executor, found, files)
        assert by_spark
        assert partition_lists.changed_at_once(executor, name, found, old, new) == by_spark
    for one in (versions[0], versions[-1]):
        files = partition_lists.files(name, found, one)
        by_spark = partition_lists.partitions_of(executor, found, files)
        assert partition_lists.current_at_once(executor, name, found, one) == by_spark
        assert by_spark is not None
        assert partition_lists.with_values(executor, found, by_spark, ()) == by_spark
        assert partition_lists.count(executor, name, found, one) == len(by_spark)


def test_what_only_spark_can_tell(lake: Warehouse) -> None:
    """Another spec, a version that is not below, many files: nothing is said at once."""
    name = create(lake, "evolved", "whole", 2, "")
    first = str(lake.snapshot(f"{lake.schema}.evolved"))
    lake.spark("insert into @.evolved select * from @.evolved where id = 1")
    second = str(lake.snapshot(f"{lake.schema}.evolved"))
    executor = lake.command().core.services.executor
    spec = partitions.spec_of(executor, name)
    assert spec is not None
    assert partition_lists.changed_at_once(executor, name, spec, first, second)
    assert partition_lists.changed_at_once(executor, name, spec, second, first) is None
    assert partition_lists.changed(executor, name, spec, second, first) == (
        partition_lists.changed(executor, name, spec, first, second)
    )
    lake.spark("alter table @.evolved drop partition field b")
    lake.spark("alter table @.evolved add partition field bucket(2, id)")
    lake.spark("insert into @.evolved select * from @.evolved where id = 2")
    third = str(lake.snapshot(f"{lake.schema}.evolved"))
    spec = partitions.spec_of(executor, name)
    if spec is not None:
        assert partition_lists.changed(executor, name, spec, first, third) is None
        assert partition_lists.current(executor, name, spec, third) is None
    lake.spark("create table @.many (id bigint) using iceberg partitioned by (id)")
    lake.spark("insert into @.many select id from range(401)")
    many = TableName("local", (lake.schema,), "many")
    spec = partitions.spec_of(executor, many)
    assert spec is not None
    version = str(lake.snapshot(f"{lake.schema}.many"))
    assert partition_lists.current_at_once(executor, many, spec, version) is None
    assert partition_lists.count(executor, many, spec, version) == 401
    assert len(partition_lists.current(executor, many, spec, version) or ()) == 401


def test_file_that_comes_back(lake: Warehouse, tmp_path: Path) -> None:
    """A file whose rows were all deleted is left out by a compaction, and added again: the deletes
    are still there, and no longer about it."""
    changes = ", ".join(f"'write.{how}.mode' = 'merge-on-read'" for how in ("delete", "update"))
    lake.spark(
        "create table @.back (k bigint, p int) using iceberg partitioned by (p) "
        f"tblproperties ({changes})"
    )
    lake.spark("insert into @.back select id, cast(id % 6 as int) from range(60) where id % 6 <> 1")
    folder = tmp_path / "rows"
    lake.spark(
        f"insert overwrite directory '{folder / 'p=1'}' using parquet "
        "select /*+ coalesce(1) */ id as k from range(1000000)"
    )
    add = (
        f"call local.system.add_files(table => '{lake.schema}.back', "
        f"source_table => '`parquet`.`{folder}`')"
    )
    lake.spark(add)
    lake.spark("delete from @.back where k + 0 >= 0 and p = 1")
    query = "select p, count(*) as n from @.back group by p"
    lake.sql(
        "create materialized view @.of_back partitioned by (p) "
        f"options (refresh_method = 'partition') as {query}"
    )
    lake.spark(
        f"call local.system.rewrite_data_files(table => '{lake.schema}.back', where => 'p = 1', "
        "options => map('rewrite-all', 'true'))"
    )
    lake.spark(add)
    lake.restart()
    lake.sql("refresh materialized view @.of_back")
    assert_same(lake, "select * from @.of_back", query)
    assert lake.history("of_back", "method")[-1] == ("partition",)
