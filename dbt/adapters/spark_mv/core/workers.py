"""Runs independent tasks side by side, in at most so many threads of the process."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from graphlib import TopologicalSorter
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Result = TypeVar("Result")


class Workers:
    """Threads that help whoever has several tasks: at most `most` work at once, callers included.

    The caller works itself, so tasks that have tasks of their own never wait for a free thread.
    `interrupt` is called when the caller is interrupted, for the helpers to end soon.
    """

    def __init__(self, most: int, interrupt: Callable[[], None]) -> None:
        self.most = max(most, 1)
        self._free = threading.Semaphore(self.most)
        self._pool: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()
        self._interrupt = interrupt
        self._here = threading.local()

    def run(
        self,
        tasks: Mapping[Key, Callable[[], Result]],
        after: Mapping[Key, Collection[Key]] | None = None,
    ) -> list[Result]:
        """Run all tasks, each when those that it is to come `after` have ended, well or not.

        Returns what they return, in the order given. Raises the first error in that order, when
        all have ended.
        """
        queue = _Queue(tasks, after or {})
        if len(tasks) < 2:
            queue.work()
            return queue.results()
        with self._counted():
            helpers: list[Future[None]] = []
            while len(helpers) < len(tasks) - 1 and self._free.acquire(blocking=False):
                helpers.append(self._submit(queue))
            try:
                queue.work()
                for helper in helpers:
                    helper.result()
            except BaseException:
                queue.stop()
                self._interrupt()
                for helper in helpers:
                    helper.exception()
                raise
        return queue.results()

    def _submit(self, queue: _Queue[Key, Result]) -> Future[None]:
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self.most, thread_name_prefix="mv-worker")
            return self._pool.submit(contextvars.copy_context().run, self._help, queue)

    def _help(self, queue: _Queue[Key, Result]) -> None:
        self._here.is_counted = True
        try:
            queue.work()
        finally:
            self._free.release()

    @contextmanager
    def _counted(self) -> Iterator[None]:
        """Count the calling thread, too, unless more threads than that are at work anyway."""
        is_mine = not getattr(self._here, "is_counted", False) and self._free.acquire(
            blocking=False
        )
        self._here.is_counted = getattr(self._here, "is_counted", False) or is_mine
        try:
            yield
        finally:
            if is_mine:
                self._here.is_counted = False
                self._free.release()

    def close(self) -> None:
        """End the threads, which have no task any more; whoever has tasks later gets new ones."""
        with self._lock:
            if self._pool is not None:
                self._pool.shutdown(wait=False)
            self._pool = None


class _Queue(Generic[Key, Result]):
    """Tasks in an order that respects which come after which, for several threads."""

    def __init__(
        self, tasks: Mapping[Key, Callable[[], Result]], after: Mapping[Key, Collection[Key]]
    ) -> None:
        self._tasks = tasks
        self._results: dict[Key, Result] = {}
        self._errors: dict[Key, Exception] = {}
        self._sorter = TopologicalSorter(
            {key: [other for other in after.get(key, ()) if other in tasks] for key in tasks}
        )
        self._sorter.prepare()
        self._ready: list[Key] = []
        self._changed = threading.Condition()
        self._is_stopped = False

    def work(self) -> None:
        """Run tasks of the queue until none is left."""
        while True:
            with self._changed:
                key = self._next()
            if key is None:
                return
            try:
                self._results[key] = self._tasks[key]()
            except Exception as error:
                self._errors[key] = error
            with self._changed:
                self._sorter.done(key)
                self._changed.notify_all()

    def _next(self) -> Key | None:
        while not self._is_stopped:
            self._ready += self._sorter.get_ready()
            if self._ready:
                return self._ready.pop(0)
            if not self._sorter.is_active():
                return None
            self._changed.wait()
        return None

    def stop(self) -> None:
        """Begin no other task."""
        with self._changed:
            self._is_stopped = True
            self._changed.notify_all()

    def results(self) -> list[Result]:
        """What the tasks returned; raises the first error."""
        for key in self._tasks:
            if key in self._errors:
                raise self._errors[key]
        return [self._results[key] for key in self._tasks]
