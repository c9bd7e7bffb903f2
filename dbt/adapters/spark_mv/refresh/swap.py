"""One CREATE OR REPLACE VIEW makes a build visible: readers see the old table or the new one."""

from __future__ import annotations

import time

from dbt.adapters.spark_mv.core.errors import (
    CorruptMetadata,
    PublishRefused,
    RelationExists,
    StatementFailed,
    UnsupportedCatalog,
)
from dbt.adapters.spark_mv.core.failpoints import reached
from dbt.adapters.spark_mv.refresh.backups import moved_aside
from dbt.adapters.spark_mv.refresh.services import Engine
from dbt.adapters.spark_mv.refresh.staging import Build, discard
from dbt.adapters.spark_mv.views import storage_sql
from dbt.adapters.spark_mv.views.definition import MaterializedView
from dbt.adapters.spark_mv.views.registry import find_view

_NO_VIEWS = ("MISSING_CATALOG_ABILITY", "does not support views", "UNSUPPORTED_FEATURE")
_RACES = ("updated concurrently", "AlreadyExists", "ALREADY_EXISTS", "CommitFailed")
_ATTEMPTS = 8


def swap(engine: Engine, build: Build) -> None:
    """Point the view at its storage table, which is dropped if that fails.

    Raises `RelationExists` if it must be new and somebody was faster, `PublishRefused` if it must
    be unchanged and is not, `UnsupportedCatalog` if there can be no view.
    """
    if not build.over_table:
        _create(engine, build)
        return
    _refuse_changed(engine, build)
    try:
        with moved_aside(engine, build.view.name):
            _create(engine, build)
    except StatementFailed:
        _discard(engine, build, _current(engine, build))
        raise


def _create(engine: Engine, build: Build) -> None:
    create = storage_sql.create_view(build.view, or_replace=not build.must_be_new)
    for attempt in range(_ATTEMPTS):
        try:
            reached("view.before")
            _refuse_changed(engine, build)
            with engine.executor.isolated({}) as session:
                session.query(create)
            return
        except StatementFailed as error:
            _cope(engine, build, error, attempt)


def _refuse_changed(engine: Engine, build: Build) -> None:
    now = _current(engine, build)
    if build.only_if_unchanged and now != build.replaced:
        _discard(engine, build, now)
        raise PublishRefused("its definition was changed, or it was dropped, by somebody else")
    if engine.relations.lookup(build.view.storage) is None:
        raise PublishRefused("it took so long that its storage table was swept away")


def _current(engine: Engine, build: Build) -> MaterializedView | None:
    engine.relations.forget()
    try:
        return find_view(engine.relations, build.view.name)
    except CorruptMetadata:
        return None


def _discard(engine: Engine, build: Build, now: MaterializedView | None) -> None:
    # A swap whose reply was lost may have happened.
    if now is None or now.storage != build.view.storage:
        discard(engine, build.view.storage)


def _cope(engine: Engine, build: Build, error: StatementFailed, attempt: int) -> None:
    """Return if creating the view is worth another try, else raise what is wrong."""
    view, now = build.view, _current(engine, build)
    if now is not None and build.must_be_new:
        _discard(engine, build, now)
        raise RelationExists(
            f"{view.name} exists already.", "Say CREATE OR REPLACE, or drop it first."
        ) from None
    if any(text in str(error) for text in _RACES) and attempt + 1 < _ATTEMPTS:
        time.sleep(0.05 * (attempt + 1))
        return
    _discard(engine, build, now)
    if any(text in str(error) for text in _NO_VIEWS):
        raise UnsupportedCatalog(
            f"{view.name}: the catalog {view.name.catalog!r} cannot hold views.",
            "Use an Iceberg catalog with views (REST, Hive, JDBC with schema-version V1).",
        ) from None
    raise error
