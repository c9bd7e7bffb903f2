from __future__ import annotations

import pytest

from dbt.adapters.spark_mv import reasons
from dbt.adapters.spark_mv.errors import MethodNotAvailable
from dbt.adapters.spark_mv.freshness import Freshness, Verdict
from dbt.adapters.spark_mv.reasons import Reason
from dbt.adapters.spark_mv.refresh.estimate import Estimate
from dbt.adapters.spark_mv.refresh.plan import (
    CompleteRefresh,
    FastQuery,
    FastRefresh,
    NoRefresh,
    plan_refresh,
)
from dbt.adapters.spark_mv.sql.names import TableName

FRESH = Verdict(Freshness.FRESH, reasons.NOTHING_CHANGED)
CHANGED = (TableName("c", ("db",), "t"),)
STALE = Verdict(Freshness.STALE, reasons.base_table_changed(["db.t"]), CHANGED)
UNKNOWN = Verdict(Freshness.UNKNOWN, reasons.WRITTEN_BY_HAND)
NOT_FAST = Reason("LIMIT", "it has a LIMIT")
CHEAP = FastQuery("select 1", False, (), Estimate(10_000_000, 10, 0, 10))
DEAR = FastQuery("select 1", False, (), Estimate(10_000_000, 9_000_000, 0, 10))


@pytest.mark.parametrize(
    ("verdict", "method", "volatile", "explicit", "kind", "code"),
    [
        (FRESH, "auto", (), False, NoRefresh, "NOTHING_CHANGED"),
        (FRESH, "auto", (), True, NoRefresh, "NOTHING_CHANGED"),
        (FRESH, "auto", ("now",), False, NoRefresh, "NOTHING_CHANGED"),
        (FRESH, "auto", ("now",), True, CompleteRefresh, "VOLATILE_FUNCTION"),
        (FRESH, "complete", (), True, CompleteRefresh, "REQUESTED"),
        (FRESH, "complete", (), False, NoRefresh, "NOTHING_CHANGED"),
        (STALE, "auto", (), False, CompleteRefresh, "BASE_TABLE_CHANGED"),
        (STALE, "auto", ("now",), True, CompleteRefresh, "BASE_TABLE_CHANGED"),
        (STALE, "complete", (), True, CompleteRefresh, "REQUESTED"),
        (UNKNOWN, "auto", (), False, CompleteRefresh, "WRITTEN_BY_HAND"),
    ],
)
def test_plans(
    verdict: Verdict, method: str, volatile: tuple[str, ...], explicit: bool, kind: type, code: str
) -> None:
    found = plan_refresh("db.v", verdict, method, volatile, explicit, lambda: NOT_FAST)
    assert isinstance(found, kind) and found.reason.code == code


@pytest.mark.parametrize("method", ["partition", "quick", ""])
def test_methods_that_are_not_there(method: str) -> None:
    with pytest.raises(MethodNotAvailable, match=r"db\.v"):
        plan_refresh("db.v", STALE, method, (), True, lambda: CHEAP)


@pytest.mark.parametrize(
    ("verdict", "method", "fast", "kind", "why"),
    [
        (STALE, "auto", CHEAP, FastRefresh, None),
        (STALE, "fast", CHEAP, FastRefresh, None),
        (STALE, "fast", DEAR, FastRefresh, None),
        (STALE, "auto", DEAR, CompleteRefresh, "NOT_CHEAPER"),
        (STALE, "auto", NOT_FAST, CompleteRefresh, "LIMIT"),
        (UNKNOWN, "auto", CHEAP, CompleteRefresh, "WRITTEN_BY_HAND"),
        (FRESH, "fast", CHEAP, NoRefresh, None),
        (STALE, "complete", CHEAP, CompleteRefresh, None),
    ],
)
def test_fast_or_complete(
    verdict: Verdict, method: str, fast: FastQuery | Reason, kind: type, why: str | None
) -> None:
    """Fast where it is possible and cheaper; complete with the reason otherwise."""
    found = plan_refresh("db.v", verdict, method, (), False, lambda: fast)
    assert isinstance(found, kind)
    if isinstance(found, CompleteRefresh):
        assert (found.why_not_fast.code if found.why_not_fast else None) == why


@pytest.mark.parametrize(
    ("verdict", "fast", "code"),
    [(STALE, NOT_FAST, "LIMIT"), (UNKNOWN, CHEAP, "WRITTEN_BY_HAND")],
)
def test_strict_method(verdict: Verdict, fast: FastQuery | Reason, code: str) -> None:
    """Where only fast is wanted, there is no silent complete refresh."""
    with pytest.raises(MethodNotAvailable, match=code):
        plan_refresh("db.v", verdict, "fast", (), True, lambda: fast)
