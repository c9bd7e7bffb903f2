"""A view over a view is never wrongly fresh; each rule that this rests on is needed."""

from __future__ import annotations

import pytest

from tests.model.chain import READS_LOWER_FIRST, RULES, Reader, Refresher, State, steps, violation
from tests.model.explorer import Found, explore

TWO = (Refresher(True), Refresher(True))
WORLDS = {
    "refreshes": State(TWO),
    "a reader": State(TWO, Reader(), base_rollbacks=0, storage_rollbacks=0),
}


def look_at(world: str, rules: frozenset[str]) -> Found:
    start = WORLDS[world]
    return explore(start, lambda state: steps(state, rules), lambda state: violation(state, rules))


@pytest.mark.parametrize("world", WORLDS)
def test_chain_holds(world: str) -> None:
    found = look_at(world, RULES)
    assert found.broken is None, str(found)
    assert found.states > 1000


def test_limit_after_a_rollback() -> None:
    """A refresh from before a rollback publishes after the reader has observed: not covered."""
    start = WORLDS["a reader"]._replace(base_rollbacks=1)
    found = explore(start, lambda state: steps(state, RULES), lambda state: violation(state, RULES))
    assert found.broken == "a reader got rows from before it began"
    assert "base rolled back" in found.trace


@pytest.mark.parametrize("rule", sorted(RULES))
def test_every_rule_is_needed(rule: str) -> None:
    world = "a reader" if rule == READS_LOWER_FIRST else "refreshes"
    assert look_at(world, RULES - {rule}).broken is not None
