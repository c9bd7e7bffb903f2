"""Programs of definitions: analyses them once, and lets Spark confirm what was understood."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from sqlglot import exp

from dbt.adapters.spark_mv.catalog.resolver import Facts, Resolver
from dbt.adapters.spark_mv.core.errors import MaterializedViewError, NotAQuery, StatementFailed
from dbt.adapters.spark_mv.core.executor import Executor, ViewFacts
from dbt.adapters.spark_mv.core.lazy import lazy
from dbt.adapters.spark_mv.core.reasons import Reason
from dbt.adapters.spark_mv.expiry.crossings import Written, clock_as_columns
from dbt.adapters.spark_mv.expiry.next_change import ExpiryFinder, reads_clock
from dbt.adapters.spark_mv.ivm.algebra.terms import TABLE, NotFast, not_fast
from dbt.adapters.spark_mv.ivm.analysis import analyse, without_rules
from dbt.adapters.spark_mv.ivm.program import Program
from dbt.adapters.spark_mv.planning.analysis import Analysis, readable, rows_at, with_queries
from dbt.adapters.spark_mv.planning.plan_check import (
    OWN_NAME,
    SHOWN_PLANS,
    Columns,
    PlanFacts,
    confirm,
    facts_of,
    needed_columns,
    programs,
    refuse_unknown_functions,
    texts_to_plan,
)
from dbt.adapters.spark_mv.sql.names import Namespace, TableName, quote
from dbt.adapters.spark_mv.sql.reads import Reference, names_of, relations_of
from dbt.adapters.spark_mv.sql.splice import subquery
from dbt.adapters.spark_mv.sql.words import words_of
from dbt.adapters.spark_mv.views.definition import Definition, MaterializedView
from dbt.adapters.spark_mv.views.dependencies import Expander
from dbt.adapters.spark_mv.views.expansion import views_of_spark
from dbt.adapters.spark_mv.views.recognition import storage_of
from dbt.adapters.spark_mv.views.storage_sql import describe_query
from dbt.adapters.spark_mv.views.volatile import storage_columns, volatile_functions

# A form of query that nobody thought of must not keep anybody from a complete refresh.
_NOT_FORESEEN = (AssertionError, AttributeError, LookupError, TypeError, ValueError, RecursionError)


class Analyzer:
    """Analyses definitions; remembers what it has found."""

    def __init__(self, executor: Executor, resolver: Resolver) -> None:
        self._executor = executor
        self._resolver = resolver
        self._expiries = ExpiryFinder(executor, resolver)
        self._known: dict[tuple[str, bool, str], Analysis | Reason] = {}
        self._plan_facts: dict[str, PlanFacts] = {}

    def analysis(self, definition: Definition, view: MaterializedView) -> Analysis | Reason:
        """The analysis of a definition of this view, with its columns; the reason if it is not
        understood. What Spark said of the definition is kept with the view, and not asked for
        again."""
        key = definition.hash, view.options.float_additive, self._text_now(definition, view)
        if key not in self._known:
            try:
                self._known[key] = self._analyse(definition, view)
            except NotFast as error:
                self._known[key] = error.reason
            except _NOT_FORESEEN as error:
                text = f"a part of it is of an unknown form ({type(error).__name__}: {error})"
                self._known[key] = Reason("NOT_PARSED", text[:300])
            except StatementFailed as error:  # it may be right after a change of the tables
                return Reason("NOT_PARSED", f"Spark refuses a part of it: {error}")
            except NotAQuery:
                self._known[key] = Reason("NOT_PARSED", "only Spark can read its text")
        return self._known[key]

    def _text_now(self, definition: Definition, view: MaterializedView) -> str:
        """The text that is analysed, if it may be another one after tables have changed."""
        with suppress(MaterializedViewError):  # which its analysis meets, too
            if definition.views:
                return self._with_placeholders(definition, str(view.name))[0]
        return ""

    def plan_facts(self, definition: Definition) -> Mapping[str, Any]:
        """What Spark said when a definition was analysed, for its view to keep."""
        found = self._plan_facts.get(definition.hash)
        return found.to_json() if found is not None else {}

    def has_same_outputs(self, definition: Definition, view: MaterializedView) -> bool:
        """Whether it is known, without a statement, that a definition returns the columns that it
        returned when Spark confirmed it: its tables have the columns of then, and it calls only
        functions of the same Spark."""
        is_kept = view.plan_facts.get("of") == definition.hash
        if self._executor.catalog is None or not is_kept:
            return False
        text, _, columns = self._columns_of(definition, view)
        return facts_of(definition, self._by, text, columns, view.plan_facts).confirmed

    def _columns_of(
        self, definition: Definition, view: MaterializedView
    ) -> tuple[str, dict[str, TableName], Columns]:
        """The query with placeholders for its tables, what these stand for, and their columns."""
        text, tables = self._with_placeholders(definition, str(view.name))
        columns = {name: self._columns(table) for name, table in tables.items()}
        return text, tables, columns

    def _columns(self, table: TableName) -> list[list[str]]:
        return [list(column) for column in self._resolver.columns(table)]

    def hidden(self, definition: Definition, view: MaterializedView) -> tuple[str, ...]:
        """The columns that the storage table of a definition is to have beside the view's."""
        found = self.analysis(definition, view)
        return () if isinstance(found, Reason) else tuple(found.program.hidden)

    def fits(self, definition: Definition, view: MaterializedView, anew: bool = False) -> bool:
        """Whether the storage table of a view has the hidden columns that its definition needs, of
        the types that they have now; `anew` if tables may have been altered since the analysis."""
        if anew:
            self.forget_altered(definition, view)
        if self.hidden(definition, view) != view.hidden:
            return False
        facts = self._plan_facts.get(definition.hash)
        return not view.hidden or facts is None or facts.has_types_of(view.plan_facts)

    def forget_altered(self, definition: Definition, view: MaterializedView) -> None:
        """Forget what was found out while the tables of a definition had other columns."""
        facts = self._plan_facts.get(definition.hash)
        if facts is not None and facts.columns != self._columns_of(definition, view)[2]:
            self._known = {k: found for k, found in self._known.items() if k[0] != definition.hash}

    def _analyse(self, definition: Definition, view: MaterializedView) -> Analysis:
        _refuse_texts(definition)
        text, tables, columns = self._columns_of(definition, view)
        written = Written(text)
        plan_facts = facts_of(definition, self._by, text, columns, view.plan_facts)
        floats = view.options.float_additive
        try:
            if reads_clock(definition):
                written = clock_as_columns(self._expiries, definition, text, columns)
            program = self._program(definition, written, tables, plan_facts, floats)
        except NotFast as error:
            raise NotFast(readable(error.reason, tables, written.clock)) from None
        clock = written.clock
        known = {
            name: {**dict(listed), **dict.fromkeys(clock.of(name), "boolean")}
            for name, listed in plan_facts.columns.items()
        }
        used = {name: _used(program, name, tuple(known[name])) for name in tables}
        types = {name: tuple(known[name][column] for column in used[name]) for name in tables}
        self._plan_facts[definition.hash] = plan_facts
        why_not_fast, why_not_added = (
            reason and readable(reason, tables, clock)
            for reason in (program.why_not_fast, program.why_not_added)
        )
        program = replace(program, why_not_fast=why_not_fast, why_not_added=why_not_added)
        analysis = Analysis(program, tables, used, types, clock)
        needed = needed_columns(text, plan_facts, view.plan_facts, analysis.used)
        return replace(analysis, needed=needed)

    def _program(
        self,
        definition: Definition,
        written: Written,
        tables: Mapping[str, TableName],
        plan_facts: PlanFacts,
        float_additive: bool,
    ) -> Program:
        text, clock = written.text, written.clock
        columns = {
            name: [*(n for n, _ in listed), *clock.of(name)]
            for name, listed in plan_facts.columns.items()
        }
        scans = {
            name: rows_at(table, None, tuple(columns[name]), clock.at(name, 0))
            for name, table in tables.items()
        }
        outputs = {column.name: column.type for column in definition.columns}
        with self._executor.isolated({**definition.settings, **SHOWN_PLANS}) as session:

            def types_of(query: exp.Query) -> list[str]:
                asked = query.sql("spark")
                if asked not in plan_facts.types:
                    rows = session.query(describe_query(with_queries(scans, asked)))
                    plan_facts.types[asked] = [str(row[1]) for row in rows]
                return plan_facts.types[asked]

            try:
                program = analyse(text, columns, outputs, types_of, float_additive)
            except NotFast as error:
                try:
                    program = without_rules(text, columns, outputs, types_of, error.reason)
                except NotFast as other:
                    # Of two reasons of one kind, that against the rules says more.
                    raise (error if error.reason.code == other.reason.code else other) from None
            if not plan_facts.confirmed:
                refuse_unknown_functions(session, program)
                confirm(session, texts_to_plan(written, program, tables), outputs, definition)
                plan_facts.confirmed = True
        return program

    @lazy
    def _by(self) -> str:
        return programs(self._executor)

    def _with_placeholders(
        self, definition: Definition, owner: str
    ) -> tuple[str, dict[str, TableName]]:
        expander = Expander(self._resolver, owner, settings=definition.settings)
        tables: dict[str, TableName] = {}
        called = _OwnNames(definition)

        def replacement(name: TableName, facts: Facts, reference: Reference) -> str | None:
            if storage_of(name, facts) is not None:
                called.of(name)
                assert isinstance(facts, ViewFacts)
                home = Namespace(facts.catalog, facts.namespace)
                return subquery(expander.inline(facts.text, home, replacement), reference)
            if isinstance(facts, ViewFacts):
                return None
            known = next((key for key, table in tables.items() if table == name), None)
            placeholder = known or f"{TABLE}{len(tables)}"
            tables[placeholder] = name
            if reference.aliased:
                return placeholder
            return f"{placeholder} AS {quote(called.of(name))}"

        return expander.inline(definition.query, definition.home, replacement), tables


