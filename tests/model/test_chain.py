"""A view over a view is never wrongly fresh; each rule that this rests on is needed."""

from __future__ import annotations

import pytest

from tests.model.chain import RULES, Refresher, State, steps, violation
from tests.model.explorer import Found, explore

START = State((Refresher(True), Refresher(True)))


def look_at(rules: frozenset[str]) -> Found:
    return explore(START, lambda state: steps(state, rules), lambda state: violation(state, rules))


def test_chain_holds() -> None:
    found = look_at(RULES)
    assert found.broken is None, str(found)
    assert found.states > 1000


@pytest.mark.parametrize("rule", sorted(RULES))
def test_every_rule_is_needed(rule: str) -> None:
    assert look_at(RULES - {rule}).broken is not None
