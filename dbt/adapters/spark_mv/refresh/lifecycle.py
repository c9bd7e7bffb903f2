"""Creating, replacing, altering and dropping materialized views."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dbt.adapters.spark_mv import reasons
from dbt.adapters.spark_mv.errors import (
    CorruptMetadata,
    InvalidName,
    InvalidStatement,
    NoBaseTable,
    NotAQuery,
    RelationExists,
    StatementFailed,
    UnknownMaterializedView,
)
from dbt.adapters.spark_mv.executor import TableFacts
from dbt.adapters.spark_mv.metadata.events import OPTIONS_CHANGED
from dbt.adapters.spark_mv.refresh import statements
from dbt.adapters.spark_mv.refresh.build import Builder
from dbt.adapters.spark_mv.refresh.crosscheck import check_against_spark
from dbt.adapters.spark_mv.refresh.engine import Engine
from dbt.adapters.spark_mv.refresh.look import Group
from dbt.adapters.spark_mv.refresh.plan import CompleteRefresh
from dbt.adapters.spark_mv.refresh.read import Reader
from dbt.adapters.spark_mv.refresh.registration import register, unregister
from dbt.adapters.spark_mv.refresh.request import ADOPTED, CREATE, UPSTREAM, Outcome, Request
from dbt.adapters.spark_mv.refresh.run import Refresher
from dbt.adapters.spark_mv.relations import is_not_found
from dbt.adapters.spark_mv.sql.dialect import CreateView
from dbt.adapters.spark_mv.sql.names import Namespace, TableName, check_view_name, quote_parts
from dbt.adapters.spark_mv.views.definition import (
    Column,
    Definition,
    Layout,
    MaterializedView,
    storage_name,
)
from dbt.adapters.spark_mv.views.dependencies import Expander, Expansion
from dbt.adapters.spark_mv.views.options import options_from
from dbt.adapters.spark_mv.views.registry import find_view, load_view
from dbt.adapters.spark_mv.views.safety import check_query


@dataclass(frozen=True)
class Context:
    """Where a statement was given: names resolve in `home`, `settings` are kept with the view."""

    home: Namespace
    settings: Mapping[str, str] = field(default_factory=dict)
    trigger: str = CREATE
    reduced: bool = False
    rebuild: bool = False


class Lifecycle:
    """What the DDL verbs do."""

    def __init__(self, engine: Engine, refresher: Refresher, reader: Reader) -> None:
        self._engine = engine
        self._refresher = refresher
        self._reader = reader
        self._builder = Builder(engine)

    def create(self, statement: CreateView, context: Context) -> Outcome | None:
        """CREATE [OR REPLACE] MATERIALIZED VIEW; None if it exists and IF NOT EXISTS was said."""
        name = self._engine.relations.resolve(statement.parts, context.home)
        check_view_name(name)
        self._check_schema(name)
        existing = self._existing(name, statement, context)
        if existing is not None and statement.if_not_exists:
            return None
        wanted, expansion = self._definition(name, statement, context, existing)
        with_lock = self._engine.lock_of(name)
        self._refresh_upstream(expansion)
        if existing is not None and _is_same_build(existing, wanted):
            wanted = replace(wanted, storage=existing.storage)
            return self._keep(existing, wanted, expansion, context)
        if existing is not None and context.reduced:
            return self._keep(existing, existing, expansion, replace(context, rebuild=False))
        request = Request(context.trigger, explicit=True, reduced=context.reduced)
        with with_lock:
            versions = self._engine.versions.read(expansion.tables)
            reason = reasons.DEFINITION_CHANGED if existing else reasons.NEVER_BUILT
            plan = CompleteRefresh(reason)
            must_be_new = existing is None and not statement.or_replace
            outcome = self._builder.build(
                wanted, expansion, versions, plan, request, existing, must_be_new
            )
        if outcome.state == ADOPTED:
            return self._refresher.refresh(name, Request(context.trigger))
        return outcome

    def _check_schema(self, name: TableName) -> None:
        schema = quote_parts((name.catalog, *name.namespace))
        try:
            self._engine.executor.query(f"DESCRIBE SCHEMA {schema}")
        except StatementFailed as error:
            if not is_not_found(error):
                raise
            raise InvalidName(
                f"{name}: the schema {name.schema!r} does not exist.",
                f"Create it first: CREATE SCHEMA {name.schema}.",
            ) from None

    def _existing(
        self, name: TableName, statement: CreateView, context: Context
    ) -> MaterializedView | None:
        facts = self._engine.relations.lookup(name)
        if facts is None:
            return None
        try:
            view = find_view(self._engine.relations, name)
        except CorruptMetadata:
            if not context.rebuild:
                raise
            self._engine.executor.query(statements.drop_view(name))
            return None
        if view is None:
            kind = "table" if isinstance(facts, TableFacts) else "view"
            raise RelationExists(
                f"{name} exists and is a {kind}, not a materialized view.",
                "Drop it first, or choose another name.",
            )
        if not statement.or_replace and not statement.if_not_exists:
            raise RelationExists(
                f"{name} exists already.", "Say CREATE OR REPLACE, or drop it first."
            )
        return view

    def _definition(
        self,
        name: TableName,
        statement: CreateView,
        context: Context,
        existing: MaterializedView | None,
    ) -> tuple[MaterializedView, Expansion]:
        options = options_from(statement.options, str(name))
        check_query(statement.query, str(name), options.allow_unsafe_sql)
        query = statement.query.rstrip().rstrip(";")
        expansion = self._expanded(name, query, context.home)
        definition = Definition(
            query=query,
            home=context.home,
            columns=(),
            tables=tuple(str(table) for table in expansion.tables),
            views=expansion.views,
            settings=dict(context.settings),
        )
        definition = self._with_columns(name, definition, statement)
        layout = Layout(statement.partition_by, statement.cluster_by)
        statements.check_layout(str(name), layout, definition.columns)
        check_against_spark(self._engine.executor, str(name), definition, expansion)
        storage = storage_name(name, definition.hash, layout, options.tblproperties)
        view = MaterializedView(
            id=existing.id if existing else uuid.uuid4().hex,
            name=name,
            definition=definition,
            definition_hash=definition.hash,
            storage=storage,
            options=options,
            layout=layout,
            comment=statement.comment,
            reduced=context.reduced,
        )
        return view, expansion

    def _expanded(self, name: TableName, query: str, home: Namespace) -> Expansion:
        expansion = Expander(self._engine.relations, str(name)).expand(query, home, name)
        if not expansion.tables:
            raise NoBaseTable(
                f"{name} reads no base table, so nothing can ever make it stale.",
                "A materialized view needs at least one; use a table or a view instead.",
            )
        return expansion

    def _with_columns(
        self, name: TableName, definition: Definition, statement: CreateView
    ) -> Definition:
        try:
            definition = self._builder.with_columns(definition)
        except StatementFailed as error:
            raise NotAQuery(f"Spark refuses the query of {name}: {error}", "Correct it.") from None
        for column in definition.columns:
            if column.type == "void" or "interval" in column.type:
                raise NotAQuery(
                    f"The column {column.name!r} of {name} has the type {column.type}, "
                    "which no table can store.",
                    "Cast it in the query.",
                )
        names = [column.name.lower() for column in definition.columns]
        twice = sorted({column for column in names if names.count(column) > 1})
        if twice:
            raise NotAQuery(
                f"The query of {name} returns the column {twice[0]!r} more than once.",
                "Give each column a name of its own.",
            )
        if not statement.columns:
            return definition
        return replace(definition, columns=_documented(name, definition.columns, statement))

    def _refresh_upstream(self, expansion: Expansion) -> None:
        group = Group()
        for upstream in expansion.storages:
            view = load_view(self._engine.relations, upstream)
            if view.options.enable_refresh and not view.reduced:
                self._reader.upstream_first(upstream, Request(UPSTREAM), group)

    def _keep(
        self,
        existing: MaterializedView,
        wanted: MaterializedView,
        expansion: Expansion,
        context: Context,
    ) -> Outcome:
        """Same definition: apply what changed beside it, then refresh if it is not fresh."""
        if wanted.properties() != existing.properties():
            with self._engine.executor.isolated({}) as session:
                session.query(statements.create_view(wanted))
            register(self._engine.memory, wanted, expansion, existing, OPTIONS_CHANGED)
        elif self._engine.memory.view(existing.name) is None:
            register(self._engine.memory, wanted, expansion, None)
        request = Request(
            context.trigger,
            method="complete" if context.rebuild or context.reduced else "auto",
            explicit=context.rebuild or context.reduced,
            reduced=context.reduced,
        )
        return self._refresher.refresh(existing.name, request)

    def alter(self, name: TableName, options: Mapping[str, Any]) -> MaterializedView:
        """ALTER MATERIALIZED VIEW .. SET OPTIONS."""
        view = load_view(self._engine.relations, name)
        if "tblproperties" in options:
            raise InvalidStatement(
                f"{name}: tblproperties belong to the storage table and cannot be altered.",
                "Create the materialized view again with OR REPLACE.",
            )
        given = {key: value for key, value in vars(view.options).items() if value is not None}
        given = {key: value for key, value in given.items() if value not in ((), {})}
        changed = replace(view, options=options_from({**given, **options}, str(name)))
        with self._engine.executor.isolated({}) as session:
            session.query(statements.set_properties(changed))
        look = self._engine.observer.look(changed)
        register(self._engine.memory, changed, look.expansion, view, OPTIONS_CHANGED)
        return changed

    def drop(self, name: TableName, if_exists: bool) -> bool:
        """DROP MATERIALIZED VIEW; False if there was none and IF EXISTS was said."""
        view = self._view_to_drop(name, if_exists)
        if view is None:
            return False
        self._engine.executor.query(statements.drop_view(name))
        self._engine.executor.query(statements.drop_storage(view.storage))
        known = self._engine.memory.state().views.get(name)
        for storage in known.replaced if known else ():
            self._engine.executor.query(statements.drop_storage(storage))
        unregister(self._engine.memory, view.id, name)
        return True

    def _view_to_drop(self, name: TableName, if_exists: bool) -> MaterializedView | None:
        try:
            return load_view(self._engine.relations, name)
        except UnknownMaterializedView as error:
            known = self._engine.memory.state().views.get(name)
            gone = self._engine.relations.lookup(name) is None
            if known is not None and gone:
                unregister(self._engine.memory, known.id, name)
                return None
            if if_exists and gone:
                return None
            raise error


def _is_same_build(existing: MaterializedView, wanted: MaterializedView) -> bool:
    return (
        not existing.reduced
        and existing.definition_hash == wanted.definition_hash
        and existing.layout == wanted.layout
        and existing.options.tblproperties == wanted.options.tblproperties
    )


def _documented(
    name: TableName, columns: tuple[Column, ...], statement: CreateView
) -> tuple[Column, ...]:
    given = {column.lower(): comment for column, comment in statement.columns}
    unknown = set(given) - {column.name.lower() for column in columns}
    if unknown or len(given) != len(columns):
        raise InvalidName(
            f"{name}: the column list has {len(given)} columns, its query {len(columns)}; "
            f"names must be the same.",
            "Query returns: " + ", ".join(column.name for column in columns) + ".",
        )
    return tuple(replace(column, comment=given[column.name.lower()]) for column in columns)
