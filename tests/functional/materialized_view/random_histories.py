"""Random views over random tables with a random history: fast refreshes against the query itself.

`make equivalence` runs many.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pytest

from dbt.adapters.spark_mv.glue.dbt_errors import MaterializedViewFailure
from dbt.adapters.spark_mv.planning import incremental
from tests.functional.materialized_view.faults import armed
from tests.functional.materialized_view.random_queries import Grammar
from tests.functional.materialized_view.random_tables import Column, Table, Writer, make_table
from tests.functional.materialized_view.warehouse import Warehouse

VIEWS, STEPS, CANDIDATES = 12, 8, 40
POINTS = ("lock.after", "started.after", "write.before", "write.after", "publish.before")
POINTS += ("publish.after", "recorded.after")
# A view that can be refreshed fast may not be once something else than rows has changed ..
NOT_NOW = re.compile(
    r"cannot be refreshed fast: (SCHEMA_CHANGED|VERSION_GONE|NO_BASE|NO_OLD_VERSION|NOT_PINNED|"
    r"OTHER_LAYOUT|WRITTEN_BY_HAND|DEFINITION_CHANGED|STORAGE_ALTERED)"
)
# .. or if sums leave what can be added to exactly.
TOO_LARGE = re.compile("beyond 2 to the power of 53|a sum does not fit its type")
REFUSED = re.compile(r"cannot be refreshed fast: ([A-Z_]+): (.*)", re.DOTALL)


@dataclass
class View:
    name: str
    query: str
    broken: bool = False


@dataclass
class Report:
    """What happened: counts of everything, texts of refusals, and what was wrong."""

    did: Counter[str] = field(default_factory=Counter)
    refusals: list[tuple[str, str, str]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


def _plain(value: Any) -> Any:
    """A value such that equal ones of Spark are equal here: NaN, and both zeros."""
    if isinstance(value, float):
        return "NaN" if value != value else value + 0.0
    if isinstance(value, dict):
        return tuple(sorted((repr(key), repr(_plain(of))) for key, of in value.items()))
    if isinstance(value, (list, tuple)):
        return tuple(_plain(item) for item in value)
    return value


class History:
    """One seed's tables, views and changes."""

    def __init__(self, lake: Warehouse, seed: int, report: Report) -> None:
        self._lake, self._seed, self._report = lake, seed, report
        self._chance = random.Random(seed)
        self._done: list[str] = []
        self._views: list[View] = []
        tables = []
        for number in range(3):
            table, statements = make_table(self._chance, number)
            tables.append(table)
            for statement in statements:
                self._change(statement)
        self._writer = Writer(self._chance, lake.schema, tables)

    def run(self, views: int = VIEWS, steps: int = STEPS) -> None:
        """Create the views, then change and refresh."""
        self._plain_views()
        self._create(views)
        for _ in range(steps):
            for _ in range(self._chance.choice((1, 1, 2, 3))):
                for statement in self._writer.change():
                    self._change(statement)
            self._lake.restart()
            for view in self._views:
                if not view.broken and self._chance.random() < 0.85:
                    self._step(view)

    def _plain_views(self) -> None:
        tables = self._writer.tables
        self._relations = [*tables, *tables]
        for number in range(2):
            query = Grammar(self._chance, tables).draw()
            try:
                self._change(f"create view @.w{number} as {query}")
                rows = self._lake.spark(f"describe @.w{number}")
            except Exception:
                self._report.did["view refused by Spark"] += 1
                continue
            columns = tuple(Column(str(row[0]), str(row[1])) for row in rows)
            self._relations.append(Table(f"@.w{number}", columns))

    def _create(self, wanted: int) -> None:
        for number in range(CANDIDATES):
            if len(self._views) == wanted:
                return
            query = Grammar(self._chance, self._relations).draw()
            try:
                self._lake.spark(query)
            except Exception as error:
                self._report.did["query refused by Spark"] += 1
                self._report.refusals.append(("SPARK", str(error)[:300], query))
                continue
            view = View(f"v{number}", query)
            try:
                self._lake.sql(
                    f"create materialized view @.{view.name} options (refresh_method = 'fast') "
                    f"as {query}"
                )
            except MaterializedViewFailure as error:
                self._refused(query, str(error))
                continue
            except Exception as error:
                self._fail(view, f"creation: {type(error).__name__}: {error}")
                continue
            self._report.did["view"] += 1
            self._compare(view, "created")
            self._views.append(view)
            if self._chance.random() < 0.1:
                self._let_read(view)

    def _let_read(self, view: View) -> None:
        """Let views to come read this one."""
        self._lake.sql(
            f"alter materialized view @.{view.name} set options (refresh_method = 'auto')"
        )
        rows = self._lake.spark(f"describe @.{view.name}")
        columns = tuple(Column(str(row[0]), str(row[1])) for row in rows)
        self._relations += [Table(f"@.{view.name}", columns)] * 3

    def _refused(self, query: str, error: str) -> None:
        found = REFUSED.search(error)
        code, text = (found.group(1), found.group(2)) if found else ("ERROR", error)
        self._report.did[f"refused {code}"] += 1
        self._report.refusals.append((code, text, query))
        odd = code == "ERROR" and "reads no base table" not in text
        if odd or "unknown form" in text:
            self._report.wrong.append(f"seed {self._seed}: refused oddly: {error}\n  {query}")

    def _change(self, statement: str) -> None:
        if "{parent}" in statement:
            parent = self._parent(statement)
            if parent is None:
                return
            statement = statement.format(parent=parent)
        try:
            self._lake.spark(statement)
        except Exception as error:
            self._report.did["change refused by Spark"] += 1
            self._report.refusals.append(("CHANGE", str(error)[:200], statement))
            return
        self._done.append(statement)

    def _parent(self, statement: str) -> int | None:
        table = re.search(r"table => '(\w+\.\w+)'", statement)
        assert table is not None
        rows = self._lake.spark(
            f"select s.parent_id from {table.group(1)}.refs r join {table.group(1)}.snapshots s "
            "on s.snapshot_id = r.snapshot_id join "
            f"{table.group(1)}.snapshots p on p.snapshot_id = s.parent_id where r.name = 'main'"
        )
        return rows[0][0] if rows else None

    def _step(self, view: View) -> None:
        chance = self._chance.random()
        if chance < 0.03:
            self._crash(view)
        elif chance < 0.05:
            self._write_by_hand(view)
        self._refresh(view)

    def _crash(self, view: View) -> None:
        """A refresh that fails at one of its steps; another begins after it."""
        point = self._chance.choice(POINTS)
        with armed(self._lake, f"{point}=raise") as command:
            self._report.did[f"failed at {point}"] += 1
            try:
                command.sql(f"refresh materialized view @.{view.name} fast")
            except MaterializedViewFailure:
                pass
            finally:
                command.flush()
        self._done.append(f"-- {view.name} failed at {point}")

    def _write_by_hand(self, view: View) -> None:
        self._lake.spark(f"delete from {self._lake.storage(view.name)} where true")
        self._report.did["written by hand"] += 1
        self._done.append(f"-- {view.name} was written by hand")

    def _refresh(self, view: View) -> None:
        """Refresh fast or, where that is rightly refused, completely; then compare."""
        error = self._said(f"refresh materialized view @.{view.name} fast")
        method = "fast"
        if error is not None:
            found = NOT_NOW.search(error) or TOO_LARGE.search(error)
            if self._query_fails(view):
                self._report.did["query failed"] += 1
                return
            if found is None:
                self._fail(view, f"refresh: {error}")
            method = f"complete {found.group(found.lastindex or 0)}" if found else "failed"
            error = self._said(f"refresh materialized view @.{view.name} complete")
            if error is not None:
                self._fail(view, f"complete refresh: {error}")
                return
        self._report.did[method] += 1
        self._compare(view, method)

    def _said(self, statement: str) -> str | None:
        try:
            self._lake.sql(statement)
        except MaterializedViewFailure as error:
            return str(error)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return None

    def _query_fails(self, view: View) -> bool:
        try:
            self._lake.spark(view.query)
        except Exception:
            return True
        return False

    def _compare(self, view: View, method: str) -> None:
        found = Counter(_plain(row) for row in self._lake.spark(f"select * from @.{view.name}"))
        right = Counter(_plain(row) for row in self._lake.spark(view.query))
        self._report.did["compared"] += 1
        if found != right:
            more, less = found - right, right - found
            self._fail(view, f"after {method}: too many {dict(more)}, missing {dict(less)}")

    def _fail(self, view: View, text: str) -> None:
        view.broken = True
        history = ";\n    ".join(self._done)
        print(f"seed {self._seed}, {view.name}: {text}\n  {view.query}", flush=True)
        self._report.wrong.append(
            f"seed {self._seed}, {view.name}: {text}\n  query: {view.query}\n"
            f"  history:\n    {history}"
        )


def run_seed(target: dict[str, Any], seed: int, report: Report, **sizes: int) -> None:
    """One history in a schema of its own; every other fast refresh, by chance, writes in part."""
    lake, chance = Warehouse(target, f"random_{seed}"), random.Random(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(incremental, "is_better_in_part", lambda *_: chance.random() < 0.5)
        History(lake, seed, report).run(**sizes)
