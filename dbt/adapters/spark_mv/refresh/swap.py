"""One CREATE OR REPLACE VIEW makes a build visible: readers see the old table or the new one."""

from __future__ import annotations

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
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.refresh.staging import Build, discard
from dbt.adapters.spark_mv.views import storage_sql
from dbt.adapters.spark_mv.views.definition import MaterializedView
from dbt.adapters.spark_mv.views.registry import find_view

_NO_VIEWS = (
    "MISSING_CATALOG_ABILITY",
    "does not support views",
    "view is not supported",
    "UNSUPPORTED_FEATURE",
)


def swap(services: Services, build: Build) -> None:
    """Point the view at its storage table, which is dropped if that fails.

    Raises `RelationExists` if it must be new and somebody was faster, `PublishRefused` if it must
    be unchanged and is not, `UnsupportedCatalog` if there can be no view.
    """
    if not build.over_table:
        _create(services.executor, services.resolver, build)
        return
    _refuse_changed(services.executor, services.resolver, build)
    try:
        with moved_to_backup(services, build.view.name):
            _create(services.executor, services.resolver, build)
    except StatementFailed:
        _discard_unless_in_use(services.executor, build, _current(services.resolver, build))
        raise


def _create(executor: Executor, resolver: Resolver, build: Build) -> None:
    try:
        _create_once(executor, resolver, build)
    except StatementFailed as error:
        raise _drop_and_explain(executor, resolver, build, error) from None


@replacing_beside_others
def _create_once(executor: Executor, resolver: Resolver, build: Build) -> None:
    create = storage_sql.create_view(build.view, or_replace=not build.must_be_new)
    reached("view.before")
    _refuse_changed(executor, resolver, build)
    try:
        with executor.isolated({}) as session:
            session.query(create)
    except StatementFailed:
        now = _current(resolver, build)
        if now is not None and now.storage == build.view.storage:
            return  # only the reply was lost
        if now is None or not build.must_be_new:
            raise
        _discard_unless_in_use(executor, build, now)
        raise RelationExists(
            f"{build.view.name} exists already.", "Use CREATE OR REPLACE, or drop it first."
        ) from None


def _refuse_changed(executor: Executor, resolver: Resolver, build: Build) -> None:
    now = _current(resolver, build)
    if build.only_if_unchanged and now != build.replaced:
        _discard_unless_in_use(executor, build, now)
        raise PublishRefused("its definition was changed, or it was dropped, by somebody else")
    if resolver.lookup(build.view.storage) is None:
        raise PublishRefused("it took so long that its storage table was swept away")


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
