"""What a fast refresh costs against a complete one, in rows read and written. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import median

# A fast refresh has a longer plan, and so a fixed cost: about that of reading so many rows.
_FIXED = 1_000_000
# Rows of a change are read, netted and joined, those of appended files need no netting; rows beside
# it are mostly only read.
_PER_CHANGED, _PER_APPENDED, _PER_JOINED, _PER_GROUPED = 3.0, 1.0, 0.3, 1.0
# The tables are read to find the keys, once more to take away their rows, and to compute them anew.
_PER_KEYED = 0.75
# Each stored row, when all are written: by a complete refresh, and as they are brought up to date.
_PER_WRITTEN, _PER_REWRITTEN = 2.0, 6.0
# Each stored row, when those that are replaced are sought among them.
_PER_SEARCHED = 1.0
# Tables of fewer rows are soonest written as a whole. So are those in whose files many rows have
# been taken away, which costs every reader.
_LARGE, _FEW = 500_000, 0.1
_HYSTERESIS, _NEAR = 0.8, 2.0
# What the history says counts from so many refreshes on, and up to such a factor: times vary.
_TIMED, _MOST = 2, 4.0


def is_small(base_rows: int) -> bool:
    """Whether tables of so many rows in all are best read as a whole, whatever changed."""
    return base_rows * _HYSTERESIS <= _FIXED


def complete_cost(base_rows: int, stored_rows: int) -> float:
    """What a complete refresh costs, in rows: those of all base tables are read, those of the
    storage table written."""
    return base_rows + _PER_WRITTEN * stored_rows


def slowness(speeds: Mapping[str, Sequence[float]], method: str) -> float:
    """How much longer a method took than it was estimated to, against complete refreshes of the
    same view; `speeds` has seconds per unit of estimated cost. 1 if too little is known."""
    one, other = speeds.get(method, ()), speeds.get("complete", ())
    if min(len(one), len(other)) < _TIMED or not median(other):
        return 1.0
    return min(_MOST, max(1 / _MOST, median(one) / median(other)))


def is_better_in_part(stored_rows: int, taken_away: int, changed_rows: int) -> bool:
    """Whether to write only those stored rows that differ; so many are in files but not read."""
    return stored_rows >= _LARGE and max(taken_away, changed_rows) <= _FEW * stored_rows


class Written(Enum):
    """Which stored rows a fast refresh writes."""

    ALL = "rewritten"
    REPLACED = "searched"
    NONE = "kept"


_PER_STORED = {Written.ALL: _PER_REWRITTEN, Written.REPLACED: _PER_SEARCHED, Written.NONE: 0.0}


@dataclass(frozen=True)
class Estimate:
    """Numbers of rows: of all base tables, of the changes, of the tables that are read beside
    them (each as often as it is read), and of the storage table, of which some are `written`.

    Of the changed rows so many are in `appended` files; to find the others costs as much as to
    read `scanned` rows. `by_group` says that groups are computed again, `by_key` that all rows with
    the keys of changed ones are; `slowness` how much longer such refreshes of the view took than
    estimated.
    """

    base_rows: int
    changed_rows: int
    joined_rows: int
    stored_rows: int
    written: Written = Written.ALL
    by_group: bool = False
    slowness: float = 1.0
    appended: int = 0
    scanned: int = 0
    by_key: bool = False

    @property
    def is_worth_it(self) -> bool:
        """Whether the fast refresh is clearly the cheaper one."""
        return self.fast < _HYSTERESIS * self.complete

    @property
    def complete(self) -> float:
        """Cost of a complete refresh, in rows."""
        return complete_cost(self.base_rows, self.stored_rows)

    @property
    def is_near_least(self) -> bool:
        """Whether no other way can be much cheaper."""
        return self.fast <= _NEAR * _FIXED

    @property
    def fast(self) -> float:
        """Cost of a fast refresh, in rows."""
        return self.slowness * self.fast_by_itself

    @property
    def fast_by_itself(self) -> float:
        """As `fast`, whatever the history says."""
        return (
            _FIXED
            + _PER_APPENDED * self.appended
            + _PER_CHANGED * (self.changed_rows - self.appended)
            + self.scanned
            + self._per_joined * self.joined_rows
            + _PER_STORED[self.written] * self.stored_rows
        )

    @property
    def _per_joined(self) -> float:
        if self.by_key:
            return _PER_KEYED
        # With more changed rows than groups, most groups have to be recomputed.
        all_groups = self.by_group and self.changed_rows >= self.stored_rows
        return _PER_GROUPED if all_groups else _PER_JOINED

    def __str__(self) -> str:
        sought = f" found by reading {self.scanned:,}" if self.scanned else ""
        return (
            f"{self.changed_rows:,} changed rows{sought}, {self.joined_rows:,} joined, "
            f"{self.stored_rows:,} {self.written.value}, against {self.base_rows:,} in all"
            + _by_history(self.slowness)
        )


@dataclass(frozen=True)
class PartitionEstimate:
    """Numbers of rows: of all base tables, of the changes, of the storage table; and how many of
    how many partitions are recomputed. `slowness` is as in `Estimate`."""

    base_rows: int
    changed_rows: int
    stored_rows: int
    partitions: int
    of_partitions: int
    slowness: float = 1.0

    @property
    def is_worth_it(self) -> bool:
        """Whether the partition refresh is clearly cheaper than a complete one."""
        return self.cost < _HYSTERESIS * complete_cost(self.base_rows, self.stored_rows)

    @property
    def cost(self) -> float:
        """In rows."""
        return self.slowness * self.cost_by_itself

    @property
    def cost_by_itself(self) -> float:
        """As `cost`, whatever the history says."""
        share = self.partitions / self.of_partitions
        complete = complete_cost(self.base_rows, self.stored_rows)
        return _FIXED + self.changed_rows + share * complete

    def __str__(self) -> str:
        return (
            f"{self.partitions:,} of {self.of_partitions:,} partitions, "
            f"{self.changed_rows:,} changed rows, {self.base_rows:,} rows in all"
            + _by_history(self.slowness)
        )


def _by_history(slowness: float) -> str:
    return "" if slowness == 1.0 else f", times {slowness:.2f} by its history"
