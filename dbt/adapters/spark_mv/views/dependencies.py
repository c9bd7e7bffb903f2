"""Expands a query to the base tables behind it, through any number of views.

Two walks over the same references: `expand` collects what the query reads, `inline` rewrites its
text so that base tables are read as the caller says, and views stand there as subqueries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dbt.adapters.spark_mv.catalog.resolver import Facts, Resolver
from dbt.adapters.spark_mv.core.errors import (
    DependencyCycle,
    MissingBaseTable,
    NotAQuery,
    StatementFailed,
    UnsafeQuery,
    UnsupportedSource,
)
from dbt.adapters.spark_mv.core.executor import TableFacts, ViewFacts
from dbt.adapters.spark_mv.sql.names import STORAGE_NAME, Namespace, TableName
from dbt.adapters.spark_mv.sql.plans import comparable_plan, refusal_of, tables_of_plan
from dbt.adapters.spark_mv.sql.reads import Reads, Reference, is_path, references_of
from dbt.adapters.spark_mv.sql.scan import names_in, reads_fixed_version
from dbt.adapters.spark_mv.sql.splice import splice, subquery
from dbt.adapters.spark_mv.sql.words import words_of
from dbt.adapters.spark_mv.views import view_columns
from dbt.adapters.spark_mv.views.definition import from_properties
from dbt.adapters.spark_mv.views.expansion import (
    MATERIALIZED_VIEW,
    TABLE,
    VIEW,
    Expansion,
    known_as,
)
from dbt.adapters.spark_mv.views.live_sql import refuse_live_view
from dbt.adapters.spark_mv.views.recognition import storage_of
from dbt.adapters.spark_mv.views.table_parts import is_part_of_table

MAX_DEPTH = 40
Replacement = Callable[[TableName, Facts, Reference], str | None]


class Expander:
    """Walks queries on behalf of `owner`, the materialized view (or statement) they belong to."""

    def __init__(
        self,
        resolver: Resolver,
        owner: str,
        tolerate_missing: bool = False,
        for_later: bool = False,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        """`for_later` says that texts are kept, and tables may have other columns when they run.
        Texts run with these `settings`, or with those of the user's session."""
        self._resolver = resolver
        self._owner = owner
        self._tolerate_missing = tolerate_missing
        self._for_later = for_later
        self._settings = settings

    def expand(self, query: str, home: Namespace, forbidden: TableName | None = None) -> Expansion:
        """Everything that `query` reads; `forbidden` is a relation it must not read (a cycle).

        Raises the error of the first thing that makes it no definition of a view.
        """
        found = Expansion()
        self._expand(query, home, 1, (forbidden,) if forbidden else (), found)
        return found

    def _expand(
        self,
        query: str,
        home: Namespace,
        depth: int,
        path: tuple[TableName, ...],
        found: Expansion,
    ) -> None:
        if depth > MAX_DEPTH:
            raise DependencyCycle(
                f"{self._owner} reads views nested more than {MAX_DEPTH} levels deep.",
                "Flatten the views it reads.",
            )
        if references_of(query) is None:
            self._expand_by_plan(query, home, depth, path, found)
            return
        # A relation may stand in a query a thousand times, and is asked for once.
        distinct = {(each.parts, each.fixed): each for each in self.references(query)}
        for reference in distinct.values():
            name, facts = self._resolve(reference, home)
            self._refuse_cycle(name, path)
            if facts is not None:
                found.facts[name] = facts
            storage = storage_of(name, facts)
            if storage is not None:
                self._add_view(name, facts, storage, depth, path, found)
            elif isinstance(facts, ViewFacts):
                found.add(name, VIEW, depth)
                found.views[known_as(name, facts.returned is not None)] = facts.text
                found.declared[str(name)] = view_columns.declared_types(facts)
                inner = Namespace(facts.catalog, facts.namespace)
                self._expand(facts.text, inner, depth + 1, (*path, name), found)
            else:
                found.add(name, TABLE, depth)
                self._add_table(name, found)

    def _expand_by_plan(
        self,
        query: str,
        home: Namespace,
        depth: int,
        path: tuple[TableName, ...],
        found: Expansion,
    ) -> None:
        """What Spark says that a query reads which we cannot read ourselves.

        Its plan counts as the text of a view: it changes whenever that of any view it reads does.
        """
        for parts in names_in(words_of(query)):
            if self._is_part_of_table(parts, home):
                raise self._fixed(".".join(parts))
        if reads_fixed_version(words_of(query)):
            raise self._fixed("a table")
        try:
            plan = self._resolver.explained(query, home, self._settings)
        except StatementFailed as error:
            raise self._refused(error.problem) from None
        tables = tables_of_plan(plan)
        if tables is None:
            raise self._refused(refusal_of(plan))
        found.views[f"plan of {self._owner} at depth {depth}"] = comparable_plan(plan)
        for parts in tables:
            name = self._resolver.resolve(parts, home)
            stored = STORAGE_NAME.match(name.name)
            owner = name.sibling(stored["view"]) if stored else name
            facts = self._resolver.lookup(owner) if stored else None
            is_view = storage_of(owner, facts) is not None
            self._refuse_cycle(owner if is_view else name, path)
            if is_view:
                self._add_view(owner, facts, name, depth, path, found)
            else:
                found.add(name, TABLE, depth)
                self._add_table(name, found)

    def _add_view(
        self,
        name: TableName,
        facts: Facts | None,
        storage: TableName,
        depth: int,
        path: tuple[TableName, ...],
        found: Expansion,
    ) -> None:
        """A materialized view counts by its storage table."""
        found.add(name, MATERIALIZED_VIEW, depth)
        found.storages[name] = storage
        self._refuse_cycle_below(name, facts, path)
        self._add_table(storage, found)

    def _refused(self, why: str) -> NotAQuery:
        return NotAQuery(
            f"Spark refuses the query of {self._owner}: {why}",
            "Correct it; it has to be one query.",
        )

    def _add_table(self, name: TableName, found: Expansion) -> None:
        if name not in found.tables:
            found.tables.append(name)

    def _refuse_cycle(self, name: TableName, path: tuple[TableName, ...]) -> None:
        if name in path:
            chain = " -> ".join(str(step) for step in (*path, name))
            raise DependencyCycle(
                f"{self._owner} would read itself: {chain}.", "Break the cycle in one of them."
            )

    def _refuse_cycle_below(
        self, name: TableName, facts: Facts | None, path: tuple[TableName, ...]
    ) -> None:
        if not path:
            return
        assert isinstance(facts, ViewFacts)
        below = from_properties(name, facts.properties).definition
        self._expand(below.query, below.home, len(path) + 1, (*path, name), Expansion())

    def references(self, query: str) -> tuple[Reference, ...]:
        """References of a query that is one statement; raises `NotAQuery` or `UnsafeQuery`."""
        reads = references_of(query)
        if reads is None:
            raise NotAQuery(
                f"The query of {self._owner} cannot be parsed as one Spark query.",
                "Check its syntax; very deep nesting and several statements are not supported.",
            )
        self._refuse_unreadable(reads)
        return reads.references

    def _refuse_unreadable(self, reads: Reads) -> None:
        if reads.unresolved:
            raise UnsupportedSource(
                f"{self._owner} reads {reads.unresolved[0]}, a name known only at run time.",
                "Write the table's name in the query.",
            )

    def _resolve(self, reference: Reference, home: Namespace) -> tuple[TableName, Facts | None]:
        written = ".".join(reference.parts)
        if is_path(reference):
            raise UnsafeQuery(
                f"{self._owner} reads files by path ({written}), outside any catalog.",
                "Create a table over the files and read that.",
            )
        name = self._resolver.resolve(reference.parts, home)
        if self._is_part_of_table(reference.parts, home):
            raise self._fixed(written)
        facts = self._resolver.lookup(name)
        if facts is None:
            if self._tolerate_missing:
                return name, None
            raise MissingBaseTable(
                f"{self._owner} reads {written}, which does not exist "
                "(a temporary view cannot be a base table).",
                "Create it first, or correct the name.",
            )
        if reference.fixed:
            raise self._fixed(written)
        refuse_live_view(facts, self._owner, written)
        return name, facts

    def _is_part_of_table(self, parts: tuple[str, ...], home: Namespace) -> bool:
        """Whether the name is a branch, tag or metadata table of an Iceberg table."""
        if not is_part_of_table(parts):
            return False
        return self._resolver.lookup(self._resolver.resolve(parts[:-1], home)) is not None

    def _fixed(self, written: str) -> UnsupportedSource:
        return UnsupportedSource(
            f"{self._owner} reads {written} at a fixed version, branch or metadata table.",
            "Read the table itself; its changes are followed by version.",
        )

    def inline(
        self,
        query: str,
        home: Namespace,
        replacement: Replacement,
        as_now: bool = True,
    ) -> str:
        """The text of `query` with relations replaced and logical views as subqueries.

        `replacement` gets each table and materialized view and returns the text to stand in its
        place, or None to keep it; kept names are written out in full. `as_now` says that these
        texts return the columns that the tables have now; else Spark can plan them.
        """

        def replace(reference: Reference) -> str | None:
            name, facts = self._resolve(reference, home)
            if facts is None:
                return None
            text = replacement(name, facts, reference)
            if text is not None:
                return text
            if isinstance(facts, TableFacts) or storage_of(name, facts) is not None:
                return name.sql
            assert isinstance(facts, ViewFacts)
            return subquery(self.inlined_view(name, facts, replacement, as_now), reference)

        return splice(query, self.references(query), replace)

    def inlined_view(
        self, name: TableName, facts: ViewFacts, replacement: Replacement, as_now: bool = True
    ) -> str:
        """The query for which a logical view stands, with relations replaced as by `inline`."""
        body = self._inlined(facts, replacement, as_now)
        text = body if not as_now or replacement is _kept else self._inlined(facts, _kept, True)
        return view_columns.in_place(facts, body, self._shown(name, facts, text, as_now))

    def _shown(
        self, name: TableName, facts: ViewFacts, text: str, as_now: bool
    ) -> view_columns.Shown | None:
        by = view_columns.behind(facts, self._resolver) if as_now else None
        typed = view_columns.Typed(text, by, self._settings)
        return view_columns.shown(name, facts, typed, self._resolver, self._for_later)

    def _inlined(self, facts: ViewFacts, replacement: Replacement, as_now: bool) -> str:
        home = Namespace(facts.catalog, facts.namespace)
        return self.inline(facts.text.rstrip().rstrip(";"), home, replacement, as_now)

    def is_as_its_text(self, name: TableName, facts: ViewFacts) -> bool:
        """Whether a logical view returns the columns of its text as they are."""
        return self._shown(name, facts, self._inlined(facts, _kept, True), True) is None


def _kept(name: TableName, facts: Facts, reference: Reference) -> None:
    """Every table and materialized view stays."""
