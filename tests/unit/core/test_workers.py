"""Tasks side by side: at most so many at once, in the order that they ask for, whoever calls."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar

import pytest

from dbt.adapters.spark_mv.core.workers import Workers

_TIMEOUT = 30
_CONTEXT: ContextVar[str] = ContextVar("context", default="none")


def no_interrupt() -> None:
    raise AssertionError("nobody was interrupted")


class Counter:
    """How many tasks run at once, and the most that did; waits until `together` have begun."""

    def __init__(self, together: int) -> None:
        self._lock = threading.Lock()
        self._barrier = threading.Barrier(together)
        self._now = self.most = 0

    def task(self) -> Callable[[], None]:
        def run() -> None:
            with self._lock:
                self._now += 1
                self.most = max(self.most, self._now)
            self._barrier.wait(_TIMEOUT)
            with self._lock:
                self._now -= 1

        return run


@pytest.mark.parametrize("most", [1, 2, 3, 5])
def test_so_many_at_once(most: int) -> None:
    """Six tasks, of which `most` wait for each other: no fewer run at once, and no more."""
    counter = Counter(most)
    count = 6 - 6 % most
    Workers(most, no_interrupt).run({n: counter.task() for n in range(count)})
    assert counter.most == most


def test_results_in_the_order_given() -> None:
    second = threading.Event()

    def first() -> str:
        assert second.wait(_TIMEOUT)
        return "first"

    def other() -> str:
        second.set()
        return "second"

    assert Workers(2, no_interrupt).run({"b": first, "a": other}) == ["first", "second"]
    assert Workers(2, no_interrupt).run({}) == []


@pytest.mark.parametrize("most", [1, 2, 4])
def test_order_is_respected(most: int) -> None:
    """A diamond with a tail; what is not among the tasks holds up nothing."""
    ended: list[str] = []
    after = {"b": ["a", "elsewhere"], "c": ["a"], "d": ["b", "c"], "e": ["d"]}

    def task(name: str) -> Callable[[], None]:
        def run() -> None:
            assert set(after.get(name, ())) - {"elsewhere"} <= set(ended)
            ended.append(name)

        return run

    Workers(most, no_interrupt).run({name: task(name) for name in "edcba"}, after)
    assert sorted(ended) == list("abcde")


@pytest.mark.parametrize("most", [1, 3])
def test_the_first_error_when_all_have_ended(most: int) -> None:
    ended: list[int] = []

    def task(number: int) -> Callable[[], None]:
        def run() -> None:
            ended.append(number)
            if number in (2, 3):
                raise ValueError(str(number))

        return run

    with pytest.raises(ValueError, match="2"):
        Workers(most, no_interrupt).run({n: task(n) for n in range(5)}, {4: [3]})
    assert sorted(ended) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("most", [1, 2, 3])
def test_tasks_with_tasks(most: int) -> None:
    """Nested calls never wait for a free thread, and count as one."""
    workers, running, seen = Workers(most, no_interrupt), threading.Semaphore(most), []

    def leaf() -> None:
        assert running.acquire(blocking=False), "more threads than wanted"
        seen.append(1)
        running.release()

    def branch(depth: int) -> Callable[[], None]:
        inner = leaf if depth == 0 else branch(depth - 1)
        return lambda: workers.run(dict.fromkeys(range(3), inner)) and None

    branch(3)()
    assert len(seen) == 3**4


def test_several_callers_share_the_threads() -> None:
    """Callers that are more than `most` work alone, and all of them end."""
    workers = Workers(2, no_interrupt)
    found: list[int] = []

    def call() -> None:
        found.extend(workers.run({n: lambda n=n: n for n in range(20)}))

    callers = [threading.Thread(target=call) for _ in range(5)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(_TIMEOUT)
    assert sorted(found) == sorted(list(range(20)) * 5)
    # All slots are free again.
    counter = Counter(2)
    workers.run({n: counter.task() for n in range(2)})


def test_helpers_have_the_context_of_the_caller() -> None:
    """dbt tells by it which node a line of its log is about."""
    _CONTEXT.set("node")
    barrier = threading.Barrier(2)

    def task() -> tuple[str, int]:
        barrier.wait(_TIMEOUT)
        return _CONTEXT.get(), threading.get_ident()

    (one, here), (other, there) = Workers(2, no_interrupt).run({1: task, 2: task})
    assert one == other == "node" and here != there


def test_interrupt() -> None:
    """An interrupted caller has the helpers end, waits for them, and begins nothing else."""
    both, interrupted = threading.Barrier(2), threading.Event()
    ended: list[str] = []
    caller = threading.get_ident()

    def task() -> None:
        both.wait(_TIMEOUT)
        if threading.get_ident() == caller:
            raise KeyboardInterrupt
        assert interrupted.wait(_TIMEOUT)
        ended.append("helper")

    with pytest.raises(KeyboardInterrupt):
        Workers(2, interrupted.set).run({1: task, 2: task, 3: lambda: ended.append("late")})
    assert ended == ["helper"]


def test_after_the_end() -> None:
    """dbt may close the connections of a command more than once, and go on."""
    workers = Workers(2, no_interrupt)
    for _ in range(2):
        counter = Counter(2)
        workers.run({n: counter.task() for n in range(2)})
        assert counter.most == 2
        workers.close()
    workers.close()
