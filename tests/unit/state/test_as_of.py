"""Which version a table had, by the entries of its history."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest

from dbt.adapters.spark_mv.catalog.iceberg import FORMAT, HistoryEntry
from dbt.adapters.spark_mv.catalog.versions import Version
from dbt.adapters.spark_mv.core.errors import InvalidArgument
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.state.as_of import PastVersions, parsed

TABLE = TableName("c", ("s",), "t")
NOW = Version(FORMAT, "C", 0)


class Kept:
    """Versions of one table with this history, all of one schema."""

    def __init__(self, *entries: tuple[int, str, bool]) -> None:
        self._entries = [HistoryEntry(*entry) for entry in entries]

    def history(self, name: TableName) -> list[HistoryEntry]:
        return self._entries

    def schema_of(self, name: TableName, snapshot_id: str) -> int:
        return 0


def then(kept: Any, at_ms: int) -> str | None:
    return PastVersions(instant=at_ms / 1000)._then(kept, TABLE, NOW).snapshot_id


def test_last_entry() -> None:
    """In the order of the history, as Spark does: clocks of writers differ."""
    kept = Kept((100, "A", False), (200, "B", True), (160, "C", True))
    assert [then(kept, at) for at in (100, 159, 160, 199, 200, 900)] == list("AACCCC")


def test_one_millisecond() -> None:
    kept = Kept((100, "A", False), (200, "B", True), (200, "C", True))
    assert [then(kept, at) for at in (199, 200)] == ["A", "C"]


def test_rolled_back_to_the_first() -> None:
    """It continues no other snapshot, and replaces nothing."""
    kept = Kept((100, "A", False), (200, "B", True), (300, "A", False), (400, "C", True))
    assert [then(kept, at) for at in (150, 250, 350, 450)] == list("ABAC")


def test_replaced() -> None:
    kept = Kept((100, "A", False), (200, "B", True), (300, "C", False))
    assert [then(kept, at) for at in (150, 350)] == ["A", "C"]
    with pytest.raises(InvalidArgument, match="it was replaced"):
        then(kept, 250)


@pytest.mark.parametrize(
    "text", ["2026-03-01", "2026-03-01T12:30:00Z", " 2026-03-01 12:30:00+01:00 "]
)
def test_texts(text: str) -> None:
    assert parsed(text).replace(tzinfo=timezone.utc) > datetime(2026, 2, 1, tzinfo=timezone.utc)


@pytest.mark.parametrize("text", ["", "now", "2026-13-01", "1700000000", "'2026-03-01'"])
def test_no_times(text: str) -> None:
    with pytest.raises(InvalidArgument, match="as_of cannot be"):
        parsed(text)
