"""Options of a materialized view: names, types, ranges, and how they are written down."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar, cast

from dbt.adapters.spark_mv.config.combinations import check_together
from dbt.adapters.spark_mv.config.cron import InvalidCron
from dbt.adapters.spark_mv.config.durations import interval_seconds
from dbt.adapters.spark_mv.config.option_types import (
    BOOLEAN,
    EXPRESSION,
    FAIL,
    INLINE,
    INTERVAL,
    LIVE,
    NAME,
    NAMES,
    NEVER,
    ON_WRITE,
    PROPERTIES,
    SCHEDULE,
    SERVE,
    STRICT,
    TAGS,
    THRESHOLD,
    TIMESTAMP,
    OptionType,
    one_of,
    whole_number,
)
from dbt.adapters.spark_mv.core.errors import InvalidOption

METHODS = ("auto", "complete", "partition", "fast")
_LONGEST_SHOWN = 200
_Value = TypeVar("_Value")


def _option(default: _Value, kind: OptionType, effect: str, shown: str = "") -> _Value:
    """A field with its type and what the docs say of it: what it does, and of its default."""
    described = {"type": kind, "effect": effect, "default": shown or _shown(default)}
    if isinstance(default, dict):
        return cast(_Value, field(default_factory=dict, metadata=described))
    return field(default=default, metadata=described)


def _shown(default: Any) -> str:
    if isinstance(default, bool):
        return str(default).lower()
    return f"`{default}`" if isinstance(default, str) else str(default or "none")


@dataclass(frozen=True)
class Options:
    """How a materialized view is refreshed and read. Checks, docs and schema are made of this."""

    enable_refresh: bool = _option(
        True,
        BOOLEAN,
        "false: reads serve the stored rows with a warning, and `refresh` without a name leaves "
        "the view out; a refresh by name works",
    )
    max_staleness: str | None = _option(
        None,
        INTERVAL,
        "a stale view whose rows were computed less than this ago is served as it is",
    )
    expiry: str | None = _option(
        None,
        one_of("auto", NEVER),
        "`auto`: a view whose query reads the clock is stale from the instant on at which its rows "
        "are others; `never`: such rows change at refreshes only",
        "`auto`",
    )
    max_age: str | None = _option(
        None, INTERVAL, "rows that were computed longer ago than this are stale"
    )
    expires_at_expr: str | None = _option(
        None,
        EXPRESSION,
        "an expression over the columns of the view: when a row will be another one; NULL, and "
        "times in the past, say never. The view is stale from the first of these times on",
    )
    when_stale: str = _option(
        "refresh",
        one_of("refresh", INLINE, LIVE, SERVE, FAIL),
        "a read of a stale view: refresh it first; run its query, or that of its live view, in its "
        "place for this read (refreshed instead: a view that other views read, or that was made "
        "with other settings than the session has, such as its time zone); serve with a warning; "
        "fail",
    )
    live: bool | None = _option(
        None,
        BOOLEAN,
        "true: beside the view there is another, `<name>__live`, that any client of Spark can read "
        "and whose rows are right at each read: stored rows as long as nothing has changed, else "
        "those of the query",
        "false",
    )
    refresh_policy: str | None = _option(
        None,
        one_of("on_read", ON_WRITE, "scheduled"),
        "who refreshes a stale view: the first read; the model, seed or snapshot that wrote what "
        "it reads, when it ends; a scheduled `refresh_due`. A read of a stale view is right with "
        "each of them",
        "`on_read`",
    )
    use_in_query_rewrite: bool | None = _option(
        None,
        BOOLEAN,
        "false: the view answers no statement that does not name it",
        "true",
    )
    consistency: str | None = _option(
        None,
        one_of("each", STRICT),
        "`strict`: a statement that reads several views of one `consistency_group` finds rows of "
        "one state of their base tables",
        "`each`",
    )
    consistency_group: str | None = _option(
        None, NAME, "the group of a view with `consistency: strict`"
    )
    on_refresh_error: str = _option(
        FAIL,
        one_of(FAIL, SERVE),
        "the read fails, or gets the old rows with a warning",
    )
    refresh_method: str = _option(
        "auto",
        one_of(*METHODS),
        "`auto` refreshes fast or by partition where that is possible and clearly cheaper, "
        "complete otherwise; `fast` and `partition` are strict: an error with the reason in place "
        "of a complete refresh, also at creation",
    )
    allow_non_incremental_definition: bool | None = _option(
        None,
        BOOLEAN,
        "false: creation fails, with the reason, if the query cannot be refreshed fast; true needs "
        "`max_staleness`, and changes nothing else",
    )
    float_additive: bool = _option(
        False,
        BOOLEAN,
        "true: fast refreshes add to SUM and AVG of FLOAT and DOUBLE, so that their last digits "
        "depend on the order of changes; a complete refresh recomputes them",
    )
    unique_key: tuple[str, ...] = _option(
        (),
        NAMES,
        "a column that the query returns, or several, of which each value has one row: a build "
        "with two is not published; `verify` counts rows of equal key as differing instead of "
        "missing and unexpected",
    )
    static_partition_by: tuple[str, ...] = _option(
        (),
        NAMES,
        "how `partition_by` begins: only these columns say which partitions a refresh recomputes, "
        "and are in `mv_dependencies` and `stale_partitions`",
        "all of `partition_by`",
    )
    tblproperties: Mapping[str, str] = _option(
        {}, PROPERTIES, "properties of the storage table; none may start with `mv.`"
    )
    tags: tuple[str, ...] = _option(
        (), TAGS, """dbt's tags; `refresh --args '{view: "tag:x"}'` finds the views"""
    )
    refresh_interval_minutes: int = _option(
        30, whole_number(1, 10080), "time between two scheduled refreshes"
    )
    refresh_start: str | None = _option(
        None,
        TIMESTAMP,
        "first scheduled refresh; without an offset in the time zone of the view",
        "creation plus one interval",
    )
    schedule: Mapping[str, str] | None = _option(
        None,
        SCHEDULE,
        "times of scheduled refreshes, in place of the interval; without a time zone in that of "
        "the view",
    )
    warn_after: Mapping[str, Any] | None = _option(
        None,
        THRESHOLD,
        "how long the view may be stale before `check_staleness` warns; not longer than "
        "`error_after`",
    )
    error_after: Mapping[str, Any] | None = _option(
        None, THRESHOLD, "how long the view may be stale before `check_staleness` fails"
    )
    suspend_after_failures: int = _option(
        5,
        whole_number(1, 1000),
        "after so many failures in a row of refreshes that nobody asked for by name, the "
        "view is not refreshed automatically until `resume`",
    )

    @property
    def max_age_seconds(self) -> float | None:
        """max_age in seconds, None if there is none."""
        return interval_seconds(self.max_age) if self.max_age else None

    @property
    def max_staleness_seconds(self) -> float | None:
        """max_staleness in seconds, None if there is none."""
        return interval_seconds(self.max_staleness) if self.max_staleness else None


