"""Is a materialized view fresh? A comparison of versions; nothing stores the answer.

The label says what a stored build was made from. It is in the summary of the storage table's
current snapshot, in the same commit as the rows, so rows and label cannot disagree.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from dbt.adapters.spark_mv.catalog import iceberg
from dbt.adapters.spark_mv.catalog.versions import MISSING, UNVERSIONED, Version, version_from_json
from dbt.adapters.spark_mv.core import reasons
from dbt.adapters.spark_mv.core.executor import SnapshotFacts
from dbt.adapters.spark_mv.core.reasons import Reason
from dbt.adapters.spark_mv.sql.names import TableName

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
class Label:
    """What a stored build was made from.

    `evaluated_at` is epoch seconds; `reduced` marks a build that does not contain the whole
    definition (--empty, --sample, --defer); `snapshot` is the storage snapshot that carries it.
    """

    refresh_id: str
    definition_hash: str
    sources: Mapping[TableName, Version]
    evaluated_at: float
    storage_schema_id: int | None = None
    reduced: bool = False
    method: str = "complete"
    snapshot: SnapshotFacts | None = None

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
        }
        return {
            LABEL_ID: self.refresh_id,
            LABEL_METHOD: self.method,
            LABEL_STATE: json.dumps(state, sort_keys=True),
        }


@dataclass(frozen=True)
class Verdict:
    """Freshness with its reason; `changed` lists the base tables whose versions moved."""

    freshness: Freshness
    reason: Reason
    changed: tuple[TableName, ...] = ()
    missing: tuple[TableName, ...] = ()

    @property
    def is_fresh(self) -> bool:
        """Whether the stored rows are known to be those of the query now."""
        return self.freshness is Freshness.FRESH


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
        )
    except (KeyError, TypeError, ValueError, IndexError, RecursionError):
        return None


def judge(
    label: Label | None,
    definition_hash: str,
    storage_schema_id: int | None,
    current: Mapping[TableName, Version],
) -> Verdict:
    """Compare a label with what is there now.

    `current` holds the versions of the base tables that the definition reads now. Versions that
    differ are reported as changed, also when no row did; the caller inspects those.
    """
    missing = tuple(name for name, version in current.items() if version.kind == MISSING)
    if missing:
        reason = reasons.base_table_dropped([name.shown for name in missing])
        return Verdict(Freshness.UNKNOWN, reason, missing=missing)
    if label is None:
        return Verdict(Freshness.UNKNOWN, reasons.WRITTEN_BY_HAND)
    if label.definition_hash != definition_hash or set(label.sources) != set(current):
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
