"""What operations may be given: a wrong argument is named before anything is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dbt.adapters.spark_mv.config.options import METHODS
from dbt.adapters.spark_mv.core.errors import InvalidArgument

Check = Callable[[Any], bool]


def checked(operation: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of an operation, without those that have no value.

    Raises `InvalidArgument` for one of a wrong type or range.
    """
    given = {n: value for n, value in arguments.items() if value is not None or n == "view"}
    for name, value in given.items():
        expected, is_right = _CHECKS.get(f"{operation}.{name}") or _CHECKS.get(name, _ANYTHING)
        if not is_right(value):
            raise InvalidArgument(
                f"{operation}: {name} cannot be {value!r}.", f"Expected {expected}."
            )
    return given


def _is_boolean(value: Any) -> bool:
    return isinstance(value, bool)


def _is_method(value: Any) -> bool:
    return isinstance(value, str) and value.lower() in METHODS


def _is_limit(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _is_duration(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e9


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_view(value: Any) -> bool:
    if value is None:
        return True
    items = value if isinstance(value, (list, tuple)) else [value]
    return bool(items) and all(map(_is_name, items))


_ANYTHING: tuple[str, Check] = ("", lambda _: True)
_BOOLEAN: tuple[str, Check] = ("true or false", _is_boolean)
_DURATION: tuple[str, Check] = ("a number from 0", _is_duration)
_CHECKS: dict[str, tuple[str, Check]] = {
    "view": ("name, schema.name, tag:x, +name, name+, or a list of them", _is_view),
    "drop.view": ("name or schema.name", _is_name),
    "sql": ("the text of a query", _is_name),
    "group": ("the name of a consistency group", _is_name),
    "method": ("one of " + ", ".join(METHODS), _is_method),
    "limit": ("a whole number from 1", _is_limit),
    "keep_hours": _DURATION,
    "keep_history_days": _DURATION,
    **dict.fromkeys(
        ("all", "wait", "dry_run", "repair", "if_exists", "summary", "expired"), _BOOLEAN
    ),
}
