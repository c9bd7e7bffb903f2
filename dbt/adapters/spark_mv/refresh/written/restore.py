"""Takes a storage table back to its newest build, over which something else has written: one commit
of metadata, and no query."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import replace

from dbt.adapters.spark_mv.core import reasons
from dbt.adapters.spark_mv.core.errors import (
    FastRefreshFailed,
    PublishRefused,
    RefreshCancelled,
    StatementFailed,
)
from dbt.adapters.spark_mv.core.reasons import Reason
from dbt.adapters.spark_mv.planning.plan import RESTORE, RestoreRefresh
from dbt.adapters.spark_mv.planning.request import Outcome, Request
from dbt.adapters.spark_mv.refresh.builder import Builder
from dbt.adapters.spark_mv.refresh.failures import cause_of
from dbt.adapters.spark_mv.refresh.lock import RefreshLock
from dbt.adapters.spark_mv.refresh.publish import take_back
from dbt.adapters.spark_mv.refresh.run import RefreshRun
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.views.definition import MaterializedView


def restore(
    services: Services,
    builder: Builder,
    view: MaterializedView,
    plan: RestoreRefresh,
    lock: RefreshLock,
    request: Request,
    has_changed: Callable[[], Reason | None],
) -> Outcome | None:
    """Restore as planned; None if something was written in between, or the view `has_changed`, and
    it has to be observed again. Raises `FastRefreshFailed` if the table cannot be taken back."""
    build = plan.label.snapshot
    assert build is not None
    reason = reasons.restored(lock.base, build.snapshot_id)
    label = replace(plan.label, refresh_id=uuid.uuid4().hex, method=RESTORE)
    plan = replace(plan, reason=reason)
    run = RefreshRun(view, request, plan, label, lock.branch, label.sources)
    run = services.history.started(run)
    try:
        services.watch.check(view.name, run.id)
        take_back(services.executor, lock, build.snapshot_id)
    except PublishRefused as error:
        services.history.abandoned(run, reasons.lost_race(error.problem))
        return None
    except StatementFailed as error:
        services.history.abandoned(run, reasons.fast_failed(cause_of(error)))
        raise FastRefreshFailed(error.problem, error.way_out) from None
    except (RefreshCancelled, KeyboardInterrupt):
        by = services.watch.cancelled_by(run.id) or "an interrupt"
        services.history.cancelled(run, f"cancelled by {by}")
        raise
    finally:
        services.refresh_locks.release(lock)
    if (replaced := has_changed()) is not None:  # readers do not see what was restored
        services.history.abandoned(run, replaced)
        return None
    return builder.record_success(
        run, [build], rows_inserted=0, rows_deleted=0, stale=not plan.is_all
    )
