"""Which materialized views a statement reads: as sqlglot understood it, as Spark explains it, or
every view that its text names."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass

from dbt.adapters.spark_mv.core.errors import InvalidStatement, StatementFailed
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.sql.names import STORAGE_NAME, Namespace, TableName
from dbt.adapters.spark_mv.sql.plans import NO_SYNTAX, is_refused_plan, tables_of_plan
from dbt.adapters.spark_mv.sql.reads import Reference, is_path
from dbt.adapters.spark_mv.sql.scan import is_dynamic, names_in, relations_in, steps_of
from dbt.adapters.spark_mv.sql.statement import Kind, Statement, written_anywhere
from dbt.adapters.spark_mv.sql.understood import understood
from dbt.adapters.spark_mv.state.freshness import Freshness
from dbt.adapters.spark_mv.statements.context import StatementContext
from dbt.adapters.spark_mv.statements.read_gate import ReadGate, Views
from dbt.adapters.spark_mv.views.registry import load_view

_MOST_NAMES = 200
_ASKED = (Kind.CACHE, Kind.SCRIPT, Kind.EXECUTE, Kind.OTHER)
_GLOBAL = "global_temp"
Parts = tuple[str, ...]


@dataclass(frozen=True)
class StatementViews:
    """The views that a statement reads; `places` has those that its text names where another text
    can stand for them."""

    views: Views
    places: tuple[tuple[Reference, Views], ...] = ()


class StatementReads:
    """Finds the views of statements of one command, and remembers what temporary views read."""

    def __init__(self, services: Services, gate: ReadGate) -> None:
        self._services = services
        self._gate = gate
        # By session and name; None for those of which only Spark knows.
        self._temporary: dict[tuple[int, Parts], Views | None] = {}

    def find(self, sql: str, statement: Statement, context: StatementContext) -> StatementViews:
        """The views that the statement reads.

        A warning says so if that cannot be told: then every view that the text names counts.
        """
        found = self._understood(sql, statement, context)
        if found is None:
            asked = self._asked(sql, statement, context)
            found = StatementViews(self._named(statement, context) if asked is None else asked)
        if statement.kind is Kind.SCRIPT:
            self._refuse_late(sql, context.namespace())
        # CACHE TABLE makes a temporary view only if it has a query.
        makes_view = any(word.upper == "AS" for word in statement.words)
        if statement.kind is Kind.CREATE_TEMPORARY_VIEW or (
            statement.kind is Kind.CACHE and makes_view
        ):
            self._remember(statement, found.views)
        return found

    def forget_temporary(self) -> None:
        """A view was created again: of temporary views only Spark knows now what they read."""
        self._temporary = dict.fromkeys(self._temporary)

    def drops_temporary(self, statement: Statement) -> bool:
        """Whether DROP VIEW is about a temporary view, which goes before a relation of its name."""
        if statement.kind is not Kind.DROP or not statement.targets:
            return False
        (parts,) = statement.targets[:1]
        is_temporary, _ = self._behind_temporary(parts)
        self._temporary.pop(self._key(parts), None)
        return is_temporary

    def _understood(
        self, sql: str, statement: Statement, context: StatementContext
    ) -> StatementViews | None:
        reads = None if statement.kind in _ASKED else understood(sql)
        if reads is None:
            return None
        home = context.namespace()
        written = set(statement.targets)
        views: dict[TableName, None] = {}
        places: list[tuple[Reference, Views]] = []
        may_stand = True
        for reference in reads.references:
            if reference.fixed:
                self._refuse_old(reference.parts, home)
            if reference.parts in written or reference.fixed or is_path(reference):
                continue
            is_temporary, found = self._behind_temporary(reference.parts)
            name = self._services.resolver.resolve(reference.parts, home)
            if not is_temporary:
                found = self._gate.views_behind(name)
            if found is None:
                return None
            views.update(dict.fromkeys(found))
            if found and not is_temporary:
                places.append((reference, found))
                is_view = found == (name,)
                may_stand = may_stand and (is_view or not self._gate.only_spark_evaluates(name))
        return StatementViews(tuple(views), tuple(places) if may_stand else ())

    def _refuse_late(self, script: str, home: Namespace) -> None:
        """Raise `InvalidStatement` if a script reads a view after it has written to what is behind
        the view, which is refreshed before the script runs."""
        written: dict[TableName, TableName] = {}
        for step in steps_of(script):
            read = [view for parts in relations_in(step) for view in self._behind(parts, home)]
            late = next((view for view in read if view in written), None)
            if late is not None and load_view(self._services.resolver, late).options.enable_refresh:
                raise InvalidStatement(
                    f"The script reads {late} after it has written to {written[late]}: "
                    "materialized views are refreshed before a script, and not inside of it.",
                    "End the script after the write, and read the view in a statement of its own.",
                )
            for parts in written_anywhere(step):
                table = self._services.resolver.resolve(parts, home)
                dependents = self._services.log.dependents_of(table)
                written.update(dict.fromkeys(dependents, table))

    def _refuse_old(self, parts: Parts, home: Namespace) -> None:
        name = self._services.resolver.resolve(parts, home)
        if self._gate.is_view(name):
            storage = load_view(self._services.resolver, name).storage
            raise InvalidStatement(
                f"{name} is a materialized view, which has no versions of its own.",
                f"Read those of its storage table, {storage}, where one column has another name.",
            )

    def is_temporary(self, parts: Parts) -> bool:
        """Whether a name may be that of a temporary view."""
        return self._behind_temporary(parts)[0]

    def _behind_temporary(self, parts: Parts) -> tuple[bool, Views | None]:
        """Whether a name may be that of a temporary view, and the views behind that, if known."""
        if len(parts) > 1 and parts[0].lower() != _GLOBAL:
            return False, None
        key = self._key(parts)
        if key in self._temporary:
            return True, self._temporary[key]
        client = self._services.executor.catalog
        return (client is not None and client.is_temporary_view(parts)), None

    def _key(self, parts: Parts) -> tuple[int, Parts]:
        # Threads share the one session of this process, and have connections of their own else.
        context = 0 if self._services.executor.catalog is not None else threading.get_ident()
        return context, tuple(part.lower() for part in parts)

    def _remember(self, statement: Statement, views: Views) -> None:
        for parts in statement.targets:
            is_global = any(word.upper == "GLOBAL" for word in statement.words[:6])
            key = self._key((_GLOBAL, *parts) if is_global else parts)
            # One of the name may be there, and stay if the statement fails.
            before = self._temporary.get(key, ())
            both = None if before is None else tuple(dict.fromkeys((*before, *views)))
            self._temporary[key] = both

    def _asked(self, sql: str, statement: Statement, context: StatementContext) -> Views | None:
        """The views whose rows Spark would read, by its own analysed plan: none if it refuses the
        statement. None if that is not known."""
        if statement.kind in (Kind.SCRIPT, Kind.EXECUTE):
            return None
        try:
            rows = context.ask("EXPLAIN EXTENDED " + sql.strip().rstrip(";"))
        except StatementFailed as error:
            # Words that Spark does not know may be those of an extension, without EXPLAIN.
            is_refused = statement.kind is not Kind.OTHER and NO_SYNTAX in str(error)
            return () if is_refused else None
        plan = "\n".join(str(row[0]) for row in rows)
        tables = tables_of_plan(plan)
        if tables is None:
            return self._broken(statement, context) if is_refused_plan(plan) else None
        # Who names a storage table reads that, and nothing of its view.
        named = {parts[-1] for parts in names_in(statement.words)}
        read = [parts for parts in tables if parts[-1] not in named]
        return self._owners(read, context.namespace())

    def _broken(self, statement: Statement, context: StatementContext) -> Views:
        """The views that a statement names whose rows are not there as they were stored, which may
        be why Spark refuses it."""
        found: dict[TableName, None] = {}
        for parts in names_in(statement.words)[:_MOST_NAMES]:
            for view in self._behind(parts, context.namespace()):
                loaded = load_view(self._services.resolver, view)
                seen = self._services.observer.observe(loaded).verdict.freshness
                if seen in (Freshness.NEVER_BUILT, Freshness.UNKNOWN):
                    found[view] = None
        return tuple(found)

    def _owners(self, tables: Iterable[Parts], home: Namespace) -> Views:
        found: dict[TableName, None] = {}
        for parts in tables:
            stored = STORAGE_NAME.match(parts[-1])
            if stored is None or len(parts) < 2:
                continue
            owner = self._services.resolver.resolve((*parts[:-1], stored["view"]), home)
            if self._gate.is_view(owner):
                found[owner] = None
        return tuple(found)

    def _behind(self, parts: Parts, home: Namespace) -> Views:
        """The views behind a name, as far as they are known."""
        _, found = self._behind_temporary(parts)
        if found is None:
            found = self._gate.views_behind(self._services.resolver.resolve(parts, home))
        return found or ()

    def _named(self, statement: Statement, context: StatementContext) -> Views:
        """Every view that the words of the statement, or dbt's manifest, name."""
        home = context.namespace()
        names = names_in(statement.words)[:_MOST_NAMES]
        unknown = statement.kind is Kind.EXECUTE or is_dynamic(statement.words)
        found: dict[TableName, None] = {}
        if unknown or statement.kind is Kind.SCRIPT:
            last = {parts[-1].lower() for parts in names}
            views = list(self._services.log.state().views)
            found = {v: None for v in views if v.name.lower() in last and self._gate.is_view(v)}
        for parts in [*names, *context.declared_reads()]:
            found.update(dict.fromkeys(self._behind(parts, home)))
        if unknown or (found and statement.kind is not Kind.SCRIPT):
            self._services.alert(_cannot_tell(statement, found))
        return tuple(found)


def _cannot_tell(statement: Statement, found: Iterable[TableName]) -> str:
    names = ", ".join(str(view) for view in found) or "none"
    shown = " ".join(word.text for word in statement.words[:8])
    return (
        f"Nobody can tell before it runs what this statement reads: {shown} .. "
        f"Materialized views that its text names were made fresh ({names}); others may be stale."
    )
