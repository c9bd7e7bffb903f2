"""The parts that refreshing needs, put together once per command."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from dbt.adapters.spark_mv.catalog.resolver import Resolver
from dbt.adapters.spark_mv.catalog.versions import Versions
from dbt.adapters.spark_mv.core.executor import Executor
from dbt.adapters.spark_mv.core.workers import Workers
from dbt.adapters.spark_mv.expiry.next_change import ExpiryFinder
from dbt.adapters.spark_mv.metadata.events import Event
from dbt.adapters.spark_mv.metadata.log import MetadataLog
from dbt.adapters.spark_mv.planning.analyzer import Analyzer
from dbt.adapters.spark_mv.planning.candidates import Planner
from dbt.adapters.spark_mv.planning.explain import Explainer
from dbt.adapters.spark_mv.planning.partition_lineage import PartitionLineage
from dbt.adapters.spark_mv.refresh.cancellation import CancellationWatch
from dbt.adapters.spark_mv.refresh.history import History
from dbt.adapters.spark_mv.refresh.live.live_views import LiveViews
from dbt.adapters.spark_mv.refresh.lock import RefreshLocks
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.state.observation import Observer


@dataclass
class Services:
    """Services shared by everything that refreshes; `executor` runs our own statements.

    `alert` warns in a way that nobody turns off; `schemas` are those in which the profile's views
    are looked for when the metadata is lost;
    `allow_unsafe_sql` says that definitions may run code. At most `threads` refreshes run at once.
    """

    executor: Executor
    log: MetadataLog
    warn: Callable[[str], None]
    info: Callable[[str], None]
    alert: Callable[[str], None]
    timeout: float = 3600.0
    schemas: tuple[str, ...] = ()
    allow_unsafe_sql: bool = False
    threads: int = 1
    thread_locks: dict[TableName, threading.Lock] = field(default_factory=dict)
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.resolver = Resolver(self.executor)
        self.versions = Versions(self.executor, self.resolver)
        self.observer = Observer(self.executor, self.resolver, self.versions, self.log)
        self.analyzer = Analyzer(self.executor, self.resolver)
        self.expiries = ExpiryFinder(self.executor, self.resolver)
        self.planner = Planner(self.executor, self.resolver, self.analyzer, self.log)
        self.explainer = Explainer(
            self.executor,
            self.resolver,
            self.observer,
            self.versions,
            self.analyzer,
            self.planner,
            self.log,
        )
        self.live = LiveViews(
            self.executor,
            self.resolver,
            self.versions,
            self.observer,
            self.analyzer,
            self.log,
        )
        self.lineage = PartitionLineage(self.executor, self.resolver, self.observer, self.analyzer)
        self.refresh_locks = RefreshLocks(self.executor, self.started, self.timeout)
        self.history = History(self.log, self.executor, self.resolver, self.timeout)
        self.watch = CancellationWatch(self.history)
        self.workers = Workers(self.threads, self.watch.interrupt)

    def thread_lock(self, name: TableName) -> threading.Lock:
        """The lock that threads of this process take to refresh a view."""
        with self._guard:
            return self.thread_locks.setdefault(name, threading.Lock())

    def started(self, branch: str) -> Event | None:
        """The REFRESH_STARTED of the refresh that holds a branch, if that is known and not over.

        Names of branches contain the id of a snapshot, so no two tables have the same.
        """
        self.log.reload_if_moved()
        running = list(self.log.state().running.values())
        return next((event for event in running if event.payload.get("branch") == branch), None)
