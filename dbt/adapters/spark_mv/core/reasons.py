"""Reasons: printable values that say why something was or was not done."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from dbt.adapters.spark_mv.core.reason_codes import CODES


@dataclass(frozen=True)
class Reason:
    """Why a decision was taken.

    `code` is stable and one of `reason_codes.CODES` (`BASE_TABLE_CHANGED`); `text` is for people;
    `clause` is the part of the view's query that it is about, as its author wrote it.
    """

    code: str
    text: str
    clause: str = ""

    @property
    def way_out(self) -> str:
        """What to do about it; empty if nothing has to be done."""
        return CODES[self.code].way_out

    @classmethod
    def read(cls, stored: str) -> Reason:
        """The reason that was stored as its text."""
        code, _, text = stored.partition(": ")
        return cls(code, text)

    def __str__(self) -> str:
        about = f": {self.clause}" if self.clause else ""
        return f"{self.code}: {self.text}{about}"


NOTHING_CHANGED = Reason("NOTHING_CHANGED", "no base table has changed since the last refresh")
OF_THAT_TIME = Reason("OF_THAT_TIME", "its rows are those of that time already")
NEVER_BUILT = Reason("NEVER_BUILT", "it has never been built")
REQUESTED = Reason("REQUESTED", "a complete refresh was asked for")
WRITTEN_BY_HAND = Reason("WRITTEN_BY_HAND", "its storage table was written by something else")
STORAGE_ALTERED = Reason("STORAGE_ALTERED", "the columns of its storage table were altered")
DEFINITION_CHANGED = Reason(
    "DEFINITION_CHANGED", "its definition, or that of a view below it, has changed"
)
REDUCED_RUN = Reason("REDUCED_RUN", "it was built by a run with --empty or --sample")
REDUCED_RUN_KEEPS = Reason(
    "REDUCED_RUN_KEEPS", "a run with --empty, --sample or --defer replaces no whole definition"
)
VERSION_GONE = Reason("VERSION_GONE", "a version of a base table that it was reading has expired")
OWNER_GONE = Reason("OWNER_GONE", "its process ended before the refresh did")
OVER_TIME = Reason("OVER_TIME", "it has been running longer than refresh_timeout")
DROPPED = Reason("DROPPED", "it was dropped while it was being refreshed")
REBUILT = Reason("REBUILT", "found in the label of its storage table")
CLOCK_NOT_FOLLOWED = Reason(
    "EXPIRED", "it was built by a version that did not follow the clock, which its query reads"
)
CLOCK_NOT_CLEAR = Reason(
    "CLOCK_NOT_CLEAR", "its query reads the clock in a way that only Spark understands"
)
EQUIVALENT_VERSIONS = Reason(
    "EQUIVALENT_VERSIONS", "base tables moved to new versions with the same rows"
)


def lost_race(what: str) -> Reason:
    """Reason for a build that was discarded, and begun again if it is still wanted."""
    return Reason("LOST_RACE", what)


def keys_requested(number: int) -> Reason:
    """Reason for a refresh of so many keys."""
    noun = "key" if number == 1 else "keys"
    return Reason("KEYS_REQUESTED", f"the rows of {number:,} {noun} were asked for")


def fast_failed(cause: str) -> Reason:
    """Reason for a complete refresh in place of a fast one that failed."""
    return Reason("FAST_FAILED", f"the fast refresh failed: {cause}")


def base_table_changed(names: list[str]) -> Reason:
    """Reason for staleness that lists the base tables that changed."""
    return Reason(
        "BASE_TABLE_CHANGED", "base tables have changed since the last refresh: " + ", ".join(names)
    )


def base_table_dropped(names: list[str]) -> Reason:
    """Reason for a broken view that lists the base tables that are gone."""
    return Reason("BASE_TABLE_DROPPED", "base tables do not exist any more: " + ", ".join(names))


def base_table_unversioned(names: list[str]) -> Reason:
    """Reason for unknown freshness that lists the tables without versions."""
    return Reason(
        "BASE_TABLE_UNVERSIONED", "base tables have no versions to compare: " + ", ".join(names)
    )


def restored(written: str, restored_to: str) -> Reason:
    """Reason for taking a storage table back from one snapshot to another."""
    return Reason(
        "RESTORED",
        f"something else wrote snapshot {written} of its storage table; it is back at snapshot "
        f"{restored_to}, its newest build",
    )


def invalidated(what: str, by: str, at: int) -> Reason:
    """Reason for staleness of rows that somebody does not trust since a time in epoch
    microseconds."""
    return Reason("INVALIDATED", f"{what} invalidated by {by} at {moment_of(at)}")


def invalidated_before(at: int) -> Reason:
    """Reason for staleness of rows that were stored before a refresh which ended at a time in epoch
    microseconds, and computed anew what somebody did not trust."""
    return Reason(
        "INVALIDATED",
        "its storage table was taken back to a build from before an invalidation, which a refresh "
        f"answered at {moment_of(at)}",
    )


def upstream_not_fresh(name: str, freshness: str) -> Reason:
    """Reason for staleness of a view over another materialized view."""
    return Reason("UPSTREAM_NOT_FRESH", f"it reads {name}, which is {freshness}")


def expired(at: int, by: str) -> Reason:
    """Reason for staleness of rows that were right until an instant, in epoch microseconds, at
    which the part `by` of the query has another value."""
    return Reason("EXPIRED", f"since {moment_of(at)} by {by}")


def moment_of(at: int) -> str:
    """An instant in epoch microseconds, as reasons show it."""
    moment = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=at)
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def clock_moves(by: str) -> Reason:
    """Reason for staleness of rows that are right for one instant only."""
    return Reason("CLOCK_MOVES_ALWAYS", f"{by} moves with the clock, so that no rows stay right")


def expiry_not_derived(by: str, cause: str) -> Reason:
    """Reason for staleness of rows of which nobody knows until when they are right."""
    text = "depends on the clock, and it is not known when its value changes"
    return Reason("EXPIRY_NOT_DERIVED", f"{by} {text}: {cause}")


def too_old(seconds: float) -> Reason:
    """Reason for staleness of rows that are older than `max_age`."""
    return Reason("MAX_AGE", f"its rows were computed more than {seconds:,.0f} seconds ago")
