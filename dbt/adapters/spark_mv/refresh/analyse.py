"""Programs of definitions: analyses them once, and lets Spark confirm what was understood."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest

from sqlglot import exp

from dbt.adapters.spark_mv.base_tables.versions import Version
from dbt.adapters.spark_mv.errors import StatementFailed
from dbt.adapters.spark_mv.executor import Executor, ViewFacts
from dbt.adapters.spark_mv.ivm.aggregates import is_grouped
from dbt.adapters.spark_mv.ivm.program import Program, analyse
from dbt.adapters.spark_mv.ivm.tree import TABLE, NotFast, not_fast
from dbt.adapters.spark_mv.reasons import Reason
from dbt.adapters.spark_mv.refresh.statements import describe_query
from dbt.adapters.spark_mv.relations import Facts, Relations
from dbt.adapters.spark_mv.sql.names import Namespace, TableName, quote
from dbt.adapters.spark_mv.sql.reads import Reference, parse
from dbt.adapters.spark_mv.sql.splice import subquery
from dbt.adapters.spark_mv.views.definition import Definition
from dbt.adapters.spark_mv.views.dependencies import Expander, storage_of
from dbt.adapters.spark_mv.views.safety import volatile_functions

# A form of query that nobody thought of must not keep anybody from a complete refresh.
_NOT_FORESEEN = (AssertionError, AttributeError, LookupError, TypeError, ValueError, RecursionError)
# Without the name that a table has anyway, which would hide that of its schema.
_WRITTEN = re.compile(rf"\b({TABLE}\d+)\b(?: AS (`(?:[^`]|``)+`))?")
_PRINTED = re.compile(rf"`({TABLE}\d+)`(?= AS )")
_INVENTED = re.compile(r"#\d+L?|\[plan_id=\d+\]|(?<=_common_expr_)\d+")


@dataclass(frozen=True)
class Analysis:
    """A program, and what its tables `mv_table_<n>` stand for, with those columns that it reads."""

    program: Program
    tables: Mapping[str, TableName]
    columns: Mapping[str, tuple[str, ...]]

    def placeholder(self, table: TableName) -> str:
        """The name of a table in the program."""
        return next(name for name, found in self.tables.items() if found == table)

    def current(
        self, versions: Mapping[TableName, Version], unpinned: tuple[TableName, ...] = ()
    ) -> dict[str, str]:
        """For each table of the program the query of its rows at these versions."""
        return {
            name: rows_at(table, None if table in unpinned else versions[table], self.columns[name])
            for name, table in self.tables.items()
        }

    def stored_query(
        self, versions: Mapping[TableName, Version], unpinned: tuple[TableName, ...]
    ) -> str:
        """The query of everything that is stored, at these versions."""
        body = self.program.stored_query().sql("spark")
        return with_queries(self.current(versions, unpinned), body)


def rows_at(table: TableName, version: Version | None, columns: tuple[str, ...]) -> str:
    """A query of these columns of a table at a version, or as it is."""
    listed = ", ".join(quote(column) for column in columns)
    pin = f" VERSION AS OF {version.snapshot_id}" if version else ""
    return f"SELECT {listed} FROM {table.sql}{pin}"


class Analyst:
    """Analyses definitions; remembers what it has found."""

    def __init__(self, executor: Executor, relations: Relations) -> None:
        self._executor = executor
        self._relations = relations
        self._known: dict[str, Analysis | Reason] = {}

    def analysis(self, definition: Definition, owner: str) -> Analysis | Reason:
        """The analysis of a definition with its columns; the reason if it has no program."""
        key = definition.hash
        if key not in self._known:
            try:
                self._known[key] = self._analyse(definition, owner)
            except NotFast as error:
                self._known[key] = error.reason
            except _NOT_FORESEEN as error:
                text = f"a part of it is of an unknown form ({type(error).__name__}: {error})"
                self._known[key] = Reason("NOT_PARSED", text[:300])
            except StatementFailed as error:
                self._known[key] = Reason("NOT_PARSED", f"Spark refuses a part of it: {error}")
        return self._known[key]

    def hidden(self, definition: Definition, owner: str) -> tuple[str, ...]:
        """The columns that the storage table of a definition is to have beside the view's."""
        parsed = parse(definition.query)
        tree = parsed.unnest() if parsed is not None else None
        if not isinstance(tree, exp.Select) or not is_grouped(tree):
            return ()
        found = self.analysis(definition, owner)
        return () if isinstance(found, Reason) else tuple(found.program.hidden)

    def _analyse(self, definition: Definition, owner: str) -> Analysis:
        for text in (definition.query, *definition.views.values()):
            if calls := volatile_functions(text):
                raise not_fast("VOLATILE_FUNCTION", "it calls " + ", ".join(calls))
        if definition.settings.get("spark.sql.caseSensitive") == "true":
            raise not_fast("CASE_SENSITIVE", "names of its columns are told apart by case")
        text, tables = self._with_placeholders(definition, owner)
        columns = {name: self._columns(table) for name, table in tables.items()}
        scans = {name: rows_at(table, None, columns[name]) for name, table in tables.items()}
        outputs = {column.name: column.type for column in definition.columns}
        with self._executor.isolated(definition.settings) as session:

            def types_of(query: exp.Query) -> list[str]:
                rows = session.query(describe_query(with_queries(scans, query.sql("spark"))))
                return [str(row[1]) for row in rows]

            program = analyse(text, columns, outputs, types_of)
            _refuse_user_functions(session, program)
            original = _WRITTEN.sub(lambda found: _as_written(tables, found), text)
            printed = _PRINTED.sub(lambda found: tables[found.group(1)].sql, program.read)
            _confirm(session, original, printed, len(outputs))
        used = {name: _used(program, name, columns[name]) for name in tables}
        return Analysis(program, tables, used)

    def _with_placeholders(
        self, definition: Definition, owner: str
    ) -> tuple[str, dict[str, TableName]]:
        expander = Expander(self._relations, owner)
        tables: dict[str, TableName] = {}

        def replacement(name: TableName, facts: Facts, reference: Reference) -> str | None:
            if storage_of(name, facts) is not None:
                assert isinstance(facts, ViewFacts)
                home = Namespace(facts.catalog, facts.namespace)
                return subquery(expander.inline(facts.text, home, replacement), reference)
            if isinstance(facts, ViewFacts):
                return None
            known = next((key for key, table in tables.items() if table == name), None)
            placeholder = known or f"{TABLE}{len(tables)}"
            tables[placeholder] = name
            return placeholder if reference.aliased else f"{placeholder} AS {quote(name.name)}"

        return expander.inline(definition.query, definition.home, replacement), tables

    def _columns(self, table: TableName) -> tuple[str, ...]:
        rows = self._executor.query(describe_query(f"SELECT * FROM {table.sql}"))
        return tuple(str(row[0]) for row in rows)


