"""In which sessions a live view returns the rows of its view.

A plain view has no settings of its own: its query runs under those of whoever reads it. So what
depends on the time zone or on ANSI mode fails, with a message, in sessions that have another.

dbt's sessions are not in ANSI mode, most others are. A query that Spark analyses in the same way in
both returns the same rows in ANSI mode, or fails where it would return NULL without it; that is
Spark's own error. The other way round NULL would take the place of the error, so it is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from dbt.adapters.spark_mv.config.time_zones import UTC_NAMES
from dbt.adapters.spark_mv.core.executor import ColumnType
from dbt.adapters.spark_mv.sql.names import literal
from dbt.adapters.spark_mv.views.definition import MaterializedView
from dbt.adapters.spark_mv.views.live_sql import live_name
from dbt.adapters.spark_mv.views.settings import ALWAYS_KEPT

_ZONE, _ANSI, _CASE = ALWAYS_KEPT
# What Spark makes of a number and a text tells whether it is in ANSI mode.
_MODE = "typeof(coalesce(1, '1'))"
_TYPES = {"true": "bigint", "false": "string"}
# What has a zone, in a plan or in a type: instants, and expressions that were given one.
_ZONED = re.compile(r"timestamp(?!_ntz)|current_date|Some\(|timezone", re.IGNORECASE)
# ANSI mode writes small decimals in another way, which a plan does not show.
_DECIMAL = re.compile(r"\bdecimal\b|\d\.\d", re.IGNORECASE)
_TEXTS = re.compile(
    r" as string\)| as (?:array|map|struct)<[^'\"]*\bstring\b"
    r"|\bto_(?:json|csv|xml)\b|format_string|printf",
    re.IGNORECASE,
)


def other_settings(views: Sequence[MaterializedView]) -> list[str]:
    """The settings that the queries of these views need and that no condition can ask for, or in
    which they differ."""
    first = views[0].definition.settings
    differ = [
        key
        for view in views
        for key in {*first, *view.definition.settings}
        if first.get(key) != view.definition.settings.get(key)
    ]
    case = [_CASE] if first.get(_CASE) == "true" else []
    return sorted({*differ, *case, *(key for key in first if key not in ALWAYS_KEPT)})


def in_ansi_mode(settings: Mapping[str, str]) -> dict[str, str]:
    """These settings, but in ANSI mode."""
    return {**settings, _ANSI: "true"}


def guard(view: MaterializedView, plan: str, ansi_plan: str, columns: Sequence[ColumnType]) -> str:
    """The condition that fails in sessions in which the query would return other rows, empty if
    there are none; `plan` is Spark's analysed plan of the query, `ansi_plan` that in ANSI mode,
    `columns` are those of all tables that it reads."""
    settings = view.definition.settings
    conditions: list[str] = []
    needed: list[str] = []
    mode = settings.get(_ANSI, "true")
    types = " ".join(kind for _, kind in columns)
    writes_decimals = _TEXTS.search(plan) and (_DECIMAL.search(plan) or _DECIMAL.search(types))
    if mode == "true" or plan != ansi_plan or writes_decimals:
        conditions.append(f"{_MODE} = {literal(_TYPES[mode])}")
        needed.append(f"{_ANSI} = {mode}")
    if _ZONED.search(plan) or _ZONED.search(types):
        zone = settings.get(_ZONE, "UTC")
        names = UTC_NAMES if zone in UTC_NAMES else (zone,)
        conditions.append(f"current_timezone() IN ({', '.join(map(literal, names))})")
        needed.append(f"{_ZONE} = {zone}")
    if not conditions:
        return ""
    text = (
        f"{live_name(view.name)} has changed since its last refresh, and its query may return "
        f"other rows in this session. Set {' and '.join(needed)}."
    )
    condition = " AND ".join(conditions)
    return f"IF({condition}, true, CAST(raise_error({literal(text)}) AS BOOLEAN))"
