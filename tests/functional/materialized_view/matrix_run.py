"""Runs one table of the matrix with its views: creates them, makes its changes, refreshes, and
compares rows with those of the queries after every one."""

from __future__ import annotations

import re
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from dbt.adapters.spark_mv.glue.dbt_errors import MaterializedViewFailure
from dbt.adapters.spark_mv.planning import by_partition, plan
from dbt.adapters.spark_mv.planning.cost import Estimate, PartitionEstimate
from dbt.adapters.spark_mv.spark import clients
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.state.freshness import Freshness
from dbt.adapters.spark_mv.views.registry import load_view
from tests.functional.materialized_view.matrix_cases import Case, View
from tests.functional.materialized_view.warehouse import QUICK, Rows, Warehouse

CODE = re.compile(r"cannot be refreshed (?:fast|by partition): ([A-Z_]+)")
_ZONE = "spark.sql.session.timeZone"


@dataclass
class Report:
    """What happened: counts of everything, refusals with their texts, and what was wrong."""

    did: Counter[str] = field(default_factory=Counter)
    refusals: list[tuple[str, str, str]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


@contextmanager
def in_zone(lake: Warehouse, zone: str) -> Iterator[None]:
    """Sessions of dbt and of other programs with a clock, that of before afterwards."""
    before = lake.sql(f"set {_ZONE}")[0][1], lake.spark(f"set {_ZONE}")[0][1]
    lake.sql(f"set {_ZONE} = {zone}")
    lake.spark(f"set {_ZONE} = {zone}")
    try:
        yield
    finally:
        lake.sql(f"set {_ZONE} = {before[0]}")
        lake.spark(f"set {_ZONE} = {before[1]}")


@contextmanager
def quick(lake: Warehouse) -> Iterator[None]:
    """Sessions of dbt and of refreshes that compile nothing, as those of other programs here."""
    before = {key: lake.sql(f"set {key}")[0][1] for key in QUICK}
    with pytest.MonkeyPatch.context() as patch:
        for key, value in QUICK.items():
            lake.sql(f"set {key} = {value}")
            patch.setitem(clients.OWN_SETTINGS, key, value)
        yield
    for key, value in before.items():
        lake.sql(f"set {key} = {value}")


@contextmanager
def method_by_itself(many: int) -> Iterator[None]:
    """Automatic refreshes are held to be worth it however small the tables are; from `many` changed
    rows on partitions are known by files."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "is_small", lambda rows: False)
        for estimate in (Estimate, PartitionEstimate):
            patch.setattr(estimate, "is_worth_it", property(lambda self: True))
        patch.setattr(by_partition, "_MANY", many)
        yield


def exact(kind: str, column: str) -> str:
    """SQL of a value as a text that tells it from every other one, both zeros too."""
    if kind == "timestamp":
        return f"cast(unix_micros({column}) as string)"
    return f"hex({column})" if kind == "binary" else f"cast({column} as string)"


class Run:
    """A case in the schema of a warehouse."""

    def __init__(self, lake: Warehouse, case: Case, report: Report) -> None:
        self._lake, self._case, self._report = lake, case, report
        self._views: dict[str, tuple[View, tuple[str, ...]]] = {}
        self._texts: dict[str, str] = {}
        self._done: list[str] = []

    def run(self) -> None:
        """Create, then change and refresh; drops the views afterwards."""
        with quick(self._lake), in_zone(self._lake, self._case.zone):
            try:
                self._begin()
                for number, change in enumerate(self._case.changes):
                    with method_by_itself(0 if number % 2 else 1_000):
                        self._change(change)
                        self._step(number)
            finally:
                self._end()

    def _begin(self) -> None:
        for statement in self._case.statements:
            self._change(statement)
        self._lake.restart()
        for number, view in enumerate(self._case.views):
            self._create(f"{self._case.name}_v{number}", view)
        self._compare("created")

    def _change(self, statement: str) -> None:
        for part in statement.split(";\n"):
            self._lake.spark(part)
            self._done.append(part)

    def _create(self, name: str, view: View) -> None:
        """Create a view with the first method that is not refused."""
        for place, method in enumerate(view.methods):
            try:
                self._lake.sql(view.create(name, method))
            except Exception as error:
                if self._refused(view, method, error, view.create(name, method)):
                    continue
                self._fail(name, view, f"creation: {type(error).__name__}: {error}")
                return
            self._views[name] = view, view.methods[place:]
            rows = self._lake.spark(f"describe @.{name}")
            texts = ", ".join(exact(str(row[1]), f"`{row[0]}`") for row in rows if row[0])
            self._texts[name] = f"array({texts})"
            self._report.did["view"] += 1
            return

    def _refused(self, view: View, method: str, error: Exception, text: str) -> bool:
        """Whether a creation was refused as it should be."""
        found = CODE.search(str(error))
        if not isinstance(error, MaterializedViewFailure) or not found:
            return False
        self._report.did[f"{method} refused: {found.group(1)}"] += 1
        self._report.refusals.append((found.group(1), str(error), text))
        return method in view.refused

    def _step(self, number: int) -> None:
        self._lake.restart()
        for place, (name, (_, methods)) in enumerate(list(self._views.items())):
            self._refresh(name, methods[(place + number) % len(methods)])
        self._compare(f"change {number}")
        self._fresh()

    def _refresh(self, name: str, method: str) -> None:
        try:
            self._lake.sql(f"refresh materialized view @.{name} {method}".removesuffix(" auto"))
            self._report.did[method] += 1
        except Exception as error:
            text = f"refresh {method}: {type(error).__name__}: {error}"
            self._fail(name, self._views[name][0], text)

    def _compare(self, when: str) -> None:
        found: Counter[tuple[str, str, tuple[str, ...]]] = Counter()
        for name, side, values in self._rows():
            found[name, side, tuple(values)] += 1
        for name, (view, _) in list(self._views.items()):
            stored = Counter({row[2]: n for row, n in found.items() if row[:2] == (name, "stored")})
            right = Counter({row[2]: n for row, n in found.items() if row[:2] == (name, "right")})
            self._report.did["compared"] += 1
            if stored != right:
                text = f"too many {dict(stored - right)}, missing {dict(right - stored)}"
                self._fail(name, view, f"{when}: {text}")

    def _rows(self) -> Rows:
        """Rows of views and of their queries, in one statement: planning is what takes time."""
        parts = [
            f"select '{name}', '{side}', {self._texts[name]} from ({source}) as r"
            for name, (view, _) in self._views.items()
            for side, source in (("stored", f"select * from @.{name}"), ("right", view.query))
        ]
        return self._lake.spark("\nunion all\n".join(parts)) if parts else []

    def _fresh(self) -> None:
        services = self._lake.command().core.services
        for name, (view, _) in list(self._views.items()):
            table = TableName("local", (self._lake.schema,), name)
            verdict = services.observer.observe(load_view(services.resolver, table)).verdict
            if verdict.freshness is not Freshness.FRESH:
                self._fail(name, view, f"is {verdict}")

    def _fail(self, name: str, view: View, text: str) -> None:
        self._views.pop(name, None)
        self._report.wrong.append(
            f"{name}: {text}\n{self._case.sql(self._done)};\n{view.create(name, view.methods[0])}"
        )

    def _end(self) -> None:
        for number in range(len(self._case.views)):
            self._lake.sql(f"drop materialized view if exists @.{self._case.name}_v{number}")
        self._lake.restart()


def run_cases(lake: Warehouse, cases: Iterable[Case]) -> Report:
    """Run cases one after the other; an error of one is no end of the others."""
    report = Report()
    for case in cases:
        known = len(report.wrong)
        try:
            Run(lake, case, report).run()
        except Exception:
            report.wrong.append(f"{case.name}: {traceback.format_exc()}\n{case}")
        for text in report.wrong[known:]:
            print(text, flush=True)
    return report
