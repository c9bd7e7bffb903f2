"""Options that do not go together, or not with what they say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dbt.adapters.spark_mv.config.option_types import LIVE, NEVER, PERIODS, STRICT
from dbt.adapters.spark_mv.core.errors import InvalidOption

if TYPE_CHECKING:
    from dbt.adapters.spark_mv.config.options import Options


def check_together(view: str, options: Options) -> None:
    """Raise `InvalidOption` for options of a view that say opposite things."""
    allow = options.allow_non_incremental_definition
    if allow is True and options.max_staleness is None:
        raise InvalidOption(
            f"{view}: allow_non_incremental_definition needs max_staleness.",
            "Add max_staleness, for example 'INTERVAL 4 HOUR'.",
        )
    if options.when_stale == LIVE and not options.live:
        raise InvalidOption(
            f"{view}: when_stale 'live' needs a live view.",
            "Set live: true, or when_stale: inline.",
        )
    if (options.consistency == STRICT) != (options.consistency_group is not None):
        raise InvalidOption(
            f"{view}: consistency 'strict' and consistency_group go together.",
            "Set both, or leave out both.",
        )
    _check_alone(view, options)
    if options.expiry == NEVER and (options.max_age or options.expires_at_expr):
        other = "max_age" if options.max_age else "expires_at_expr"
        raise InvalidOption(
            f"{view}: expiry 'never' and {other} say opposite things.", "Leave out one of the two."
        )
    if options.schedule is not None and options.refresh_start is not None:
        raise InvalidOption(
            f"{view}: refresh_start is where intervals begin, and schedule takes their place.",
            "Leave out one of the two, or set refresh_start to NULL.",
        )
    if _seconds(options.warn_after) > _seconds(options.error_after):
        raise InvalidOption(
            f"{view}: warn_after is longer than error_after, so there would never be a warning.",
            "Make warn_after the shorter of the two.",
        )


def _check_alone(view: str, options: Options) -> None:
    """What one option cannot say by itself."""
    if len({key.lower() for key in options.unique_key}) < len(options.unique_key):
        raise InvalidOption(
            f"{view}: unique_key names a column twice: {', '.join(options.unique_key)}.",
            "Name each column once.",
        )
    if options.max_age_seconds == 0:
        raise InvalidOption(
            f"{view}: max_age cannot be {options.max_age!r}.",
            "Expected an interval longer than nothing.",
        )


def _seconds(threshold: Mapping[str, Any] | None) -> float:
    return threshold["count"] * PERIODS[threshold["period"]] if threshold else float("nan")
