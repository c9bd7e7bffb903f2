"""Consistency groups: views that are read together have rows of one state of their base tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from dbt.adapters.spark_mv.glue.dbt_errors import MaterializedViewFailure
from dbt.adapters.spark_mv.statements import pipeline
from dbt.adapters.spark_mv.statements.read_gate import ReadGate
from dbt.adapters.spark_mv.statements.read_policy import Reader
from tests.functional.materialized_view.clocks import Shift
from tests.functional.materialized_view.warehouse import Warehouse

STRICT = "consistency = 'strict', consistency_group = '{group}'"
OLD = "max_staleness = 'INTERVAL 1 HOUR'"
COUNTS = "select count(*) as n from @.orders"
# Rows of both in one statement.
BOTH = "select a.n, b.n from @.{one} a cross join @.{two} b"


@pytest.fixture
def create(lake: Warehouse) -> Iterator[Callable[..., None]]:
    made: list[str] = []

    def create(view: str, query: str = COUNTS, *options: str) -> None:
        given = f"options ({', '.join(options)})" if options else ""
        lake.sql(f"create materialized view @.{view} {given} as {query}")
        made.append(view)

    yield create
    for view in reversed(made):
        lake.sql(f"drop materialized view @.{view}")


def pair(create: Callable[..., None], group: str, *options: str) -> None:
    """A view that may be served stale, and one that may not."""
    create(f"{group}_old", COUNTS, OLD, *options)
    create(f"{group}_new", COUNTS, *options)


def both(lake: Warehouse, group: str) -> tuple[int, int]:
    ((one, two),) = lake.apart(BOTH.format(one=f"{group}_old", two=f"{group}_new"))
    return one, two


def test_one_state(lake: Warehouse, create: Callable[..., None]) -> None:
    """Without a group a statement mixes states if policies allow it; of a group it does not."""
    pair(create, "loose")
    pair(create, "tight", STRICT.format(group="tight"))
    before = lake.value("select count(*) from @.orders")
    lake.change()
    assert both(lake, "loose") == (before, before + 1)
    assert both(lake, "tight") == (before + 1, before + 1)
    # One of them by itself may be as old as it says.
    lake.change()
    assert lake.apart("select n from @.tight_old") == [(before + 1,)]


def test_all_served_stale(lake: Warehouse, create: Callable[..., None]) -> None:
    """Members that are old together are served, and nothing is refreshed."""
    options = (OLD, STRICT.format(group="aged"))
    create("aged_old", COUNTS, *options)
    create("aged_new", COUNTS, *options)
    before = both(lake, "aged")
    lake.change()
    assert both(lake, "aged") == before
    assert len(lake.history("aged_old")) == 1


def test_through_another_view(lake: Warehouse, create: Callable[..., None]) -> None:
    """What counts are base tables, also those below upstream views."""
    create("below", "select customer, count(*) as n from @.orders group by customer", OLD)
    create("deep_old", "select sum(n) as n from @.below", STRICT.format(group="deep"))
    create("deep_new", COUNTS, STRICT.format(group="deep"))
    before = lake.value("select count(*) from @.orders")
    lake.change()
    assert both(lake, "deep") == (before + 1, before + 1)


def test_somebody_is_faster(
    lake: Warehouse, create: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the looks at both, another command publishes one of them at a newer state."""
    pair(create, "raced", STRICT.format(group="raced"))
    original, left = Reader._prepare, [1]

    def prepare(self: Reader, *args: Any) -> Any:
        found = original(self, *args)
        if left and len(args[0]) > 1:
            left.pop()
            lake.change()
            lake.operation("refresh", view="raced_new")
        return found

    monkeypatch.setattr(Reader, "_prepare", prepare)
    one, two = both(lake, "raced")
    assert one == two == lake.value("select count(*) from @.orders")
    assert not left