def with_queries(queries: Mapping[str, str], body: str) -> str:
    """`body` with those of the queries in front that it reads, or that they read in turn."""
    wanted: list[str] = []
    texts = [body]
    while texts:
        text = texts.pop()
        for name in queries:
            if name not in wanted and re.search(rf"\b{name}\b", text):
                wanted.append(name)
                texts.append(queries[name])
    parts = ",\n".join(f"{name} AS ({queries[name]})" for name in queries if name in wanted)
    return f"WITH {parts}\n{body}" if parts else body


def _as_written(tables: Mapping[str, TableName], found: re.Match[str]) -> str:
    table, alias = tables[found.group(1)], found.group(2)
    return table.sql if alias in (None, quote(table.name)) else f"{table.sql} AS {alias}"


def _refuse_user_functions(session: Executor, program: Program) -> None:
    """Raise `NotFast` for a function that is not Spark's own: nobody knows what its value is of."""
    for name in sorted({call.name.lower() for call in program.query.find_all(exp.Anonymous)}):
        try:
            lines = [str(row[0]) for row in session.query(f"DESCRIBE FUNCTION {quote(name)}")]
        except StatementFailed:
            lines = []
        if not any(line.startswith("Class: org.apache.spark.sql.catalyst.") for line in lines):
            raise not_fast("USER_FUNCTION", f"{name} is not one of Spark's own functions")


def _confirm(session: Executor, original: str, printed: str, width: int) -> None:
    """Raise `NotFast` unless Spark plans both queries alike."""
    plan, other = _plan(session, original, width), _plan(session, printed, width)
    lines = zip_longest(plan.splitlines(), other.splitlines(), fillvalue="")
    differing = next((pair for pair in lines if pair[0] != pair[1]), None)
    if differing is not None:
        texts = " and ".join(_around_difference(*differing))
        raise not_fast("NOT_UNDERSTOOD", f"printed anew it is planned otherwise: {texts}")


def _around_difference(one: str, two: str) -> tuple[str, str]:
    start = max(
        0, next((n for n, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), 0) - 20
    )
    return repr(one[start : start + 80]), repr(two[start : start + 80])


def _plan(session: Executor, query: str, width: int) -> str:
    """Spark's plan of a query of so many columns, without the names and numbers that it invents."""
    names = ", ".join(f"c{number}" for number in range(width))
    ((plan,),) = session.query(f"EXPLAIN SELECT * FROM (\n{query}\n) AS mv_plan({names})")
    return _INVENTED.sub("", str(plan)).lower().replace("named_struct(", "struct(")


def _used(program: Program, placeholder: str, columns: tuple[str, ...]) -> tuple[str, ...]:
    """The columns of a table that a program reads; one at least."""
    names: set[str] = set()
    for select in program.stored_query().find_all(exp.Select):
        start = select.args.get("from_")
        relations = [start.this] if start else []
        relations += [join.this for join in select.args.get("joins") or []]
        aliases = {
            relation.alias_or_name
            for relation in relations
            if isinstance(relation, exp.Table) and relation.name == placeholder
        }
        names |= {c.name.lower() for c in select.find_all(exp.Column) if c.table in aliases}
    return tuple(column for column in columns if column.lower() in names) or columns[:1]
