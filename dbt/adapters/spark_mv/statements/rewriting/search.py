"""Searches a statement for the blocks that views answer, the outermost first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt.adapters.spark_mv.core.errors import StatementFailed
from dbt.adapters.spark_mv.core.reasons import Reason
from dbt.adapters.spark_mv.rewrite.block import Block
from dbt.adapters.spark_mv.rewrite.reading.blocks import BlockReader
from dbt.adapters.spark_mv.rewrite.reading.scopes import Relations, Scope
from dbt.adapters.spark_mv.rewrite.text import rest_text
from dbt.adapters.spark_mv.rewrite.unmatched import QUERY, Unmatched
from dbt.adapters.spark_mv.sql.names import TableName
from dbt.adapters.spark_mv.statements.rewriting.candidates import (
    Barred,
    Candidate,
    Candidates,
    Matched,
    ViewIndex,
)
from dbt.adapters.spark_mv.statements.rewriting.plans import CLEARLY_LESS
from dbt.adapters.spark_mv.statements.rewriting.spans import span_of
from dbt.adapters.spark_mv.statements.rewriting.stale import Policy
from dbt.adapters.spark_mv.statements.rewriting.values import (
    Attempt,
    Found,
    Rewriting,
    Target,
    first_of,
)

_MOST_BLOCKS = 32
# For so many views Spark counts the rows that are read beside them.
_MOST_COUNTED = 3
_OFF = Reason("REWRITE_DISABLED", "the session has switched it off: query_rewrite.enabled is false")


class Search:
    """Finds the blocks of statements that fresh views answer."""

    def __init__(
        self,
        relations: Relations,
        candidates: Candidates,
        policy: Policy,
    ) -> None:
        self._reader = BlockReader(relations)
        self._candidates = candidates
        self._policy = policy

    def search(
        self,
        made: Rewriting,
        target: Target,
        index: ViewIndex,
        barred: Barred,
        may_refresh: bool = False,
    ) -> list[Found]:
        """The blocks that are answered, and the attempts in `made`. What is inside of an answered
        block is not tried."""
        found_blocks: list[Found] = []
        covered: set[int] = set()
        home, settings = Scope(target.context.namespace()), None
        for number, (query, scope) in enumerate(_queries(target.query, home)):
            if id(query) in covered:
                continue
            if number >= _MOST_BLOCKS:
                break
            forms = self._forms(made, number, query, scope)
            matched = self._matched(made, number, forms, index, barred) if forms else []
            if not matched:
                continue
            if settings is None:
                if not self._is_worth_it(made, target, number, matched):
                    return []
                settings = target.context.settings()
            best = self._chosen(_Tried(made, target, number, settings), matched, may_refresh)
            if best is not None:
                found_blocks += self._placed(
                    made, target, number, query, len(forms[0].outputs), best
                )
                covered |= {id(inner) for inner in query.find_all(exp.Select, exp.SetOperation)}
        return found_blocks

    def _chosen(self, tried: _Tried, matched: list[Matched], may_refresh: bool) -> Candidate | None:
        """The view that answers a block: one that is fresh, refreshed, merged, or united."""
        whole = [one for one in matched if one.otherwise is None]
        united = [one for one in matched if one.otherwise is not None]
        best = self._best(tried, whole)
        if best is None and may_refresh and self._policy.refreshed is not None:
            refreshed = self._policy.refreshed.first_refreshed(whole)
            best = self._best(tried, [refreshed] if refreshed is not None else [])
        if best is None and self._policy.merges:
            best = self._merged(tried, whole)
        if best is None:
            best = self._united(tried, united)
        else:
            for one in united:
                tried.leave_alone(one)
        if best is not None:
            tried.made.forget(tried.number, best.view.name)
        return best

    def _placed(
        self,
        made: Rewriting,
        target: Target,
        number: int,
        query: exp.Query,
        columns: int,
        best: Candidate,
    ) -> list[Found]:
        """The block with its place in the text, if that is found."""
        span = span_of(made.original, target.words, query)
        if span is None:
            reason = Reason(QUERY, "its place in the text is not found")
            made.attempts.append(Attempt(number, best.view.name, reason))
            return []
        return [Found(number, span, columns, best, first_of(query) is target.first)]

    def _forms(
        self, made: Rewriting, number: int, query: exp.Query, scope: Scope
    ) -> tuple[Block, ...]:
        try:
            return self._reader.forms(query, scope)
        except Unmatched as error:
            made.attempts.append(Attempt(number, None, error.reason))
            return ()

    def _matched(
        self, made: Rewriting, number: int, forms: Sequence[Block], index: ViewIndex, barred: Barred
    ) -> list[Matched]:
        found = []
        for name, one in self._candidates.of(forms, index, barred):
            if isinstance(one, Reason):
                made.attempts.append(Attempt(number, name, one))
            else:
                found.append(one)
        return found

    def _is_worth_it(
        self,
        made: Rewriting,
        target: Target,
        number: int,
        matched: list[Matched],
    ) -> bool:
        """Whether the statement reads so much that reading less is noticed."""
        if target.context.says_no_rewriting():
            made.leave(_OFF)
            return False
        if not made.original_rows:
            made.original_rows = target.plans.rows(made.original[target.start :])
        if made.original_rows >= self._policy.least_rows:
            return True
        text = f"the statement reads {made.original_rows:,} rows, fewer than query_rewrite_min_rows"
        reason = Reason("COST", text)
        made.attempts += [Attempt(number, one.view.name, reason) for one in matched]
        return False

    def _best(self, tried: _Tried, matched: list[Matched]) -> Candidate | None:
        """The fresh view with the fewest rows."""
        fresh: list[Candidate] = []
        for one in matched:
            found = self._candidates.observed(one, tried.settings)
            if isinstance(found, Reason):
                tried.leave(one.view.name, found)
            else:
                fresh.append(found)
        return tried.fewest(fresh)

    def _merged(self, tried: _Tried, matched: list[Matched]) -> Candidate | None:
        """The stale view with the fewest rows to read, with those that have changed, if these are
        clearly fewer than those of the statement."""
        stale = []
        for one in matched[:_MOST_COUNTED]:
            found = self._candidates.merged(one, tried.settings)
            if found is not None:
                stale += tried.counted(found, found.merged)
        return tried.fewest(stale)

    def _united(self, tried: _Tried, matched: list[Matched]) -> Candidate | None:
        """The fresh view with the fewest rows to read, of itself and of base tables, if these are
        clearly fewer than those of the statement."""
        fresh: list[Candidate] = []
        for count, one in enumerate(matched):
            is_tried = count < _MOST_COUNTED
            found = self._candidates.observed(one, tried.settings) if is_tried else None
            if isinstance(found, Reason):
                tried.leave(one.view.name, found)
                continue
            text = rest_text(one.answer, lambda name: name.sql)
            few = tried.counted(found, text) if found is not None else []
            fresh += few
            if not few:
                tried.leave_alone(one)
        return tried.fewest(fresh)


@dataclass(frozen=True)
class _Tried:
    """A block for which views are tried: what comes of it goes to `made`."""

    made: Rewriting
    target: Target
    number: int
    settings: Mapping[str, str]

    def leave(self, view: TableName, reason: Reason, rows: int | None = None) -> None:
        """A view does not answer."""
        self.made.attempts.append(Attempt(self.number, view, reason, rows=rows))

    def leave_alone(self, matched: Matched) -> None:
        """A view does not answer without rows of base tables, and not with them."""
        assert matched.otherwise is not None, "it is not to be united"
        self.leave(matched.view.name, matched.otherwise)

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
            found = replace(found, rest_rows=self.target.plans.rows(text))
        except StatementFailed:
            return []
        return [found] if found.rows <= CLEARLY_LESS * self.made.original_rows else []


def _queries(node: exp.Expr, scope: Scope) -> Iterator[tuple[exp.Query, Scope]]:
    """Every SELECT and set operation with the scope around it, the outermost first."""
    level: list[tuple[exp.Expr, Scope]] = [(node, scope)]
    while level:
        below: list[tuple[exp.Expr, Scope]] = []
        for query, around in level:
            if isinstance(query, (exp.Select, exp.SetOperation)):
                yield query, around
            below += _parts(query, around)
        level = below


def _parts(query: exp.Expr, scope: Scope) -> list[tuple[exp.Expr, Scope]]:
    """The queries right inside of a query, with their scopes."""
    inner = _inside(query, scope)
    clause = query.args.get("with_")
    found: list[tuple[exp.Expr, Scope]] = []
    if clause is not None:
        found += [(named.this, inner.named[named.alias.lower()][1]) for named in clause.expressions]
    ahead = [child for child in query.iter_expressions() if child is not clause]
    while ahead:
        child = ahead.pop()
        if isinstance(child, exp.Query) and not isinstance(child, exp.Subquery):
            found.append((child, inner))
        else:
            ahead += list(child.iter_expressions())
    return found


def _inside(query: exp.Expr, scope: Scope) -> Scope:
    try:
        return scope.inside(query)
    except Unmatched:
        return scope
