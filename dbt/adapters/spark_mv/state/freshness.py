"""Is a materialized view fresh? A comparison of versions; nothing stores the answer.

The label says what a stored build was made from. It is in the summary of the storage table's
current snapshot, in the same commit as the rows, so rows and label cannot disagree.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import Enum

from dbt.adapters.spark_mv.catalog import iceberg
from dbt.adapters.spark_mv.catalog.versions import MISSING, UNVERSIONED, Version, version_from_json
from dbt.adapters.spark_mv.core import reasons
from dbt.adapters.spark_mv.core.executor import SnapshotFacts
from dbt.adapters.spark_mv.core.reasons import Reason
from dbt.adapters.spark_mv.metadata.invalidations import Untrusted
from dbt.adapters.spark_mv.sql.names import TableName

# Why rows that were right when they were computed cannot be known to be so later.
EXPIRED, ALWAYS = "EXPIRED", "CLOCK_MOVES_ALWAYS"
UNCLEAR, NOT_DERIVED = "CLOCK_NOT_CLEAR", "EXPIRY_NOT_DERIVED"
LABEL_STATE = "mv.refresh_state"
LABEL_ID = "mv.refresh_id"
LABEL_METHOD = "mv.method"


class Freshness(Enum):
    """What is known about the rows of a materialized view."""

    FRESH = "FRESH"
    STALE = "STALE"
    UNKNOWN = "UNKNOWN"
    NEVER_BUILT = "NEVER_BUILT"


@dataclass(frozen=True)
class Expiry:
    """Until when rows that depend on the clock are those of their query.

    `at` is in epoch microseconds, None if they always will be; `by` is what changes then. `why` is
    the code of the reason if that could not be found out, so that they count as expired at once,
    and `cause` says what stood against it.
    `stamps` says that they show when they were computed.
    """

    at: int | None
    why: str = EXPIRED
    by: str = ""
    cause: str = ""
    stamps: bool = False

    @property
    def is_at_once(self) -> bool:
        """Whether no read finds the rows to be right."""
        return self.why != EXPIRED

    @property
    def reason(self) -> Reason:
        """Why rows are stale that have expired."""
        if self.why == UNCLEAR:
            return reasons.CLOCK_NOT_CLEAR
        if self.why == ALWAYS:
            return reasons.clock_moves(self.by)
        if self.why == NOT_DERIVED:
            return reasons.expiry_not_derived(self.by, self.cause)
        return reasons.expired(self.at or 0, self.by)


@dataclass(frozen=True)
class Label:
    """What a stored build was made from.

    `evaluated_at` is epoch seconds, `expiry` is None if the query reads no clock; `reduced` marks a
    build that does not contain the whole definition (--empty, --sample); `snapshot` is the
    storage snapshot that carries it. `trusted_since` is the id of the newest refresh up to this one
    that computed anew what an invalidation did not trust, None if there was none. `declared_types`
    are those of the logical views that it read, None if it read none or is of an earlier version.
    """

    refresh_id: str
    definition_hash: str
    sources: Mapping[TableName, Version]
    evaluated_at: float
    storage_schema_id: int | None = None
    reduced: bool = False
    method: str = "complete"
    snapshot: SnapshotFacts | None = None
    expiry: Expiry | None = None
    trusted_since: str | None = None
    declared_types: str | None = None

    @property
    def evaluated_us(self) -> int:
        """The instant at which the query was evaluated, in epoch microseconds."""
        return round(self.evaluated_at * 1e6)

    def is_committed_since(self, moment: float) -> bool:
        """Whether the build was written after a time in epoch seconds; those of commits are in
        milliseconds."""
        return self.snapshot is None or self.snapshot.committed_at >= int(moment * 1000)

    def to_summary(self) -> dict[str, str]:
        """Properties of the snapshot that carries this label."""
        state = {
            "definition_hash": self.definition_hash,
            "sources": [
                {"name": list(name.parts), **version.to_json()}
                for name, version in self.sources.items()
            ],
            "evaluated_at": self.evaluated_at,
            "storage_schema_id": self.storage_schema_id,
            "reduced": self.reduced,
            "trusted_since": self.trusted_since,
        }
        if self.declared_types is not None:
            state["declared_types"] = self.declared_types
        if self.expiry is not None:
            state["expiry"] = asdict(self.expiry)
        return {
            LABEL_ID: self.refresh_id,
            LABEL_METHOD: self.method,
            LABEL_STATE: json.dumps(state, sort_keys=True),
        }


@dataclass(frozen=True)
class Verdict:
    """Freshness with its reason; `changed` lists the base tables whose versions moved, `expired`
    says that none did and that the time has come at which rows may be others, `invalidated` that
    somebody does not trust them, whatever versions say; `untrusted` are these if nothing else makes
    rows others."""

    freshness: Freshness
    reason: Reason
    changed: tuple[TableName, ...] = ()
    missing: tuple[TableName, ...] = ()
    expired: bool = False
    invalidated: bool = False
    untrusted: Untrusted | None = None

    @property
    def is_comparable(self) -> bool:
        """Whether it is known what may have changed since the rows were stored."""
        if self.freshness is not Freshness.STALE or self.invalidated:
            return False
        return bool(self.changed) or self.expired

    @property
    def is_fresh(self) -> bool:
        """Whether the stored rows are known to be those of the query now."""
        return self.freshness is Freshness.FRESH


def times_of(label: Label | None) -> dict[str, int | None]:
    """What the history says of the times of a label, in milliseconds, and when its rows expire, in
    microseconds; nothing without a label."""
    if label is None:
        return {}
    at = int(label.evaluated_at * 1000)
    expires = label.expiry.at if label.expiry else None
    return {"evaluated_ms": at, "watermark": at, "expires_us": expires}


def read_label(chain: Sequence[SnapshotFacts]) -> Label | None:
    """The label of a storage table's main branch; None if its head was not written by a refresh.

    A compaction keeps the rows, so it inherits the label of its parent.
    """
    found = iceberg.label_of(chain, LABEL_STATE)
    if found is None:
        return None
    snapshot, text = found
    try:
        state = json.loads(text)
        sources = {}
        for source in state["sources"]:
            parts = source["name"]
            name = TableName(parts[0], tuple(parts[1:-1]), parts[-1])
            sources[name] = version_from_json(source)
        return Label(
            refresh_id=snapshot.summary[LABEL_ID],
            definition_hash=state["definition_hash"],
            sources=sources,
            evaluated_at=float(state["evaluated_at"]),
            storage_schema_id=state["storage_schema_id"],
            reduced=bool(state["reduced"]),
            method=snapshot.summary.get(LABEL_METHOD, "complete"),
            snapshot=snapshot,
            expiry=Expiry(**state["expiry"]) if "expiry" in state else None,
            trusted_since=state.get("trusted_since"),
            declared_types=state.get("declared_types"),
        )
    except (KeyError, TypeError, ValueError, IndexError, RecursionError):
        return None


def newest_build(chain: Sequence[SnapshotFacts]) -> Label | None:
    """The newest label below a head that a refresh did not write, with the snapshot that has its
    rows; None if one above it cannot be read."""
    for index, snapshot in enumerate(chain):
        label = read_label(chain[index:])
        if label is not None:
            # What a compaction has written anew are the rows of the label below it.
            return replace(label, snapshot=snapshot)
        if LABEL_STATE in snapshot.summary:
            return None
    return None


def judge(
    label: Label | None,
    definition_hash: str,
    storage_schema_id: int | None,
    current: Mapping[TableName, Version],
    declared_types: str | None = None,
) -> Verdict:
    """Compare a label with what is there now.

    `current` holds the versions of the base tables that the definition reads now. Versions that
    differ are reported as changed, also when no row did; the caller inspects those.
    `declared_types` are those of the logical views that it reads.
    """
    missing = tuple(name for name, version in current.items() if version.kind == MISSING)
    if missing:
        reason = reasons.base_table_dropped([name.shown for name in missing])
        return Verdict(Freshness.UNKNOWN, reason, missing=missing)
    if label is None:
        return Verdict(Freshness.UNKNOWN, reasons.WRITTEN_BY_HAND)
    is_other = label.definition_hash != definition_hash or set(label.sources) != set(current)
    if is_other or label.declared_types not in (None, declared_types):
        return Verdict(Freshness.STALE, reasons.DEFINITION_CHANGED)
    if label.storage_schema_id != storage_schema_id:
        return Verdict(Freshness.UNKNOWN, reasons.STORAGE_ALTERED)
    if label.reduced:
        return Verdict(Freshness.STALE, reasons.REDUCED_RUN)
    return _compare(label, current)


def _compare(label: Label, current: Mapping[TableName, Version]) -> Verdict:
    unversioned = [n for n, version in current.items() if version.kind == UNVERSIONED]
    changed = tuple(
        name
        for name, version in current.items()
        if name not in unversioned and not version.is_same(label.sources[name])
    )
    if changed:
        reason = reasons.base_table_changed([name.shown for name in changed])
        return Verdict(Freshness.STALE, reason, changed)
    if unversioned:
        reason = reasons.base_table_unversioned([name.shown for name in unversioned])
        return Verdict(Freshness.UNKNOWN, reason)
    return Verdict(Freshness.FRESH, reasons.NOTHING_CHANGED)


def expired(label: Label, now: float, reads_clock: bool, max_age: float | None) -> Reason | None:
    """Why rows with a label that is otherwise fresh are not those of the query now.

    `now` is in epoch seconds; for a reader whose clock is behind that of the refresh it is the
    instant of the refresh. `max_age` is in seconds.
    """
    if now <= label.evaluated_at:
        return None
    if max_age is not None and now >= label.evaluated_at + max_age:
        return reasons.too_old(max_age)
    if not reads_clock:
        expiry = label.expiry or Expiry(None)
    elif label.expiry is None:
        return reasons.CLOCK_NOT_FOLLOWED
    else:
        expiry = label.expiry
    if expiry.at is None or now * 1e6 < expiry.at:
        return None
    return expiry.reason
