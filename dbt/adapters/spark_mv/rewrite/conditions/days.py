"""Days that constants stand for, and days before which the clock shows none."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Sequence
from datetime import date, timedelta

from sqlglot import exp

from dbt.adapters.spark_mv.core.clock import machine_day
from dbt.adapters.spark_mv.rewrite.conditions.time_units import (
    day_number,
    is_day,
    numbered_day,
    unit_of,
)
from dbt.adapters.spark_mv.rewrite.terms import Term

_DAY, _COUNT = re.compile(r"\d{4}-\d{2}-\d{2}"), re.compile(r"-?\d{1,5}")
_WRITTEN = {
    "yyyy": r"(\d{4})",
    "yyyy-MM": r"(\d{4})-(\d{2})",
    "yyyyMM": r"(\d{4})(\d{2})",
    "yyyy-MM-dd": r"(\d{4})-(\d{2})-(\d{2})",
    "yyyyMMdd": r"(\d{4})(\d{2})(\d{2})",
}
_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
_DAYS = {"DAY": 1, "WEEK": 7}
_IN_A_DAY = {"HOUR": 24, "MINUTE": 24 * 60, "SECOND": 24 * 60 * 60}
# Zones are up to half a day behind UTC, and the machine of Spark may be behind this one.
_BEHIND = 2


def day_text(term: Term) -> str | None:
    """The day that a constant of type DATE is, as YYYY-MM-DD; None if it is none, or not known."""
    if is_day(term):
        return _text(term.args[0])
    shift = _shift(term)
    if shift is not None:
        argument, count, unit = shift
        text = day_text(argument)
        if text is None and not isinstance(term.node, (exp.Add, exp.Sub)):
            text = _text(argument)
        return None if text is None or unit in _IN_A_DAY else moved(text, count, unit)
    if isinstance(term.node, exp.LastDay) and len(term.args) == 1:
        text = day_text(term.args[0]) or _text(term.args[0])
        return None if text is None else _last_of_month(text)
    if isinstance(term.node, exp.Anonymous) and term.node.name.lower() == "make_date":
        return _made(term.args)
    return _first_of_unit(term) if isinstance(term.node, exp.DateTrunc) else None


def midnight_text(term: Term) -> str | None:
    """The day at whose midnight a constant of type TIMESTAMP is, as YYYY-MM-DD; None if it is at
    none, or not known."""
    if isinstance(term.node, exp.TimestampTrunc):
        return _first_of_unit(term)
    node = term.node
    is_moment = isinstance(node, exp.Cast) and node.args["to"].sql("spark") == "TIMESTAMP"
    text = term.args[0].node if is_moment and term.args else None
    if not isinstance(text, exp.Literal) or not text.is_string or node.args.get("safe"):
        return None
    day = text.name.removesuffix(" 00:00:00")
    return day if _DAY.fullmatch(day) else None


def _first_of_unit(term: Term) -> str | None:
    """The first day of the unit of time of a constant."""
    unit, is_start = unit_of(term)
    argument = term.args[[name for name, _ in term.slots].index("this")]
    text = day_text(argument) or _text(argument) or midnight_text(argument)
    if text is None or not is_start or unit not in {**_DAYS, **_MONTHS}:
        return None
    return str(numbered_day(start_of(day_number(date.fromisoformat(text)), unit)))


def _made(parts: Sequence[Term]) -> str | None:
    """The day of a year, a month and a day."""
    numbers = [count for part in parts if (count := _count(part)) is not None]
    if len(numbers) != 3 or len(parts) != 3:
        return None
    text = "{:04d}-{:02d}-{:02d}".format(*numbers)
    return text if moved(text, 0, "DAY") == text else None


def first_day(term: Term) -> int | None:
    """A day, counted from 1970, before which a day or moment of the clock does not lie, whenever
    from now on and in whatever time zone a statement asks for it; None if a term is none."""
    node = term.node
    is_now = isinstance(node, exp.Anonymous) and node.name.lower() == "now"
    if is_now or isinstance(node, (exp.CurrentDate, exp.CurrentTimestamp)):
        return machine_day() - _BEHIND
    shift = _shift(term)
    if shift is not None:
        return _shifted(*shift)
    names = [name for name, _ in term.slots]
    day = first_day(term.args[names.index("this")]) if "this" in names else None
    if day is None:
        return None
    if isinstance(node, exp.LastDay) or (isinstance(node, exp.Cast) and _is_time(node)):
        return day
    unit, is_start = unit_of(term)
    return start_of(day, unit) if unit is not None and is_start else None


def first_year(term: Term) -> int | None:
    """A year before which that of a day or moment of the clock does not lie; None if it is none."""
    if isinstance(term.node, exp.Year):
        day = first_day(term.args[0])
        return None if day is None else numbered_day(day).year
    if not isinstance(term.node, (exp.Add, exp.Sub)) or len(term.args) != 2:
        return None
    year, count = first_year(term.args[0]), _count(term.args[1])
    if year is None or count is None:
        return None
    return year + (count if isinstance(term.node, exp.Add) else -count)


def moved(text: str, count: int, unit: str) -> str | None:
    """The text of a day moved by so many units, in a shorter month by its last day at most; None
    if there is no such day.

    >>> moved("2024-02-29", 1, "YEAR"), moved("1995-01-01", -1, "DAY")
    ('2025-02-28', '1994-12-31')
    >>> moved("9999-12-31", 1, "DAY")
    """
    try:
        day = date.fromisoformat(text)
        if unit in _DAYS:
            return str(day + timedelta(days=count * _DAYS[unit]))
        year, month = divmod(day.year * 12 + day.month - 1 + count * _MONTHS[unit], 12)
        return str(date(year, month + 1, min(day.day, monthrange(year, month + 1)[1])))
    except (ValueError, OverflowError):
        return None


def _text(term: Term) -> str | None:
    """A text that is one of a day."""
    is_text = isinstance(term.node, exp.Literal) and term.node.is_string
    return term.node.name if is_text and _DAY.fullmatch(term.node.name) else None


def _last_of_month(text: str) -> str | None:
    first = moved(f"{text[:7]}-01", 1, "MONTH")
    return None if first is None else moved(first, -1, "DAY")


def _shift(term: Term) -> tuple[Term, int, str] | None:
    """What a term moves, by how many of which unit; a day by days is a day, whatever Spark makes of
    other times."""
    node = term.node
    if len(term.args) != 2:
        return None
    argument, by = term.args
    if isinstance(node, exp.AddMonths):
        unit, count = "MONTH", _count(by)
    elif isinstance(node, exp.TsOrDsAdd) and node.text("unit").upper() in ("", "DAY"):
        unit, count = "DAY", _count(by)
    elif isinstance(node, (exp.Add, exp.Sub)):
        unit, count = _interval(by)
        count = -count if count is not None and isinstance(node, exp.Sub) else count
    else:
        return None
    return None if count is None else (argument, count, unit)


def _interval(term: Term) -> tuple[str, int | None]:
    """The unit and number of an interval; a number alone is one of days."""
    if not isinstance(term.node, exp.Interval):
        return "DAY", _count(term)
    unit = term.node.args.get("unit")
    name = unit.name.upper().removesuffix("S") if isinstance(unit, exp.Var) else ""
    is_known = len(term.args) == 1 and name in {**_DAYS, **_MONTHS, **_IN_A_DAY}
    return name, _count(term.args[0]) if is_known else None


def _count(term: Term) -> int | None:
    """The number that a term is, which may be that of an interval as a text, or a product."""
    if isinstance(term.node, exp.Mul) and len(term.args) == 2:
        one, other = map(_count, term.args)
        return None if one is None or other is None else one * other
    node = term.node.this if isinstance(term.node, exp.Neg) else term.node
    if not isinstance(node, exp.Literal) or term.args or not _COUNT.fullmatch(node.name):
        return None
    return int(node.name) * (-1 if node is not term.node else 1)


def _shifted(argument: Term, count: int, unit: str) -> int | None:
    day = first_day(argument)
    if day is None:
        return None
    if unit in _IN_A_DAY:
        # In a day in which clocks go forward there are fewer hours.
        return day + count // _IN_A_DAY[unit] - 1
    text = moved(str(numbered_day(day)), count, unit)
    return None if text is None else day_number(date.fromisoformat(text)) - 1


def _is_time(cast: exp.Cast) -> bool:
    return cast.args["to"].sql("spark").upper().startswith(("DATE", "TIMESTAMP"))


def start_of(day: int, unit: str) -> int:
    """The first day of a unit of time."""
    found = numbered_day(day)
    if unit == "WEEK":
        return day - found.weekday()
    if unit not in _MONTHS:
        return day
    months = _MONTHS[unit]
    month = (found.month - 1) // months * months + 1
    return day_number(found.replace(month=month, day=1))


def first_written(text: str, form: str) -> str:
    """The first day, as YYYY-MM-DD, of a year or month that is written in a form, or the day; empty
    if it is none.

    >>> first_written("2024-03", "yyyy-MM"), first_written("202413", "yyyyMM")
    ('2024-03-01', '')
    """
    pattern = _WRITTEN.get(form)
    found = re.fullmatch(pattern, text) if pattern else None
    day = "-".join((*found.groups(), "01", "01")[:3]) if found is not None else ""
    return day if day and moved(day, 0, "DAY") == day else ""


def next_start(day: int, unit: str) -> int:
    """The first day of the unit of time after that of a day.

    >>> str(numbered_day(next_start(day_number(date(2024, 2, 29)), "QUARTER")))
    '2024-04-01'
    """
    longest = _DAYS[unit] if unit in _DAYS else 31 * _MONTHS[unit]
    return start_of(start_of(day, unit) + longest, unit)
