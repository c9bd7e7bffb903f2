"""Expands a query to the base tables behind it, through any number of views.

Two walks over the same references: `expand` collects what the query reads, `inline` rewrites its
text so that base tables are read as the caller says, and views stand there as subqueries.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

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
from dbt.adapters.spark_mv.views.definition import from_properties
from dbt.adapters.spark_mv.views.live_sql import refuse_live_view
from dbt.adapters.spark_mv.views.view_columns import text_of_view

TABLE, VIEW, MATERIALIZED_VIEW = "TABLE", "VIEW", "MATERIALIZED_VIEW"
MAX_DEPTH = 40
_SELECTORS = ("branch_", "tag_", "snapshot_id_", "at_timestamp_")
_METADATA_TABLES = frozenset(
    "history snapshots entries manifests partitions refs metadata_log_entries changes all_entries "
    "files data_files delete_files all_files all_data_files all_delete_files all_manifests "
    "position_deletes".split()
)


@dataclass(frozen=True)
class Source:
    """A relation that a definition reads: `depth` 1 directly, more through views."""

    name: TableName
    kind: str
    depth: int


@dataclass
class Expansion:
    """What a query reads.

    `tables` are the physical base tables (a materialized view counts by its storage table),
    `storages` maps the materialized views among the sources to theirs, `views` the logical views
    to their texts.
    """

    sources: list[Source] = field(default_factory=list)
    tables: list[TableName] = field(default_factory=list)
    storages: dict[TableName, TableName] = field(default_factory=dict)
    views: dict[str, str] = field(default_factory=dict)

    def add(self, name: TableName, kind: str, depth: int) -> None:
        """Add a source once, at the depth where it was met first."""
        if all(source.name != name for source in self.sources):
            self.sources.append(Source(name, kind, depth))


def storage_of(name: TableName, facts: Facts) -> TableName | None:
    """Storage table of the materialized view `name`, None if the relation is none."""
    if isinstance(facts, ViewFacts) and "mv.storage_table" in facts.properties:
        return name.sibling(facts.properties["mv.storage_table"])
    return None


def is_part_of_table(parts: tuple[str, ...]) -> bool:
    """Whether a name may be that of a branch, tag or metadata table of an Iceberg table."""
    last = parts[-1].lower()
    return len(parts) > 1 and (last.startswith(_SELECTORS) or last in _METADATA_TABLES)


class Expander:
    """Walks queries on behalf of `owner`, the materialized view (or statement) they belong to."""

    def __init__(self, resolver: Resolver, owner: str, tolerate_missing: bool = False) -> None:
        self._resolver = resolver
        self._owner = owner
        self._tolerate_missing = tolerate_missing

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
            if facts is None:
                found.add(name, TABLE, depth)
                self._add_table(name, found)
                continue
            storage = storage_of(name, facts)
            if storage is not None:
                self._add_view(name, facts, storage, depth, path, found)
            elif isinstance(facts, ViewFacts):
                found.add(name, VIEW, depth)
                found.views[str(name)] = facts.text
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
            plan = self._resolver.explained(query, home)
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
            is_view = facts is not None and storage_of(owner, facts) is not None
            self._refuse_cycle(owner if is_view else name, path)
            if is_view and facts is not None:
                self._add_view(owner, facts, name, depth, path, found)
            else:
                found.add(name, TABLE, depth)
                self._add_table(name, found)

    def _add_view(
        self,
        name: TableName,
        facts: Facts,
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
        self, name: TableName, facts: Facts, path: tuple[TableName, ...]
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
        replacement: Callable[[TableName, Facts, Reference], str | None],
    ) -> str:
        """The text of `query` with relations replaced and logical views as subqueries.

        `replacement` gets each table and materialized view and returns the text to stand in its
        place, or None to keep it; kept names are written out in full.
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
            inner = self.inline(
                facts.text.rstrip().rstrip(";"),
                Namespace(facts.catalog, facts.namespace),
                replacement,
            )
            return subquery(text_of_view(facts, inner, self._resolver), reference)

        return splice(query, self.references(query), replace)
