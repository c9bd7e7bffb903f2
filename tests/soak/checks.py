"""What has to hold at any moment, looked at by another program with plain Spark alone."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

from tests.functional.materialized_view.warehouse import Rows, Warehouse
from tests.soak.views import VIEWS
from tests.soak.world import SCHEMA

_GONE = ("NOT_FOUND", "Cannot find snapshot", "NoSuchTable", "does not exist")


def differences(lake: Warehouse, name: str) -> Rows | None:
    """Rows that a view has and its query at the label's versions has not, and the other way.

    None if the view, its storage table or a version vanished while it was looked at.
    """
    try:
        return _differences(lake, name)
    except Exception as error:
        if any(text in str(error) for text in _GONE):
            return None
        raise


def _differences(lake: Warehouse, name: str) -> Rows:
    properties = dict(lake.spark(f"show tblproperties @.{name}"))
    storage = f"{SCHEMA}.{properties['mv.storage_table']}"
    head = lake.snapshot(storage)
    state = _label(lake, storage, head)
    versions = {source["name"][-1]: source["snapshot_id"] for source in state["sources"]}
    query = _text(properties["mv.definition"])
    for table, version in versions.items():
        # A view over a view reads the storage table of that one.
        name_read = re.escape(table.split("__mv_")[0])
        pinned = f"{SCHEMA}.{table} version as of {version}"
        if name_read != re.escape(table):
            pinned = f"(select {_shown(lake, name_read, f'{SCHEMA}.{table}')} from {pinned})"
        query = re.sub(rf"\b{SCHEMA}\.{name_read}\b", pinned, query)
    stored = f"select {_shown(lake, name, storage)} from {storage} version as of {head}"
    return lake.spark(
        f"(select 1, * from ({stored}) except all select 1, * from ({query})) union all "
        f"(select -1, * from ({query}) except all select -1, * from ({stored}))"
    )


def _shown(lake: Warehouse, view: str, storage: str) -> str:
    """The columns of a storage table that its view shows, which come before the others."""
    names = zip(_columns(lake, storage), _columns(lake, f"@.{view}"), strict=False)
    return ", ".join(f"`{stored}` as `{shown}`" for stored, shown in names)


def _columns(lake: Warehouse, relation: str) -> list[str]:
    return [row[0] for row in lake.spark(f"describe {relation}")]


def _label(lake: Warehouse, storage: str, head: int) -> dict[str, Any]:
    """The label of a snapshot, or of the one that a compaction has rewritten."""
    rows = lake.spark(
        "select snapshot_id, parent_id, operation, summary['mv.refresh_state'] "
        f"from {storage}.snapshots"
    )
    found = {row[0]: row[1:] for row in rows}
    parent, operation, state = found[head]
    while state is None and operation == "replace":
        parent, operation, state = found[parent]
    assert state is not None, f"{storage} has no label"
    label: dict[str, Any] = json.loads(state)
    return label


def _text(encoded: str) -> str:
    return base64.b64decode(encoded).decode()


def definition(lake: Warehouse, name: str) -> str:
    """The query of a view as its own properties say it."""
    return _text(dict(lake.spark(f"show tblproperties @.{name}"))["mv.definition"])


def leftovers(lake: Warehouse) -> list[str]:
    """What a sweep should have removed."""
    views = [name for kind, name in lake.relations() if kind == "v" and name in VIEWS]
    storages = {lake.storage(name).rpartition(".")[2]: name for name in views}
    tables = [name for kind, name in lake.relations() if kind == "t" and "__mv_" in name]
    found = [f"table {table}" for table in tables if table not in storages]
    for storage in storages:
        branches = lake.spark(f"select name from {SCHEMA}.{storage}.refs")
        found += [f"branch {branch} of {storage}" for (branch,) in branches if branch != "main"]
    running = "select table_name, started_at from @meta.mv_refresh_history where state = 'RUNNING'"
    return found + [f"{name} RUNNING since {at}" for name, at in lake.spark(running)]
