"""What operations may be given: a wrong argument is named before anything is done."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dbt.adapters.spark_mv.config.option_types import text_of_time
from dbt.adapters.spark_mv.config.options import METHODS
from dbt.adapters.spark_mv.core.errors import InvalidArgument
from dbt.adapters.spark_mv.planning.plan import MOST_KEYS
from dbt.adapters.spark_mv.sql.words import words_of
from dbt.adapters.spark_mv.state.as_of import parsed
from dbt.adapters.spark_mv.views.definition import MaterializedView

Check = Callable[[Any], bool]
_HALVES = re.compile("[\ud800-\udfff]")


def checked(operation: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of an operation, without those that have no value.

    Raises `InvalidArgument` for one of a wrong type or range.
    """
    given = {n: value for n, value in arguments.items() if value is not None or n == "view"}
    for name, value in given.items():
        expected, is_right = _CHECKS.get(f"{operation}.{name}") or _CHECKS.get(name, _ANYTHING)
        if not _is_text(value):
            expected, is_right = "texts of whole characters", lambda _: False
        if not is_right(value):
            raise InvalidArgument(
                f"{operation}: {name} cannot be {value!r}.", f"Expected {expected}."
            )
    return given


def _is_text(value: Any) -> bool:
    """Whether all texts in a value are ones that can be sent: none has a half of a character."""
    if isinstance(value, Mapping):
        return all(map(_is_text, (*value, *value.values())))
    if isinstance(value, (list, tuple)):
        return all(map(_is_text, value))
    return not isinstance(value, str) or value.isascii() or not _HALVES.search(value)


def _is_boolean(value: Any) -> bool:
    return isinstance(value, bool)


def _is_method(value: Any) -> bool:
    return isinstance(value, str) and value.lower() in METHODS


def _is_limit(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _is_duration(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e9


def _is_time(value: Any) -> bool:
    text = text_of_time(value)
    if not isinstance(text, str):
        return False
    try:
        parsed(text)
    except InvalidArgument:
        return False
    return True


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
    "as_of": ("a time such as '2026-03-01 12:30:00'", _is_time),
    "keep_hours": _DURATION,
    "keep_history_days": _DURATION,
    **dict.fromkeys(
        ("all", "wait", "dry_run", "repair", "if_exists", "summary", "expired"), _BOOLEAN
    ),
}


def refuse_contradiction(view: Any, keys: Any, partitions: Any, everything: bool) -> None:
    """Raises `InvalidArgument` for arguments of `invalidate` that do not belong together."""
    if everything and (view is not None or keys is not None or partitions is not None):
        raise InvalidArgument(
            "invalidate: all is every view, and view, keys and partitions are of some.",
            "Leave out all, or everything but all.",
        )
    if keys is not None and partitions is not None:
        raise InvalidArgument(
            "invalidate: keys and partitions cannot be combined.",
            "Invalidate the one, then the other.",
        )
    if (keys is not None or partitions is not None) and not isinstance(view, str):
        raise InvalidArgument(
            "invalidate: keys and partitions are those of one view.",
            "Name it: --args '{view: name, keys: [1]}'.",
        )


def listed(given: Any) -> Sequence[Any]:
    """One value is a list of one."""
    return given if isinstance(given, (list, tuple)) else [given]


def partitions_of(view: MaterializedView, given: Sequence[Any]) -> list[dict[str, Any]]:
    """Values of the terms of partition_by, in its order; raises `InvalidArgument` for others."""
    names = ["".join(word.text for word in words_of(term)) for term in view.layout.partition_by]
    if not names:
        raise InvalidArgument(
            f"{view.name} has no partitions.",
            "Set partition_by, or leave out `partitions` for the whole view.",
        )
    if not 1 <= len(given) <= MOST_KEYS:
        raise InvalidArgument(
            f"{view.name}: {len(given):,} partitions cannot be given.",
            f"Give 1 to {MOST_KEYS:,}, or none for the whole view.",
        )
    found = [_partition(one, names) for one in given]
    wrong = [one for one, values in zip(given, found, strict=True) if values is None]
    if wrong:
        raise InvalidArgument(
            f"{view.name}: {wrong[0]!r} is no partition: partition_by is {', '.join(names)}.",
            "Give a value, or of several columns a list of them, or a mapping with these names: "
            f"{{{', '.join(f'{name}: ..' for name in names)}}}.",
        )
    return [values for values in found if values is not None]


def _partition(given: Any, names: list[str]) -> dict[str, Any] | None:
    if isinstance(given, dict):
        values = {_normal(name): value for name, value in given.items()}
        wanted = [_normal(name) for name in names]
        if sorted(values) != sorted(wanted) or len(values) != len(given):
            return None
        ordered = [values[name] for name in wanted]
    else:
        ordered = list(given) if isinstance(given, (list, tuple)) else [given]
    if len(ordered) != len(names) or any(isinstance(v, (dict, list, tuple)) for v in ordered):
        return None
    return dict(zip(names, ordered, strict=True))


def _normal(name: Any) -> str:
    return str(name).replace(" ", "").lower()
