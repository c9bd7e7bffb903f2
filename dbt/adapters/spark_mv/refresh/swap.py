"""One CREATE OR REPLACE VIEW makes a build visible: readers see the old table or the new one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dbt.adapters.spark_mv.catalog import iceberg
from dbt.adapters.spark_mv.catalog.resolver import Resolver
from dbt.adapters.spark_mv.core.creation import replacing_beside_others
from dbt.adapters.spark_mv.core.errors import (
    CorruptMetadata,
    PublishRefused,
    RelationExists,
    StatementFailed,
    UnsupportedCatalog,
)
from dbt.adapters.spark_mv.core.executor import Executor
from dbt.adapters.spark_mv.core.failpoints import reached
from dbt.adapters.spark_mv.refresh.backups import moved_to_backup
from dbt.adapters.spark_mv.refresh.lock import RefreshLock
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.refresh.staging import Build, discard
from dbt.adapters.spark_mv.views import storage_sql
from dbt.adapters.spark_mv.views.definition import MaterializedView
from dbt.adapters.spark_mv.views.registry import find_view

_ATTEMPTS = 3
_BUILT = "somebody else has built the view meanwhile"
_OVERTAKEN = "somebody else has refreshed the view meanwhile"
_NO_VIEWS = (
    "MISSING_CATALOG_ABILITY",
    "does not support views",
    "view is not supported",
    "UNSUPPORTED_FEATURE",
)


@contextmanager
def replaced_view(
    services: Services, view: MaterializedView | None, is_locked: bool
) -> Iterator[tuple[str | None, str | None]]:
    """The main snapshot of a view that is to be replaced, and the branch of its refresh lock; None
    if there is none. It is locked if it can be and is to be: a build that was overtaken once waits
    for nobody again."""
    services.resolver.forget()  # versions that were read before the snapshot may be older
    exists = view is not None and services.resolver.lookup(view.storage) is not None
    chain = iceberg.main_chain(services.executor, view.storage, 1) if view and exists else []
    base = chain[0].snapshot_id if chain else None
    lock = None
    if view is not None and base is not None and is_locked:
        lock = services.refresh_locks.acquire(view.storage, base)
    held = lock if isinstance(lock, RefreshLock) else None
    try:
        yield base, held.branch if held else None
    finally:
        if held is not None:
            services.refresh_locks.release(held)


def swap(services: Services, build: Build) -> None:
    """Point the view at its storage table, which is dropped if that fails.

    Raises `RelationExists` if it must be new and somebody was faster, `PublishRefused` if what is
    replaced has changed in a way that asks for another build, `UnsupportedCatalog` if there can be
    no view.
    """
    if not build.over_table:
        _create(services, build)
        return
    _refuse_changed(services.executor, services.resolver, build)
    try:
        with moved_to_backup(services, build.view.name):
            _create(services, build)
    except StatementFailed:
        _discard_unless_in_use(services.executor, build, _current(services.resolver, build))
        raise


def _create(services: Services, build: Build) -> None:
    try:
        _create_once(services, build)
    except StatementFailed as error:
        raise _drop_and_explain(services.executor, services.resolver, build, error) from None


@replacing_beside_others
def _create_once(services: Services, build: Build) -> None:
    executor, resolver = services.executor, services.resolver
    reached("view.before")
    resolver.forget()
    # What is made by others after this look is not replaced unseen.
    is_new = build.must_be_new or resolver.lookup(build.view.name) is None
    try:
        with _still_replacing(services, build), executor.isolated({}) as session:
            reached("swap.before")
            session.query(storage_sql.create_view(build.view, or_replace=not is_new))
    except StatementFailed:
        now = _current(resolver, build)
        if now is not None and now.storage == build.view.storage:
            return  # only the reply was lost
        if now is None or not is_new:
            raise
        _discard_unless_in_use(executor, build, now)
        if not build.must_be_new:
            raise PublishRefused(_BUILT) from None
        raise RelationExists(
            f"{build.view.name} exists already.", "Use CREATE OR REPLACE, or drop it first."
        ) from None


@contextmanager
def _still_replacing(services: Services, build: Build) -> Iterator[None]:
    """Nobody has refreshed what is replaced since the build began, or does so inside: its rows
    would be newer than those that readers get. Refreshes that have not published theirs lose.

    Raises `PublishRefused` if the build is not to be swapped in, and drops its storage table.
    """
    now = _refuse_changed(services.executor, services.resolver, build)
    lock = None
    if now is not None and not build.must_be_new and not build.only_if_unchanged:
        try:
            lock = _locked(services, build, now)
        except PublishRefused:
            _discard_unless_in_use(services.executor, build, now)
            raise
    try:
        yield
    finally:
        if lock is not None:
            services.refresh_locks.release(lock)


def _locked(services: Services, build: Build, now: MaterializedView) -> RefreshLock | None:
    """The refresh lock of the view that is replaced; None if there is nothing to lock, or the
    build holds it."""
    if now.storage == build.view.storage:
        return None  # swapped in by an attempt whose reply was lost
    if build.replaced is None or now.storage != build.replaced.storage:
        raise PublishRefused(_BUILT)
    executor, storage, base = services.executor, now.storage, build.base
    if base is None:
        return None
    if build.branch is not None:
        chain = iceberg.main_chain(executor, storage, 1)
        if chain and chain[0].snapshot_id == base:
            return None
        raise PublishRefused(_OVERTAKEN)
    for _ in range(_ATTEMPTS):
        lock = services.refresh_locks.acquire(storage, base)
        if isinstance(lock, RefreshLock):
            if _current(services.resolver, build) != now:
                services.refresh_locks.release(lock)
                raise PublishRefused(_BUILT)
            return lock
        if lock is None:
            break
        services.refresh_locks.break_lock(storage, base, lock)
    raise PublishRefused(_OVERTAKEN)


def _refuse_changed(
    executor: Executor, resolver: Resolver, build: Build
) -> MaterializedView | None:
    now = _current(resolver, build)
    if build.only_if_unchanged and now != build.replaced:
        _discard_unless_in_use(executor, build, now)
        raise PublishRefused("its definition was changed, or it was dropped, by somebody else")
    if resolver.lookup(build.view.storage) is None:
        raise PublishRefused("it took so long that its storage table was swept away")
    return now


def _current(resolver: Resolver, build: Build) -> MaterializedView | None:
    resolver.forget()
    try:
        return find_view(resolver, build.view.name)
    except CorruptMetadata:
        return None


def _discard_unless_in_use(executor: Executor, build: Build, now: MaterializedView | None) -> None:
    # A swap whose reply was lost may have happened.
    if now is None or now.storage != build.view.storage:
        discard(executor, build.view.storage)


def _drop_and_explain(
    executor: Executor, resolver: Resolver, build: Build, error: StatementFailed
) -> StatementFailed | UnsupportedCatalog:
    """The error of a view that could not be made; its storage table is dropped."""
    name = build.view.name
    _discard_unless_in_use(executor, build, _current(resolver, build))
    if any(text in str(error) for text in _NO_VIEWS):
        return UnsupportedCatalog(
            f"{name}: the catalog {name.catalog!r} cannot hold views.",
            "Use an Iceberg catalog with views (REST, Hive, JDBC with schema-version V1).",
        )
    return error
