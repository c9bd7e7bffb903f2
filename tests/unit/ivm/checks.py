"""Rounds of random tables and random changes, in which a check has to hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import duckdb
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.sampling import WHOLE
from tests.unit.ivm.formulas import TABLES, Engine, Rows

ROUNDS = 10 if WHOLE else 6
MANY_ROUNDS = 40
Check = Callable[[Engine, str, Mapping[str, Rows], Mapping[str, Rows], bool], bool]
Tables = st.SearchStrategy[tuple[dict[str, Rows], dict[str, Rows]]]
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


@st.composite
def sparse_versions(draw: st.DrawFn) -> tuple[dict[str, Rows], dict[str, Rows]]:
    """Tables of many keys, or empty ones, of which one row differs: nothing else hides what is
    passed over."""
    row = st.tuples(*[st.sampled_from([None, *range(1, 7)])] * 3)
    full = st.lists(row, min_size=6, max_size=12)
    is_empty = st.sampled_from([True, *[False] * 5])
    old: dict[str, Rows] = {t: [] if draw(is_empty) else draw(full) for t in TABLES}
    table = draw(st.sampled_from(TABLES))
    gone, came = draw(st.sampled_from([(0, 1), (1, 0), (1, 1)]))
    return old, {**old, table: [*old[table][gone:], *(draw(row) for _ in range(came))]}


class _DoesNotHold(Exception):
    pass


def holds(
    check: Check,
    engine: Engine,
    sql: str,
    rounds: int = ROUNDS,
    tables: Tables | None = None,
) -> bool:
    """Whether a check holds in every round; `tables` are others than `versions`."""

    @settings(
        max_examples=rounds,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        # The first that fails says it all.
        report_multiple_bugs=False,
    )
    @given(versions() if tables is None else tables, st.booleans())
    def run(rows: tuple[dict[str, Rows], dict[str, Rows]], tidy: bool) -> None:
        if not check(engine, sql, *rows, tidy):
            raise _DoesNotHold

    try:
        run()
    except _DoesNotHold:
        return False
    return True


def is_noticed(
    check: Check,
    engine: Engine,
    sql: str,
    rounds: int = ROUNDS,
    tables: Tables | None = None,
) -> bool:
    """Whether a rule that is wrong on purpose gives other rows, or is refused by the refresh."""
    try:
        return not holds(check, engine, sql, rounds, tables)
    except duckdb.Error as error:
        if "more rows than there were" not in str(error):
            raise
        return True
