"""Scripts that write to a table and read a view over it: views are refreshed before a script."""

from __future__ import annotations

from itertools import product

import pytest

from dbt.adapters.spark_mv.glue.dbt_errors import MaterializedViewFailure
from tests.functional.materialized_view.warehouse import Warehouse

WRITES = {
    "insert": "insert into @.orders values (900, 'eve', 1)",
    "overwrite": "insert overwrite @.orders select * from @.orders limit 3",
    "delete": "delete from @.orders where id = 1",
    "update": "update @.orders set amount = 7 where id = 2",
    "merge": "merge into @.orders t using (select 1 as id) s on t.id = s.id "
    "when matched then delete",
    "truncate": "truncate table @.orders",
    "immediate": "execute immediate 'insert into @.orders values (900, ''eve'', 1)'",
}
READS = {
    "select": "select * from @.late",
    "above": "select * from @.above",
    "logical": "select * from @.through",
    "variable": "set most = (select max(total) from @.late)",
    "insert": "insert into @.kept select customer from @.late",
    "immediate": "execute immediate 'select * from @.late'",
    "condition": "if (select count(*) from @.late) > 0 then select 1; end if",
}
LATE = {
    "plain": "begin declare most bigint; {write}; {read}; end",
    "in between": "begin declare most bigint; {write}; select 1; {read}; end",
    "branch": "begin declare most bigint; if true then {write}; end if; {read}; end",
    "loop": "begin declare most bigint; declare i int default 0; while i < 2 do {read}; {write}; "
    "set i = i + 1; end while; end",
}
CASES = [*product(LATE, WRITES, ["select"]), *product(["plain", "loop"], ["insert"], READS)]
IN_TIME = {
    "before": "begin declare most bigint; {read}; {write}; end",
    "function": "begin declare most bigint; select repeat('a', 2); {read}; {write}; end",
    "behind a loop": "begin declare most bigint; declare i int default 0; while i < 2 do "
    "set i = i + 1; end while; {read}; {write}; end",
    "other table": "begin declare most bigint; insert into @.kept values ('x'); {read}; end",
}


@pytest.fixture(scope="module")
def scripts(lake: Warehouse) -> Warehouse:
    query = "select customer, sum(amount) as total from @.orders group by customer"
    lake.sql(f"create materialized view @.late as {query}")
    lake.sql("create materialized view @.above as select count(*) as n from @.late")
    lake.spark("create view @.through as select * from @.late")
    lake.spark("create table @.kept (customer string) using iceberg")
    lake.spark("create table @.saved using iceberg as select * from @.orders")
    return lake


@pytest.fixture(autouse=True)
def same_rows(scripts: Warehouse) -> None:
    scripts.spark("insert overwrite @.orders select * from @.saved")
    scripts.restart()


@pytest.mark.behaviour("B22")
@pytest.mark.parametrize(("form", "write", "read"), CASES)
def test_refused(scripts: Warehouse, form: str, write: str, read: str) -> None:
    text = LATE[form].format(write=WRITES[write], read=READS[read])
    with pytest.raises(MaterializedViewFailure, match=r"after it has written to \w+.orders: "):
        scripts.sql(text)
    assert scripts.spark("select count(*) from @.orders except select count(*) from @.saved") == []


@pytest.mark.parametrize(("form", "write", "read"), product(IN_TIME, ["merge"], READS))
def test_run(scripts: Warehouse, form: str, write: str, read: str) -> None:
    scripts.sql(IN_TIME[form].format(write=WRITES[write], read=READS[read]))


def test_views_that_nobody_refreshes(scripts: Warehouse) -> None:
    """Their rows are those of before anyway."""
    scripts.sql("alter materialized view @.late set options (enable_refresh = false)")
    scripts.sql(LATE["plain"].format(write=WRITES["insert"], read=READS["select"]))
    scripts.sql("alter materialized view @.late set options (enable_refresh = true)")
