"""Staging keeps its promises in every interleaving; each of its rules is needed."""

from __future__ import annotations

import pytest

from tests.model.explorer import Found, explore
from tests.model.staging_protocol import RULES, Actor, State, steps, violation

CREATE, CREATE_OTHER, CREATE_BACK = Actor("create", 1), Actor("create", 2), Actor("create", 0)
REBUILD, DROP, CLEAN = Actor("rebuild"), Actor("drop"), Actor("clean")
GROUPS = {
    "create, create": (CREATE, CREATE),
    "create, create another": (CREATE, CREATE_OTHER),
    "create, rebuild": (CREATE, REBUILD),
    "rebuild, rebuild": (REBUILD, REBUILD),
    "rebuild, drop": (REBUILD, DROP),
    "drop, create again": (DROP, CREATE_BACK),
    "create, drop, rebuild": (CREATE, DROP, REBUILD),
    "create, drop, clean": (CREATE, DROP, CLEAN),
    "there and back, clean": (CREATE, CREATE_BACK, CLEAN),
    "create, rebuild, clean": (CREATE, REBUILD, CLEAN),
}


def look_at(rules: frozenset[str], group: str, pinned: bool) -> Found:
    start = State(GROUPS[group], pinned=pinned)
    return explore(start, lambda state: steps(state, rules), violation)


@pytest.mark.parametrize("pinned", [True, False], ids=["pinned", "unpinned"])
@pytest.mark.parametrize("group", GROUPS)
def test_building_aside_holds(group: str, pinned: bool) -> None:
    found = look_at(RULES, group, pinned)
    assert found.broken is None, str(found)
    assert found.states > 50


MUTANTS = {
    "storage before view": ("create, create", True),
    "old storage dropped after the swap": ("create, create", True),
    "every build has a table of its own": ("there and back, clean", True),
    "builds end after their swap": ("create, rebuild, clean", True),
    "ended builds are listed before the view is observed": ("create, rebuild, clean", True),
    "refreshes swap only what they observed": ("rebuild, drop", True),
}


@pytest.mark.parametrize("rule", sorted(RULES))
def test_every_rule_is_needed(rule: str) -> None:
    group, pinned = MUTANTS[rule]
    assert look_at(RULES - {rule}, group, pinned).broken is not None


def test_adopting_what_another_build_left_is_wrong() -> None:
    """Unpinned rows are visible under a derived name before their builder has compared."""
    rules = RULES - {"every build has a table of its own"}
    found = look_at(rules, "create, create", False)
    assert found.broken is not None and found.broken.startswith("FRESH")
