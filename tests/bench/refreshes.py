"""Refreshes of TPC-H views by each method, after the same change from the same state."""

from __future__ import annotations

import random
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from dbt.adapters.spark_mv.core.errors import MaterializedViewError
from dbt.adapters.spark_mv.planning.request import MANUAL, Request
from dbt.adapters.spark_mv.spark.clients import SessionExecutor
from dbt.adapters.spark_mv.views.registry import load_view
from tests.bench import tpch_views
from tests.bench.cells import progress
from tests.bench.measure import Cell, assert_same_rows, cell_of
from tests.bench.tpch import TABLES, Checkpoint, Stream
from tests.bench.world import SCHEMA, World

# The methods that are asked for by name; each has a view of its own, and so has `auto`.
METHODS = ("fast", "complete")
AUTO, CTAS, BY_HAND = "auto", "CTAS", "by hand"
RIGHT = 1.05
_WITH_HAND = ("q1", "insert")


@dataclass
class Bout:
    """What was measured of one view under one change: milliseconds, and facts, per contender."""

    view: str
    stream: Stream
    fraction: float
    samples: dict[str, list[float]] = field(default_factory=dict)
    cpu: dict[str, list[float]] = field(default_factory=dict)
    statements: dict[str, int] = field(default_factory=dict)
    chosen: str = ""
    estimate: str = ""
    changed: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def change(self) -> str:
        return f"{self.stream.name} {100 * self.fraction:g}%"


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
            progress(f"{bouts[0].change}, round {number + 1} of {count}")
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
                bout.chosen = outcome.method
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
        try:
            assert_same_rows(self._world.session, shown, computed)
        except AssertionError as error:
            bout.problems.append(f"{label}: {error}")


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


def cell(scale: float, bout: Bout) -> Cell:
    """The cell of a bout; its ratio is that of fast to complete."""
    order = (*METHODS, AUTO, CTAS, BY_HAND)
    samples = {label: bout.samples[label] for label in order if label in bout.samples}
    made = cell_of(f"SF{scale:g} {bout.view}, {bout.change}", _budget(bout), samples)
    for label, numbers in made.contenders.items():
        numbers["cpu_s"] = round(min(bout.cpu[label]), 2)
    made.notes = {
        "view": bout.view,
        "change": bout.change,
        "rows changed": bout.changed,
        "statements": bout.statements,
        "auto chose": bout.chosen,
        "estimate": bout.estimate,
    }
    for note, key in (("auto / best", "min_ms"), ("auto / best, cpu", "cpu_s")):
        costs = {label: made.contenders[label][key] for label in METHODS if label in samples}
        if bout.chosen in costs and min(costs.values()):
            made.notes[note] = round(costs[bout.chosen] / min(costs.values()), 3)
    if "fast" not in samples:
        made.ratio = None
    if bout.problems:
        made.notes["FAILED"] = list(dict.fromkeys(bout.problems))
    return made


def _budget(bout: Bout) -> str:
    if bout.stream.name == "insert" and bout.fraction <= 0.1:
        return "fast <= 0.1 complete" if bout.fraction <= 0.01 else "fast <= 0.2 complete"
    return "auto <= 1.05 best"


def summary(cells: Sequence[Cell]) -> str:
    """One line for each view and change, and how often auto was right; `least` is what a refresh
    takes that works on what changed: fast, or by partition."""
    lines = [
        f"{'refresh':<36}{'least ms':>9}{'complete':>9}{'CTAS':>9}{'by hand':>9}"
        f"{'least/compl':>12}{'cpu':>7}{'least/hand':>11}  auto"
    ]
    found = [cell for cell in cells if "auto chose" in cell.notes]
    regrets = [cell.notes["auto / best"] for cell in found if "auto / best" in cell.notes]
    lines += [_line(cell) for cell in found]
    if regrets:
        right = sum(regret <= RIGHT for regret in regrets)
        mean = statistics.geometric_mean(regrets)
        lines.append(
            f"auto was right (within {RIGHT}) in {right} of {len(regrets)}, "
            f"{mean:.2f} times the best method in the geometric mean, {max(regrets):.2f} at worst"
        )
    return "\n".join(lines) if found else ""


def _line(cell: Cell) -> str:
    def of(label: str, key: str = "min_ms") -> float | None:
        return cell.contenders.get(label, {}).get(key)

    def shown(value: float | None, width: int, digits: int = 0) -> str:
        return f"{'' if value is None else f'{value:.{digits}f}':>{width}}"

    def ratio(one: str, other: str, width: int, key: str = "min_ms") -> str:
        first, second = of(one, key), of(other, key)
        return shown(first / second if first and second else None, width, 2)

    least = "fast" if "fast" in cell.contenders else "partition"
    regret = cell.notes.get("auto / best")
    verdict = "" if regret is None else "  right" if regret <= RIGHT else f"  WRONG: {regret:.2f}"
    return (
        f"{cell.name:<36}{shown(of(least), 9)}{shown(of('complete'), 9)}{shown(of(CTAS), 9)}"
        f"{shown(of(BY_HAND), 9)}{ratio(least, 'complete', 12)}"
        f"{ratio(least, 'complete', 7, 'cpu_s')}{ratio(least, BY_HAND, 11)}"
        f"  {cell.notes['auto chose']}{verdict}{'  FAILED' if 'FAILED' in cell.notes else ''}"
    )
