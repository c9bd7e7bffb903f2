"""Planning and marking with many registered views, in memory."""

from __future__ import annotations

from dbt.adapters.spark_mv.metadata import events as kinds
from dbt.adapters.spark_mv.metadata.events import new_event
from dbt.adapters.spark_mv.metadata.projection import State, apply
from dbt.adapters.spark_mv.operations.selection import Selection
from tests.bench import tiers
from tests.bench.cell import READS, Cell, budget, limits_of
from tests.bench.figures import Spread
from tests.bench.measure import Contender, measure
from tests.bench.world import SCHEMA


def many_views(rounds: int) -> list[Cell]:
    """Chains of ten views over one table."""
    state = _state(tiers.REGISTERED)
    base = next(iter(state.views.values())).sources[0]

    def order() -> None:
        assert len(Selection(state, SCHEMA, ()).of_project()) == tiers.REGISTERED

    def mark() -> None:
        assert len(state.dependents_of(base)) == tiers.REGISTERED

    return [
        _cell(tiers.ORDER_OF_MANY, "plan", order, 200, rounds),
        _cell(tiers.DEPENDENTS_OF_MANY, "search", mark, 10, rounds),
    ]


def _cell(name: str, label: str, action: Contender, most: float, rounds: int) -> Cell:
    samples = measure({label: action}, rounds)
    limit = budget(label, Spread.of(samples[label]), most, " ms")
    return Cell(READS, name, f"{tiers.REGISTERED:,} views", samples, limits=limits_of(limit))


def _state(count: int) -> State:
    state = State()
    for index in range(count):
        above = ["local", SCHEMA, f"v{index - 1}"] if index % 10 else ["local", SCHEMA, "base"]
        payload = {
            "parts": ["local", SCHEMA, f"v{index}"],
            "sources": [{"parts": above}],
            "options": {"tags": []},
        }
        event = new_event(
            kinds.CREATED,
            f"id{index}",
            f"local.{SCHEMA}.v{index}",
            invocation_id="",
            payload=payload,
        )
        apply(state, event)
    return state
