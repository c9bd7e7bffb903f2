"""Our own statements in dbt's log, told as those of models are."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from dbt.adapters.events.types import SQLQuery, SQLQueryStatus
from dbt_common.events.contextvars import get_node_info
from dbt_common.events.functions import fire_event

# Stands for the name of a connection where no node runs.
_NAME = "materialized_views"
# Of rows of seeds.
_LONGEST = 100_000


@contextmanager
def logged(sql: str) -> Iterator[None]:
    """Around a statement: its text, whether it failed and how long it took, at level debug and with
    the node for which it is."""
    node = get_node_info()
    name = node.get("unique_id") or _NAME
    shown = sql if len(sql) <= _LONGEST else sql[:_LONGEST] + ".."
    fire_event(SQLQuery(conn_name=str(name), sql=shown, node_info=node))
    began, status = time.perf_counter(), "ERROR"
    try:
        yield
        status = "OK"
    finally:
        elapsed = time.perf_counter() - began
        fire_event(SQLQueryStatus(status=status, elapsed=elapsed, node_info=node, query_id=""))
