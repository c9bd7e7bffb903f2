"""The index of views by what they read is made again when that has changed, and only then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dbt.adapters.spark_mv.metadata import events as kinds
from dbt.adapters.spark_mv.metadata.events import new_event
from dbt.adapters.spark_mv.metadata.projection import State, apply
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.statements.rewriting.candidates import ViewIndex

NAME = TableName("local", ("s",), "v")
BASE, OTHER = (TableName("local", ("s",), name) for name in ("Base", "other"))


def applied(state: State, kind: str, **payload: Any) -> None:
    apply(state, new_event(kind, "id", NAME.full, invocation_id="", payload=payload))


def registered(state: State, kind: str, sources: Sequence[TableName]) -> None:
    parts = [{"parts": [*source.parts]} for source in sources]
    applied(state, kind, parts=[*NAME.parts], sources=parts, options={})


def test_views_by_what_they_read() -> None:
    state = State()
    registered(state, kinds.CREATED, [BASE])
    index = ViewIndex(state)
    assert index.names == {"base"}
    assert index.of([BASE], []) == [NAME]
    assert index.of([OTHER], []) == []


def test_changes_of_what_views_read() -> None:
    state = State()
    assert ViewIndex(state).is_of(state)
    for kind, sources in ((kinds.CREATED, [BASE]), (kinds.REPLACED, [OTHER])):
        index = ViewIndex(state)
        registered(state, kind, sources)
        assert not index.is_of(state)
        assert ViewIndex(state).of(sources, []) == [NAME]
    index = ViewIndex(state)
    applied(state, kinds.DROPPED)
    assert not index.is_of(state)
    assert ViewIndex(state).of([OTHER], []) == []


def test_other_events_change_nothing() -> None:
    state = State()
    registered(state, kinds.CREATED, [BASE])
    index = ViewIndex(state)
    for kind in (kinds.MARKED_STALE, kinds.REWRITTEN, kinds.SUSPENDED):
        applied(state, kind)
    assert index.is_of(state)
    assert not index.is_of(State())
