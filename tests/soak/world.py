"""The schema that is soaked: base tables, views, and what may happen to them."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.functional.materialized_view.warehouse import Command, Warehouse
from tests.soak.views import ALWAYS_FRESH, DROPPED, FORMS, OTHER, VIEWS

SCHEMA = "soak"
CUSTOMERS = ("ann", "bob", "cat", "dan", "eve")


def build(lake: Warehouse) -> None:
    """Base tables with some rows, and the views over them."""
    lake.spark("create table @.orders (id bigint, customer string, amount bigint) using iceberg")
    lake.spark(
        "create table @.items (order_id bigint, item string, price decimal(9, 2)) using iceberg"
    )
    lake.spark("insert into @.orders select id, 'ann', id from range(200)")
    lake.spark("insert into @.items select id % 150, concat('i', id % 7), id from range(400)")
    lake.spark("create table @.ticks (at bigint, part int) using iceberg partitioned by (part)")
    lake.spark("insert into @.ticks select id, id from range(4)")
    for name, view in VIEWS.items():
        lake.sql(view.create(name))
    lake.sql("create view @.over_latest as select at from @.latest")


def write(chance: random.Random) -> str:
    """A random change of a base table."""
    key, customer = chance.randrange(300), chance.choice(CUSTOMERS)
    return chance.choice(
        (
            f"insert into @.orders values ({key}, '{customer}', {chance.randrange(100)})",
            f"insert into @.items values ({key}, 'i{key % 7}', {key}.5)",
            f"update @.orders set amount = amount + 1 where id % 10 = {key % 10}",
            f"update @.items set price = price + 1 where item = 'i{key % 7}'",
            f"delete from @.orders where id = {key}",
            f"delete from @.items where order_id = {key}",
            f"merge into @.orders t using (select {key} as id) s on t.id = s.id "
            f"when matched then update set customer = '{customer}' "
            f"when not matched then insert (id, customer, amount) values ({key}, '{customer}', 1)",
            "insert overwrite @.items select * from @.items where order_id < 300",
        )
    )


def act(command: Command, lake: Warehouse, chance: random.Random) -> str:
    """Do one thing at random; returns its name."""
    view, gone = chance.choice(tuple(VIEWS)), chance.choice(DROPPED)
    method = chance.choice(VIEWS[view].methods)
    deeds: dict[str, tuple[int, Callable[[], Any]]] = {
        "write through dbt": (25, lambda: command.sql(write(chance))),
        "write by another program": (25, lambda: lake.spark(write(chance))),
        "read": (25, lambda: command.sql(f"select * from @.{view}")),
        "tick and read": (15, lambda: _tick_and_read(command, lake, chance)),
        "plain read": (8, lambda: lake.spark(f"select * from @.{view}")),
        f"refresh {method}": (
            15,
            lambda: command.sql(f"refresh materialized view @.{view} {method}"),
        ),
        "change": (3, lambda: _change(command, chance)),
        "drop": (2, lambda: command.sql(f"drop materialized view if exists @.{gone}")),
        "create": (4, lambda: command.sql(VIEWS[gone].create(gone))),
        "compact": (2, lambda: _compact(lake, chance)),
        "sweep": (1, lambda: lake.operation("sweep")),
        "maintain": (1, lambda: lake.operation("maintain", keep_hours=1)),
        "rebuild": (1, lambda: lake.operation("rebuild_metadata", catalog="local")),
    }
    weights = [weight for weight, _ in deeds.values()]
    (name,) = chance.choices(tuple(deeds), weights)
    deeds[name][1]()
    return name


def _tick_and_read(command: Command, lake: Warehouse, chance: random.Random) -> None:
    """A commit that has returned is in the rows of every read that begins after it."""
    tick = time.time_ns()
    lake.spark(f"insert into @.ticks values ({tick}, {chance.randrange(4)})")
    statement = chance.choice(FORMS).format(v=chance.choice(ALWAYS_FRESH))
    ((found,),) = command.sql(statement)
    if found < tick:
        raise AssertionError(f"OLD ROWS: {statement} returned {found} after {tick} was written")


def _change(command: Command, chance: random.Random) -> None:
    view = VIEWS["changing"]
    command.sql(replace(view, query=chance.choice((view.query, OTHER))).create("changing"))


def _compact(lake: Warehouse, chance: random.Random) -> None:
    table = chance.choice(
        (f"{SCHEMA}.orders", f"{SCHEMA}.items", lake.storage(chance.choice(tuple(VIEWS))))
    )
    lake.spark(
        "call local.system.rewrite_data_files("
        f"table => '{table}', options => map('rewrite-all', 'true'))"
    )