def test_it_never_settles(
    lake: Warehouse, create: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After three rounds the read fails, and says what differs."""
    pair(create, "restless", STRICT.format(group="restless"))
    original = Reader._prepare

    def prepare(self: Reader, *args: Any) -> Any:
        found = original(self, *args)
        if len(args[0]) > 1:
            lake.change()
            lake.operation("refresh", view="restless_new")
        return found

    monkeypatch.setattr(Reader, "_prepare", prepare)
    with pytest.raises(MaterializedViewFailure, match="different versions of .*orders, 3 times"):
        both(lake, "restless")


def test_a_member_that_is_not_refreshed(lake: Warehouse, create: Callable[..., None]) -> None:
    """Its old rows cannot be read beside newer ones."""
    options = STRICT.format(group="still")
    create("still_old", COUNTS, options, "enable_refresh = false")
    create("still_new", COUNTS, options)
    assert len(set(both(lake, "still"))) == 1
    lake.change()
    fixed = "(?s)cannot be read together: .*still_old is not refreshed by reads.*operation {} "
    with pytest.raises(MaterializedViewFailure, match=fixed.format("refresh")):
        both(lake, "still")
    lake.operation("refresh", view="still_old")
    assert len(set(both(lake, "still"))) == 1
    lake.operation("suspend", view="still_old")
    lake.change()
    with pytest.raises(MaterializedViewFailure, match=fixed.format("resume")):
        both(lake, "still")
    lake.operation("resume", view="still_old")


def timed(
    lake: Warehouse, clock: Shift, create: Callable[..., None], group: str, *instants: str
) -> None:
    """Two views of a group that count from half past twelve on, made at two instants."""
    query = "select count(*) as n from @.orders where now() > timestamp'2026-03-01 12:30:00Z'"
    for name, instant in zip(("old", "new"), instants, strict=True):
        clock(f"2026-03-01 {instant}:00")
        create(f"{group}_{name}", query, OLD, STRICT.format(group=group))


def test_instants(lake: Warehouse, clock: Shift, create: Callable[..., None]) -> None:
    """Views that read the clock and are both right now, agree; old ones are of one instant."""
    timed(lake, clock, create, "timed", "12:00", "12:10")
    assert both(lake, "timed") == (0, 0)
    assert len(lake.history("timed_old")) == 1
    clock("2026-03-01 12:40:00")
    one, two = both(lake, "timed")
    assert one == two > 0


def test_right_now_beside_an_older_instant(
    lake: Warehouse, clock: Shift, create: Callable[..., None]
) -> None:
    """What is right now is not of the instant of rows that have expired."""
    timed(lake, clock, create, "half", "12:10", "12:35")
    clock("2026-03-01 12:40:00")
    one, two = both(lake, "half")
    assert one == two > 0


def test_a_publish_after_the_looks(
    lake: Warehouse, create: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of both the rows that were looked at are read, also through another view, and written."""
    pair(create, "late", STRICT.format(group="late"))
    text = BOTH.format(one="late_old", two="late_new").replace("a.n, b.n", "a.n as a, b.n as b")
    lake.spark(f"create or replace view @.both_late as {text}")
    original = ReadGate.prepare

    def prepare(self: ReadGate, *args: Any) -> Any:
        found = original(self, *args)
        lake.change()
        lake.operation("refresh", view="late_new")
        return found

    for statement in (text, "select * from @.both_late", f"with q as ({text}) select * from q"):
        with monkeypatch.context() as patch:
            patch.setattr(ReadGate, "prepare", prepare)
            ((one, two),) = lake.apart(statement)
        assert one == two, statement
    with monkeypatch.context() as patch:
        patch.setattr(ReadGate, "prepare", prepare)
        lake.apart(f"create or replace table @.late_copy using iceberg as {text}")
    ((one, two),) = lake.spark("select a, b from @.late_copy")
    assert one == two
    with monkeypatch.context() as patch, pytest.raises(AssertionError):
        patch.setattr(ReadGate, "prepare", prepare)
        patch.setattr(pipeline, "inlined", lambda services, sql, *_: sql)
        ((one, two),) = lake.apart(text)
        assert one == two


def test_a_temporary_view_is_not_fixed(lake: Warehouse, create: Callable[..., None]) -> None:
    pair(create, "passing", STRICT.format(group="passing"))
    text = BOTH.format(one="passing_old", two="passing_new")
    command = lake.command()
    command.sql(f"create temporary view both_passing as {text.replace('b.n', 'b.n as b')}")
    lake.change()
    now = lake.value("select count(*) from @.orders")
    assert command.sql("select * from both_passing") == [(now, now)]


def test_align(lake: Warehouse, create: Callable[..., None]) -> None:
    """All members at one state, by name of the group."""
    pair(create, "lined", STRICT.format(group="lined"))
    lake.change()
    report = lake.operation("align", group="lined")
    assert [row[0] for row in report.rows] == ["consistency.lined_new", "consistency.lined_old"]
    assert [lake.freshness(f"lined_{name}") for name in ("old", "new")] == ["FRESH", "FRESH"]
    with pytest.raises(Exception, match="no view is of the consistency group 'none'"):
        lake.operation("align", group="none")
    with pytest.raises(Exception, match="no consistency group is named"):
        lake.operation("align")
    third = STRICT.format(group="lined")
    lake.sql(f"create materialized view @.lined_third options ({third}) as {COUNTS}")
    lake.spark("drop view @.lined_third")
    with pytest.raises(Exception, match="(?s)lined_third, .* was dropped by another .*drop_mv"):
        lake.operation("align", group="lined")
    lake.operation("drop", view="lined_third", if_exists=True)
    assert len(lake.operation("align", group="lined").rows) == 2


@pytest.mark.parametrize("options", ["consistency = 'strict'", "consistency_group = 'x'"])
def test_options_go_together(lake: Warehouse, options: str) -> None:
    with pytest.raises(MaterializedViewFailure, match="go together"):
        lake.sql(f"create materialized view @.half options ({options}) as {COUNTS}")
