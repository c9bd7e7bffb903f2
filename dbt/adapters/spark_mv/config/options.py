"""Options of a materialized view: names, types, ranges, and how they are written down."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

from dbt.adapters.spark_mv.config.durations import interval_seconds
from dbt.adapters.spark_mv.core.errors import InvalidOption

METHODS = ("auto", "complete", "partition", "fast")
_LONGEST_SHOWN = 200
_STRUCTURED = (
    "unique_key",
    "static_partition_by",
    "tblproperties",
    "tags",
    "warn_after",
    "error_after",
)
PERIODS = {"minute": 60, "hour": 3600, "day": 86400}


@dataclass(frozen=True)
class Options:
    """How a materialized view is refreshed and read; defaults as in the configuration docs."""

    enable_refresh: bool = True
    refresh_interval_minutes: int = 30
    max_staleness: str | None = None
    when_stale: str = "refresh"
    on_refresh_error: str = "fail"
    refresh_method: str = "auto"
    allow_non_incremental_definition: bool | None = None
    float_additive: bool = False
    refresh_start: str | None = None
    warn_after: Mapping[str, Any] | None = None
    error_after: Mapping[str, Any] | None = None
    suspend_after_failures: int = 5
    unique_key: tuple[str, ...] = ()
    static_partition_by: tuple[str, ...] = ()
    tblproperties: Mapping[str, str] = field(default_factory=dict)
    tags: tuple[str, ...] = ()

    @property
    def max_staleness_seconds(self) -> float | None:
        """max_staleness in seconds, None if there is none."""
        return interval_seconds(self.max_staleness) if self.max_staleness else None


OPTION_NAMES = tuple(option.name for option in fields(Options))
_NEAR_MISS_NAMES = (*OPTION_NAMES, "partition_by", "cluster_by", "on_configuration_change")
# Keys of dbt and dbt-spark that look like ours and are not typing mistakes.
_NOT_MISTAKES = frozenset({"clustered_by", "tblproperties", "unique_key", "options", "tags"})
ALLOW_UNSAFE = "allow_unsafe_sql"


def options_from(given: Mapping[str, Any], view: str) -> Options:
    """Validated options from raw values; an unknown name or a wrong value is `InvalidOption`."""
    values: dict[str, Any] = {}
    for name, value in given.items():
        _refuse_moved(name, view)
        if name not in OPTION_NAMES:
            raise InvalidOption(
                f"{view}: there is no option {name!r}.", _nearest(name, OPTION_NAMES)
            )
        if value is not None:
            values[name] = _CHECKS[name](view, name, _decoded(view, name, value))
    options = Options(**values)
    _check_together(view, options)
    return options


def _decoded(view: str, name: str, value: Any) -> Any:
    """Lists and mappings are written as JSON texts in OPTIONS."""
    if name not in _STRUCTURED or not isinstance(value, str) or value[:1] not in "[{":
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise _invalid(view, name, value, "valid JSON") from None


def check_spelling(keys: Mapping[str, Any], view: str) -> None:
    """Raise `InvalidOption` for a config key that is a near miss of one of ours."""
    for key in keys:
        _refuse_moved(key, view)
        if key in _NEAR_MISS_NAMES or key in _NOT_MISTAKES:
            continue
        near = difflib.get_close_matches(key.lower(), _NEAR_MISS_NAMES, n=1, cutoff=0.85)
        if near:
            raise InvalidOption(
                f"{view}: there is no config key {key!r}.", f"Did you mean {near[0]!r}?"
            )


def _refuse_moved(name: str, view: str) -> None:
    if name.lower() == ALLOW_UNSAFE:
        raise InvalidOption(
            f"{view}: {ALLOW_UNSAFE} is no option of a view, whose author it restrains.",
            f"Set {ALLOW_UNSAFE}: true in the profile.",
        )


def _nearest(name: str, names: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(name.lower(), names, n=1)
    return f"Did you mean {near[0]!r}?" if near else "Options: " + ", ".join(names) + "."


def _check_together(view: str, options: Options) -> None:
    allow = options.allow_non_incremental_definition
    if allow is True and options.max_staleness is None:
        raise InvalidOption(
            f"{view}: allow_non_incremental_definition needs max_staleness.",
            "Add max_staleness, for example 'INTERVAL 4 HOUR'.",
        )

    if _seconds(options.warn_after) > _seconds(options.error_after):
        raise InvalidOption(
            f"{view}: warn_after is longer than error_after, so there would never be a warning.",
            "Make warn_after the shorter of the two.",
        )


def _seconds(threshold: Mapping[str, Any] | None) -> float:
    return threshold["count"] * PERIODS[threshold["period"]] if threshold else float("nan")


def _invalid(view: str, name: str, value: Any, expected: str) -> InvalidOption:
    shown = repr(value)
    if len(shown) > _LONGEST_SHOWN:
        shown = shown[:_LONGEST_SHOWN] + ".."
    return InvalidOption(f"{view}: {name} cannot be {shown}.", f"Expected {expected}.")


def _boolean(view: str, name: str, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise _invalid(view, name, value, "true or false")


def _integer(low: int, high: int) -> Callable[[str, str, Any], int]:
    def check(view: str, name: str, value: Any) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
            return value
        raise _invalid(view, name, value, f"a whole number from {low} to {high}")

    return check


def _one_of(*allowed: str) -> Callable[[str, str, Any], str]:
    def check(view: str, name: str, value: Any) -> str:
        if isinstance(value, str) and value.lower() in allowed:
            return value.lower()
        raise _invalid(view, name, value, "one of " + ", ".join(allowed))

    return check


def _interval(view: str, name: str, value: Any) -> str:
    if not isinstance(value, str) or interval_seconds(value) is None:
        raise _invalid(view, name, value, "an interval such as 'INTERVAL 4 HOUR' or '0-0 0 4:0:0'")
    return value


def _timestamp(view: str, name: str, value: Any) -> str:
    text = value.isoformat() if hasattr(value, "isoformat") else value
    try:
        datetime.fromisoformat(text)
    except (TypeError, ValueError):
        raise _invalid(view, name, value, "a timestamp such as '2026-01-31 06:00:00'") from None
    return str(text)


def _threshold(view: str, name: str, value: Any) -> dict[str, Any]:
    expected = "{count: <whole number above 0>, period: minute | hour | day}"
    if not isinstance(value, Mapping) or set(value) != {"count", "period"}:
        raise _invalid(view, name, value, expected)
    count, period = value["count"], value["period"]
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise _invalid(view, name, value, expected)
    if period not in PERIODS:
        raise _invalid(view, name, value, expected)
    return {"count": count, "period": period}


def _names(view: str, name: str, value: Any) -> tuple[str, ...]:
    names = [value] if isinstance(value, str) else value
    if isinstance(names, (list, tuple)) and names and all(isinstance(n, str) and n for n in names):
        return tuple(names)
    raise _invalid(view, name, value, "a column name or a list of them")


def _properties(view: str, name: str, value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise _invalid(view, name, value, "a mapping of property names to values")
    for key in value:
        if str(key).startswith("mv."):
            raise _invalid(view, name, key, "keys that do not start with 'mv.': those are ours")
    return {str(key): str(text) for key, text in value.items()}


_CHECKS: dict[str, Callable[[str, str, Any], Any]] = {
    "enable_refresh": _boolean,
    "refresh_interval_minutes": _integer(1, 10080),
    "max_staleness": _interval,
    "when_stale": _one_of("refresh", "inline", "serve", "fail"),
    "on_refresh_error": _one_of("fail", "serve"),
    "refresh_method": _one_of(*METHODS),
    "allow_non_incremental_definition": _boolean,
    "float_additive": _boolean,
    "refresh_start": _timestamp,
    "warn_after": _threshold,
    "error_after": _threshold,
    "suspend_after_failures": _integer(1, 1000),
    "unique_key": _names,
    "static_partition_by": _names,
    "tblproperties": _properties,
    "tags": _names,
}
