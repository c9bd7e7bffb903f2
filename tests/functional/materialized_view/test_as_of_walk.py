"""Refreshes to times in any history of writes: rows are what the query returned at each of them."""

from __future__ import annotations

import random

import pytest

from dbt.adapters.spark_mv.state import as_of
from tests.functional.materialized_view.earlier_times import (
    NAMES,
    ROLLED_BACK,
    WRITES,
    make,
    mark,
    refresh,
    rows,
    stored,
)
from tests.functional.materialized_view.warehouse import Warehouse
from tests.sampling import sample


def walked(lake: Warehouse, seed: int) -> tuple[list[str], int]:
    """Views whose rows at some of the times were not those of their query then; and how many rows
    were compared. Writes come in any order, and the walk stops at any of them."""
    chance = random.Random(seed)
    make(lake)
    first = lake.snapshot("@.bills")
    writes = chance.sample(WRITES, len(WRITES))
    writes.insert(chance.randrange(2, len(writes)), ROLLED_BACK)
    marks = [mark(lake)]
    for write in writes:
        for statement in write.format(schema=lake.schema, first=first).split("; "):
            lake.spark(statement)
        marks.append(mark(lake))
    wrong, compared = [], 0
    for name in NAMES:
        if name == "sums":  # those of `over` are brought to the same times
            continue
        for number in sorted(chance.sample(range(len(marks)), 4)):
            moment, expected = marks[number]
            method = chance.choice(["auto", "auto", "complete"])
            state, reason = refresh(lake, name, moment, method=method)
            seen = stored(lake, name)
            compared += len(seen)
            if state not in ("SUCCEEDED", "SKIPPED") or seen != expected[name]:
                wrong.append(f"{name} at {number}: {state} {reason}")
            if name == "over" and stored(lake, "sums") != expected["sums"]:
                wrong.append(f"sums at {number}")
    for name in NAMES:
        assert rows(lake, f"select * from @.{name}") is not None
        if sorted(lake.apart(f"select * from @.{name}"), key=repr) != marks[-1][1][name]:
            wrong.append(f"{name} when it was read")
    return wrong, compared


@pytest.mark.behaviour("D26")
@pytest.mark.parametrize("seed", sample(range(2), range(2, 8)))
def test_walk(lake: Warehouse, seed: int) -> None:
    wrong, compared = walked(lake, seed)
    assert wrong == [] and compared > 40


def test_time_matters(lake: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mutant: versions as they are now."""
    monkeypatch.setattr(as_of.PastVersions, "_then", lambda self, versions, name, now: now)
    assert len(walked(lake, 0)[0]) > 5
