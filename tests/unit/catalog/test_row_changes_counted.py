"""What files say of the rows that came and went; each boundary decides between right and wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dbt.adapters.spark_mv.catalog.file_changes import (
    DATA,
    EQUALITY_DELETES,
    ChangedFile,
    Numbers,
    changed_files,
)
from dbt.adapters.spark_mv.catalog.positions import Positions, positions, stay_deleted
from dbt.adapters.spark_mv.catalog.row_ids import RowIds, row_ids
from dbt.adapters.spark_mv.sql.names import TableName
from tests.unit.catalog.asked import asked, failing

TABLE = TableName("local", ("n",), "t")
UNKNOWN = Numbers(None, None)


def file(
    rows: int, is_new: bool = True, ids: Numbers = UNKNOWN, updated: Numbers = UNKNOWN
) -> ChangedFile:
    return ChangedFile(is_new, DATA, f"f{rows}", rows, ids, updated)


def deletes(rows: int, is_new: bool = True, content: int = 1, later: bool = True) -> ChangedFile:
    return ChangedFile(is_new, content, f"d{rows}", rows, UNKNOWN, UNKNOWN, later)


def once_more(rows: int) -> ChangedFile:
    return replace(file(rows), is_another=True)


OLD = file(10, is_new=False)
# Ten rows that the old version had; its ids end with 9, and its sequence numbers with 4.
KEPT = Numbers(0, 9)
CASES: dict[str, tuple[list[ChangedFile], tuple[int, int, int]]] = {
    "update": ([OLD, file(10, True, KEPT, Numbers(2, 4))], (2, 2, 0)),
    "all updated": ([OLD, file(10, True, KEPT, Numbers(10, None))], (10, 10, 0)),
    "delete": ([OLD, file(8, True, KEPT, Numbers(0, 4))], (0, 0, 2)),
    "insert": ([file(3)], (3, 0, 0)),
    "as many out as in": ([OLD, file(10, True, Numbers(2, 9), Numbers(2, 4))], (2, 0, 2)),
    "a whole file": ([OLD], (0, 0, 10)),
    "other ids": ([OLD, file(10, True, UNKNOWN, UNKNOWN)], (10, 0, 10)),
    "an id of a later row": ([OLD, file(10, True, Numbers(0, 10), Numbers(1, 4))], (10, 0, 10)),
    "a later commit": ([OLD, file(10, True, KEPT, Numbers(0, 5))], (10, 10, 0)),
    "compaction": ([OLD, file(10, True, KEPT, Numbers(0, 4))], (0, 0, 0)),
    "no bounds": ([OLD, file(10, True, Numbers(0, None), Numbers(0, None))], (10, 0, 10)),
}


@pytest.mark.parametrize("case", CASES)
def test_counts(case: str) -> None:
    """Rows that came, that are in the place of others, and that went; too many rather than too
    few."""
    files, (came, replaced, gone) = CASES[case]
    found = row_ids(asked(lambda sql: [(4, 10, 0)]), TABLE, "1", files, counted=True)
    assert found == RowIds(4, 10, came, replaced, gone)
    assert found.takes_away == bool(replaced or gone)


def test_files_of_deletes_hide_what_went() -> None:
    """Then nobody knows how many rows a version has: some may have gone."""
    executor = asked(lambda sql: [(4, 10, 0)])
    found = row_ids(executor, TABLE, "1", CASES["update"][0], counted=False)
    assert found is not None
    assert found.gone == 1
    found = row_ids(executor, TABLE, "1", [*CASES["update"][0], deletes(7)], counted=False)
    assert found is not None
    assert found.gone == 7


def test_rows_without_ids() -> None:
    """A version from before the upgrade, an older Iceberg, a table that was empty."""
    assert row_ids(asked(lambda sql: [(4, 10, 1)]), TABLE, "1", [OLD], True) is None
    assert row_ids(asked(failing), TABLE, "1", [OLD], True) is None
    empty = row_ids(asked(lambda sql: [(None, None, 0)]), TABLE, "1", [file(2)], True)
    assert empty == RowIds(0, 0, 2, 0, 0)


def test_statement_of_ids() -> None:
    """A row is new that was written after the old version, or has an id from its end on; one
    without an id, too."""
    new = "COALESCE(_last_updated_sequence_number > 4 OR _row_id >= 10, TRUE)"
    came = RowIds(4, 10, 2, 0, 0).sql(TABLE, "1", "2", "`k`", "w", "TRUE")
    assert came.endswith(f"WHERE {new} AND (TRUE)")
    assert "-1" not in came
    updated = RowIds(4, 10, 2, 2, 0).sql(TABLE, "1", "2", "`k`", "w", "TRUE")
    assert "LEFT SEMI JOIN" in updated and "BROADCAST" in updated
    assert updated.count(new) == 2 and f"NOT {new}" not in updated
    many = RowIds(4, 10, 2_000_000, 2, 0).sql(TABLE, "1", "2", "`k`", "w", "TRUE")
    assert "BROADCAST" not in many
    gone = RowIds(4, 10, 2, 2, 1).sql(TABLE, "1", "2", "`k`", "w", "p = 3")
    assert "LEFT ANTI JOIN" in gone and f"NOT {new}" in gone and gone.count("p = 3") == 3


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ([file(3)], (3, 0)),
        ([deletes(2)], (0, 2)),
        ([file(2), deletes(5), deletes(3, is_new=False)], (2, 2)),
        ([deletes(3), deletes(3, is_new=False)], (0, 1)),
        ([], (0, 0)),
        ([file(3), deletes(2, later=False)], (3, 0)),
        ([file(3), once_more(2)], None),
        ([OLD, file(10)], None),
        ([deletes(2, content=EQUALITY_DELETES)], None),
        ([file(1)] * 501, None),
        ([deletes(number) for number in range(501)], None),
    ],
)
def test_positions(files: list[ChangedFile], expected: tuple[int, int] | None) -> None:
    """As long as no rows went with their file, and none by their values."""
    found = positions(files, 5)
    assert (found and (found.came, found.went)) == expected


def test_statement_of_positions() -> None:
    """What is not there is not read."""
    both = Positions(("it's", "b"), 3, ("c'd",), 2, 9).sql(TABLE, "1", "2", "`k`", "w", "TRUE")
    assert "_file IN (CAST(X'69742773' AS STRING), 'b')" in both and " UNION ALL " in both
    assert "BROADCAST" in both and "delete_file_path IN (CAST(X'632764' AS STRING))" in both
    went = Positions((), 0, ("c",), 2, 2_000_000).sql(TABLE, "1", "2", "`k`", "w", "TRUE")
    assert "_file IN" not in went and "BROADCAST" not in went and "-1 AS w" in went
    came = Positions(("a",), 3, (), 0, 0).sql(TABLE, "1", "2", "`k`", "w", "TRUE")
    assert "position_deletes" not in came and "-1" not in came


def test_rows_that_come_back() -> None:
    """Asked only if a file of deletes was taken out; what cannot be told is not believed."""
    taken_out = [deletes(3), deletes(2, is_new=False)]
    asks: Any = asked(lambda sql: [])
    assert stay_deleted(asks, TABLE, "1", "2", [OLD, deletes(3)])
    assert not asks.statements
    assert stay_deleted(asks, TABLE, "1", "2", taken_out)
    assert not stay_deleted(asked(lambda sql: [(1,)]), TABLE, "1", "2", taken_out)
    assert not stay_deleted(asked(failing), TABLE, "1", "2", taken_out)
    by_value = [deletes(2, is_new=False, content=EQUALITY_DELETES)]
    assert not stay_deleted(asks, TABLE, "1", "2", by_value)


def test_files_as_spark_lists_them() -> None:
    """Numbers are stored with the least significant byte first."""
    row = (1, 0, "p", 5, 1, "0B01000000000000", None, None, True, "false")

    def of(*rows: Any, column: str = "k") -> Any:
        described = [(column, "int", None)]
        return asked(lambda sql: described if sql.startswith("DESCRIBE") else rows)

    found = changed_files(of(row), TABLE, "1", "2")
    assert found == (ChangedFile(True, 0, "p", 5, Numbers(1, 267), UNKNOWN),)
    others = changed_files(of((-1, *row[1:8], "false", True)), TABLE, "1", "2")
    assert others == (ChangedFile(False, 0, "p", 5, Numbers(1, 267), UNKNOWN, False, True),)
    assert changed_files(of((2, *row[1:])), TABLE, "1", "2") is None
    assert changed_files(of(*[row] * 10_001), TABLE, "1", "2") is None
    assert changed_files(asked(failing), TABLE, "1", "2") is None
    assert changed_files(of(row, column="_File"), TABLE, "1", "2") is None
