from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from dbt.adapters.spark_mv.catalog.versions import MISSING, UNVERSIONED, Version
from dbt.adapters.spark_mv.core.executor import SnapshotFacts
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.state.freshness import LABEL_ID, LABEL_STATE, Label, judge, read_label

A, B = (TableName("local", ("db",), table) for table in "ab")
V1, V2 = (Version("iceberg", snapshot, 0) for snapshot in ("1", "2"))
LABEL = Label("r1", "hash", {A: V1, B: V2}, 100.0, storage_schema_id=0)

CASES: dict[str, tuple[dict[str, Any], str, str]] = {
    "all equal": ({}, "FRESH", "NOTHING_CHANGED"),
    "snapshot moved": ({"current": {A: V2, B: V2}}, "STALE", "BASE_TABLE_CHANGED"),
    "went back in time": ({"current": {A: V1, B: V1}}, "STALE", "BASE_TABLE_CHANGED"),
    "schema moved": (
        {"current": {A: replace(V1, schema_id=1), B: V2}},
        "STALE",
        "BASE_TABLE_CHANGED",
    ),
    "emptied of snapshots": (
        {"current": {A: Version("iceberg", None, 0, "d"), B: V2}},
        "STALE",
        "BASE_TABLE_CHANGED",
    ),
    "other format": (
        {"current": {A: Version("files", digest="d"), B: V2}},
        "STALE",
        "BASE_TABLE_CHANGED",
    ),
    "gone": ({"current": {A: Version(MISSING), B: V2}}, "UNKNOWN", "BASE_TABLE_DROPPED"),
    "gone without a label": (
        {"current": {A: Version(MISSING)}, "label": None},
        "UNKNOWN",
        "BASE_TABLE_DROPPED",
    ),
    "no versions": (
        {"current": {A: Version(UNVERSIONED), B: V2}},
        "UNKNOWN",
        "BASE_TABLE_UNVERSIONED",
    ),
    "no versions and another moved": (
        {"current": {A: Version(UNVERSIONED), B: V1}},
        "STALE",
        "BASE_TABLE_CHANGED",
    ),
    "no label": ({"label": None}, "UNKNOWN", "WRITTEN_BY_HAND"),
    "other definition": ({"definition_hash": "other"}, "STALE", "DEFINITION_CHANGED"),
    "other definition, before it": ({"definition_hash": "a"}, "STALE", "DEFINITION_CHANGED"),
    "storage altered back": (
        {"label": replace(LABEL, storage_schema_id=2), "storage_schema_id": 1},
        "UNKNOWN",
        "STORAGE_ALTERED",
    ),
    "one table more": (
        {"current": {A: V1, B: V2, TableName("local", ("db",), "c"): V1}},
        "STALE",
        "DEFINITION_CHANGED",
    ),
    "one table less": ({"current": {A: V1}}, "STALE", "DEFINITION_CHANGED"),
    "storage altered": ({"storage_schema_id": 1}, "UNKNOWN", "STORAGE_ALTERED"),
    "reduced": ({"label": replace(LABEL, reduced=True)}, "STALE", "REDUCED_RUN"),
    "reduced and moved": (
        {"label": replace(LABEL, reduced=True), "current": {A: V2, B: V2}},
        "STALE",
        "REDUCED_RUN",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_judge(case: str) -> None:
    changes, freshness, code = CASES[case]
    given: dict[str, Any] = {
        "label": LABEL,
        "definition_hash": "hash",
        "storage_schema_id": 0,
        "current": {A: V1, B: V2},
        **changes,
    }
    found = judge(**given)
    assert (found.freshness.value, found.reason.code) == (freshness, code)
    assert found.is_fresh is (freshness == "FRESH")


def test_what_changed_is_named() -> None:
    found = judge(LABEL, "hash", 0, {A: V2, B: V2})
    assert found.changed == (A,) and "db.a" in found.reason.text and "db.b" not in found.reason.text
    found = judge(LABEL, "hash", 0, {A: V1, B: Version(MISSING)})
    assert found.missing == (B,) and "db.b" in found.reason.text


@pytest.mark.parametrize("kind", [MISSING, UNVERSIONED])
def test_what_has_no_version_is_never_the_same(kind: str) -> None:
    assert not Version(kind).is_same(Version(kind))


def snapshot(
    number: int, summary: dict[str, str] | None = None, operation: str = "overwrite"
) -> SnapshotFacts:
    return SnapshotFacts(str(number), str(number - 1), operation, number, summary or {})


@pytest.mark.parametrize(
    "label",
    [
        LABEL,
        replace(LABEL, reduced=True, method="fast", storage_schema_id=None),
        replace(
            LABEL, sources={A: Version("files", digest="d"), B: Version("iceberg", None, 3, "e")}
        ),
    ],
)
def test_a_label_survives_its_summary(label: Label) -> None:
    head = snapshot(5, label.to_summary())
    assert read_label([head]) == replace(label, snapshot=head)


def test_ids_are_texts() -> None:
    state = json.loads(LABEL.to_summary()[LABEL_STATE])
    assert [source["snapshot_id"] for source in state["sources"]] == ["1", "2"]


def test_a_compaction_inherits_the_label() -> None:
    labelled = snapshot(5, LABEL.to_summary())
    chain = [snapshot(7, operation="replace"), snapshot(6, operation="replace"), labelled]
    assert read_label(chain) == replace(LABEL, snapshot=labelled)


@pytest.mark.parametrize("operation", ["append", "delete", "overwrite"])
def test_a_write_by_hand_hides_the_label(operation: str) -> None:
    assert read_label([snapshot(6, operation=operation), snapshot(5, LABEL.to_summary())]) is None


@pytest.mark.parametrize(
    "damage",
    [
        {LABEL_STATE: "{not json"},
        {LABEL_STATE: "{}"},
        {LABEL_STATE: "[]"},
        {LABEL_ID: None},
        {LABEL_STATE: '{"sources": [{}]}'},
        {LABEL_STATE: "null"},
    ],
)
def test_a_damaged_label_is_none(damage: dict[str, str | None]) -> None:
    summary = {**LABEL.to_summary(), **damage}
    kept = {key: text for key, text in summary.items() if text is not None}
    assert read_label([snapshot(5, kept)]) is None


def test_no_snapshot_no_label() -> None:
    assert read_label([]) is None
