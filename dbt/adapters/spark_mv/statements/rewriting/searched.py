"""A statement that is searched for blocks, and what has come of it so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from dbt.adapters.spark_mv.core.errors import StatementFailed
from dbt.adapters.spark_mv.core.lazy import lazy
from dbt.adapters.spark_mv.core.reasons import Reason
from dbt.adapters.spark_mv.rewrite.reading.scopes import Scope
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.statements.rewriting.candidates import (
    Barred,
    Candidate,
    Matched,
)
from dbt.adapters.spark_mv.statements.rewriting.plans import CLEARLY_LESS
from dbt.adapters.spark_mv.statements.rewriting.values import Attempt, Found, Rewriting, Target
from dbt.adapters.spark_mv.statements.rewriting.view_index import ViewIndex

_NOWHERE = -1


@dataclass
class Searched:
    """A statement: the views that may answer it, and the blocks that are answered."""

    made: Rewriting
    target: Target
    index: ViewIndex
    barred: Barred
    thorough: bool
    is_worth_it: bool = False
    found: list[Found] = field(default_factory=list)
    # Of each query in an answered block, by its id, which of the found ones that is.
    covered: dict[int, int] = field(default_factory=dict)

    @lazy
    def settings(self) -> Mapping[str, str]:
        """Those of the session that runs it."""
        return self.target.context.settings()

    def answer(self, query: exp.Expr, found: Found | None) -> None:
        """A query is answered; or it would be, and is not found in the text."""
        place = len(self.found) if found is not None else _NOWHERE
        inner = query.find_all(exp.Select, exp.SetOperation)
        self.covered |= dict.fromkeys(map(id, inner), place)
        self.found += [found] if found is not None else []


@dataclass(frozen=True)
class SearchedBlock:
    """A query of the statement: what comes of it goes to `made`."""

    statement: Searched
    number: int
    query: exp.Query
    scope: Scope

    @property
    def made(self) -> Rewriting:
        """Where attempts go."""
        return self.statement.made

    @property
    def is_inside(self) -> bool:
        """Whether a query around it is answered."""
        return id(self.query) in self.statement.covered

    @property
    def around(self) -> Found | None:
        """The block around it that is answered."""
        place = self.statement.covered.get(id(self.query), _NOWHERE)
        return None if place == _NOWHERE else self.statement.found[place]

    def answer(self, found: Found) -> None:
        """It is answered in the text of the block around it."""
        place = self.statement.covered[id(self.query)]
        around = self.statement.found[place]
        self.statement.found[place] = replace(around, inner=(*around.inner, found))
        self.made.forget(self.number, found.candidate.view.name)

    def leave(self, view: TableName | None, reason: Reason, rows: int | None = None) -> None:
        """A view does not answer; or none can."""
        self.made.attempts.append(Attempt(self.number, view, reason, rows=rows))

    def leave_alone(self, united: Sequence[Matched]) -> None:
        """Views do not answer without rows of base tables, and not with them."""
        for one in united:
            assert one.otherwise is not None, "it is not to be united"
            self.leave(one.view.name, one.otherwise)

    def fewest(self, found: list[Candidate]) -> Candidate | None:
        """The one with the fewest rows; the others have the reason that they have more."""
        found.sort(key=lambda one: (one.rows, one.view.name))
        for other in found[1:]:
            reason = Reason("COST", f"{found[0].view.name} has fewer rows")
            self.leave(other.view.name, reason, other.rows)
        return found[0] if found else None

    def counted(self, found: Candidate, text: str) -> list[Candidate]:
        """The candidate with the rows that a query reads for it; none if that is not worth it."""
        try:
            found = replace(found, rest_rows=self.statement.target.plans.rows(text))
        except StatementFailed:
            return []
        return [found] if found.rows <= CLEARLY_LESS * self.made.original_rows else []
