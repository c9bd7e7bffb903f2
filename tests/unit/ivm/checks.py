"""Rounds of random tables and random changes, in which a check has to hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import duckdb
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.sampling import WHOLE
from tests.unit.ivm.formulas import TABLES, Engine, Rows

ROUNDS = 10 if WHOLE else 6
MANY_ROUNDS = 40
Check = Callable[[Engine, str, Mapping[str, Rows], Mapping[str, Rows], bool], bool]
_NUMBERS = st.sampled_from([None, 1, 2, 3])
_ROW = st.tuples(_NUMBERS, _NUMBERS, _NUMBERS)


@st.composite
def versions(draw: st.DrawFn) -> tuple[dict[str, Rows], dict[str, Rows]]:
    """Small tables, likely with duplicates, before and after."""
    old: dict[str, Rows] = {}
    new: dict[str, Rows] = {}
    inserts_only = draw(st.booleans())
    for table in TABLES:
        old[table] = draw(st.lists(_ROW, min_size=1, max_size=6))
        kept = [row for row in old[table] if inserts_only or draw(st.booleans())]
        new[table] = [*kept, *draw(st.lists(_ROW, max_size=2))]
    return old, new


def holds(check: Check, engine: Engine, sql: str, rounds: int = ROUNDS) -> bool:
    """Whether a check holds in every round."""
    failed: list[Any] = []

    @settings(
        max_examples=rounds,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(versions(), st.booleans())
    def run(rows: tuple[dict[str, Rows], dict[str, Rows]], tidy: bool) -> None:
        if not check(engine, sql, *rows, tidy):
            failed.append(rows)

    run()
    return not failed


def is_noticed(check: Check, engine: Engine, sql: str, rounds: int = ROUNDS) -> bool:
    """Whether a rule that is wrong on purpose gives other rows, or is refused by the refresh."""
    try:
        return not holds(check, engine, sql, rounds)
    except duckdb.Error as error:
        if "more rows than there were" not in str(error):
            raise
        return True
