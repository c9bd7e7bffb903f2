"""Functions of days and moments that only depend on the hour, the day, the month, .. of these.

All units from the day on are made of local days, so that a day tells its month, quarter and year,
and its week; a week may lie in two months and tells only itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.terms import Term

_UNITS = ("SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR")
# DATE_TRUNC reads a TIMESTAMP_NTZ in the zone of the session, HOUR and others do not.
_TYPES = ("date", "timestamp")
_DAY = _UNITS.index("DAY")
# Of other years nobody asks what clocks did.
FIRST_YEAR, LAST_YEAR = 1900, 2100
# In these zones clocks never went forward or back.
NO_TRANSITIONS = ("UTC", "Etc/UTC", "GMT")
_HALF_A_DAY, _EPOCH = timedelta(hours=12), date(1970, 1, 1)
# Zones that in Java's history lack a day, have a midnight twice, or one in hours that they lack,
# where Python's history, or that of the years from 1900 on, knows nothing of it.
_ODD_IN_JAVA = frozenset(
    """
    America/Adak America/Anchorage America/Atka America/Creston America/Metlakatla
    America/Montreal America/Nassau America/Nipigon America/Nome America/Thunder_Bay
    America/Toronto America/Yakutat Asia/Manila Canada/Eastern EET Europe/Amsterdam
    Europe/Copenhagen Europe/Oslo Pacific/Apia Pacific/Guam Pacific/Kosrae Pacific/Midway
    Pacific/Pago_Pago Pacific/Palau Pacific/Rarotonga Pacific/Saipan Pacific/Samoa US/Alaska
    US/Aleutian US/Samoa WET
    """.split()
)
_NAMES = {"YYYY": "YEAR", "YY": "YEAR", "MM": "MONTH", "MON": "MONTH", "DD": "DAY"}
_OF_TRUNC = frozenset({"YEAR", "QUARTER", "MONTH", "WEEK"})
# Formats of DATE_FORMAT, by the unit that they are of.
FORMATS = {
    "yyyy": "YEAR",
    "yyyy-MM": "MONTH",
    "yyyyMM": "MONTH",
    "MM": "MONTH",
    "MMM": "MONTH",
    "MMMM": "MONTH",
    "yyyy/MM": "MONTH",
    "MM/yyyy": "MONTH",
    "MMM yyyy": "MONTH",
    "MMMM yyyy": "MONTH",
    "yyyy-MM-dd": "DAY",
    "yyyyMMdd": "DAY",
    "yyyy/MM/dd": "DAY",
    "dd/MM/yyyy": "DAY",
    "MM/dd/yyyy": "DAY",
    "dd-MM-yyyy": "DAY",
    "dd.MM.yyyy": "DAY",
    "dd MMM yyyy": "DAY",
    "MMM dd": "DAY",
    "MM-dd": "DAY",
    "dd": "DAY",
    "E": "DAY",
    "EEE": "DAY",
    "EEEE": "DAY",
    "HH": "HOUR",
    "HH:mm": "MINUTE",
    "HH:mm:ss": "SECOND",
    "yyyy-MM-dd HH": "HOUR",
    "yyyy-MM-dd HH:mm": "MINUTE",
    "yyyy-MM-dd HH:mm:ss": "SECOND",
}
_PARTS: dict[type[exp.Expr], str] = {
    exp.Year: "YEAR",
    exp.Quarter: "QUARTER",
    exp.Month: "MONTH",
    exp.LastDay: "MONTH",
    exp.Day: "DAY",
    exp.DayOfMonth: "DAY",
    exp.DayOfWeek: "DAY",
    exp.DayOfYear: "DAY",
    exp.WeekOfYear: "WEEK",
    exp.Hour: "HOUR",
    exp.Minute: "MINUTE",
    exp.Second: "SECOND",
}


@dataclass(frozen=True)
class OfUnit:
    """A function of `argument` that depends on its unit of time only; `is_start` says that its
    value is the beginning of the unit, from which others can be computed."""

    unit: str
    argument: Term
    is_start: bool


@dataclass(frozen=True)
class Oddities:
    """Whether a time zone lacks a day, so that DATE_TRUNC of a DATE is that of another, and whether
    it has a midnight twice, so that DATE_TRUNC of a moment is one of two."""

    lacks_a_day: bool
    repeats_midnight: bool

    @property
    def any(self) -> bool:
        """Whether a day may not be what lies between two midnights."""
        return self.lacks_a_day or self.repeats_midnight


@lru_cache(64)
def oddities(zone: str) -> Oddities:
    """What there is of that in two centuries of a time zone; all of it if the zone is not known."""
    if zone in _ODD_IN_JAVA:
        return Oddities(True, True)
    try:
        where = ZoneInfo(zone)
    except (ValueError, ZoneInfoNotFoundError):
        return Oddities(True, True)
    noon, last = datetime(FIRST_YEAR, 1, 1, 12, tzinfo=where), timedelta()
    lacks = repeats = False
    while noon.year < LAST_YEAR:
        offset = noon.utcoffset() or timedelta()
        if offset != last:
            midnight = noon.replace(hour=0)
            second = midnight.replace(fold=1).utcoffset() or timedelta()
            repeats = repeats or (midnight.utcoffset() or timedelta()) > second
            lacks = lacks or (noon.year > FIRST_YEAR and abs(offset - last) >= _HALF_A_DAY)
        noon, last = noon + timedelta(days=1), offset
    return Oddities(lacks, repeats)


def of_unit(term: Term) -> OfUnit | None:
    """What a term is, if it is a function of a unit of time."""
    unit, is_start = unit_of(term)
    if unit is None or not term.args:
        return None
    this = term.args[[name for name, _ in term.slots].index("this")]
    inner = of_unit(this) if is_day(term) else None
    if inner is not None and inner.is_start and inner.unit == unit:
        return inner
    if is_day(this) and not is_day(term):
        # Of a day there are no hours.
        is_coarser = _UNITS.index(unit) >= _DAY
        unit, this = unit if is_coarser else "DAY", this.args[0]
    # A text may be a day and no moment.
    is_time = this.column is not None and this.column.type in _TYPES
    return OfUnit(unit, this, is_start) if is_time else None


def is_day(term: Term) -> bool:
    """Whether a term is the day of another."""
    is_cast = isinstance(term.node, exp.Cast) and not term.node.args.get("safe")
    return is_cast and term.node.args["to"].sql("spark").upper() == "DATE" and bool(term.args)


def tells(stored: str, wanted: str, zone: str) -> bool:
    """Whether the beginning of one unit tells that of another in a time zone.

    >>> tells("DAY", "MONTH", "UTC"), tells("WEEK", "MONTH", "UTC"), tells("MONTH", "DAY", "UTC")
    (True, False, False)
    >>> tells("MINUTE", "HOUR", "UTC"), tells("MINUTE", "HOUR", "Australia/Lord_Howe")
    (True, False)
    """
    if _UNITS.index(wanted) < _DAY and zone not in NO_TRANSITIONS:
        return False  # clocks go forward in the middle of hours, too
    if stored == wanted:
        return True
    return (
        stored != "WEEK"
        and _UNITS.index(stored) < _UNITS.index(wanted)
        and not (wanted == "WEEK" and _UNITS.index(stored) > _DAY)
    )


def unit_of(term: Term) -> tuple[str | None, bool]:
    """The unit of time that a function is of, and whether it is the beginning of the unit."""
    node = term.node
    if type(node) in _PARTS:
        return _PARTS[type(node)], False
    if is_day(term):
        # The day of the beginning of a unit is that beginning.
        inner, is_start = unit_of(term.args[0])
        is_coarser = is_start and inner is not None and _UNITS.index(inner) > _DAY
        return (inner, True) if is_coarser else ("DAY", True)
    if isinstance(node, exp.TimeToStr):
        written = node.sql("spark").rsplit("'", 2)[1]
        return FORMATS.get(written), False
    name = ""
    if isinstance(node, exp.TimestampTrunc):
        unit = node.args.get("unit")
        name = unit.name if unit is not None else ""
    elif isinstance(node, exp.DateTrunc):
        names = [name for name, _ in term.slots]
        unit = term.args[names.index("unit")].node if "unit" in names else node.args.get("unit")
        name = unit.name if isinstance(unit, exp.Expr) else ""
        if _NAMES.get(name.upper(), name.upper()) not in _OF_TRUNC:
            return None, False  # TRUNC is NULL then
    name = _NAMES.get(name.upper(), name.upper())
    return (name, True) if name in _UNITS else (None, False)


def first_of_year(year: int) -> int:
    """The first day of a year, counted from 1970."""
    return day_number(date(year, 1, 1))


def day_number(day: date) -> int:
    """A day, counted from 1970."""
    return (day - _EPOCH).days


def numbered_day(number: int) -> date:
    """The day of a number that is counted from 1970."""
    return _EPOCH + timedelta(days=number)