OPTION_TYPES: dict[str, OptionType] = {
    option.name: option.metadata["type"] for option in fields(Options)
}
OPTION_NAMES = tuple(OPTION_TYPES)
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
            values[name] = _read(view, name, value)
    options = Options(**values)
    check_together(view, options)
    return options


def _read(view: str, name: str, value: Any) -> Any:
    kind = OPTION_TYPES[name]
    try:
        if kind.structured and isinstance(value, str) and value[:1] in ("[", "{"):
            # Lists and mappings are written as JSON texts in OPTIONS.
            return kind.read(_decoded(view, name, value))
        return kind.read(value)
    except InvalidCron as error:
        raise InvalidOption(
            f"{view}: {name} cannot be {_shortened(value)}: {error.why}.", error.way_out
        ) from None
    except (TypeError, ValueError):
        raise _invalid(view, name, value, kind.expected) from None


def _decoded(view: str, name: str, value: str) -> Any:
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
            f"{view}: {ALLOW_UNSAFE} cannot be set by a view, because it restrains its author.",
            f"Set {ALLOW_UNSAFE}: true in the profile.",
        )


def _nearest(name: str, names: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(name.lower(), names, n=1)
    return f"Did you mean {near[0]!r}?" if near else "Options: " + ", ".join(names) + "."


def _invalid(view: str, name: str, value: Any, expected: str) -> InvalidOption:
    return InvalidOption(f"{view}: {name} cannot be {_shortened(value)}.", f"Expected {expected}.")


def _shortened(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= _LONGEST_SHOWN else shown[:_LONGEST_SHOWN] + ".."
