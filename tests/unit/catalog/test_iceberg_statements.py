"""Iceberg tables where only SQL can be asked: what the answers mean, and what is sent."""

from __future__ import annotations

import json
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from dbt.adapters.spark_mv.catalog import iceberg
from dbt.adapters.spark_mv.core.executor import BranchFacts
from dbt.adapters.spark_mv.sql.names import TableName
from tests.unit.catalog.asked import Rows, StatementResult, asked, failing

ONE, TWO = (TableName("local", ("db",), name) for name in ("one", "two"))


def scan(table: str, snapshot: str, schema: int = 0) -> str:
    return f"+- IcebergScan(table=local.db.{table}, schemaId={schema}, snapshotId={snapshot}, ..)"


SCANS = {"one": scan("one", "11", 3), "two": scan("two", "null", 1)}


def plan(sql: str) -> Rows:
    """The plan of a union, in one row."""
    return [("\n".join(line for name, line in SCANS.items() if f"`{name}`" in sql),)]


def test_heads() -> None:
    """All from one statement; no snapshot is None."""
    executor = asked(plan)
    assert iceberg.heads(executor, [ONE, TWO]) == {ONE: ("11", 3), TWO: (None, 1)}
    assert len(executor.statements) == 1 and " UNION ALL " in executor.statements[0]


def test_heads_one_by_one() -> None:
    """If Spark shows fewer scans than tables, each is asked for; one that is none has no head."""

    def answer(sql: str) -> Rows:
        if "UNION" in sql or "`two`" in sql:
            return [("Error occurred during query planning:",), ("no such table",)]
        return [(scan("one", "11"),)]

    executor = asked(answer)
    assert iceberg.heads(executor, [ONE, TWO]) == {ONE: ("11", 0)}
    assert len(executor.statements) == 3
    assert iceberg.heads(asked(), []) == {}


def test_heads_of_a_scan_too_many() -> None:
    """Which of them is that of the name cannot be told."""
    both = [(scan("one", "11") + scan("two", "12"),)]
    assert iceberg.heads(asked(lambda _: both), [ONE]) == {}


def test_scans_are_of_the_names() -> None:
    """A view of the name, an error or a scan too many: nothing is taken for its head."""
    assert iceberg.heads_if_tables(asked(plan), [ONE]) == {ONE: ("11", 3)}
    assert iceberg.heads_if_tables(asked(plan), [ONE, TWO]) == {ONE: ("11", 3), TWO: (None, 1)}
    for other in ("onf", "ond", "onesie"):
        assert iceberg.heads_if_tables(asked(lambda _, o=other: [(scan(o, "11"),)]), [ONE]) == {}
    both = [(scan("one", "11") + scan("two", "12"),)]
    assert iceberg.heads_if_tables(asked(lambda _: both), [ONE]) == {}
    assert iceberg.heads_if_tables(asked(lambda _: [("",)]), [ONE]) == {}
    assert iceberg.heads_if_tables(asked(failing), [ONE]) == {}
    none = asked(failing)
    assert iceberg.heads_if_tables(none, []) == {} and not none.statements


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (lambda _: [(scan("one", "11", 3), "x")], 3),
        (lambda _: [(scan("one", "10", 3), "x")], None),
        (lambda _: [(scan("one", "12", 3), "x")], None),
        (lambda _: [("no scan", "x")], None),
        (failing, None),
    ],
)
def test_schema_of_a_snapshot(answer: StatementResult, expected: int | None) -> None:
    assert iceberg.snapshot_schema(asked(answer), ONE, "11") == expected


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
