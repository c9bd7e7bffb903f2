"""Cancel a refresh that runs; suspend and resume refreshes that happen by themselves."""

from __future__ import annotations

import getpass
import time

from dbt.adapters.spark_mv.core.errors import NoRefreshRunning
from dbt.adapters.spark_mv.metadata.events import Event, host
from dbt.adapters.spark_mv.metadata.log import MetadataLog
from dbt.adapters.spark_mv.metadata.projection import ViewState
from dbt.adapters.spark_mv.planning.request import CANCELLED
from dbt.adapters.spark_mv.refresh.history import History

_LONGEST_WAIT = 60.0
_POLL_SECONDS = 0.5


def requester() -> str:
    """Who runs this command, as history and errors name them."""
    try:
        return f"{getpass.getuser()} on {host()}"
    except (KeyError, OSError):  # a container's user may have no name
        return host()


def cancel(log: MetadataLog, history: History, state: ViewState, wait: bool) -> str:
    """Ask the running refresh of a view to end; returns CANCELLED, ENDED or REQUESTED.

    ENDED is a refresh that was over before it saw the request. Raises `NoRefreshRunning` if there
    is none, or if somebody has asked already.
    """
    history.close_dead(state.name)
    started = _running(log, state)
    if started is None:
        raise NoRefreshRunning(
            f"{state.name}: no refresh is running.", "See `dbt run-operation history`."
        )
    assert started.refresh_id is not None
    earlier = log.state().cancels.get(started.refresh_id)
    if earlier is not None:
        raise NoRefreshRunning(
            f"{state.name}: {earlier.payload.get('by')} has cancelled its refresh already.",
            "It ends at its next step; see `dbt run-operation history`.",
        )
    history.ask_to_cancel(started, requester())
    log.flush_asked()
    return _outcome(log, started.refresh_id) if wait else "REQUESTED"


def _running(log: MetadataLog, state: ViewState) -> Event | None:
    running = list(log.state().running.values())
    ours = [event for event in running if event.view_id == state.id]
    return max(ours, key=lambda event: event.at, default=None)


def _outcome(log: MetadataLog, refresh_id: str) -> str:
    deadline = time.monotonic() + _LONGEST_WAIT
    while time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
        log.reload_if_moved()
        known = log.state()
        if refresh_id in known.ended:
            return CANCELLED if refresh_id in known.cancelled else "ENDED"
    return "REQUESTED"


def suspend(history: History, state: ViewState) -> str:
    """No read and no schedule refreshes the view from now on; returns what was done."""
    if state.suspended is not None:
        return "SUSPENDED already"
    history.suspended(state.id, state.name, requester())
    return "SUSPENDED"


def resume(history: History, state: ViewState) -> str:
    """Reads and schedules refresh the view again; returns what was done."""
    if state.suspended is None:
        return "READY already"
    history.resumed(state.id, state.name, requester())
    return "RESUMED"
