"""Staging tables: storage tables made with their rows and label in one commit, then swapped in.

Each build has a table of a name that no other ever has. So nobody takes rows for finished that
their builder has not compared, and a table that was replaced never comes back into use.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from dbt.adapters.spark_mv.catalog import iceberg
from dbt.adapters.spark_mv.catalog.versions import Version, Versions
from dbt.adapters.spark_mv.config.option_types import NEVER
from dbt.adapters.spark_mv.core import clock
from dbt.adapters.spark_mv.core.errors import CorruptMetadata, PublishRefused, StatementFailed
from dbt.adapters.spark_mv.core.executor import Executor
from dbt.adapters.spark_mv.core.reasons import Reason
from dbt.adapters.spark_mv.expiry.next_change import reads_clock
from dbt.adapters.spark_mv.planning.pinning import is_readable, pinned_query
from dbt.adapters.spark_mv.planning.plan import RefreshPlan
from dbt.adapters.spark_mv.planning.request import Request
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.refresh.written.expiry import label_settings, with_row_expiry
from dbt.adapters.spark_mv.refresh.written.keys import refuse_duplicates
from dbt.adapters.spark_mv.sql.names import TableName, use
from dbt.adapters.spark_mv.state.freshness import Label
from dbt.adapters.spark_mv.views import storage_sql
from dbt.adapters.spark_mv.views.definition import Definition, MaterializedView
from dbt.adapters.spark_mv.views.expansion import Expansion


@dataclass(frozen=True)
class Build:
    """What is to be built, and what the view is until it is swapped in.

    `branch` is that of the refresh lock under which it is built; with `only_if_unchanged` it is
    swapped in only if the view still is `replaced`, with `must_be_new` only if there is none, with
    `base` only if that is the main snapshot of what is replaced. With `over_table` it takes the
    place of a table, which is kept as its backup. Its rows are those of `instant`, in epoch
    seconds.
    """

    view: MaterializedView
    expansion: Expansion
    versions: Mapping[TableName, Version]
    plan: RefreshPlan
    request: Request
    replaced: MaterializedView | None = None
    branch: str | None = None
    base: str | None = None
    must_be_new: bool = False
    only_if_unchanged: bool = False
    over_table: bool = False
    instant: float = field(default_factory=clock.now)


def make_storage(services: Services, view: MaterializedView, label: Label) -> Label:
    """Create the storage table with the rows of the view's definition; returns its label.

    Raises `PublishRefused` if a table that could not be pinned changed during the build, and
    `StatementFailed`; there is then no table.
    """
    query, unpinned = complete_query(services, view, view.definition, label)
    before = moves(services.executor, unpinned, label.sources)
    settings = {**view.definition.settings, **label_settings(label)}
    try:
        with (
            services.executor.isolated(settings) as session,
            services.watch.over(session, label.refresh_id),
        ):
            if not is_readable(view.definition):  # its names are as they were written
                session.query(use(view.definition.home))
            session.query(storage_sql.create_storage(view, query))
            if view.layout.cluster_by:
                session.query(storage_sql.order_storage(view))
        refuse_duplicates(services.executor, view, None)
        label = with_row_expiry(services, view, label, None)
        refuse_moved(services.executor, services.versions, before, label.sources)
    except BaseException:
        discard(services.executor, view.storage)
        raise
    return label


def complete_query(
    services: Services,
    view: MaterializedView,
    definition: Definition,
    label: Label,
) -> tuple[str, tuple[TableName, ...]]:
    """The query of everything that is stored under a label, at its versions and its instant, and
    the tables that it reads unpinned. Raises `CorruptMetadata` if columns that are not shown cannot
    be computed."""
    owner, versions = str(view.name), label.sources
    moment = services.expiries.moment(definition, label.evaluated_us)
    query, unpinned = pinned_query(
        definition, versions, services.executor, services.resolver, owner, moment
    )
    if not view.hidden:
        return query, unpinned
    analysis = services.analyzer.analysis(definition, view)
    if isinstance(analysis, Reason) or tuple(analysis.program.hidden) != view.hidden:
        raise CorruptMetadata(
            f"{owner}: its storage table has columns that this version does not know.",
            "Run its model with --full-refresh.",
        )
    return analysis.stored_query(versions, label.evaluated_us, unpinned), unpinned


def with_expiry(
    services: Services, view: MaterializedView, definition: Definition, label: Label
) -> Label:
    """A label that says until when the rows of a definition will be right."""
    if view.options.expiry == NEVER or not reads_clock(definition):
        return label
    query, _ = pinned_query(
        definition, label.sources, services.executor, services.resolver, str(view.name)
    )
    expiry = services.expiries.expiry(definition, query, label.evaluated_us)
    return replace(label, expiry=expiry)


def discard(executor: Executor, storage: TableName) -> None:
    """Drop a storage table that no view reads, if it exists; a sweep does so if this fails."""
    with suppress(StatementFailed):
        executor.query(storage_sql.drop_storage(storage))


def moves(
    executor: Executor, unpinned: tuple[TableName, ...], versions: Mapping[TableName, Version]
) -> dict[TableName, str]:
    """What tells whether an Iceberg table that is read unpinned has moved; its version does
    not, if it was rolled back in between."""
    tables = [name for name in unpinned if versions[name].kind == iceberg.FORMAT]
    return {name: iceberg.moves(executor, name) for name in tables}


def refuse_moved(
    executor: Executor,
    versions: Versions,
    before: dict[TableName, str],
    read: Mapping[TableName, Version],
) -> None:
    """Raise `PublishRefused` if a table that could not be pinned changed since `before`, when it
    had the version in `read`."""
    same = versions.read(before) == {name: read[name] for name in before}
    if not same or moves(executor, tuple(before), read) != before:
        raise PublishRefused("a base table changed while it was read, and cannot be pinned")
