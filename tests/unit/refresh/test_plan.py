from __future__ import annotations

import pytest

from dbt.adapters.spark_mv import reasons
from dbt.adapters.spark_mv.errors import MethodNotAvailable
from dbt.adapters.spark_mv.freshness import Freshness, Verdict
from dbt.adapters.spark_mv.refresh.plan import CompleteRefresh, NoRefresh, plan_refresh

FRESH = Verdict(Freshness.FRESH, reasons.NOTHING_CHANGED)
STALE = Verdict(Freshness.STALE, reasons.base_table_changed(["db.t"]))
UNKNOWN = Verdict(Freshness.UNKNOWN, reasons.WRITTEN_BY_HAND)


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
    found = plan_refresh("db.v", verdict, method, volatile, explicit)
    assert isinstance(found, kind) and found.reason.code == code


@pytest.mark.parametrize("method", ["fast", "partition", "quick", ""])
def test_methods_that_are_not_there(method: str) -> None:
    with pytest.raises(MethodNotAvailable, match=r"db\.v"):
        plan_refresh("db.v", STALE, method, (), True)
