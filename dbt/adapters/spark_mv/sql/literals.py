"""Python values as Spark literals: exact numbers, escaped text."""

from __future__ import annotations

import datetime
import decimal
import re
from typing import Any

# Spark puts the value of a variable in its place, also inside of texts, unless it is told not to.
VARIABLE = "${"
_INSTANT = re.compile(r"(^|[<:,])timestamp(?=$|[>,])", re.IGNORECASE)


def spark_literal(value: Any) -> str:
    """The literal that Spark reads back as the same value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return (
            repr(value) if value == value and abs(value) != float("inf") else f"double('{value}')"
        )
    if isinstance(value, decimal.Decimal):
        return _decimal(value)
    if isinstance(value, datetime.datetime):
        return f"timestamp'{value.isoformat(sep=' ')}'"
    if isinstance(value, datetime.date):
        return f"date'{value.isoformat()}'"
    return spark_text(str(value))


def value_sql(value: Any) -> str:
    """An expression of the value, to be cast, in which no setting of Spark changes what a text
    means: with `spark.sql.parser.escapedStringLiterals` a backslash stands for itself in a literal.
    A time without an offset is one of the type that it is cast to, which may have no time zone.

    >>> value_sql("it's"), value_sql("its")
    ("CAST(X'69742773' AS STRING)", "'its'")
    >>> value_sql(datetime.datetime(2026, 3, 29, 2, 30))
    "'2026-03-29 02:30:00'"
    """
    if isinstance(value, datetime.datetime) and value.tzinfo is None:
        return spark_text(value.isoformat(sep=" "))
    if isinstance(value, str) and any(mark in value for mark in ("\\", "'", VARIABLE)):
        return f"CAST(X'{value.encode().hex()}' AS STRING)"
    return spark_literal(value)


def type_sql(kind: str) -> str:
    """The name of a type as DESCRIBE says it, of which `spark.sql.timestampType` makes no other.

    >>> type_sql("map<timestamp,struct<timestamp:timestamp_ntz>>")
    'map<timestamp_ltz,struct<timestamp:timestamp_ntz>>'
    """
    return _INSTANT.sub(r"\1timestamp_ltz", kind)


def seed_cell(value: Any) -> str:
    """The text of a CSV cell as a string expression, whatever the settings: the column's cast makes
    the value of it."""
    if value is None:
        return "null"
    if isinstance(value, decimal.Decimal):
        return spark_text(_decimal(value))
    if isinstance(value, datetime.datetime):
        return spark_text(value.isoformat(sep=" "))
    if isinstance(value, bool):
        return spark_text(str(value).lower())
    return value_sql(str(value))


def spark_text(text: str) -> str:
    """A string literal, in which `$` is spelt out before a brace."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace(VARIABLE, "\\u0024{")
    return f"'{escaped}'"


def _decimal(value: decimal.Decimal) -> str:
    if value.is_finite() and value == value.to_integral_value():
        return str(int(value))
    return format(value, "f")
