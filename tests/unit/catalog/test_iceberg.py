"""Which commits leave the rows of an Iceberg table as they were."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from dbt.adapters.spark_mv.catalog import iceberg
from dbt.adapters.spark_mv.core.executor import SnapshotFacts
from dbt.adapters.spark_mv.sql.names import TableName

TABLE = TableName("local", ("db",), "t")
SCHEMA = 1
EMPTY = {"changed-partition-count": "0", "total-records": "3", "total-delete-files": "0"}


class History:
    """An executor whose catalog has one table with these commits, oldest first."""

    def __init__(self, *commits: tuple[str, Mapping[str, str]]) -> None:
        first = ("append", {"total-records": "3", "changed-partition-count": "1"})
        self._chain = [
            SnapshotFacts(str(n), str(n - 1) if n else None, operation, n, summary)
            for n, (operation, summary) in enumerate([first, *commits])
        ][::-1]
        self.catalog: Any = SimpleNamespace(handles=lambda _: True, chain=self._read)

    def _read(
        self, parts: tuple[str, ...], branch: str, limit: int, until: str | None
    ) -> list[SnapshotFacts]:
        return self._chain

    def query(self, sql: str) -> list[Sequence[Any]]:
        raise AssertionError(sql)

    @contextmanager
    def isolated(self, settings: Mapping[str, str]) -> Iterator[History]:
        yield self

    def interrupt(self) -> None:
        raise AssertionError

    def expire(self, *schemas: int) -> None:
        """The first snapshot is gone; the others have these schemas, oldest first."""
        kept = zip(self._chain[-2::-1], schemas, strict=True)
        self._chain = [replace(snapshot, schema_id=schema) for snapshot, schema in kept][::-1]

    def forget_operation(self) -> None:
        """All that is left is a compaction, and nothing below it."""
        self._chain = [replace(self._chain[0], operation="replace")]

    @property
    def newest(self) -> str:
        return self._chain[0].snapshot_id


UNCHANGED = {
    "compaction": [("replace", {"added-records": "3", "deleted-records": "3"})],
    "nothing matched": [("overwrite", EMPTY)],
    "both": [("replace", {**EMPTY, "added-data-files": "1"}), ("append", EMPTY)],
}
CHANGED = {
    "append": [("append", {"added-records": "1", "total-records": "4"})],
    "no counts at all": [("append", {})],
    "no counts, but an operation": [("append", {"operation": "append"})],
    "no total": [("append", {"changed-partition-count": "0"})],
    "another total": [("append", {**EMPTY, "total-records": "4"})],
    "a smaller total": [("append", {**EMPTY, "total-records": "2"})],
    "files without records": [("append", {**EMPTY, "added-data-files": "1"})],
    "deletes by position": [("delete", {**EMPTY, "added-position-deletes": "1"})],
    "deletes by value": [("delete", {**EMPTY, "added-equality-deletes": "1"})],
    "no count of partitions": [("append", {"total-records": "3"})],
    "hidden below a compaction": [("append", {}), ("replace", {})],
    "a number that is none": [("append", {**EMPTY, "changed-partition-count": "many"})],
}


@pytest.mark.parametrize("name", UNCHANGED)
def test_rows_are_the_same(name: str) -> None:
    history = History(*UNCHANGED[name])
    assert iceberg.rows_unchanged(history, TABLE, "0", history.newest, SCHEMA)


@pytest.mark.parametrize("name", CHANGED)
def test_rows_may_be_others(name: str) -> None:
    history = History(*CHANGED[name])
    assert not iceberg.rows_unchanged(history, TABLE, "0", history.newest, SCHEMA)


def test_an_older_version_that_is_gone() -> None:
    history = History(("replace", {}))
    assert not iceberg.rows_unchanged(history, TABLE, "77", history.newest, SCHEMA)
    history = History()
    history.forget_operation()
    assert not iceberg.rows_unchanged(history, TABLE, "77", history.newest, SCHEMA)


@pytest.mark.parametrize("schemas", [(1, 1), (0, 1), (1, 0), (1, 2), (2, 1)])
def test_an_older_version_that_is_expired(schemas: tuple[int, int]) -> None:
    """Its columns are those of now if all that is kept since has had them: ids come again."""
    history = History(*[("replace", {})] * 2)
    history.expire(*schemas)
    is_same = iceberg.rows_unchanged(history, TABLE, "0", history.newest, SCHEMA)
    assert is_same is (schemas == (SCHEMA, SCHEMA))


def test_versions_on_other_branches() -> None:
    """Only an ancestor on the main branch is compared; ids have no order."""
    history = History(*[("replace", {})] * 10)
    assert iceberg.rows_unchanged(history, TABLE, "9", "10", SCHEMA)
    assert iceberg.rows_unchanged(history, TABLE, "3", "3", SCHEMA)
    assert not iceberg.rows_unchanged(history, TABLE, "10", "9", SCHEMA)
    assert not iceberg.rows_unchanged(history, TABLE, "0", "11", SCHEMA)


MUTANTS = {
    "counts that are not there are 0": ("summary_number", lambda summary, key: 0),
    "every commit keeps rows": ("_keeps_rows", lambda snapshot, parent: True),
    "files do not count": ("_ROW_COUNTS", ()),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each rule is needed by one of the cases above."""
    attribute, wrong = MUTANTS[name]
    monkeypatch.setattr(iceberg, attribute, wrong)
    histories = [History(*commits) for commits in CHANGED.values()]
    assert any(iceberg.rows_unchanged(one, TABLE, "0", one.newest, SCHEMA) for one in histories)
