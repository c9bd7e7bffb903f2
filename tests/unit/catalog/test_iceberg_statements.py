"""Iceberg tables where only SQL can be asked: what the answers mean, and what is sent."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from dbt.adapters.spark_mv.catalog import iceberg
from dbt.adapters.spark_mv.core.errors import StatementFailed
from dbt.adapters.spark_mv.core.executor import BranchFacts
from dbt.adapters.spark_mv.sql.names import TableName
from tests.unit.catalog.asked import asked, failing

ONE, TWO = (TableName("local", ("db",), name) for name in ("one", "two"))


def test_format_version() -> None:
    assert iceberg.format_version(asked(lambda _: [("format-version", "3")]), ONE) == 3
    assert iceberg.format_version(asked(lambda _: [("format-version", "does not")]), ONE) == 0


def row(number: int, operation: str, summary: dict[str, str] | None, branch: str | None) -> Any:
    text = None if summary is None else json.dumps(summary)
    return (number, number - 1 or None, operation, 1000 + number, text, branch)


ROWS = [
    row(4, "append", {"k": "4"}, None),
    row(2, "append", None, None),
    row(3, "replace", {}, "main"),
    row(1, "append", {"k": "1"}, None),
    (9, 3, "append", 1009, None, None),
]


def ids(chain: Sequence[Any]) -> list[str]:
    return [snapshot.snapshot_id for snapshot in chain]


def test_chain() -> None:
    """From the head of the branch downwards, whatever the order of the rows."""
    executor = asked(lambda _: ROWS)
    chain = iceberg.main_chain(executor, ONE)
    assert ids(chain) == ["3", "2", "1"]
    assert "r.name = 'main'" in executor.statements[0]
    newest, middle, oldest = chain
    assert (newest.parent_id, newest.operation, newest.committed_at) == ("2", "replace", 1003)
    assert (middle.summary, oldest.summary, oldest.parent_id) == ({}, {"k": "1"}, None)
    assert ids(iceberg.main_chain(executor, ONE, limit=2)) == ["3", "2"]
    assert iceberg.main_chain(asked(), ONE) == []
    assert ids(iceberg.main_chain(asked(lambda _: ROWS[:3]), ONE)) == ["3", "2"]


def test_commits() -> None:
    """Those above a snapshot, which is not one of them."""
    rows = [(*other[:5], "side" if other[0] == 3 else None) for other in ROWS]
    executor = asked(lambda _: rows)
    for base, expected in (("1", ["3", "2"]), ("2", ["3"]), ("3", []), ("7", ["3", "2", "1"])):
        assert ids(iceberg.commits(executor, ONE, "side", base, 9)) == expected
    assert iceberg.commits(executor, ONE, "main", "1", 9) == []


def test_labelled_chain() -> None:
    """What is below the head matters only if the head is a compaction."""
    assert ids(iceberg.labelled_chain(asked(lambda _: ROWS), ONE)) == ["3", "2", "1"]
    for operation in ("append", "overwrite", "sorted"):
        rows = [(5, 3, operation, 1005, None, "main"), *(row(n, "append", {}, None) for n in (3,))]
        assert ids(iceberg.labelled_chain(asked(lambda _, r=rows: r), ONE)) == ["5"]
    assert iceberg.labelled_chain(asked(), ONE) == []


def test_branches() -> None:
    executor = asked(lambda _: [("main", 3, None), ("side", 4, 17)])
    assert iceberg.branches(executor, ONE) == {
        "main": BranchFacts("3", None),
        "side": BranchFacts("4", 17),
    }


def change(executor: Any) -> None:
    """Everything that writes."""
    iceberg.create_branch(executor, ONE, "side", "3", 17)
    iceberg.publish(executor, ONE, "side", ["side", "old"])
    iceberg.drop_branches(executor, ONE, ["other"])


CHANGES = [
    "ALTER TABLE `local`.`db`.`one` CREATE BRANCH `side` AS OF VERSION 3 RETAIN 17 MINUTES",
    "CALL `local`.system.fast_forward('`db`.`one`', 'main', 'side')",
    "ALTER TABLE `local`.`db`.`one` DROP BRANCH IF EXISTS `side`",
    "ALTER TABLE `local`.`db`.`one` DROP BRANCH IF EXISTS `old`",
    "ALTER TABLE `local`.`db`.`one` DROP BRANCH IF EXISTS `other`",
]


class Road:
    """A client of the catalog that handles some catalogs, and remembers what it was told."""

    def __init__(self, handled: bool) -> None:
        self.handled, self.done = handled, list[str]()

    def handles(self, catalog: str) -> bool:
        return self.handled

    def __getattr__(self, name: str) -> Any:
        return lambda *_: self.done.append(name) or name


def test_changes() -> None:
    """The catalog's client does them where there is one for this catalog, else SQL."""
    executor = asked()
    change(executor)
    assert executor.statements == CHANGES
    executor.catalog = Road(handled=False)
    change(executor)
    assert executor.statements == CHANGES * 2 and executor.catalog.done == []
    executor.catalog = Road(handled=True)
    change(executor)
    assert len(executor.statements) == len(CHANGES) * 2
    assert executor.catalog.done == ["create_branch", "publish", "drop_branches"]


@pytest.mark.parametrize("is_there", [True, False])
def test_branch_dropped_by_others(is_there: bool) -> None:
    """Dropping a branch that another process drops at that moment is no failure."""

    def answer(sql: str) -> Any:
        return [("side", 3, None)] * is_there if "refs" in sql else failing(sql)

    raised = pytest.raises(StatementFailed) if is_there else nullcontext()
    with raised:
        iceberg.drop_branches(asked(answer), ONE, ["side"])


def test_questions() -> None:
    """The same; bounds of columns are known to the client alone."""
    executor = asked(lambda _: ROWS)
    executor.catalog = Road(handled=True)
    chain: Any = iceberg.main_chain(executor, ONE)
    bounds: Any = iceberg.bounds(executor, ONE, "3", ["k"])
    added: Any = iceberg.added_bounds(executor, ONE, ["3"], ["k"])
    assert (chain, bounds, added) == ("chain", "bounds", "added_bounds")
    assert not executor.statements
    for client in (None, Road(handled=False)):
        executor.catalog = client
        assert iceberg.bounds(executor, ONE, "3", ["k"]) == {}
        assert iceberg.added_bounds(executor, ONE, ["3"], ["k"]) == {}
        assert ids(iceberg.main_chain(executor, ONE)) == ["3", "2", "1"]


def test_live_rows() -> None:
    """Rows that are deleted by position still count in the total."""
    assert iceberg.live_rows({"total-records": "10", "total-position-deletes": "3"}) == 7
    assert iceberg.live_rows({"total-records": "10"}) == 10
    assert iceberg.live_rows({"total-records": "0"}) == 0
    assert iceberg.live_rows({}) is None


def test_label() -> None:
    """The newest; only compactions are looked through."""
    labelled = SimpleNamespace(summary={"mv": "a"}, operation="append")
    compaction = SimpleNamespace(summary={}, operation="replace")
    older = SimpleNamespace(summary={"mv": "b"}, operation="append")
    other: Any = SimpleNamespace(summary={}, operation="append")
    chain: Any = [compaction, labelled, older]
    assert iceberg.label_of(chain, "mv") == (labelled, "a")
    assert iceberg.label_of([other, *chain], "mv") is None
    assert iceberg.label_of([], "mv") is None
