"""The index of views by what they read is made again when that has changed, and only then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from dbt.adapters.spark_mv.metadata import events as kinds
from dbt.adapters.spark_mv.metadata.events import new_event
from dbt.adapters.spark_mv.metadata.projection import State, apply
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.statements.rewriting.view_index import MOST_VIEWS, ViewIndex
from dbt.adapters.spark_mv.views.definition import MaterializedView

NAME = TableName("local", ("s",), "v")
BASE, OTHER = (TableName("local", ("s",), name) for name in ("Base", "other"))


def applied(state: State, kind: str, **payload: Any) -> None:
    apply(state, new_event(kind, "id", NAME.full, invocation_id="", payload=payload))


def registered(state: State, kind: str, sources: Sequence[TableName]) -> None:
    parts = [{"parts": [*source.parts]} for source in sources]
    applied(state, kind, parts=[*NAME.parts], sources=parts, options={})


def tried(index: ViewIndex, *tables: TableName) -> list[TableName]:
    return [view.name for view in index.of(tables, [])[0]]


def test_views_by_what_they_read() -> None:
    state = State()
    registered(state, kinds.CREATED, [BASE])
    index = ViewIndex(state)
    assert index.names == {"base"}
    assert tried(index, BASE) == [NAME]
    assert tried(index, OTHER) == []


def test_changes_of_what_views_read() -> None:
    state = State()
    assert ViewIndex(state).is_of(state)
    for kind, sources in ((kinds.CREATED, [BASE]), (kinds.REPLACED, [OTHER])):
        index = ViewIndex(state)
        registered(state, kind, sources)
        assert not index.is_of(state)
        assert tried(ViewIndex(state), *sources) == [NAME]
    index = ViewIndex(state)
    applied(state, kinds.DROPPED)
    assert not index.is_of(state)
    assert tried(ViewIndex(state), OTHER) == []


def test_other_events_change_nothing() -> None:
    state = State()
    registered(state, kinds.CREATED, [BASE])
    index = ViewIndex(state)
    for kind in (kinds.MARKED_STALE, kinds.REWRITTEN, kinds.SUSPENDED):
        applied(state, kind)
    assert index.is_of(state)
    assert not index.is_of(State())


def test_of_many_views_those_that_promise_most() -> None:
    """First those whose texts have all columns, of these the ones with few rows; each is tried or
    among the others."""
    state, names = State(), [BASE.sibling(f"v{number}") for number in range(3 * MOST_VIEWS)]
    for number, name in enumerate(names):
        text = "select DAY, shop from base" if number % 3 else "select shop from base"
        payload = {"parts": [*name.parts], "sources": [{"parts": [*BASE.parts]}], "options": {}}
        about = {"id": name.name, "name": name.full}
        for kind, more in (
            (kinds.CREATED, {**payload, "definition": text}),
            (kinds.REFRESH_SUCCEEDED, {"rows": 1000 - number}),
        ):
            apply(
                state, new_event(kind, about["id"], about["name"], invocation_id="", payload=more)
            )
    first, others = ViewIndex(state).of([BASE], ["day", "shop"])
    wanted = [name for number, name in enumerate(names) if number % 3][::-1][:MOST_VIEWS]
    assert [view.name for view in first] == wanted
    assert {view.name for view in others} == set(names) - set(wanted)


def test_a_view_as_it_was_found() -> None:
    """It may be another one after its next build, or if it is registered again."""
    state = State()
    registered(state, kinds.CREATED, [BASE])
    index = ViewIndex(state)
    ((view,), _) = index.of([BASE], [])
    assert view.last_found is None
    view.last_found = found = cast(MaterializedView, object())
    applied(state, kinds.MARKED_STALE)
    assert view.last_found is found
    applied(state, kinds.REFRESH_SUCCEEDED, rows=1)
    assert view.last_found is None
