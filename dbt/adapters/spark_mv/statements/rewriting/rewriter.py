"""Rewrites statements: finds the blocks that fresh views answer, and has them read those.

Whatever cannot be proved, or fails, leaves the statement as it was written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import pairwise

from sqlglot import exp
from sqlglot.errors import SqlglotError

from dbt.adapters.spark_mv.catalog import iceberg
from dbt.adapters.spark_mv.core.errors import MaterializedViewError, StatementFailed
from dbt.adapters.spark_mv.core.reasons import Reason
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.rewrite.unmatched import QUERY, Unmatched
from dbt.adapters.spark_mv.sql.literals import VARIABLE
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.sql.reads import Reference, parse, references_of
from dbt.adapters.spark_mv.sql.statement import Kind, Statement
from dbt.adapters.spark_mv.sql.words import Word
from dbt.adapters.spark_mv.statements.context import StatementContext
from dbt.adapters.spark_mv.statements.rewriting.assembly import Assembly
from dbt.adapters.spark_mv.statements.rewriting.candidates import Barred, Candidates
from dbt.adapters.spark_mv.statements.rewriting.plans import Plans
from dbt.adapters.spark_mv.statements.rewriting.relations import CatalogRelations
from dbt.adapters.spark_mv.statements.rewriting.search import Search
from dbt.adapters.spark_mv.statements.rewriting.spans import query_start
from dbt.adapters.spark_mv.statements.rewriting.stale import Policy
from dbt.adapters.spark_mv.statements.rewriting.tables_behind import TablesBehind
from dbt.adapters.spark_mv.statements.rewriting.values import Rewriting, Target
from dbt.adapters.spark_mv.statements.rewriting.view_index import ViewIndex

# A form of statement that nobody thought of must not keep anybody from running it.
NOT_FORESEEN = (
    AssertionError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
    RecursionError,
    SqlglotError,
)
# Set in tests: what nobody thought of fails.
STRICT = "DBT_SPARK_MV_STRICT_REWRITES"
_VERBS = frozenset({"CREATE", "REPLACE", "INSERT"})
_LONGEST = 300
# Behind these a plus is no addition.
_NO_VALUES = frozenset("SELECT DISTINCT ALL AND OR NOT WHEN THEN ELSE BY ON".split()) | set("(,=<>")
# What dbt's materializations read once, right after they have made it.
_TEMPORARY_OF_DBT = "__dbt_tmp"


class Rewriter:
    """Rewrites the statements of one command."""

    def __init__(
        self,
        services: Services,
        is_temporary: Callable[[tuple[str, ...]], bool],
        policy: Policy,
    ) -> None:
        self._services = services
        self._tables = TablesBehind(services.resolver)
        relations = CatalogRelations(services.resolver, is_temporary)
        self._search = Search(relations, Candidates(services), policy)
        self._least_rows = policy.least_rows
        self._assembly = Assembly(services, self._tables)
        self._index: ViewIndex | None = None

    def forget_all(self) -> None:
        """Every relation may be another one now."""
        self._tables.forget_all()

    def forget(self, name: TableName) -> None:
        """The relation of this name may be another one now."""
        self._tables.forget(name)

    def rewritten(
        self,
        sql: str,
        statement: Statement,
        context: StatementContext,
        writes: Sequence[TableName] = (),
        thorough: bool = False,
    ) -> Rewriting:
        """The statement as it is to run; its own text if no view answers a part of it.

        Statements that read little are not looked at any further, but if it has to be `thorough`.
        """
        made = Rewriting(sql, sql)
        try:
            with self._services.resolver.remembered():
                self._rewrite(made, statement, context, writes, thorough)
        except Unmatched as error:
            made.leave(error.reason)
        except StatementFailed as error:
            made.leave(Reason("FAILED", f"Spark refuses a statement: {error}"[:_LONGEST]))
        except (MaterializedViewError, *NOT_FORESEEN) as error:
            if os.environ.get(STRICT):
                raise
            made.leave(Reason("FAILED", f"{type(error).__name__}: {error}"[:_LONGEST]))
        return made

    def _rewrite(
        self,
        made: Rewriting,
        statement: Statement,
        context: StatementContext,
        writes: Sequence[TableName],
        thorough: bool,
    ) -> None:
        resolver, home = self._services.resolver, context.namespace()
        index = self._current_index()
        references = self._references(made.original, statement)
        names = [resolver.resolve(reference.parts, home) for reference in references]
        if not self._may_be_answered(names, index):
            return
        if not thorough and self._reads_little(names):
            return
        tree = parse(made.original)
        start = query_start(statement.words, statement.verb)
        if tree is None or start is None or _only_spark_reads(statement, made.original):
            raise Unmatched(QUERY, "only Spark can read the statement")
        if not isinstance(tree, exp.Query) and tree.args.get("with_"):
            raise Unmatched(QUERY, "a WITH stands before what is written")
        places = dict(zip(references, names, strict=True))
        target = Target(
            made.original, tree, statement.words, start, places, context, Plans(context)
        )
        barred = Barred(frozenset(writes), frozenset(names))
        if self._services.executor.catalog is None and not thorough:
            # Looking at tables takes statements there, more than one estimate does.
            made.original_rows = target.plans.rows(made.original[start:])
            if made.original_rows < self._least_rows:
                return
        found = self._search.search(made, target, index, barred, thorough)
        if found:
            self._assembly.assemble(made, target, found)

    def _current_index(self) -> ViewIndex:
        state, index = self._services.log.state(), self._index
        if index is None or not index.is_of(state):
            index = self._index = ViewIndex(state)
        return index

    def _references(self, sql: str, statement: Statement) -> tuple[Reference, ...]:
        """What a statement reads, if statements of its kind are rewritten."""
        is_read = statement.kind is Kind.QUERY or (
            statement.kind is Kind.WRITE and statement.verb in _VERBS
        )
        if statement.kind is Kind.CREATE_TEMPORARY_VIEW:
            # Others may be read after a write, which they would not see.
            is_read = all(parts[-1].endswith(_TEMPORARY_OF_DBT) for parts in statement.targets)
        reads = references_of(sql) if is_read else None
        if reads is None or reads.unresolved:
            return ()
        found = list(reads.references)
        for target in statement.targets:
            # What a statement writes to stands before all that it reads.
            named = next((one for one in found if one.parts == target), None)
            if named is not None:
                found.remove(named)
        return tuple(found)

    def _reads_little(self, names: Sequence[TableName]) -> bool:
        """Whether all rows of all tables are so few that no text for them need be found.

        Where it takes a statement to count them, Spark's estimate counts them later.
        """
        executor, total = self._services.executor, 0
        if executor.catalog is None:
            return False
        for name in names:
            for table in self._tables.of(name) or ():
                chain = iceberg.main_chain(executor, table, 1)
                total += (iceberg.live_rows(chain[0].summary) or 0) if chain else 0
        return total < self._least_rows

    def _may_be_answered(self, names: Sequence[TableName], index: ViewIndex) -> bool:
        """Whether any view reads what a statement reads, as far as names tell."""
        known = index.names
        return any(name.name.lower() in known or self._tables.is_view(name) for name in names)


def _only_spark_reads(statement: Statement, text: str) -> bool:
    """Whether a text may mean something else than it says: Spark puts values of variables into
    it."""
    return VARIABLE in text or _has_positive(statement.words)


def _has_positive(words: Sequence[Word]) -> bool:
    """Whether a sign is before a value: sqlglot leaves it out, and Spark calls `+ id` not `id`."""
    return any(
        word.text == "+"
        and not (word.string or word.quoted)
        and (before.upper or before.text) in _NO_VALUES
        and not before.string
        for before, word in pairwise(words)
    )
