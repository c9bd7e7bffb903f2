"""The result of an operation: a table, and whether anything failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

_LONGEST_CELL = 100


@dataclass(frozen=True)
class Report:
    """Rows to print under `columns`; `failures` are complete error texts."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    failures: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())

    def lines(self) -> list[str]:
        """The aligned table, then the notes."""
        if not self.rows:
            return list(self.notes) or ["nothing to show"]
        cells = [self.columns, *[tuple(_cell(value) for value in row) for row in self.rows]]
        widths = [max(len(row[index]) for row in cells) for index in range(len(self.columns))]
        right = [_is_number(self.rows, index) for index in range(len(self.columns))]
        table = [_line(row, widths, right) for row in cells]
        rule = "  ".join("-" * width for width in widths)
        return [table[0], rule, *table[1:], *self.notes]


def _line(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = [
        cell.rjust(width) if to_right else cell.ljust(width)
        for cell, width, to_right in zip(row, widths, right, strict=True)
    ]
    return "  ".join(padded).rstrip()


def _is_number(rows: Sequence[Sequence[Any]], index: int) -> bool:
    values = [row[index] for row in rows if row[index] is not None]
    return bool(values) and all(isinstance(v, (int, float)) for v in values)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.2f}"
    text = " ".join(str(value).split())
    return text if len(text) <= _LONGEST_CELL else text[: _LONGEST_CELL - 3] + "..."
