"""What a statement is to the rewriting, and what comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from dbt.adapters.spark_mv.core.reasons import Reason
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.sql.reads import Reference
from dbt.adapters.spark_mv.sql.words import Word
from dbt.adapters.spark_mv.statements.context import StatementContext
from dbt.adapters.spark_mv.statements.rewriting.candidates import Candidate
from dbt.adapters.spark_mv.statements.rewriting.plans import Plans


@dataclass(frozen=True)
class Attempt:
    """What became of a view, or without one of all of them, for one block of a statement; `rows`
    is how many rows were to be read."""

    block: int
    view: TableName | None
    reason: Reason
    chosen: bool = False
    rows: int | None = None


@dataclass
class Rewriting:
    """The text to run in place of the original, and how it came about; `views` are those that it
    reads in place of base tables, of which it then reads `rows` instead of `original_rows`."""

    original: str
    sql: str
    views: tuple[TableName, ...] = ()
    attempts: list[Attempt] = field(default_factory=list)
    rows: int = 0
    original_rows: int = 0

    def leave(self, reason: Reason) -> None:
        """The statement runs as it was written."""
        self.sql, self.views = self.original, ()
        self.attempts = [
            Attempt(one.block, one.view, reason) if one.chosen else one for one in self.attempts
        ]
        if not any(one.reason is reason for one in self.attempts):
            self.attempts.append(Attempt(0, None, reason))

    def forget(self, block: int, view: TableName) -> None:
        """A view has turned out to answer a block in another way."""
        self.attempts = [one for one in self.attempts if (one.block, one.view) != (block, view)]

    @property
    def is_changed(self) -> bool:
        """Whether another text is to run."""
        return bool(self.views)

    @property
    def note(self) -> str:
        """What it reads, in a line."""
        views = " and ".join(map(str, self.views))
        return f"reads {views}: {self.rows:,} rows instead of {self.original_rows:,}"


def first_of(query: exp.Expr) -> exp.Expr:
    """The SELECT that names the columns of a query."""
    while isinstance(query, (exp.SetOperation, exp.Subquery)):
        query = query.this
    return query


@dataclass(frozen=True)
class Target:
    """A statement: its text, tree and words, where its query begins, the relations that it reads
    and what they stand for."""

    sql: str
    tree: exp.Expr
    words: tuple[Word, ...]
    start: int
    places: Mapping[Reference, TableName]
    context: StatementContext
    plans: Plans

    @property
    def query(self) -> exp.Expr:
        """The tree of the query."""
        if isinstance(self.tree, exp.Query):
            return self.tree
        found = self.tree.args.get("expression")
        return found if isinstance(found, exp.Expr) else self.tree

    @property
    def first(self) -> exp.Expr:
        """The SELECT that names the columns of the query."""
        return first_of(self.query)


@dataclass(frozen=True)
class Found:
    """A block that a view answers, the characters in which it stands, and how many columns it has;
    `names_columns` says that the columns of the statement are called as its own. `inner` are those
    of its subqueries that views answer, one inside of another after that, each with the `digest`
    by which it is known."""

    number: int
    span: tuple[int, int]
    columns: int
    candidate: Candidate
    names_columns: bool
    inner: tuple[Found, ...] = ()
    digest: str = ""

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """The views that are read for it."""
        return (self.candidate, *(one.candidate for one in self.inner))

    @property
    def subqueries(self) -> frozenset[str]:
        """By what those of its subqueries are known that base tables answer."""
        answered = {one.digest: "" for one in self.inner}
        left = (one.answer.with_subqueries(answered).subqueries for one in self.candidates)
        return frozenset().union(*left)
