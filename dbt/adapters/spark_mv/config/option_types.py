"""Types of options: what a value may be, how an error says so, and how it is kept.

A type is described once: by a JSON schema, which checks values here and in an editor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from jsonschema import Draft202012Validator

from dbt.adapters.spark_mv.config.cron import InvalidCron, five_fields
from dbt.adapters.spark_mv.config.durations import interval_seconds
from dbt.adapters.spark_mv.config.time_zones import zone_of

# What `refresh_policy` says of views that are refreshed by those who write.
ON_WRITE = "on_write"
# What `expiry` says of rows that the clock may make others.
NEVER = "never"
# What `consistency` says of views whose rows are to be of one state.
STRICT = "strict"
# What `when_stale` says of reads that run a query in place of reading stored rows.
INLINE, LIVE = "inline", "live"
SERVE, FAIL = "serve", "fail"
PERIODS = {"minute": 60, "hour": 3600, "day": 86400}


def _same(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class OptionType:
    """`schema` is that of a value in YAML, `shown` what the docs say of it, `expected` an error.

    `prepare` makes of a value what the schema describes, `keep` what is kept of it; `keep` raises
    `ValueError` for what no schema can tell. A `structured` value is a JSON text in OPTIONS.
    """

    shown: str
    expected: str
    schema: Mapping[str, Any]
    prepare: Callable[[Any], Any] = _same
    keep: Callable[[Any], Any] = _same
    structured: bool = False

    @cached_property
    def _validator(self) -> Draft202012Validator:
        return Draft202012Validator(dict(self.schema))

    def read(self, value: Any) -> Any:
        """The value as it is kept; raises `ValueError` if it is none of this type."""
        prepared = self.prepare(value)
        if not self._validator.is_valid(prepared):
            raise ValueError(self.expected)
        return self.keep(prepared)


def _whole(value: Any) -> int:
    # 1.0 is whole for JSON.
    if not isinstance(value, int):
        raise ValueError(value)
    return value


def _threshold(value: Mapping[str, Any]) -> dict[str, Any]:
    return {"count": _whole(value["count"]), "period": value["period"]}


def whole_number(low: int, high: int) -> OptionType:
    """Whole numbers of a range."""
    schema = {"type": "integer", "minimum": low, "maximum": high}
    return OptionType(
        f"whole number, {low} to {high}",
        f"a whole number from {low} to {high}",
        schema,
        keep=_whole,
    )


def one_of(*allowed: str) -> OptionType:
    """Some words, in any letter case."""

    def lower(value: Any) -> Any:
        return value.lower() if isinstance(value, str) else value

    shown = ", ".join(f"`{word}`" for word in allowed)
    return OptionType(shown, "one of " + ", ".join(allowed), {"enum": list(allowed)}, lower)


def _interval(value: str) -> str:
    if interval_seconds(value) is None:
        raise ValueError(value)
    return value


def text_of_time(value: Any) -> Any:
    """A time as a text, of which YAML makes a value of its own; others as they are."""
    return value.isoformat() if hasattr(value, "isoformat") else value


def _timestamp(value: str) -> str:
    datetime.fromisoformat(value)
    return value


def _with_cron(value: Any) -> Any:
    return {"cron": value} if isinstance(value, str) else value


def _schedule(value: Mapping[str, str]) -> dict[str, str]:
    kept = {**value, "cron": five_fields(value["cron"])}
    zone = kept.get("time_zone_value")
    if zone is not None and zone_of(zone) is None:
        raise InvalidCron(
            f"there is no time zone {zone!r}",
            "Write a name such as 'Europe/Berlin', or an offset such as '+01:00'.",
        )
    return kept


def _listed(value: Any) -> Any:
    names = [value] if isinstance(value, str) else value
    return list(names) if isinstance(names, tuple) else names


def _property_texts(value: Mapping[Any, Any]) -> dict[str, str]:
    return {str(key): str(text) for key, text in value.items()}


def _with_text_keys(value: Any) -> Any:
    return {str(key): v for key, v in value.items()} if isinstance(value, Mapping) else value


def _texts(shown: str, expected: str) -> OptionType:
    """A text that is not empty, or a list of them."""
    text = {"type": "string", "minLength": 1}
    schema = {"oneOf": [text, {"type": "array", "items": text, "minItems": 1}]}
    return OptionType(shown, expected, schema, _listed, tuple, structured=True)


BOOLEAN = OptionType("boolean", "true or false", {"type": "boolean"})
INTERVAL = OptionType(
    "interval",
    "an interval such as 'INTERVAL 4 HOUR' or '0-0 0 4:0:0'",
    {"type": "string"},
    keep=_interval,
)
TIMESTAMP = OptionType(
    "timestamp",
    "a timestamp such as '2026-01-31 06:00:00'",
    {"type": "string"},
    text_of_time,
    _timestamp,
)
SCHEDULE = OptionType(
    "cron text or `{cron: .., time_zone_value: ..}`",
    "a cron text such as '0 6 * * MON', or {cron: '0 6 * * MON', time_zone_value: 'Europe/Berlin'};"
    " an interval is set by refresh_interval_minutes",
    {
        "oneOf": [
            {"type": "string", "minLength": 1},
            {
                "type": "object",
                "properties": {
                    "cron": {"type": "string", "minLength": 1},
                    "time_zone_value": {"type": "string", "minLength": 1},
                },
                "required": ["cron"],
                "additionalProperties": False,
            },
        ]
    },
    _with_cron,
    _schedule,
    structured=True,
)
THRESHOLD = OptionType(
    "`{count: 2, period: minute \\| hour \\| day}`",
    "{count: <whole number above 0>, period: minute | hour | day}",
    {
        "type": "object",
        "properties": {
            "count": {"type": "integer", "minimum": 1},
            "period": {"enum": list(PERIODS)},
        },
        "required": ["count", "period"],
        "additionalProperties": False,
    },
    keep=_threshold,
    structured=True,
)
EXPRESSION = OptionType(
    "expression", "an SQL expression over the columns", {"type": "string", "minLength": 1}
)
NAMES = _texts("column or list", "a column name or a list of them")
NAME = OptionType("name", "a name", {"type": "string", "minLength": 1})
TAGS = _texts("text or list", "a text or a list of them")
PROPERTIES = OptionType(
    "mapping",
    "a mapping of property names to values, whose keys do not start with 'mv.' (reserved)",
    {"type": "object", "propertyNames": {"not": {"pattern": r"^mv\."}}},
    _with_text_keys,
    _property_texts,
    structured=True,
)
