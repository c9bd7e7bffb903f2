"""The ways to refresh a view, each with a view that would show a change applied twice, or not."""

from __future__ import annotations

from dataclasses import dataclass

from tests.functional.materialized_view.warehouse import Warehouse


@dataclass(frozen=True)
class Way:
    """A refresh method, and a view of which no refresh takes another one by itself."""

    method: str
    query: str
    option: str = ""
    partitions: str = ""

    def create(self, name: str) -> str:
        """The statement that creates the view."""
        return f"create materialized view @.{name} {self.partitions} {self.option} as {self.query}"

    def refresh(self, name: str) -> str:
        """The statement that refreshes the view this way or not at all."""
        return f"refresh materialized view @.{name} {self.method}"

    def assert_used(self, lake: Warehouse, name: str) -> None:
        """Every refresh after the first was this way, but for those that failed before they began;
        at least one has succeeded."""
        if self.option:
            done = lake.history(name, "method, state")[1:]
            assert {method for method, _ in done} <= {self.method, "none", None}, done
            assert (self.method, "SUCCEEDED") in done


COMPLETE = Way("complete", "select id, amount from @.orders")
# Changes are added to the groups, ..
FAST = Way(
    "fast",
    "select customer, count(*) as n, sum(amount) as total from @.orders group by customer",
    "options (refresh_method = 'fast')",
)
# .. or only appended to the rows.
APPENDED = Way("fast", "select id, note from @.log", "options (refresh_method = 'fast')")
PARTITION = Way(
    "partition",
    "select customer, id, amount from @.orders",
    "options (refresh_method = 'partition')",
    "partitioned by (customer)",
)
WAYS = {"complete": COMPLETE, "fast": FAST, "appended": APPENDED, "partition": PARTITION}


def make_log(lake: Warehouse) -> None:
    """The base table of the view that is appended to."""
    lake.spark("create table if not exists @.log (id bigint, note string) using iceberg")
    lake.spark("insert into @.log values (1, 'one')")


def change(lake: Warehouse, number: int, move: bool = False) -> None:
    """New rows in every base table; also some that move between groups and partitions."""
    lake.spark(f"insert into @.orders values ({number}, 'zoe', 7), ({number}, 'ann', 5)")
    lake.spark(f"insert into @.log values ({number}, 'new')")
    if move:
        lake.spark("update @.orders set customer = 'bob', amount = amount + 5 where id = 1")
