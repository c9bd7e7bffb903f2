"""Windows of time, as `window(day, '1 hour')` makes them, as expressions of their rows.

Spark makes them by a step of its own, which stands below the whole selection and leaves out rows
without a time (TimeWindowing of its analyzer), so they cannot be moved as they are. A window that
overlaps others makes several rows of one, and a session depends on other rows.

>>> from dbt.adapters.spark_mv.sql.parser import statements
>>> (query,) = statements("SELECT window.end FROM orders GROUP BY window(at, '1 day')")
>>> name_windows(query, columns=frozenset({"at"}))
>>> print(query.sql("spark"))
SELECT WINDOW(at, '1 day').end AS end FROM orders GROUP BY WINDOW(at, '1 day')
>>> (query,) = statements("SELECT window(at, '1 day') AS day FROM orders")
>>> print(as_expressions(query, types_of=lambda times: ["timestamp"]).sql("spark"))
SELECT STRUCT(TIMESTAMP_MICROS(UNIX_MICROS(at) - PMOD(UNIX_MICROS(at), 86400000000)) AS `start`,
  TIMESTAMP_MICROS(UNIX_MICROS(at) - PMOD(UNIX_MICROS(at), 86400000000) + 86400000000)
  AS `end`) AS day
FROM orders WHERE NOT at IS NULL
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import cast

from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra.scopes import names_in
from dbt.adapters.spark_mv.ivm.algebra.terms import both, conjuncts, not_fast, operand, ungrouped

_CALLED = "window"
_OTHERS = ("session_window", "window_time")
_FIELDS = ("start", "end")
_LENGTH = re.compile(r"\s*(\d+)\s+([a-z]+?)s?\s*", re.IGNORECASE)
_MICROSECONDS = {"microsecond": 1, "millisecond": 1_000, "second": 1_000_000}
_MICROSECONDS |= {"minute": 60_000_000, "hour": 3_600_000_000, "day": 86_400_000_000}
_MICROSECONDS |= {"week": 604_800_000_000}


def name_windows(tree: exp.Expr, columns: frozenset[str]) -> None:
    """Write in a parsed tree the window that a selection is grouped by where it is called
    `window`, unless a column or relation is called so."""
    for select in tree.find_all(exp.Select):
        group = select.args.get("group")
        windows = [call for call in _calls(group) if call.parent is group] if group else []
        taken = columns | {name.lower() for name in names_in(select)}
        if len(windows) != 1 or _CALLED in taken:
            continue
        for column in list(select.find_all(exp.Column)):
            if column.find_ancestor(exp.Select) is select:
                _write(column, windows[0])


def _write(column: exp.Column, window: exp.Expr) -> None:
    if column.table.lower() == _CALLED and not column.db and column.name.lower() in _FIELDS:
        found: exp.Expr = exp.Dot(this=window.copy(), expression=column.this.copy())
    elif column.name.lower() == _CALLED and not column.table:
        found = window.copy()
    else:
        return
    is_output = isinstance(column.parent, exp.Select) and column.arg_key == "expressions"
    column.replace(exp.alias_(found, column.name) if is_output else found)


def as_expressions(query: exp.Query, types_of: Callable[[exp.Query], list[str]]) -> exp.Query:
    """A copy of a parsed query whose windows of time are expressions; raises `NotFast` for a window
    that is none."""
    found = query.copy()
    for select in list(found.find_all(exp.Select)):
        calls = [
            call
            for call in _calls(select, (_CALLED, *_OTHERS))
            if call.find_ancestor(exp.Select) is select
        ]
        if calls:
            _replace(select, calls, types_of)
    return found


def _replace(
    select: exp.Select,
    calls: Sequence[exp.Anonymous],
    types_of: Callable[[exp.Query], list[str]],
) -> None:
    windows = [_of_one_row(call) for call in calls]
    time, _ = windows[0]
    (kind,) = types_of(ungrouped(select, [time], "mv_time"))
    if kind != "timestamp":
        text = f"its time is a {kind}; cast that to TIMESTAMP"
        raise not_fast("TIME_WINDOW", text, calls[0])
    has_time = exp.Not(this=exp.Is(this=operand(time.copy()), expression=exp.Null()))
    conditions = [*conjuncts(select.args.get("where")), has_time]
    for call, (time, length) in zip(calls, windows, strict=True):
        call.replace(_window(time, length))
    select.set("where", exp.Where(this=both(conditions)))


def _of_one_row(call: exp.Anonymous) -> tuple[exp.Expr, int]:
    """The time of a window, and its length in microseconds."""
    if call.name.lower() != _CALLED or len(call.expressions) != 2:
        text = "a session, or a window that overlaps others, is no function of one row's time"
        raise not_fast("TIME_WINDOW", text, call)
    time, duration = call.expressions
    length = _LENGTH.fullmatch(duration.name) if duration.is_string else None
    unit = _MICROSECONDS.get(length.group(2).lower()) if length else None
    if length is None or unit is None:
        text = "its length is not written as a number and a unit, like '90 minutes'"
        raise not_fast("TIME_WINDOW", text, call)
    return time, int(length.group(1)) * unit


def _window(time: exp.Expr, length: int) -> exp.Expr:
    """The window of this length, in microseconds, in which a time lies."""
    micros = f"UNIX_MICROS({time.sql('spark')})"
    start = f"{micros} - PMOD({micros}, {length})"
    text = (
        f"STRUCT(TIMESTAMP_MICROS({start}) AS `start`, "
        f"TIMESTAMP_MICROS({start} + {length}) AS `end`)"
    )
    return cast(exp.Expr, exp.maybe_parse(text, dialect="spark"))


def _calls(tree: exp.Expr, names: tuple[str, ...] = (_CALLED,)) -> Iterator[exp.Anonymous]:
    return (call for call in tree.find_all(exp.Anonymous) if call.name.lower() in names)
