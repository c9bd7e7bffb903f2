from __future__ import annotations

from dataclasses import replace

import pytest

from dbt.adapters.spark_mv.core import reasons
from dbt.adapters.spark_mv.core.errors import MethodNotAvailable
from dbt.adapters.spark_mv.core.reasons import Reason
from dbt.adapters.spark_mv.metadata.invalidations import Untrusted
from dbt.adapters.spark_mv.planning.cost import Estimate, PartitionEstimate, slowness
from dbt.adapters.spark_mv.planning.plan import (
    CompleteRefresh,
    FastQuery,
    FastRefresh,
    KeyRefresh,
    NoRefresh,
    PartitionQuery,
    PartitionRefresh,
    plan_refresh,
)
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.state.freshness import Freshness, Verdict

FRESH = Verdict(Freshness.FRESH, reasons.NOTHING_CHANGED)
CHANGED = (TableName("c", ("db",), "t"),)
STALE = Verdict(Freshness.STALE, reasons.base_table_changed(["db.t"]), CHANGED)
UNKNOWN = Verdict(Freshness.UNKNOWN, reasons.WRITTEN_BY_HAND)
NOT_FAST = Reason("LIMIT", "it has a LIMIT")
CHEAP = FastQuery("select 1", False, (), Estimate(10_000_000, 10, 0, 10))
DEAR = FastQuery("select 1", False, (), Estimate(10_000_000, 9_000_000, 0, 10))
REWRITES = FastQuery("select 1", False, (), Estimate(10_000_000, 10, 0, 800_000))
NOT_PARTITIONED = Reason("NOT_PARTITIONED", "it has no partitions")
FEW = PartitionQuery("select 1", "p = 1", ("/p=1/",), (), PartitionEstimate(10**7, 10, 10, 1, 90))
MANY = PartitionQuery("select 1", "true", (), (), PartitionEstimate(10**7, 10, 10, 80, 90))


class Prepared:
    """Ways that are known already."""

    def __init__(
        self,
        fast: FastQuery | Reason,
        partition: PartitionQuery | Reason = NOT_PARTITIONED,
        rows: int = 10**7,
        again: KeyRefresh | None = None,
    ) -> None:
        self._fast, self._partition, self._rows, self._again = fast, partition, rows, again

    def fast(self) -> FastQuery | Reason:
        return self._fast

    def partition(self) -> PartitionQuery | Reason:
        return self._partition

    def untrusted(self) -> KeyRefresh | Reason:
        return self._again or NOT_PARTITIONED

    def rows(self) -> int:
        return self._rows

    def stored_rows(self) -> int:
        return 10


@pytest.mark.parametrize(
    ("verdict", "method", "volatile", "explicit", "kind", "code"),
    [
        (FRESH, "auto", (), False, NoRefresh, "NOTHING_CHANGED"),
        (FRESH, "auto", (), True, NoRefresh, "NOTHING_CHANGED"),
        (FRESH, "auto", ("now",), False, NoRefresh, "NOTHING_CHANGED"),
        (FRESH, "auto", ("now",), True, CompleteRefresh, "VOLATILE_FUNCTION"),
        (FRESH, "complete", (), True, NoRefresh, "NOTHING_CHANGED"),
        (FRESH, "complete", ("now",), True, CompleteRefresh, "VOLATILE_FUNCTION"),
        (FRESH, "complete", (), False, NoRefresh, "NOTHING_CHANGED"),
        (STALE, "auto", (), False, CompleteRefresh, "BASE_TABLE_CHANGED"),
        (STALE, "auto", ("now",), True, CompleteRefresh, "BASE_TABLE_CHANGED"),
        (STALE, "complete", (), True, CompleteRefresh, "BASE_TABLE_CHANGED"),
        (UNKNOWN, "auto", (), False, CompleteRefresh, "WRITTEN_BY_HAND"),
    ],
)
def test_plans(
    verdict: Verdict, method: str, volatile: tuple[str, ...], explicit: bool, kind: type, code: str
) -> None:
    found = plan_refresh("db.v", verdict, method, volatile, explicit, Prepared(NOT_FAST))
    assert isinstance(found, kind) and found.reason.code == code


@pytest.mark.parametrize("verdict", [FRESH, STALE])
def test_asked_for_by_name(verdict: Verdict) -> None:
    """Who asks for a complete refresh gets one; whose option is that method gets what is needed."""
    found = plan_refresh("db.v", verdict, "complete", (), True, Prepared(NOT_FAST), recompute=True)
    assert isinstance(found, CompleteRefresh) and found.reason.code == "REQUESTED"


@pytest.mark.parametrize("method", ["quick", ""])
def test_methods_that_are_not_there(method: str) -> None:
    with pytest.raises(MethodNotAvailable, match=r"db\.v"):
        plan_refresh("db.v", STALE, method, (), True, Prepared(CHEAP))


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
    found = plan_refresh("db.v", verdict, method, (), False, Prepared(fast))
    assert isinstance(found, kind)
    if isinstance(found, CompleteRefresh):
        assert (found.why_not_fast.code if found.why_not_fast else None) == why