class _OwnNames:
    """What tables are called that a query gives no name: by the last part of theirs, or if two have
    the same one, by one of their own, which is nowhere in the query, where no column is written
    with it."""

    def __init__(self, definition: Definition) -> None:
        names = (names_of(text) for text in definition.texts)
        self._kept = {part for found in names for parts in found.before_columns for part in parts}
        self._texts = " ".join(definition.texts).lower()
        self._known: dict[str, TableName] = {}

    def of(self, table: TableName) -> str:
        """The name of a table."""
        name, number = table.name, 1
        if name.lower() in self._kept:
            return name
        while self._known.get(name.lower(), table) != table or (
            number > 1 and name.lower() in self._texts
        ):
            number += 1
            name = f"{OWN_NAME}{number}_{table.name}"
        self._known[name.lower()] = table
        return name


def _used(program: Program, placeholder: str, columns: tuple[str, ...]) -> tuple[str, ...]:
    """The columns of a table that a program reads; one at least."""
    names: set[str] = set()
    for select in program.stored_query().find_all(exp.Select):
        aliases = {
            relation.alias_or_name
            for relation in relations_of(select)
            if isinstance(relation, exp.Table) and relation.name == placeholder
        }
        names |= {c.name.lower() for c in select.find_all(exp.Column) if c.table in aliases}
    return tuple(column for column in columns if column.lower() in names) or columns[:1]


def _refuse_texts(definition: Definition) -> None:
    """Raise `NotFast` for what its words tell of a definition."""
    if own := views_of_spark(definition.views):
        text = "it reads a view of Spark's own, with the settings that it was made with"
        raise not_fast("SPARK_VIEW", text, own[0])
    for text in definition.texts:
        if calls := volatile_functions(text):
            raise not_fast("VOLATILE_FUNCTION", "it calls " + ", ".join(calls))
        if found := storage_columns(text):
            raise not_fast("STORAGE_COLUMN", "it asks in which file a row lies", ", ".join(found))
        # Stored texts have none: the values of one group would be those of several.
        if any(word.upper == "COLLATE" for word in words_of(text)):
            raise not_fast("COLLATION", "it compares texts by a collation")
    if any("collate" in column.type.lower() for column in definition.columns):
        raise not_fast("COLLATION", "it returns texts with a collation")
    if definition.settings.get("spark.sql.caseSensitive") == "true":
        raise not_fast("CASE_SENSITIVE", "the names of its columns are case sensitive")
