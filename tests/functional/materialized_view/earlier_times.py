"""Views with a history of writes, and what their queries returned at times between them."""

from __future__ import annotations

import time
from datetime import datetime, timezone
from typing import Any

from tests.functional.materialized_view.warehouse import Rows, Warehouse

Mark = tuple[str, dict[str, Rows]]

VIEWS = {
    "sums": "select kind, sum(amount) as t, min(id) as low, max(id) as high, count(*) as n "
    "from @.bills group by kind",
    "rows": "select id, kind, amount from @.bills where amount > 20",
    "joined": "select b.id, b.amount, k.title from @.bills b join @.kinds k on b.kind = k.kind",
    "by_day partitioned by (day)": "select day, kind, sum(amount) as t from @.bills group by 1, 2",
    "lag": "select id, lag(amount) over (partition by kind order by id) as before from @.bills",
    "logical": "select count(*) as n, max(amount) as high from @.large",
    "over": "select max(t) as high, sum(n) as n from @.sums",
}
NAMES = [name.split()[0] for name in VIEWS]
# Each changes some row of each view.
WRITES = (
    "insert into @.bills values (100, 'a', 500, date'2026-01-01'), (101, 'c', 70, null)",
    "delete from @.bills where id in (1, 100)",
    "update @.bills set amount = amount + 1000, kind = 'b' where id in (2, 3)",
    "insert overwrite @.bills select id, kind, amount * 2, day from @.bills",
    "insert into @.kinds values ('c', 'third'), ('a', 'first again'); "
    "insert into @.bills values (102, 'a', 2, date'2026-01-02')",
    "call local.system.rewrite_data_files(table => '{schema}.bills', "
    "options => map('rewrite-all', 'true')); delete from @.kinds where title = 'second'",
    "insert into @.bills values (103, 'b', 9999, date'2026-01-02')",
)
ROLLED_BACK = "call local.system.rollback_to_snapshot('{schema}.bills', {first})"


def make(lake: Warehouse) -> None:
    for statement in (
        "drop table if exists @.bills",
        "create table @.bills (id int, kind string, amount bigint, day date) using iceberg "
        "partitioned by (day)",
        "insert into @.bills values (1, 'a', 10, date'2026-01-01'), (2, 'a', 25, "
        "date'2026-01-01'), (3, 'b', 90, date'2026-01-02'), (4, null, 31, date'2026-01-02')",
        "create or replace table @.kinds (kind string, title string) using iceberg",
        "insert into @.kinds values ('a', 'first'), ('b', 'second')",
        "create or replace view @.large as select * from @.bills where amount > 15",
    ):
        lake.spark(statement)
    for name, query in VIEWS.items():
        view, *layout = name.split(maxsplit=1)
        lake.sql(f"create or replace materialized view @.{view} {' '.join(layout)} as {query}")


def rows(lake: Warehouse, query: str) -> Rows:
    return sorted(lake.spark(query), key=repr)


def now() -> str:
    """A time with no commit in its millisecond."""
    time.sleep(0.02)
    moment = datetime.now(timezone.utc).isoformat()
    time.sleep(0.02)
    return moment


def mark(lake: Warehouse) -> Mark:
    """Now, and what each query returns."""
    found = {}
    for name, query in VIEWS.items():
        text = query.replace("@.sums", f"({VIEWS['sums']})")
        found[name.split()[0]] = rows(lake, text)
    return now(), found


def refresh(lake: Warehouse, view: str, moment: Any, **more: Any) -> tuple[str, str]:
    """State and reason."""
    report = lake.operation("refresh", view=view, as_of=moment, **more)
    (found,) = report.rows
    return found[1], found[-1]


def stored(lake: Warehouse, view: str) -> Rows:
    names = ", ".join(row[0] for row in lake.spark(f"describe @.{view}") if row[0][:1] != "#")
    return rows(lake, f"select {names} from @.{view}")
