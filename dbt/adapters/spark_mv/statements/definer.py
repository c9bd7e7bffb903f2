"""Works out what a CREATE MATERIALIZED VIEW defines; refuses what cannot be kept right."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from dbt.adapters.spark_mv.config.option_types import SERVE
from dbt.adapters.spark_mv.config.options import options_from
from dbt.adapters.spark_mv.config.schedule import check_time_zone
from dbt.adapters.spark_mv.core.errors import (
    InvalidName,
    NoBaseTable,
    NotAQuery,
    StatementFailed,
)
from dbt.adapters.spark_mv.core.reasons import Reason
from dbt.adapters.spark_mv.planning.by_partition import why_not
from dbt.adapters.spark_mv.planning.plan import COMPLETE, FAST, PARTITION, not_eligible
from dbt.adapters.spark_mv.planning.request import CREATE
from dbt.adapters.spark_mv.refresh.builder import Builder
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.refresh.written.keys import refuse_duplicates
from dbt.adapters.spark_mv.sql.dialect import CreateView
from dbt.adapters.spark_mv.sql.names import Namespace, TableName, quote
from dbt.adapters.spark_mv.sql.splice import in_backticks
from dbt.adapters.spark_mv.sql.words import without_end
from dbt.adapters.spark_mv.state.freshness import Freshness
from dbt.adapters.spark_mv.statements.expression_check import check_expression
from dbt.adapters.spark_mv.views import storage_sql
from dbt.adapters.spark_mv.views.definition import (
    Definition,
    Layout,
    MaterializedView,
    new_storage,
)
from dbt.adapters.spark_mv.views.dependencies import Expander, Expansion
from dbt.adapters.spark_mv.views.dependency_check import check_against_spark
from dbt.adapters.spark_mv.views.safety import check_query, refuse_unsafe
from dbt.adapters.spark_mv.views.settings import spelt_as

# The alias under which the query of a view gets the names of its column list.
_RENAMED = "mv_columns"
# What a view says of a method that it can be refreshed by; else it says why not.
_YES = "yes"


# With both of these, texts in double quotes are names.
_QUOTES_NAMES = ("spark.sql.ansi.enabled", "spark.sql.ansi.doubleQuotedIdentifiers")


@dataclass(frozen=True)
class CreationContext:
    """Where a statement was given: names resolve in `home`, `settings` are kept with the view.

    `replaces` is the table or plain view that it may take the place of; `reduced` and `deferred`
    say what `MaterializedView` says of the view.
    """

    home: Namespace
    settings: Mapping[str, str] = field(default_factory=dict)
    trigger: str = CREATE
    reduced: bool = False
    deferred: bool = False
    rebuild: bool = False
    replaces: TableName | None = None


def _text_kept(query: str, settings: Mapping[str, str]) -> str:
    """A query as definitions have it: names in double quotes are in backticks, which mean the same
    to Spark, and to us."""
    text = without_end(query)
    return in_backticks(text) if all(settings.get(k) == "true" for k in _QUOTES_NAMES) else text


class Definer:
    """Turns statements into definitions, with the names and types that Spark gives them."""

    def __init__(self, services: Services, builder: Builder) -> None:
        self._services = services
        self._builder = builder

    def check_keys(self, existing: MaterializedView, wanted: MaterializedView) -> None:
        """Raise `DuplicateKey` if rows that no refresh will check have several of one key."""
        options = wanted.options
        if options.unique_key == existing.options.unique_key:
            return
        verdict = self._services.observer.observe(existing).verdict
        serves_old = options.when_stale == SERVE or not options.enable_refresh
        is_old = verdict.freshness is Freshness.STALE and (
            serves_old or options.max_staleness_seconds is not None
        )
        if verdict.is_fresh or is_old:
            refuse_duplicates(self._services.executor, wanted, None)

    def define(
        self,
        name: TableName,
        statement: CreateView,
        context: CreationContext,
        existing: MaterializedView | None,
    ) -> tuple[MaterializedView, Expansion]:
        """The view that the statement describes, and what it reads.

        Raises what is wrong with it (`NotAQuery`, `NoBaseTable`, `InvalidOption` ..).
        """
        if existing is not None:
            settings = spelt_as(context.settings, existing.definition.settings)
            context = replace(context, settings=settings)
        options = options_from(statement.options, str(name))
        check_query(statement.query, str(name), self._services.allow_unsafe_sql)
        expansion, definition = self._definition(name, statement, context)
        layout = Layout(statement.partition_by, statement.cluster_by)
        storage_sql.check_layout(str(name), layout, definition.columns)
        if existing is None or existing.definition_hash != definition.hash:
            check_against_spark(self._services.executor, str(name), definition, expansion)
        view = MaterializedView(
            id=existing.id if existing else uuid.uuid4().hex,
            name=name,
            definition=definition,
            definition_hash=definition.hash,
            storage=new_storage(name),
            options=options,
            layout=layout,
            comment=statement.comment,
            reduced=context.reduced,
            deferred=context.deferred,
        )
        return self._analysed(view, existing), expansion

    def _definition(
        self, name: TableName, statement: CreateView, context: CreationContext
    ) -> tuple[Expansion, Definition]:
        query = _text_kept(statement.query, context.settings)
        expansion = self._expanded(name, query, context)
        definition = Definition(
            query=query,
            home=context.home,
            columns=(),
            tables=tuple(map(str, expansion.tables)),
            views=expansion.views,
            settings=dict(context.settings),
        )
        return expansion, self._with_columns(name, definition, statement)

    def _analysed(
        self, view: MaterializedView, existing: MaterializedView | None
    ) -> MaterializedView:
        """The view with what refreshes that are not complete need; refuses what has to be fast, or
        by partition, and cannot be."""
        check_options(view)
        self._services.live.check(view)
        if existing is None or existing.options.expires_at_expr != view.options.expires_at_expr:
            check_expression(self._services.executor, view)
        analyzer, options = self._services.analyzer, view.options
        if view.reduced or options.refresh_method == COMPLETE:
            return view
        if existing is not None and existing.methods and _asks_for_the_same(existing, view):
            return replace(
                view,
                hidden=existing.hidden,
                plan_facts=existing.plan_facts,
                methods=existing.methods,
            )
        view = replace(view, plan_facts=existing.plan_facts if existing else {})
        found = analyzer.analysis(view.definition, view)
        view = replace(
            view,
            hidden=() if isinstance(found, Reason) else tuple(found.program.hidden),
            plan_facts=analyzer.plan_facts(view.definition),
        )
        against = {method: why_not(method, view, found) for method in (FAST, PARTITION)}
        view = replace(view, methods={m: str(why) if why else _YES for m, why in against.items()})
        refuse_method(view)
        return view

    def _expanded(self, name: TableName, query: str, context: CreationContext) -> Expansion:
        expander = Expander(self._services.resolver, str(name), settings=context.settings)
        expansion = expander.expand(query, context.home, name)
        for text in expansion.views.values() if not self._services.allow_unsafe_sql else ():
            refuse_unsafe(text, str(name))
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
        if statement.columns:
            definition = _listed(name, definition, statement.columns)
        storage_sql.check_columns(str(name), definition.columns)
        return definition


def _asks_for_the_same(existing: MaterializedView, view: MaterializedView) -> bool:
    """Whether what is known of a view is true of another statement of it."""
    one, two = existing.options, view.options
    return (
        existing.definition_hash == view.definition_hash
        and existing.layout == view.layout
        and one.refresh_method == two.refresh_method
        and one.allow_non_incremental_definition == two.allow_non_incremental_definition
        and one.float_additive == two.float_additive
        and one.static_partition_by == two.static_partition_by
    )


def check_options(view: MaterializedView) -> None:
    """Raise `InvalidOption` for an option that does not go with the rest of the view."""
    storage_sql.check_static(view)
    check_time_zone(str(view.name), view.options, view.time_zone)
    storage_sql.check_unique_key(view, view.definition.columns)


def _listed(
    name: TableName, definition: Definition, listed: Sequence[tuple[str, str | None]]
) -> Definition:
    """A definition with the comments and, in their order, the names of a column list."""
    columns, names = definition.columns, [given for given, _ in listed]
    if len(names) != len(columns):
        raise InvalidName(
            f"{name}: the column list has {len(names)} columns, its query {len(columns)}.",
            "The query returns: " + ", ".join(column.name for column in columns) + ".",
        )
    if len({given.lower() for given in names}) != len(names):
        raise InvalidName(
            f"{name}: the column list has a name twice: {', '.join(names)}.",
            "Give each column a name of its own.",
        )
    query = definition.query
    if names != [column.name for column in columns]:
        query = f"SELECT * FROM (\n{query}\n) AS {_RENAMED} ({', '.join(map(quote, names))})"
    documented = tuple(
        replace(column, name=given, comment=comment)
        for column, (given, comment) in zip(columns, listed, strict=True)
    )
    return replace(definition, query=query, columns=documented)


def refuse_method(view: MaterializedView) -> None:
    """Raises `MethodNotAvailable` if a view has to be refreshed by a method that it cannot have."""
    options = view.options
    must = FAST if options.allow_non_incremental_definition is False else options.refresh_method
    said = view.methods.get(must, _YES)
    if said != _YES:
        raise not_eligible(str(view.name), must, Reason.read(said))
