"""What a refresh is held to cost: only the order of the ways matters."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbt.adapters.spark_mv.planning.cost import Estimate, Written, is_better_in_part

LARGE = Estimate(20_000_000, 1_000, 0, 5_000_000, Written.ALL)
_LINES, _ORDERS = 6_001_215, 1_500_000
# What a refresh works on, by cell of `make bench` at SF1, and which part of the time of a complete
# one a fast one took: rows in all, changed, joined, stored; which are written; whether by group.
_SHAPES = {
    "q1": (0, 0, 4, Written.ALL, False),
    "day_mode": (0, 0, 17_681, Written.ALL, False),
    "nation_year": (_ORDERS + 150_025, 1, 175, Written.ALL, False),
    "customer": (_ORDERS, 1, 99_996, Written.ALL, False),
    "by_order": (0, 0, _ORDERS, Written.ALL, False),
    "by_order in part": (0, 0, _ORDERS, Written.REPLACED, False),
    "late_lines": (_ORDERS, 1, 928_523, Written.NONE, False),
    "suppliers_day": (0, 1, 2_526, Written.ALL, True),
}
INSERTED = {
    0.0001: {"q1": 0.15, "day_mode": 0.25, "nation_year": 0.23, "customer": 0.38}
    | {"by_order in part": 0.51, "late_lines": 0.16, "suppliers_day": 0.44},
    0.01: {"q1": 0.18, "day_mode": 0.43, "nation_year": 0.22, "customer": 0.24}
    | {"by_order in part": 0.38, "late_lines": 0.16, "suppliers_day": 1.36},
    0.1: {"q1": 0.28, "day_mode": 0.40, "nation_year": 0.21, "customer": 0.36}
    | {"by_order": 1.30, "late_lines": 0.31, "suppliers_day": 1.32},
    0.5: {"q1": 0.40, "day_mode": 0.47, "nation_year": 0.55, "customer": 0.59}
    | {"by_order": 1.37, "late_lines": 0.46, "suppliers_day": 1.81},
}
DELETED = {"q1": 3.87, "day_mode": 11.96, "nation_year": 3.28, "customer": 3.63} | {
    "by_order": 6.40,
    "late_lines": 5.41,
    "suppliers_day": 3.44,
}


def _estimate(view: str, fraction: float, appended: bool) -> Estimate:
    others, joins, stored, written, by_group = _SHAPES[view]
    tables = _LINES + others
    grown = 1 + fraction if appended else 1 - fraction
    changed = int(tables * (fraction if appended else 2 - fraction))
    joined = int(joins * tables * grown)
    if not appended and written is Written.NONE:
        written = Written.ALL
    new = changed if appended else 0
    total = int(tables * grown)
    return Estimate(total, changed, joined, stored, written, by_group, appended=new)


@pytest.mark.parametrize(
    ("view", "fraction", "took"),
    [(view, part, took) for part, cells in INSERTED.items() for view, took in cells.items()],
)
def test_inserts_as_measured(view: str, fraction: float, took: float) -> None:
    """Of a method that takes clearly less the estimate is less, too."""
    assert _estimate(view, fraction, appended=True).is_worth_it == (took < 1)


@pytest.mark.parametrize(("view", "took"), DELETED.items())
def test_deletes_as_measured(view: str, took: float) -> None:
    """Rows that went with files written anew are not worth being sought."""
    assert _estimate(view, 0.01, appended=False).is_worth_it == (took < 1)


# By key, of the shops of the bench, 1 % inserted into each of their tables: changed, joined
# and stored rows, rows in all, and what part of the processor time of a complete refresh it took.
KEYED = {
    "order_items": (30_000, 6_060_140, 2_000_000, 3_030_070, 1.5),
    "orders": (30_000, 6_060_000, 1_000_000, 3_030_000, 1.2),
    "customers": (32_500, 22_977_500, 250_000, 3_282_500, 2.1),
}


@pytest.mark.parametrize("view", KEYED)
@pytest.mark.parametrize("times", [1, 10, 100])
def test_by_key_as_measured(view: str, times: int) -> None:
    """Where each table is read several times the query costs less, whatever their size."""
    *numbers, took = KEYED[view]
    changed, joined, stored, total = (times * int(number) for number in numbers)
    written = Written.REPLACED if stored >= 500_000 else Written.ALL
    keyed = Estimate(total, changed, joined, stored, written, by_key=True)
    assert keyed.is_worth_it == (took < 1)
    assert keyed.fast > replace(keyed, by_key=False).fast


def test_by_key_of_one_table() -> None:
    """If one small table has changed, of which few rows are joined, rows are replaced by key."""
    assert Estimate(
        50_000_000, 100, 10_000_000, 5_000_000, Written.REPLACED, by_key=True
    ).is_worth_it


@pytest.mark.parametrize(
    ("stored", "taken_away", "changed", "in_part"),
    [
        (10_000_000, 0, 1_000, True),
        (10_000_000, 900_000, 1_000, True),
        # Readers leave out what was taken away; writing the whole table ends that.
        (10_000_000, 1_100_000, 1_000, False),
        (10_000_000, 0, 2_000_000, False),
        (10_000, 0, 1, False),
        (0, 0, 0, False),
    ],
)
def test_in_part(stored: int, taken_away: int, changed: int, in_part: bool) -> None:
    """Large tables of which little changes, as long as most rows of their files are still read."""
    assert is_better_in_part(stored, taken_away, changed) == in_part


def test_order() -> None:
    """Of a large table it is best to add rows, then to write those that differ, then all."""
    adds, in_part = replace(LARGE, written=Written.NONE), replace(LARGE, written=Written.REPLACED)
    assert adds.fast < in_part.fast < LARGE.fast
    assert in_part.is_worth_it
    assert "5,000,000 searched" in str(in_part)


def test_complete_writes_too() -> None:
    """A complete refresh writes all rows: of two over the same tables the larger costs more."""
    assert replace(LARGE, stored_rows=10).complete < LARGE.complete
