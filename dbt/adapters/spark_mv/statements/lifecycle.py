"""Creating, replacing, altering and dropping materialized views."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dbt.adapters.spark_mv.catalog.resolver import is_not_found
from dbt.adapters.spark_mv.config.options import options_from
from dbt.adapters.spark_mv.core import reasons
from dbt.adapters.spark_mv.core.errors import (
    CorruptMetadata,
    InvalidName,
    InvalidStatement,
    PublishRefused,
    RefreshFailed,
    RelationExists,
    StatementFailed,
    UnknownMaterializedView,
    UnsupportedCatalog,
    ViewDropped,
)
from dbt.adapters.spark_mv.core.executor import TableFacts
from dbt.adapters.spark_mv.core.failpoints import reached
from dbt.adapters.spark_mv.metadata.events import OPTIONS_CHANGED
from dbt.adapters.spark_mv.planning.plan import CompleteRefresh
from dbt.adapters.spark_mv.planning.request import ALTERED, KEPT, SKIPPED, Outcome, Request
from dbt.adapters.spark_mv.refresh.backups import drop_backup
from dbt.adapters.spark_mv.refresh.builder import Builder
from dbt.adapters.spark_mv.refresh.refresher import Refresher
from dbt.adapters.spark_mv.refresh.registration import ensure_registered, register, unregister
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.refresh.staging import Build, discard
from dbt.adapters.spark_mv.refresh.swap import replaced_view
from dbt.adapters.spark_mv.sql.dialect import CreateView
from dbt.adapters.spark_mv.sql.names import SESSION_CATALOG, TableName, check_view_name, quote_parts
from dbt.adapters.spark_mv.state.pinned_versions import PinnedVersions
from dbt.adapters.spark_mv.statements.definer import (
    CreationContext,
    Definer,
    check_options,
    refuse_method,
)
from dbt.adapters.spark_mv.statements.expression_check import check_expression
from dbt.adapters.spark_mv.statements.read_policy import Reader
from dbt.adapters.spark_mv.views import storage_sql
from dbt.adapters.spark_mv.views.changes import (
    OF_STORAGE,
    altered_names,
    is_same_build,
    is_to_stay,
)
from dbt.adapters.spark_mv.views.definition import MaterializedView
from dbt.adapters.spark_mv.views.dependencies import Expansion
from dbt.adapters.spark_mv.views.registry import find_view, load_view

_ATTEMPTS = 8


class Lifecycle:
    """What the DDL statements do."""

    def __init__(self, services: Services, refresher: Refresher, reader: Reader) -> None:
        self._services = services
        self._refresher = refresher
        self._reader = reader
        self._builder = Builder(services)
        self._definer = Definer(services, self._builder)

    def create(self, statement: CreateView, context: CreationContext) -> Outcome | None:
        """CREATE [OR REPLACE] MATERIALIZED VIEW; None if it exists and IF NOT EXISTS was said."""
        name = self._services.resolver.resolve(statement.parts, context.home)
        check_view_name(name)
        self._check_schema(name)
        for attempt in range(_ATTEMPTS):
            try:
                return self._create(name, statement, context, is_again=attempt > 0)
            except (PublishRefused, ViewDropped):
                self._services.resolver.forget()
        raise RefreshFailed(
            f"{name} could not be built: meanwhile a base table that cannot be pinned changed, or "
            f"somebody else refreshed, built or dropped the view, {_ATTEMPTS} times in a row.",
            "Try again while nobody does.",
        )

    def _create(
        self, name: TableName, statement: CreateView, context: CreationContext, is_again: bool
    ) -> Outcome | None:
        existing = self._existing(name, statement, context)
        if existing is not None:
            ensure_registered(self._services, existing)
            if statement.if_not_exists:
                return None
        wanted, expansion = self._definer.define(name, statement, context, existing)
        is_same = existing is not None and is_same_build(existing, wanted)
        if existing is not None and is_to_stay(existing, wanted, is_same):
            return Outcome(name, KEPT, "none", reasons.REDUCED_RUN_KEEPS.text)
        self._refresh_upstream(expansion)
        if existing is not None and is_same:
            return self._keep(existing, wanted, expansion, context)
        with (
            self._services.thread_lock(name),
            replaced_view(self._services, existing, is_again) as (base, branch),
        ):
            build = Build(
                wanted,
                expansion,
                self._services.versions.read(expansion.tables),
                CompleteRefresh(reasons.DEFINITION_CHANGED if existing else reasons.NEVER_BUILT),
                Request(context.trigger, explicit=True, reduced=context.reduced),
                existing,
                branch,
                base,
                must_be_new=existing is None and not statement.or_replace,
                over_table=context.replaces == name and self._is_table(name),
            )
            outcome = self._builder.build(build)
        if build.over_table:
            drop_backup(self._services, name)
        return outcome

    def _is_table(self, name: TableName) -> bool:
        return isinstance(self._services.resolver.lookup(name), TableFacts)

    def _check_schema(self, name: TableName) -> None:
        schema = quote_parts((name.catalog, *name.namespace))
        try:
            self._services.executor.query(f"DESCRIBE SCHEMA {schema}")
        except StatementFailed as error:
            if not is_not_found(error):
                raise
            raise InvalidName(
                f"{name}: the schema {name.schema!r} does not exist.",
                f"Create it first: CREATE SCHEMA {name.schema}.",
            ) from None
        if name.catalog == SESSION_CATALOG and not self._has_iceberg(name.catalog):
            raise UnsupportedCatalog(
                f"{name}: the catalog {name.catalog!r} cannot hold Iceberg tables.",
                "Use a schema of an Iceberg catalog.",
            )

    def _has_iceberg(self, catalog: str) -> bool:
        ((_, implementation),) = self._services.executor.query(f"SET spark.sql.catalog.{catalog}")
        return "iceberg" in str(implementation).lower()

    def _existing(
        self, name: TableName, statement: CreateView, context: CreationContext
    ) -> MaterializedView | None:
        facts = self._services.resolver.lookup(name)
        if facts is None:
            return None
        try:
            view = find_view(self._services.resolver, name)
        except CorruptMetadata:
            if not context.rebuild:
                raise
            return None
        if view is None and context.replaces == name and statement.or_replace:
            return None
        if view is None:
            kind = "table" if isinstance(facts, TableFacts) else "view"
            raise RelationExists(
                f"{name} exists and is a {kind}, not a materialized view.",
                "Drop it first, or choose another name.",
            )
        if not statement.or_replace and not statement.if_not_exists:
            raise RelationExists(
                f"{name} exists already.", "Use CREATE OR REPLACE, or drop it first."
            )
        return view

    def _refresh_upstream(self, expansion: Expansion) -> None:
        self._reader.refresh_all(expansion.storages, PinnedVersions())

    def _keep(
        self,
        existing: MaterializedView,
        wanted: MaterializedView,
        expansion: Expansion,
        context: CreationContext,
    ) -> Outcome:
        """Same definition: apply what changed beside it, then refresh if it is not fresh."""
        # The definition is whole, whatever the command says of others.
        wanted = replace(
            wanted,
            storage=existing.storage,
            hidden=existing.hidden,
            deferred=existing.deferred and wanted.deferred,
        )
        is_other = wanted.properties() != existing.properties()
        if is_other:
            self._definer.check_keys(existing, wanted)
            self._describe(existing, wanted)
            self._register_options(wanted, expansion, existing)
            if wanted.options.live != existing.options.live:
                self._services.live.renew(wanted)
        method = "complete" if context.rebuild else "auto"
        request = Request(context.trigger, method=method, explicit=context.rebuild)
        outcome = self._refresher.refresh(existing.name, request)
        if not is_other or outcome.state != SKIPPED:
            return outcome
        return replace(outcome, state=ALTERED, altered=altered_names(existing, wanted))

    def _describe(self, existing: MaterializedView, wanted: MaterializedView) -> None:
        """Change what the view says of itself, but not its storage table."""
        if replace(wanted, options=existing.options) == existing:
            change = storage_sql.set_options(wanted)
        else:
            self._services.resolver.forget()
            # Replacing the view would take a table into use again that somebody has just replaced.
            if find_view(self._services.resolver, wanted.name) != existing:
                raise _changed_meanwhile(wanted.name)
            change = storage_sql.create_view(wanted)
        with self._services.executor.isolated({}) as session:
            session.query(change)

    def alter(self, name: TableName, options: Mapping[str, Any]) -> MaterializedView:
        """ALTER MATERIALIZED VIEW .. SET OPTIONS."""
        if fixed := next((option for option in OF_STORAGE if option in options), None):
            raise InvalidStatement(
                f"{name}: {fixed} belongs to the storage table and cannot be altered.",
                "Create the materialized view again with OR REPLACE.",
            )
        for _ in range(_ATTEMPTS):
            view = load_view(self._services.resolver, name)
            changed = _with_options(view, options)
            self._services.live.check(changed)
            self._definer.check_keys(view, changed)
            if "expires_at_expr" in options:
                check_expression(self._services.executor, changed)
            self._services.resolver.forget()
            # All options are one property: what somebody else has set meanwhile stays.
            if find_view(self._services.resolver, name) == view:
                break
        else:
            raise _changed_meanwhile(name)
        with self._services.executor.isolated({}) as session:
            session.query(storage_sql.set_options(changed))
        observation = self._services.observer.observe(changed)
        self._register_options(changed, observation.expansion, view)
        if changed.options.live != view.options.live:
            self._services.live.renew(changed)
        return changed

    def _register_options(
        self, view: MaterializedView, expansion: Expansion, before: MaterializedView
    ) -> None:
        log, resolver = self._services.log, self._services.resolver
        register(resolver, log, view, expansion, before, OPTIONS_CHANGED)

    def drop(self, name: TableName, if_exists: bool) -> bool:
        """DROP MATERIALIZED VIEW; False if there was none and IF EXISTS was said."""
        view = self._view_to_drop(name, if_exists)
        if view is None:
            return False
        self._services.live.drop(view)
        # Listed before the view is gone: a view created after that keeps its storage table.
        earlier = set(self._services.log.state().built.get(name.full, ())) - {view.storage}
        self._services.executor.query(storage_sql.drop_view(name))
        reached("view_dropped.after")
        self._services.executor.query(storage_sql.drop_storage(view.storage))
        reached("storage_dropped.after")
        for storage in sorted(earlier):
            discard(self._services.executor, storage)
            self._services.history.storage_dropped(view.id, name, storage)
        unregister(self._services.log, view.id, name)
        return True

    def _view_to_drop(self, name: TableName, if_exists: bool) -> MaterializedView | None:
        try:
            return load_view(self._services.resolver, name)
        except UnknownMaterializedView as error:
            known = self._services.log.state().views.get(name)
            gone = self._services.resolver.lookup(name) is None
            if known is not None and gone:
                unregister(self._services.log, known.id, name)
                return None
            if if_exists and gone:
                return None
            raise error


def _changed_meanwhile(name: TableName) -> RefreshFailed:
    return RefreshFailed(
        f"{name} was changed by somebody else at the same time.",
        "Nothing was done; run it again.",
    )


def _with_options(view: MaterializedView, options: Mapping[str, Any]) -> MaterializedView:
    given = {key: value for key, value in vars(view.options).items() if value is not None}
    given = {key: value for key, value in given.items() if value not in ((), {})}
    changed = replace(view, options=options_from({**given, **options}, str(view.name)))
    check_options(changed)
    refuse_method(changed)
    return changed
