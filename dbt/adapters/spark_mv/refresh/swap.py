"""One CREATE OR REPLACE VIEW makes a build visible: readers see the old table or the new one."""

from __future__ import annotations

import time

from dbt.adapters.spark_mv.errors import RelationExists, StatementFailed, UnsupportedCatalog
from dbt.adapters.spark_mv.failpoints import reached
from dbt.adapters.spark_mv.refresh import statements
from dbt.adapters.spark_mv.refresh.engine import Engine
from dbt.adapters.spark_mv.views.definition import MaterializedView
from dbt.adapters.spark_mv.views.registry import find_view

_NO_VIEWS = ("MISSING_CATALOG_ABILITY", "does not support views", "UNSUPPORTED_FEATURE")
_RACES = ("updated concurrently", "AlreadyExists", "ALREADY_EXISTS", "CommitFailed")
_ATTEMPTS = 8


def swap(engine: Engine, view: MaterializedView, created: bool, must_be_new: bool) -> None:
    """Point the view at its storage table; `created` says that we made that table.

    Raises `RelationExists` if it `must_be_new` and somebody was faster, `UnsupportedCatalog` if
    there can be no view.
    """
    for attempt in range(_ATTEMPTS):
        try:
            reached("view.before")
            with engine.executor.isolated({}) as session:
                session.query(statements.create_view(view, or_replace=not must_be_new))
            return
        except StatementFailed as error:
            _cope(engine, view, created, must_be_new, error, attempt)


def _cope(
    engine: Engine,
    view: MaterializedView,
    created: bool,
    must_be_new: bool,
    error: StatementFailed,
    attempt: int,
) -> None:
    """Return if creating the view is worth another try, else raise what is wrong."""
    other = find_view(engine.relations, view.name)
    if other is not None and must_be_new:
        if created and other.storage != view.storage:
            engine.executor.query(statements.drop_storage(view.storage))
        raise RelationExists(
            f"{view.name} exists already.", "Say CREATE OR REPLACE, or drop it first."
        ) from None
    if any(text in str(error) for text in _RACES) and attempt + 1 < _ATTEMPTS:
        time.sleep(0.05 * (attempt + 1))
        return
    if created and (other is None or other.storage != view.storage):
        engine.executor.query(statements.drop_storage(view.storage))
    if any(text in str(error) for text in _NO_VIEWS):
        raise UnsupportedCatalog(
            f"{view.name}: the catalog {view.name.catalog!r} cannot hold views.",
            "Use an Iceberg catalog with views (REST, Hive, JDBC with schema-version V1).",
        ) from None
    raise error
