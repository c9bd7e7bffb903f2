"""Expressions of columns as expressions of partitions, whose rows all give the same value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

_FINENESS = {"years": 0, "months": 1, "days": 2, "hours": 3}
_UNITS = {
    "years": ("YEAR", "YYYY", "YY", "Y", "YEARS", "YR", "YRS"),
    "months": ("MONTH", "MM", "MON", "MONS", "MONTHS", "QUARTER", "QTR"),
    "days": ("DAY", "DD", "DAYS", "D", "WEEK", "WEEKS", "W", "DOW", "DOY", "DAYOFWEEK"),
    "hours": ("HOUR", "HOURS", "HR", "HRS", "H"),
}
_FUNCTIONS = {
    "years": (exp.Year,),
    "months": (exp.Month, exp.Quarter, exp.LastDay),
    "days": (exp.Day, exp.DayOfMonth, exp.DayOfWeek, exp.DayOfYear, exp.WeekOfYear),
    "hours": (exp.Hour,),
}


@dataclass(frozen=True)
class PartitionValue:
    """The value that a column has in the spec of its table: `name` is where it is found,
    `column_type` the Spark type of the column. `in_utc` says that the session's clock is UTC,
    after which tables are partitioned."""

    name: str
    transform: str
    column_type: str
    size: int | None = None
    in_utc: bool = False


def over_partitions(
    expression: exp.Expr, values: Mapping[str, list[PartitionValue]]
) -> exp.Expr | None:
    """An expression over columns as one over the partition values of these columns (their names
    in lower case); None if rows of one partition may have different values.

    >>> from sqlglot import parse_one
    >>> months = PartitionValue("day_month", "months", "date")
    >>> print(over_partitions(parse_one("YEAR(day)"), {"day": [months]}).sql("spark"))
    YEAR(CAST(ADD_MONTHS(CAST('1970-01-01' AS DATE), `day_month`) AS DATE))
    >>> over_partitions(parse_one("DAYOFWEEK(day)"), {"day": [months]}) is None
    True
    """
    found = expression.copy()
    for column in list(found.find_all(exp.Column)):
        known = values.get(column.name.lower(), [])
        stand_in = next((v for v in (_stand_in(column, k) for k in known) if v), None)
        if stand_in is None:
            return None
        if column is found:
            found = stand_in
        else:
            column.replace(stand_in)
    return found


def _stand_in(column: exp.Column, value: PartitionValue) -> exp.Expr | None:
    """A value of the column, in one partition, that gives what all others give there."""
    name = exp.column(value.name, quoted=True)
    if value.transform == "identity":
        return name
    if value.transform == "truncate":
        return name if _reads_prefix(column, value) else None
    if value.transform not in _FINENESS or value.column_type not in (
        "date",
        "timestamp_ntz",
        *(("timestamp",) if value.in_utc else ()),
    ):
        return None
    grain = _grain(column)
    if grain is None or _FINENESS[value.transform] < _FINENESS[grain]:
        return None
    return exp.cast(_moment(name, value), value.column_type)


def _moment(name: exp.Expr, value: PartitionValue) -> exp.Expr:
    """The first moment of a year, month, day or hour, counted from 1970."""
    transform = value.transform
    if transform == "days":
        return name
    if transform == "hours":
        # Hours of a clock on the wall, or of UTC, where this is only asked if the session's is UTC.
        hours = exp.func("make_dt_interval", exp.Literal.number(0), name, dialect="spark")
        start = exp.Literal.string("1970-01-01 00:00:00")
        return exp.paren(exp.cast(start, value.column_type) + hours)
    day = exp.cast(exp.Literal.string("1970-01-01"), "date")
    months = name * 12 if transform == "years" else name
    return exp.Anonymous(this="add_months", expressions=[day, months])


def _reads_prefix(column: exp.Column, value: PartitionValue) -> bool:
    parent = column.parent
    if value.column_type != "string" or parent is None or parent.this is not column:
        return False
    if isinstance(parent, exp.Left):
        length = parent.expression
    elif isinstance(parent, exp.Substring) and parent.args["start"] == exp.Literal.number(1):
        length = parent.args.get("length")
    else:
        return False
    whole = isinstance(length, exp.Literal) and not length.is_string and length.this.isdigit()
    return whole and int(length.this) <= (value.size or 0)


def _grain(column: exp.Column) -> str | None:
    """How much of the moment in a column is asked for, at most."""
    found: list[str] = []
    node = column.parent
    while node is not None:
        grain = _grain_of(node)
        if grain is not None:
            found.append(grain)
        elif not isinstance(node, exp.Paren):
            break
        node = node.parent
    return min(found, key=lambda grain: _FINENESS[grain], default=None)


def _grain_of(node: exp.Expr) -> str | None:
    if isinstance(node, (exp.Cast, exp.TryCast)):
        return "days" if node.to.is_type("date") else None
    if isinstance(node, exp.TsOrDsToDate):
        return None if node.args.get("format") else "days"
    unit = node.args.get("unit") if isinstance(node, (exp.TimestampTrunc, exp.DateTrunc)) else None
    if isinstance(node, exp.Extract):
        unit = node.this
    if isinstance(node, exp.Anonymous) and node.name.lower() in ("date_part", "datepart"):
        unit = node.expressions[0]
    if unit is not None:
        name = unit.name.upper()
        return next((grain for grain, names in _UNITS.items() if name in names), None)
    return next((grain for grain, kinds in _FUNCTIONS.items() if isinstance(node, kinds)), None)
