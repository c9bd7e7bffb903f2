"""Types of a partition or key column: values on the edges, and what tables and views are
partitioned by.

In every text `{k}` stands for the column.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """A column type; `transforms` are those of Iceberg that the type allows, `expressions` those
    of the column by which views are partitioned, with their own transforms."""

    type: str
    values: tuple[str, ...]
    transforms: tuple[str, ...]
    expressions: dict[str, tuple[str, ...]]
    family: str

    @property
    def has_zone(self) -> bool:
        """Whether the session's clock decides what its values are."""
        return self.family == "moments"


_DATES = "years({k})", "months({k})", "days({k})"
_DAYS = (
    *("1969-12-31", "2021-01-31", "2021-02-01", "1970-01-01", "2024-02-29", "1968-02-29"),
    *("2020-12-31", "2023-01-01", "0001-01-01", "2024-03-10", "2021-01-01", "2011-12-30"),
)
_WHOLE = ("{k}", "bucket(3, {k})", "truncate(4, {k})")
# Fractions before 1970, ends of months and years, hours that New York and Apia left out or had
# twice, a day that Apia left out, and offsets of seconds in the nineteenth century.
_MOMENTS = (
    "1969-12-31 23:59:59.999999",
    "2024-03-10 02:30:00",
    "2021-01-01 03:00:00",
    "1970-01-01 00:00:00",
    "2024-02-29 23:30:00.5",
    "2011-12-30 12:00:00",
    "2020-12-31 22:15:00",
    "2024-11-03 01:30:00",
    "1880-06-15 12:00:00.25",
    "2021-01-31 23:59:59.999999",
    "2021-01-01 12:00:00",
    "1969-12-31 20:59:59.5",
)
_OF_MOMENTS = {
    "cast({k} as date)": ("{k}", "months({k})", "years({k})", "bucket(3, {k})"),
    "date_trunc('DAY', {k})": ("{k}", "days({k})", "months({k})", "hours({k})"),
    "year({k})": ("{k}", "truncate(4, {k})"),
    "date_trunc('HOUR', {k})": ("{k}", "days({k})", "hours({k})"),
    "date_trunc('MONTH', {k})": ("{k}", "years({k})"),
    "hour({k})": ("{k}",),
    "date_format({k}, 'yyyy-MM')": ("{k}", "truncate(4, {k})"),
    "date_trunc('WEEK', {k})": ("{k}",),
    "dayofyear({k})": ("{k}",),
}
_OF_NUMBERS = {
    "{k} % 3": ("{k}",),
    "abs({k})": ("{k}", "truncate(4, {k})", "bucket(3, {k})"),
    "-{k}": ("truncate(4, {k})", "bucket(3, {k})"),
    "cast({k} as string)": ("{k}", "truncate(1, {k})"),
}

# The expressions that are boolean.
TRUTHS = ("not {k}", "{k} < 0")

KINDS = {
    "date": Kind(
        "date",
        tuple(f"date'{day}'" for day in _DAYS),
        ("{k}", *_DATES, "bucket(3, {k})"),
        {
            "year({k})": ("{k}", "bucket(3, {k})"),
            "date_trunc('MONTH', {k})": ("{k}", "days({k})", "months({k})"),
            "trunc({k}, 'MM')": ("{k}", "months({k})", "years({k})"),
            "month({k})": ("{k}",),
            "last_day({k})": ("{k}", "months({k})"),
            "cast({k} as timestamp)": ("{k}", "days({k})", "hours({k})"),
            "cast({k} as timestamp_ntz)": ("{k}", "days({k})"),
            "date_format({k}, 'yyyy')": ("{k}",),
            "date_add({k}, 1)": ("{k}", "months({k})", "years({k})"),
        },
        family="moments",
    ),
    "timestamp": Kind(
        "timestamp",
        tuple(f"timestamp'{moment}'" for moment in _MOMENTS),
        ("{k}", *_DATES, "hours({k})", "bucket(3, {k})"),
        {**_OF_MOMENTS, "cast({k} as timestamp_ntz)": ("{k}", "days({k})", "hours({k})")},
        family="moments",
    ),
    "timestamp_ntz": Kind(
        "timestamp_ntz",
        tuple(f"timestamp_ntz'{moment}'" for moment in _MOMENTS),
        ("{k}", *_DATES, "hours({k})", "bucket(3, {k})"),
        {**_OF_MOMENTS, "cast({k} as timestamp)": ("{k}", "days({k})", "hours({k})")},
        family="moments",
    ),
    "int": Kind(
        "int",
        ("-1", "0", "-2147483647", "7", "-5", "2147483647", "3", "4"),
        _WHOLE,
        _OF_NUMBERS,
        family="numbers",
    ),
    "bigint": Kind(
        "bigint",
        ("-1L", "0L", "-9223372036854775807L", "7L", "-5L", "9223372036854775807L", "3L", "4L"),
        _WHOLE,
        _OF_NUMBERS,
        family="numbers",
    ),
    "decimal": Kind(
        "decimal(20,4)",
        ("-0.0001bd", "0bd", "-1.5bd", "1.5bd", "1234567890123456.7891bd", "-7bd", "7.0001bd"),
        ("{k}", "bucket(3, {k})", "truncate(50, {k})"),
        {
            "cast({k} as bigint)": ("{k}", "truncate(4, {k})"),
            "floor({k})": ("{k}", "bucket(3, {k})"),
            "round({k}, 1)": ("{k}", "truncate(50, {k})"),
            "cast({k} as string)": ("{k}",),
        },
        family="numbers",
    ),
    "string": Kind(
        "string",
        (
            *("'a'", "'ab/c=d %'", "''", "'é\U0001f600z'", "'abd'", "'A'"),
            *("'2021-01-01'", "'a '", "'null'"),
        ),
        ("{k}", "bucket(3, {k})", "truncate(2, {k})"),
        {
            "left({k}, 1)": ("{k}", "bucket(3, {k})"),
            "substring({k}, 1, 2)": ("{k}", "truncate(1, {k})"),
            "upper({k})": ("{k}",),
            "length({k})": ("{k}",),
            "substring({k}, 2)": ("{k}", "truncate(2, {k})"),
            "left({k}, 3)": ("{k}",),
            "rtrim({k})": ("{k}",),
        },
        family="texts",
    ),
    "boolean": Kind(
        "boolean",
        ("true", "false"),
        ("{k}",),
        {"cast({k} as int)": ("{k}",), "not {k}": ("{k}",)},
        family="others",
    ),
    "binary": Kind(
        "binary",
        ("x''", "x'00'", "x'00ff10'", "x'80'", "x'7f'", "x'c3a9'", "x'00ff'"),
        ("{k}", "bucket(3, {k})", "truncate(2, {k})"),
        {"hex({k})": ("{k}", "truncate(2, {k})"), "length({k})": ("{k}",)},
        family="texts",
    ),
    "double": Kind(
        "double",
        ("-0.0D", "0.0D", "double('NaN')", "1.5D", "-2.25D", "double('Infinity')", "-1.5D"),
        ("{k}",),
        {
            "cast({k} as string)": ("{k}", "truncate(1, {k})"),
            "{k} < 0": ("{k}",),
            "cast({k} + 0 as string)": ("{k}",),
        },
        family="others",
    ),
}
