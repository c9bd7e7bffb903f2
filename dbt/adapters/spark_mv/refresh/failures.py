"""Errors that end a refresh, with their place in the history."""

from __future__ import annotations

import time

from dbt.adapters.spark_mv.core.errors import (
    MaterializedViewError,
    RefreshFailed,
    RefreshRunning,
    ViewDropped,
)
from dbt.adapters.spark_mv.metadata.events import host
from dbt.adapters.spark_mv.planning.request import Request
from dbt.adapters.spark_mv.refresh.history import History
from dbt.adapters.spark_mv.refresh.lock import LockHeld
from dbt.adapters.spark_mv.refresh.run import RefreshRun
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.views.definition import MaterializedView

_REPAIR = "remove the cause, then read or refresh it again"
USE_COMPLETE = "refresh it with method complete, or use refresh_method 'auto'"


def cause_of(error: BaseException) -> str:
    """An error as part of another one's first line."""
    if isinstance(error, MaterializedViewError):
        return error.problem
    return str(error) or type(error).__name__


def refresh_failed(
    history: History, view: MaterializedView, request: Request, cause: str, way_out: str = _REPAIR
) -> RefreshFailed:
    """Record that a refresh failed before it began; returns the error that says so."""
    history.failed(view, request, cause)
    return _failure(view, cause, way_out)


def run_failed(
    history: History, run: RefreshRun, cause: str, way_out: str = _REPAIR
) -> RefreshFailed:
    """Record that a refresh failed; returns the error that says so."""
    history.failed(run.view, run.request, cause, run)
    return _failure(run.view, cause, way_out)


def _failure(view: MaterializedView, cause: str, way_out: str) -> RefreshFailed:
    way_out = way_out[:1].lower() + way_out[1:].removesuffix(".")
    return RefreshFailed(
        f"{view.name} could not be refreshed: {cause}",
        f"Its old rows are unchanged; {way_out}.",
    )


def was_dropped(name: TableName) -> ViewDropped:
    """The error of a refresh whose view was dropped during it."""
    return ViewDropped(
        f"{name} was dropped while it was being refreshed.",
        "Nothing is left to refresh; create it again if it is still wanted.",
    )


def other_is_running(name: TableName, busy: LockHeld | None) -> RefreshRunning:
    """The error of a refresh that does not wait; names the owner of the other one, if known."""
    who = "by this process" if busy is None else _who(busy)
    return RefreshRunning(
        f"{name}: another refresh is running, {who}.",
        "Wait for it (`wait: true`), or try again later.",
    )


def _who(busy: LockHeld) -> str:
    """Whose a refresh is, and since when."""
    owner, started = busy.owner, busy.started
    if started is not None:
        payload, moment = started.payload, started.at / 1e6
        where, pid = str(payload.get("owner_host")), payload.get("owner_pid")
    elif owner is not None:
        where, pid = host() if owner.is_here else "another host", owner.pid
        moment = owner.since * 60.0
    else:
        return "by another process"
    since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(moment))
    return f"by process {pid} on {where} since {since}"
