"""The protocol keeps its promises in every interleaving; each of its rules is needed."""

from __future__ import annotations

import pytest

from tests.model.explorer import Found
from tests.model.explorer import explore as explore_states
from tests.model.publish_protocol import RULES, Budget, State, steps, violation

# What may happen around two refreshers; together these are every pair of disturbances.
QUIET = Budget(0, 0, 0, 0, 0, 0, 0)
WORLDS = {
    "writes and crashes": QUIET._replace(writes=2, crashes=1),
    "rollback": QUIET._replace(writes=2, rollbacks=1),
    "re-created": QUIET._replace(writes=1, recreations=1, crashes=1),
    "hand write": QUIET._replace(writes=1, hands=1, crashes=1),
    "compaction": QUIET._replace(writes=1, compactions=1, crashes=1),
    "hand write and compaction": QUIET._replace(writes=1, hands=1, compactions=1),
    "wrong sweep": QUIET._replace(writes=2, sweeps=1),
}
UNPINNED = RULES - {"pinned reads"}


def explore(rules: frozenset[str], start: State) -> Found:
    return explore_states(
        start, lambda state: steps(state, rules), lambda state: violation(state, rules)
    )


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("rules", [RULES, UNPINNED], ids=["pinned", "unpinned"])
def test_protocol_holds(world: str, rules: frozenset[str]) -> None:
    found = explore(rules, State(budget=WORLDS[world]))
    assert found.broken is None, str(found)
    assert found.states > 100


MUTANTS = {
    "label after the rows": ("label in the commit of the rows", "writes and crashes"),
    "versions after the rows": ("versions before rows", "writes and crashes"),
    "last writer wins": ("publish compares main", "writes and crashes"),
    "builds on any main": ("builds stand on the main they began with", "writes and crashes"),
    "half of a build": ("builds have all of their writes", "wrong sweep"),
    "label through hand writes": ("labels only through compactions", "hand write"),
    "version without identity": ("identity of the table in its version", "re-created"),
    "a stored flag": ("freshness compares versions", "writes and crashes"),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_every_rule_is_needed(mutant: str) -> None:
    rule, world = MUTANTS[mutant]
    rules = RULES - {rule}
    if rule == "versions before rows":
        rules -= {"pinned reads"}
    assert explore(rules, State(budget=WORLDS[world])).broken is not None


def test_comparing_versions_alone_misses_a_rollback() -> None:
    """An unpinned table that moves and is rolled back has the version of before."""
    rules = UNPINNED - {"moves compared after unpinned reads"}
    assert explore(rules, State(budget=WORLDS["writes and crashes"])).broken is None
    found = explore(rules, State(budget=WORLDS["rollback"]))
    assert found.broken is not None and "base rolled back" in found.trace


def test_every_rule_has_a_mutant() -> None:
    tested = {rule for rule, _ in MUTANTS.values()} | {"moves compared after unpinned reads"}
    assert tested | {"pinned reads"} == RULES
