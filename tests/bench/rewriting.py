"""Queries of TPC-H that name no view, answered by five; contents are checked in every round.

All run in one command, whose first reading of a view's definition is not timed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from dbt.adapters.spark_mv.config.profile import REWRITE_MIN_ROWS
from dbt.adapters.spark_mv.glue.container import Container
from dbt.adapters.spark_mv.statements.rewriting.explain import attempt_rows
from dbt.adapters.spark_mv.statements.rewriting.search import REWRITE_SETTING
from dbt.adapters.spark_mv.statements.rewriting.values import Rewriting
from tests.bench import tiers, tpch
from tests.bench.cell import REWRITING, Cell, at_least, budget, goal
from tests.bench.measure import Contender, Rounds, progress
from tests.bench.rewriting_views import BY_HAND, PARTITIONED, QUERIES, VIEWS
from tests.bench.world import World

ON, OFF, HAND = "rewriting on", "switched off", "by hand"
VIEWS_SCHEMA = "rewriting"
_WARM_UP = 2
# A view with so small a part of the rows of the base tables is to make a query so much faster.
_SMALL, _FASTER = 0.001, 40
# Of two runs of one text.
_SAME = 1.05
_LATE = ("DIFFERENT_TABLES", "ROWS_NOT_COVERED")


@dataclass
class Desk:
    """One command whose statements are rewritten, and what its queries returned."""

    world: World
    core: Container
    names: dict[str, str]
    found: dict[str, list[Counter[tuple[Any, ...]]]] = field(default_factory=dict)

    def send(self, text: str, enabled: bool = True) -> float:
        """Run a query; returns processor seconds, and remembers the rows."""
        before = self.world.cpu_seconds()
        self.world.session.conf.set(REWRITE_SETTING, str(enabled).lower())
        query = text.format(**self.names)
        try:
            rows = self.world.run_in(self.core, self.core.context(), query)
        finally:
            self.world.session.conf.unset(REWRITE_SETTING)
        self.found.setdefault(text, []).append(Counter(map(tuple, rows)))
        return self.world.cpu_seconds() - before

    def explained(self, text: str) -> Rewriting:
        """How a query is rewritten."""
        return self.core.pipeline.explain_rewrite(text.format(**self.names), self.core.context())

    def unlike(self, *texts: str) -> tuple[str, ...]:
        """What differs between all runs of some texts."""
        first, *others = (rows for text in texts for rows in self.found[text])
        wrong = [rows for rows in others if rows != first]
        return (f"contents differ: {first - wrong[0]} and {wrong[0] - first}",) if wrong else ()


def rewriting(world: World, scale: float, data: Path | None, rounds: int) -> Iterator[list[Cell]]:
    """A cell for each query, and one for all of them."""
    progress("TPC-H data and views of the rewriting")
    desk = _desk(world, scale, data)
    cells = [_cell(desk, name, f"SF{scale:g}", rounds) for name in QUERIES]
    yield [*cells, _of_all(cells, f"SF{scale:g}")]
    for name in VIEWS:
        world.run(f"drop materialized view {VIEWS_SCHEMA}.{name}")


def _desk(world: World, scale: float, data: Path | None) -> Desk:
    """Tables that no other cell's views read, and the views. Where tables are smaller than those
    of SF1, so are those that are left alone."""
    schema = tpch.load(world, scale, data, tpch.ALL_TABLES, "rewritten")
    least = round(REWRITE_MIN_ROWS * min(scale, 1))
    names = {"s": schema, "v": VIEWS_SCHEMA}
    world.sql(f"create schema if not exists {VIEWS_SCHEMA}")
    for name, query in VIEWS.items():
        progress(f"view {name}")
        by = f"partitioned by ({PARTITIONED[name]}) " if name in PARTITIONED else ""
        world.run(f"create materialized view {VIEWS_SCHEMA}.{name} {by}as {query.format(**names)}")
    world.core.services.log.flush()
    return Desk(world, world.new_core(query_rewrite_min_rows=least), names)


def _cell(desk: Desk, name: str, scale: str, rounds: int) -> Cell:
    """One query with and without rewriting, and written by hand."""
    progress(f"query {name}")
    text = QUERIES[name]
    contenders: dict[str, Contender] = {
        ON: partial(desk.send, text),
        OFF: partial(desk.send, text, enabled=False),
        HAND: partial(desk.send, BY_HAND[name]),
    }
    for _ in range(_WARM_UP):
        Rounds().run(contenders)
    measured = Rounds()
    for _ in range(rounds):
        measured.run(contenders)
    made = desk.explained(text)
    cell = Cell(
        REWRITING,
        tiers.rewritten(name),
        scale,
        measured.in_order(contenders),
        {label: measured.cpu[label] for label in contenders},
        notes=_notes(made),
        problems=desk.unlike(text, BY_HAND[name]),
    )
    by_off, by_hand = cell.ratio(ON, OFF), cell.ratio(ON, HAND)
    if not made.is_changed:
        return cell.held_to(goal(f"{ON} / off", by_off, _SAME))
    is_small = made.rows <= _SMALL * made.original_rows
    return cell.held_to(
        at_least(f"processor, off / {ON}", cell.cpu_ratio(OFF, ON), _FASTER) if is_small else None,
        goal(f"{ON} / off", by_off, 1),
        goal(f"{ON} / by hand", by_hand, _SAME),
    )


def _notes(made: Rewriting) -> dict[str, Any]:
    """The view that answers and the rows read; or why none does, for the views that come near."""
    if made.is_changed:
        rows = f"{made.rows:,} of {made.original_rows:,}"
        return {"answered by": " and ".join(view.name for view in made.views), "rows read": rows}
    rows = attempt_rows(made)
    near = [row for row in rows if row[3] not in _LATE] or rows
    return {"answered by none": [f"{row[1]}: {row[3]}, {row[4]}" for row in near]}


def _of_all(cells: list[Cell], scale: str) -> Cell:
    """Rounds of all queries: the sums of their times."""

    def total(values: Callable[[Cell], Any], label: str) -> list[float]:
        return [sum(found) for found in zip(*(values(cell)[label] for cell in cells), strict=True)]

    labels = (ON, OFF, HAND)
    cell = Cell(
        REWRITING,
        tiers.ALL_QUERIES,
        scale,
        {label: total(lambda one: one.samples, label) for label in labels},
        {label: total(lambda one: one.cpu, label) for label in labels},
        notes={"queries": len(cells)},
    )
    return cell.held_to(budget(f"{ON} / off", cell.ratio(ON, OFF), 1))