@pytest.mark.behaviour("D14")
@pytest.mark.parametrize(
    ("verdict", "fast", "code"),
    [(STALE, NOT_FAST, "LIMIT"), (UNKNOWN, CHEAP, "WRITTEN_BY_HAND")],
)
def test_strict_method(verdict: Verdict, fast: FastQuery | Reason, code: str) -> None:
    """Where only fast is wanted, there is no silent complete refresh."""
    with pytest.raises(MethodNotAvailable, match=code):
        plan_refresh("db.v", verdict, "fast", (), True, Prepared(fast))


@pytest.mark.parametrize(
    ("fast", "complete", "slow"),
    [
        ([3.0, 4.0, 5.0], [2.0, 2.0], 2.0),
        ([1.0, 1.0], [2.0, 9.0, 2.0], 0.5),
        ([90.0, 90.0], [1.0, 1.0], 4.0),
        ([3.0], [2.0, 2.0], 1.0),
        ([3.0, 3.0], [], 1.0),
        ([3.0, 3.0], [0.0, 0.0], 1.0),
    ],
)
def test_history_corrects(fast: list[float], complete: list[float], slow: float) -> None:
    """What both methods took before, if there is enough of it, and within limits."""
    assert slowness({"fast": fast, "complete": complete}, "fast") == slow


def test_slow_methods_are_not_taken() -> None:
    """The same estimate, with what the history of the view says of it."""
    known = replace(CHEAP, estimate=replace(CHEAP.estimate, slowness=9.0))
    found = plan_refresh("db.v", STALE, "auto", (), False, Prepared(known))
    assert isinstance(found, CompleteRefresh) and "history" in str(found.estimated)
    few = replace(FEW, estimate=replace(FEW.estimate, slowness=9.0))
    found = plan_refresh("db.v", STALE, "auto", (), False, Prepared(NOT_FAST, few))
    assert isinstance(found, CompleteRefresh) and found.cost == 10**7 + 20


@pytest.mark.parametrize(
    ("fast", "partition", "rows", "kind", "why"),
    [
        (CHEAP, FEW, 10**7, FastRefresh, None),
        (DEAR, FEW, 10**7, PartitionRefresh, None),
        (REWRITES, FEW, 10**7, PartitionRefresh, None),
        (REWRITES, MANY, 10**7, FastRefresh, None),
        (REWRITES, NOT_PARTITIONED, 10**7, FastRefresh, None),
        (NOT_FAST, FEW, 10**7, PartitionRefresh, None),
        (NOT_FAST, MANY, 10**7, CompleteRefresh, "NOT_CHEAPER"),
        (NOT_FAST, FEW, 10**6, CompleteRefresh, "NOT_CHEAPER"),
        (NOT_FAST, NOT_PARTITIONED, 10**7, CompleteRefresh, "NOT_PARTITIONED"),
    ],
)
def test_by_partition_or_not(
    fast: FastQuery | Reason,
    partition: PartitionQuery | Reason,
    rows: int,
    kind: type,
    why: str | None,
) -> None:
    """The cheaper of both; partitions, of which Spark has to be asked, only if fast is not next to
    nothing. Small tables are not looked into."""
    candidates = Prepared(fast, partition, rows)
    found = plan_refresh("db.v", STALE, "auto", (), False, candidates)
    assert isinstance(found, kind)
    if isinstance(found, CompleteRefresh):
        assert found.why_not_partition is not None and found.why_not_partition.code == why


def test_strict_partition() -> None:
    """Where only partitions are wanted, there is no silent complete refresh."""
    with pytest.raises(MethodNotAvailable, match=r"by partition: NOT_PARTITIONED"):
        plan_refresh("db.v", STALE, "partition", (), True, Prepared(CHEAP))
    found = plan_refresh("db.v", STALE, "partition", (), True, Prepared(CHEAP, MANY))
    assert isinstance(found, PartitionRefresh)


INVALIDATED = Verdict(
    Freshness.STALE, reasons.invalidated("1 key", "ann", 5), CHANGED, invalidated=True
)


@pytest.mark.parametrize("way", ["keys", "partition"])
def test_untrusted_rows(way: str) -> None:
    """These alone with method auto, partitions also by that method; with no other."""
    again = KeyRefresh(INVALIDATED.reason, Untrusted(("e1",), 5, ("k",), ((1,),)), way)
    known, unknown = Prepared(CHEAP, FEW, again=again), Prepared(CHEAP, FEW)
    assert plan_refresh("v", INVALIDATED, "auto", (), False, known) is again
    assert plan_refresh("v", INVALIDATED, "auto", (), False, unknown).method == "complete"
    assert plan_refresh("v", INVALIDATED, "complete", (), False, known).method == "complete"
    if way == "partition":
        assert plan_refresh("v", INVALIDATED, "partition", (), False, known) is again
    for method in ("fast", "partition"):
        with pytest.raises(MethodNotAvailable):
            plan_refresh("v", INVALIDATED, method, (), False, unknown)
        if method != way:
            with pytest.raises(MethodNotAvailable):
                plan_refresh("v", INVALIDATED, method, (), False, known)
