"""The shortest ways in which the models break without one of their rules, gone by the code itself.

The code has the rule: at the end of each way it says FRESH only of right rows, and a read makes it
right. What no failpoint separates (main and the base tables are one observation) is done in one
step, and a sweep that is wrong about who is alive drops the branch.
"""

from __future__ import annotations

from typing import Any

import pytest

from dbt.adapters.spark_mv.state import observation
from dbt.adapters.spark_mv.state.freshness import judge
from tests.functional.concurrency.stepper import Refresher, stepped
from tests.functional.concurrency.ways import FAST
from tests.functional.materialized_view.warehouse import Warehouse, assert_same
from tests.model import chain, publish_protocol, test_chain, test_publish_protocol

# Where a refresher waits after each step of a model.
STOPS = {
    "sees main": "lock.before",
    "locks or takes over": "lock.after",
    "begins to write": "write.before",
    "takes rows away": "write.one",
    "writes": "write.after",
    "checks": "publish.before",
    "publishes": "publish.after",
    "observes the lower view": "lock.before",
    "reads for the lower view": "write.after",
    "publishes the lower view": "publish.after",
    "observes the upper view": "lock.before",
    "reads for the upper view": "write.after",
    "publishes the upper view": "publish.after",
}
# These have no step of their own in the code.
WITHIN_OTHERS = ("sees base", "labels main")
UPPER = "select count(*) as n, sum(total) as total from @.lower"


def trace_of(mutant: str) -> tuple[str, ...]:
    rule, world = test_publish_protocol.MUTANTS[mutant]
    rules = publish_protocol.RULES - {rule}
    if rule == "versions before rows":
        rules -= {"pinned reads"}
    budget = test_publish_protocol.WORLDS[world]
    start = publish_protocol.State(budget=budget, told_apart=True)
    return test_publish_protocol.explore(rules, start).trace


def trace_of_chain(rule: str) -> tuple[str, ...]:
    return test_chain.look_at("refreshes", chain.RULES - {rule}).trace


@pytest.fixture(scope="module")
def impatient(lake: Warehouse) -> Warehouse:
    """Takes over from others after two seconds."""
    return Warehouse({**lake.target, "refresh_timeout": 2}, lake.schema)


class World:
    """What else happens: `views` from the lowest to the one that is refreshed."""

    def __init__(self, lake: Warehouse, views: dict[str, str], option: str = "") -> None:
        self.lake, self.views, self._orders = lake, views, 0
        lake.restart()
        lake.spark("create or replace table @.sales (customer string, amount bigint) using iceberg")
        lake.spark("insert into @.sales values ('ann', 1), ('bob', 2)")
        for name, query in views.items():
            lake.sql(f"create or replace materialized view @.{name} {option} as {query}")
        lake.restart()

    def happens(self, what: str) -> None:
        """One event around the refreshers."""
        lake, sales = self.lake, f"{self.lake.schema}.sales"
        lowest = lake.storage(next(iter(self.views)))
        self._orders += 1
        if what == "base written":
            lake.spark(f"insert into @.sales values ('ann', {10**self._orders})")
        elif what == "base rolled back":
            rolled_back(lake, sales)
        elif what == "base re-created":
            lake.spark("drop table @.sales")
            lake.spark("create table @.sales (customer string, amount bigint) using iceberg")
            lake.spark("insert into @.sales values ('eve', 5)")
        elif what == "hand write":
            lake.spark(f"delete from {lowest} where n = 1")
        elif what == "lower view rolled back by hand":
            rolled_back(lake, lowest)
        else:
            assert what == "sweep"
            for (branch,) in lake.spark(f"select name from {lowest}.refs where name <> 'main'"):
                lake.spark(f"alter table {lowest} drop branch `{branch}`")

    def assert_honest(self) -> None:
        """What is called FRESH is right, with all that is below it."""
        for name, query in self.views.items():
            if self.lake.freshness(name) != "FRESH":
                return
            assert_same(self.lake, f"select * from @.{name}", query)


def rolled_back(lake: Warehouse, table: str) -> None:
    before = lake.value(
        f"select parent_id from {table}.snapshots s join {table}.refs r "
        "on s.snapshot_id = r.snapshot_id and r.name = 'main'"
    )
    lake.spark(f"call local.system.rollback_to_snapshot('{table}', {before})")


def replay(world: World, trace: tuple[str, ...]) -> None:
    """Go this way, let everybody end, and read."""
    lake, name = world.lake, list(world.views)[-1]
    refreshers = [Refresher(lake, f"select * from @.{name}") for _ in range(2)]
    with stepped(lake, refreshers):
        for step in trace:
            number, is_refresher, what = step.partition(": ")
            if not is_refresher:
                world.happens(step)
            elif what not in WITHIN_OTHERS:
                refreshers[int(number)].advance(STOPS[what])
        world.assert_honest()
    world.assert_honest()
    assert [refresher.error for refresher in refreshers] == [None, None]
    lake.restart()
    lake.sql(f"select * from @.{name}")
    assert lake.freshness(name) == "FRESH"
    for view, query in world.views.items():
        assert_same(lake, f"select * from @.{view}", query)
        assert lake.spark(f"select name from {lake.storage(view)}.refs") == [("main",)]


def single(lake: Warehouse, option: str) -> World:
    return World(lake, {"single": FAST.query.replace("@.orders", "@.sales")}, option)


@pytest.mark.parametrize("mutant", test_publish_protocol.MUTANTS)
def test_publish_protocol_way(impatient: Warehouse, mutant: str) -> None:
    """I1, I6: one view, refreshed by its changes in two writes, if anybody refreshes it."""
    trace = trace_of(mutant)
    replay(single(impatient, FAST.option if "0: writes" in trace else ""), trace)


def test_a_mutant_of_the_code_is_found(
    impatient: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A verdict that holds a label against itself: the rows of before a write are called FRESH."""
    world = single(impatient, "")

    def forgetful(label: Any, definition_hash: str, schema_id: Any, _: Any, types: Any) -> Any:
        return judge(label, definition_hash, schema_id, dict(label.sources), types)

    monkeypatch.setattr(observation, "judge", forgetful)
    with pytest.raises(AssertionError):
        replay(world, trace_of("a stored flag"))


@pytest.mark.parametrize("rule", sorted(chain.RULES - {chain.READS_LOWER_FIRST}))
def test_chain_way(impatient: Warehouse, rule: str) -> None:
    """A view over a view; the way of the reader is that of `test_gate`."""
    query = FAST.query.replace("@.orders", "@.sales")
    replay(World(impatient, {"lower": query, "upper": UPPER}), trace_of_chain(rule))


def test_every_step_has_a_stop() -> None:
    """A step that is new in a model has to be gone here, too."""
    traces = [trace_of(mutant) for mutant in test_publish_protocol.MUTANTS]
    traces += [trace_of_chain(rule) for rule in chain.RULES - {chain.READS_LOWER_FIRST}]
    steps = {step.partition(": ")[2] for trace in traces for step in trace if ": " in step}
    assert steps <= {*STOPS, *WITHIN_OTHERS}
