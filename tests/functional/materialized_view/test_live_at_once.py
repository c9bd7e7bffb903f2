"""Live views of which several commands renew one in the same moment, as several threads of dbt do
that make the logical views below it."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import replace

import pytest

from dbt.adapters.spark_mv.refresh.live import live_views
from dbt.adapters.spark_mv.refresh.live.sources import Sources, sources_of
from tests.functional.materialized_view.faults import Paused
from tests.functional.materialized_view.live_reads import reader
from tests.functional.materialized_view.warehouse import Warehouse

LEFT = "create or replace view @.left_part as select id, {} as x from @.t"
RIGHT = "create or replace view @.right_part as select id, {} as y from @.t"
QUERY = (
    "select l.id, sum(l.x) + sum(r.y) as total from @.left_part l "
    "join @.right_part r on r.id = l.id group by l.id"
)


@pytest.fixture
def parts(lake: Warehouse) -> Warehouse:
    lake.spark("create or replace table @.t using iceberg as select id, id * 10 as n from range(5)")
    lake.sql(LEFT.format("n"))
    lake.sql(RIGHT.format("n"))
    lake.sql(f"create or replace materialized view @.m options (live = true) as {QUERY}")
    return lake


def seen(lake: Warehouse) -> Counter[str]:
    return reader(lake, {})("select * from @.m__live")


def wanted(lake: Warehouse) -> Counter[str]:
    return reader(lake, {})(QUERY)


@pytest.mark.behaviour("E25")
def test_two_threads(parts: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both commit in the same moment: one of them fails, and tries again."""
    both = threading.Barrier(2, timeout=60)
    create = live_views.create_live_view
    reached: dict[int, int] = {}

    def create_at_once(*args: object) -> str:
        if (mine := reached.setdefault(threading.get_ident(), 0)) == 0:
            reached[threading.get_ident()] = mine + 1
            both.wait()
        return create(*args)

    monkeypatch.setattr(live_views, "create_live_view", create_at_once)
    for n in (1, 2, 3):
        reached.clear()
        commands = [parts.command(), parts.command()]
        texts = [LEFT.format(f"n + {n}"), RIGHT.format(f"n * {n + 1}")]
        threads = [
            threading.Thread(target=command.sql, args=(text,))
            for command, text in zip(commands, texts, strict=True)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(reached) == 2
        assert seen(parts) == wanted(parts)


def renewed_too_late(lake: Warehouse, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether a live view is right after a text that was made before another definition came to be
    is committed after it."""
    create, others = live_views.create_live_view, [RIGHT.format("n + 2")]

    def create_late(*args: object) -> str:
        made = create(*args)
        while others:
            lake.apart(others.pop())
        return made

    monkeypatch.setattr(live_views, "create_live_view", create_late)
    lake.apart(LEFT.format("n + 1"))
    assert not others
    return seen(lake) == wanted(lake)


def test_one_after_the_other(parts: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    assert renewed_too_late(parts, monkeypatch)


def test_texts_as_they_were(parts: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: nobody looks again for what the text was made of."""

    def without_definitions(*args: object) -> Sources:
        return replace(sources_of(*args), definitions=())

    monkeypatch.setattr(live_views, "sources_of", without_definitions)
    monkeypatch.setattr(live_views.LiveViews, "renew_if_redefined", live_views.LiveViews.renew)
    assert not renewed_too_late(parts, monkeypatch)


def test_made_again_as_it_was(parts: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """`dbt run` makes every logical view again; a live view over it has its text already."""
    create, made = live_views.create_live_view, []

    def counted(*args: object) -> str:
        made.append(create(*args))
        return made[-1]

    monkeypatch.setattr(live_views, "create_live_view", counted)
    parts.sql(LEFT.format("n"))
    assert not made
    parts.sql(LEFT.format("n + 7"))
    assert len(made) == 1
    assert seen(parts) == wanted(parts)


def test_dropped_meanwhile(parts: Warehouse) -> None:
    """A live view does not outlive its view."""
    paused = Paused(parts, "live.before", LEFT.format("n + 1"))
    with paused:
        parts.apart("drop materialized view @.m")
    assert ("v", "m__live") not in parts.relations()


def test_without_a_text(parts: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """One whose query fails now goes, and the warning says so."""
    command, said = parts.command(), list[str]()
    monkeypatch.setattr(command.core.services, "warn", said.append)
    command.sql("create or replace view @.left_part as select id from @.t")
    command.flush()
    assert "m__live was dropped, as its query has no right text any more: " in said[0]
    assert ("v", "m__live") not in parts.relations()
    parts.sql(LEFT.format("n"))
    assert seen(parts) == wanted(parts)
