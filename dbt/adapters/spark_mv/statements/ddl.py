"""Carries out the DDL of materialized views; the result of each is a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dbt.adapters.spark_mv.core.errors import UnknownMaterializedView
from dbt.adapters.spark_mv.planning.request import DBT_RUN, KEPT, MANUAL, Outcome, Request
from dbt.adapters.spark_mv.refresh.key_refresh import KeyRefresher
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.sql.dialect import (
    AlterView,
    CreateView,
    DropView,
    ExplainView,
    RefreshView,
    ViewStatement,
)
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.state.as_of import pinned_as_of
from dbt.adapters.spark_mv.state.pinned_versions import PinnedVersions
from dbt.adapters.spark_mv.statements.context import StatementContext
from dbt.adapters.spark_mv.statements.lifecycle import CreationContext, Lifecycle
from dbt.adapters.spark_mv.statements.read_gate import ReadGate
from dbt.adapters.spark_mv.statements.read_policy import Reader
from dbt.adapters.spark_mv.statements.results import StatementResult
from dbt.adapters.spark_mv.views.registry import find_view, load_view

_OUTCOME_COLUMNS = ("view", "state", "method", "reason", "seconds", "rows")


class MaterializedViewStatements:
    """One method per statement."""

    def __init__(
        self,
        services: Services,
        reader: Reader,
        lifecycle: Lifecycle,
        gate: ReadGate,
    ) -> None:
        self._services = services
        self._reader = reader
        self._lifecycle = lifecycle
        self._gate = gate

    def execute(self, statement: ViewStatement, context: StatementContext) -> StatementResult:
        """Carry out a statement; errors of every kind are raised as they are."""
        if isinstance(statement, CreateView):
            return self._create(statement, context)
        name = self._services.resolver.resolve(statement.parts, context.namespace())
        if isinstance(statement, RefreshView):
            wait = context.trigger == DBT_RUN and not statement.nowait
            request = Request(context.trigger, statement.method or "auto", wait, explicit=True)
            return _outcome(self.refresh(name, request, statement.as_of))
        if isinstance(statement, AlterView):
            self._lifecycle.alter(name, statement.options)
            return _done(f"{name}: options changed")
        if isinstance(statement, DropView):
            dropped = self.drop(name, statement.if_exists)
            return _done(f"{name}: dropped" if dropped else f"{name}: does not exist")
        assert isinstance(statement, ExplainView)
        return self._explain(name)

    def refresh(self, name: TableName, request: Request, as_of: str | None = None) -> Outcome:
        """Refresh a view, upstream views first, to an earlier time if one is given; raises what
        stopped it."""
        view = load_view(self._services.resolver, name)
        pinned = PinnedVersions() if as_of is None else pinned_as_of(view, as_of)
        self._services.history.close_dead(name)
        return self._reader.upstream_first(name, replace(request, as_of=pinned.as_of), pinned)

    def align(self, group: str) -> list[TableName]:
        """Bring the views of a group to one state of their base tables; returns their names, none
        if there is no such group. Raises what stopped it."""
        members = self._reader.groups.members(group)
        for name in members:
            if find_view(self._services.resolver, name) is None:
                raise UnknownMaterializedView(
                    f"{name}, a view of the group {group}, was dropped by another program.",
                    "Have it forgotten by `dbt run-operation drop_mv --args "
                    f"'{{view: {name}, if_exists: true}}'`, then align again.",
                )
        pinned = PinnedVersions()
        self._reader.prepare(members, pinned, trigger=MANUAL, exact=members)
        return members

    def refresh_keys(self, name: TableName, keys: Sequence[Any], request: Request) -> Outcome:
        """Compute the rows of some keys of a view again; raises what stopped it."""
        self._services.history.close_dead(name)
        return KeyRefresher(self._services).refresh(name, keys, request)

    def drop(self, name: TableName, if_exists: bool) -> bool:
        """Drop a view; False if there was none and that is all right."""
        dropped = self._lifecycle.drop(name, if_exists)
        self._gate.forget_all()
        return dropped

    def _create(self, statement: CreateView, context: StatementContext) -> StatementResult:
        creation = CreationContext(
            context.namespace(),
            context.settings(),
            context.trigger,
            context.is_reduced(),
            context.is_deferred(statement.query),
            context.rebuilds,
            context.replaces,
        )
        outcome = self._lifecycle.create(statement, creation)
        self._gate.forget_all()
        if outcome is None:
            return _done(f"{'.'.join(statement.parts)}: exists already")
        if outcome.state == KEPT and not creation.reduced:
            self._services.warn(_kept_for_deferred(outcome))
        return _outcome(outcome)

    def _explain(self, name: TableName) -> StatementResult:
        lines = self._services.explainer.explain(name, Request(MANUAL, explicit=True))
        return StatementResult(("explain",), tuple((line,) for line in lines), "OK")


def _outcome(outcome: Outcome) -> StatementResult:
    row = tuple(getattr(outcome, column) for column in _OUTCOME_COLUMNS)
    return StatementResult(_OUTCOME_COLUMNS, ((str(row[0]), *row[1:]),), outcome.summary, outcome)


def _kept_for_deferred(outcome: Outcome) -> str:
    return (
        f"{outcome.view} keeps its definition: its model differs, and reads relations of another "
        "state by --defer. Run what it reads in this target, too, or run it without --defer."
    )


def _done(message: str) -> StatementResult:
    return StatementResult(("result",), ((message,),), message)
