"""Values that are computed once, and of two objects at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from dbt.adapters.spark_mv.core.lazy import lazy


class _Slow:
    def __init__(self, both: Barrier) -> None:
        self._both, self.computed = both, 0

    @lazy
    def value(self) -> int:
        """Waits for the other one."""
        self._both.wait(timeout=20)
        self.computed += 1
        return self.computed


def test_objects_do_not_wait_for_each_other() -> None:
    both = Barrier(2)
    slow = [_Slow(both), _Slow(both)]
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(lambda one: one.value, slow)) == [1, 1]
    assert [one.value for one in slow] == [1, 1], "computed once"


def test_of_the_class() -> None:
    assert _Slow.value.__doc__ == "Waits for the other one."
