"""Refreshes of TPC-H views by each method, after the same change from the same state."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from dbt.adapters.spark_mv.core.errors import MaterializedViewError
from dbt.adapters.spark_mv.planning.request import MANUAL, Request
from dbt.adapters.spark_mv.spark.clients import SessionExecutor
from dbt.adapters.spark_mv.views.registry import load_view
from tests.bench import tpch_views
from tests.bench.measure import differences, progress
from tests.bench.refresh_cells import AUTO, BY_HAND, CTAS, METHODS, Bout
from tests.bench.streams import Stream
from tests.bench.tpch import TABLES, Checkpoint
from tests.bench.world import SCHEMA, World

_WITH_HAND = ("q1", "insert")


class Ring:
    """The copies of each view, the state that every change starts from, and the contenders."""

    def __init__(self, world: World, schema: str, views: Sequence[str]) -> None:
        self._world = world
        self._schema = schema
        self.queries = {view: tpch_views.VIEWS[view].format(s=schema) for view in views}
        self._shuffle = random.Random(7)
        for view, query in self.queries.items():
            progress(f"creating {view}")
            for method in (*METHODS, AUTO):
                world.run(
                    f"create materialized view {SCHEMA}.{view}_{method} "
                    f"options (refresh_method = '{method}') as {query}"
                )
        lines = f"{schema}.lineitem"
        self._hand = f"{SCHEMA}.q1_hand"
        world.sql(f"create table {self._hand} using iceberg as {tpch_views.q1_by_hand(lines)}")
        tables = [f"{schema}.{table}" for table in TABLES]
        self._checkpoint = Checkpoint(world, [*tables, *self._storages(), self._hand])

    def _storages(self) -> list[str]:
        relations = self._world.core.services.resolver
        names = [f"{view}_{method}" for view in self.queries for method in (*METHODS, AUTO)]
        return [load_view(relations, self._world.name(name)).storage.sql for name in names]

    def restore(self) -> None:
        """Bring tables and views back to the first state."""
        self._checkpoint.restore()

    def rounds(self, stream: Stream, fraction: float, count: int) -> list[Bout]:
        """Apply a change `count` times, each time from the first state, and refresh all views."""
        bouts = [Bout(view, stream, fraction) for view in self.queries]
        for number in range(count):
            progress(f"{stream.title(fraction)}, round {number + 1} of {count}")
            self.restore()
            changed = stream.changed(self._world, self._schema, fraction)
            stream.apply(self._world, self._schema, fraction)
            for bout in bouts:
                bout.changed = changed
                self._round(bout)
        return bouts

    def _round(self, bout: Bout) -> None:
        query = self.queries[bout.view]
        contenders: dict[str, Callable[[], object]] = {
            method: self._refresh(bout, method) for method in (*METHODS, AUTO)
        }
        target = f"{SCHEMA}.{bout.view}_ctas"
        contenders[CTAS] = lambda: self._world.sql(
            f"create or replace table {target} using iceberg as {query}"
        )
        if (bout.view, bout.stream.name) == _WITH_HAND:
            contenders[BY_HAND] = self._by_hand()
        if not bout.estimate:
            self._explain(bout)
        order = list(contenders)
        self._shuffle.shuffle(order)
        for label in order:
            self._time(bout, label, contenders[label])
        for label in contenders:
            shown = f"select * from {SCHEMA}.{bout.view}_{label}"
            if label == BY_HAND:
                shown = tpch_views.q1_shown(self._hand)
            if label != CTAS:
                self._check(bout, label, shown, f"select * from {target}")

    def _refresh(self, bout: Bout, method: str) -> Callable[[], object]:
        name = self._world.name(f"{bout.view}_{method}")
        request = Request(MANUAL, method, explicit=True)

        def refresh() -> None:
            with statements_counted() as count:
                outcome = self._world.core.ddl.refresh(name, request)
            bout.statements[method] = count[0]
            if method == AUTO:
                bout.chosen.append(outcome.method)
            elif outcome.method != method:
                bout.problems.append(f"{method} was a {outcome.method} refresh")

        return refresh

    def _by_hand(self) -> Callable[[], object]:
        lines = f"{self._schema}.lineitem"
        old, new = self._checkpoint.snapshots[lines], self._checkpoint.current(lines)
        added = f"{lines} with (`start-snapshot-id` = '{old}', `end-snapshot-id` = '{new}')"
        merged = tpch_views.q1_merged(self._hand, added)
        return lambda: self._world.sql(f"insert overwrite {self._hand} {merged}")

    def _explain(self, bout: Bout) -> None:
        """What `explain` says of the choice between the methods, in a command of its own."""
        core = self._world.new_core()
        statement = f"explain materialized view {SCHEMA}.{bout.view}_{AUTO}"
        with statements_counted() as count:
            answer: Any = core.pipeline.before(statement, self._world.context)
        core.close()
        lines = [str(row[0]) for row in answer.rows]
        found = [line for line in lines if line.startswith(("estimate ", "not fast ", "change "))]
        bout.estimate = "; ".join(" ".join(line.split()) for line in found)
        bout.statements["explain in a new command"] = count[0]

    def _time(self, bout: Bout, label: str, action: Callable[[], object]) -> None:
        began, cpu = time.perf_counter(), self._world.cpu_seconds()
        try:
            action()
        except MaterializedViewError as error:
            bout.problems.append(f"{label}: {error}")
            return
        elapsed, cpu_after = time.perf_counter() - began, self._world.cpu_seconds()
        bout.samples.setdefault(label, []).append(elapsed * 1000)
        bout.cpu.setdefault(label, []).append(cpu_after - cpu)
        # What a refresh writes behind its back must not run beside the next contender.
        self._world.core.services.log.flush()

    def _check(self, bout: Bout, label: str, shown: str, computed: str) -> None:
        found = differences(self._world.session, shown, computed)
        bout.problems += [f"{label}: {difference}" for difference in found]


@contextmanager
def statements_counted() -> Iterator[list[int]]:
    """Counts what this thread sends to Spark for the core; its metadata is written by another."""
    count, thread = [0], threading.get_ident()
    original = SessionExecutor.query

    def counting(self: Any, sql: str) -> Any:
        count[0] += threading.get_ident() == thread
        return original(self, sql)

    SessionExecutor.query = counting  # type: ignore[method-assign]
    try:
        yield count
    finally:
        SessionExecutor.query = original  # type: ignore[method-assign]
