"""Searches a statement for the blocks that views answer, the outermost first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from dbt.adapters.spark_mv.core.reasons import Reason
from dbt.adapters.spark_mv.rewrite.block import Block
from dbt.adapters.spark_mv.rewrite.reading.blocks import BlockReader
from dbt.adapters.spark_mv.rewrite.reading.correlated import as_set, columns_around
from dbt.adapters.spark_mv.rewrite.reading.scopes import Relations, Scope
from dbt.adapters.spark_mv.rewrite.reading.subqueries import LIST, digests_of
from dbt.adapters.spark_mv.rewrite.reading.using import is_natural
from dbt.adapters.spark_mv.rewrite.text import rest_text
from dbt.adapters.spark_mv.rewrite.unmatched import QUERY, Unmatched
from dbt.adapters.spark_mv.statements.rewriting.candidates import (
    Barred,
    Candidate,
    Candidates,
    Matched,
)
from dbt.adapters.spark_mv.statements.rewriting.searched import Searched, SearchedBlock
from dbt.adapters.spark_mv.statements.rewriting.spans import span_of
from dbt.adapters.spark_mv.statements.rewriting.stale import Policy
from dbt.adapters.spark_mv.statements.rewriting.values import Found, Rewriting, Target, first_of
from dbt.adapters.spark_mv.statements.rewriting.view_index import ViewIndex

_MOST_BLOCKS = 32
# For so many views Spark counts the rows that are read beside them.
_MOST_COUNTED = 3
_TOO_MANY = Reason("COST", "together with what has changed, hardly fewer rows would be read")
# Of the first one nobody else knows; with the second a session reads a branch of tables that have
# it, which views are not made of.
REWRITE_SETTING, BRANCH_SETTING = "query_rewrite.enabled", "spark.wap.branch"
_OFF = Reason("REWRITE_DISABLED", "the session has switched it off: query_rewrite.enabled is false")


class Search:
    """Finds the blocks of statements that fresh views answer."""

    def __init__(self, relations: Relations, candidates: Candidates, policy: Policy) -> None:
        self._reader = BlockReader(relations)
        self._candidates = candidates
        self._policy = policy

    def search(
        self,
        made: Rewriting,
        target: Target,
        index: ViewIndex,
        barred: Barred,
        thorough: bool,
    ) -> list[Found]:
        """The blocks that are answered, and the attempts in `made`. Of what is inside of an
        answered block only subqueries that are left in its text are tried."""
        statement = Searched(made, target, index, barred, thorough)
        home = Scope(target.context.namespace())
        for number, (query, scope) in enumerate(_queries(target.query, home)):
            if number >= _MOST_BLOCKS:
                break
            block = SearchedBlock(statement, number, query, scope)
            if block.is_inside:
                self._answer_inside(block)
            elif not self._answer(block):
                return []
        return statement.found

    def _answer(self, block: SearchedBlock) -> bool:
        """Find the view that answers a block, if there is one; False if the statement is not to be
        rewritten."""
        forms = self._forms(block)
        matched = self._matched(block, forms) if forms else []
        if not matched:
            return True
        if not self._is_worth_it(block, matched):
            return False
        best = self._chosen(block, matched)
        if best is not None:
            block.statement.answer(block.query, self._placed(block, len(forms[0].outputs), best))
        return True

    def _answer_inside(self, block: SearchedBlock) -> None:
        """Find a view for a subquery that is left in the text of the block around it."""
        around = block.around
        left = around.subqueries if around is not None else ()
        if around is None or not left:
            return
        try:
            forms = self._reader.forms(block.query, block.scope)
        except Unmatched:
            return  # it is about columns of the query around it
        asked, columns = forms[-1], len(forms[0].outputs)
        digests = digests_of(asked)
        kinds = [kind for kind, digest in digests.items() if digest in left]
        if not kinds or asked.limit:
            return
        if kinds == [LIST] and asked.keys is None:
            # Which values are in it does not depend on how often they are.
            forms = (*forms, replace(asked, keys=tuple(output.term for output in asked.outputs)))
        whole, united = _parted(self._matched(block, forms))
        block.leave_alone(united)
        best = self._best(block, whole)
        other = _other_version(around, best) if best is not None else None
        if best is not None and other is not None:
            text = f"the view around it has rows of other {other}"
            block.leave(best.view.name, Reason("NOT_PINNABLE", text))
        elif best is not None:
            for kind in kinds:
                number = block.number
                block.answer(Found(number, (0, 0), columns, best, False, digest=digests[kind]))

    def _chosen(self, block: SearchedBlock, matched: list[Matched]) -> Candidate | None:
        """The view that answers a block: one that is fresh, refreshed, merged, or united."""
        whole, united = _parted(matched)
        best = self._best(block, whole)
        if best is None and self._policy.refreshed is not None and not block.statement.thorough:
            refreshed = self._policy.refreshed.first_refreshed(whole)
            best = self._best(block, [refreshed] if refreshed is not None else [])
        if best is None and self._policy.merges:
            best = self._merged(block, whole)
        if best is None:
            best = self._united(block, united)
        else:
            block.leave_alone(united)
        if best is not None:
            block.made.forget(block.number, best.view.name)
        return best

    def _placed(self, block: SearchedBlock, columns: int, best: Candidate) -> Found | None:
        """The block with its place in the text, if that is found."""
        made, target, query = block.made, block.statement.target, block.query
        span = span_of(made.original, target.words, query)
        if span is None:
            block.leave(best.view.name, Reason(QUERY, "its place in the text is not found"))
            return None
        return Found(block.number, span, columns, best, first_of(query) is target.first)

    def _forms(self, block: SearchedBlock) -> tuple[Block, ...]:
        try:
            around = columns_around(block.query, block.scope, self._reader.find)
            forms = self._reader.forms(block.query, block.scope, around)
        except Unmatched as error:
            block.leave(None, error.reason)
            return ()
        forms = (*forms[:-1], as_set(forms[-1], block.query))
        target = block.statement.target
        is_named_so = first_of(block.query) is target.first or _is_later_branch(block.query)
        if not is_named_so and _needs_names(forms[0], target.query):
            text = "only Spark knows what a column is called that a query around it may name"
            block.leave(None, Reason(QUERY, text))
            return ()
        return forms

    def _matched(self, block: SearchedBlock, forms: Sequence[Block]) -> list[Matched]:
        found, statement = [], block.statement
        candidates = self._candidates.of(
            forms, statement.index, statement.barred, statement.thorough
        )
        for name, one in candidates:
            if isinstance(one, Reason):
                block.leave(name, one)
            else:
                found.append(one)
        return found

    def _is_worth_it(self, block: SearchedBlock, matched: list[Matched]) -> bool:
        """Whether the statement reads so much that reading less is noticed."""
        made, target = block.made, block.statement.target
        if block.statement.is_worth_it:
            return True
        enabled, branch = target.context.values_of((REWRITE_SETTING, BRANCH_SETTING))
        if enabled.lower() == "false":
            made.leave(_OFF)
            return False
        if branch:
            why = f"the session reads the branch {branch} of tables (spark.wap.branch)"
            made.leave(Reason("SETTINGS_DIFFER", why))
            return False
        if not made.original_rows:
            made.original_rows = target.plans.rows(made.original[target.start :])
        if made.original_rows >= self._policy.least_rows:
            block.statement.is_worth_it = True
            return True
        text = f"the statement reads {made.original_rows:,} rows, fewer than query_rewrite_min_rows"
        for one in matched:
            block.leave(one.view.name, Reason("COST", text))
        return False

    def _best(self, block: SearchedBlock, matched: list[Matched]) -> Candidate | None:
        """The fresh view with the fewest rows."""
        fresh: list[Candidate] = []
        for one in matched:
            found = self._candidates.observed(one, block.statement.settings)
            if isinstance(found, Reason):
                block.leave(one.view.name, found)
            else:
                fresh.append(found)
        return block.fewest(fresh)

    def _merged(self, block: SearchedBlock, matched: list[Matched]) -> Candidate | None:
        """The stale view with the fewest rows to read, with those that have changed, if these are
        clearly fewer than those of the statement."""
        stale = []
        for one in matched[:_MOST_COUNTED]:
            found = self._candidates.merged(one, block.statement.settings)
            few = block.counted(found, found.merged) if isinstance(found, Candidate) else []
            stale += few
            if found is not None and not few:
                block.made.forget(block.number, one.view.name)
                block.leave(one.view.name, found if isinstance(found, Reason) else _TOO_MANY)
        return block.fewest(stale)

    def _united(self, block: SearchedBlock, matched: list[Matched]) -> Candidate | None:
        """The fresh view with the fewest rows to read, of itself and of base tables, if these are
        clearly fewer than those of the statement."""
        fresh: list[Candidate] = []
        for count, one in enumerate(matched):
            is_tried = count < _MOST_COUNTED
            found = self._candidates.observed(one, block.statement.settings) if is_tried else None
            if isinstance(found, Reason):
                block.leave(one.view.name, found)
                continue
            text = rest_text(one.answer, lambda name: name.sql)
            few = block.counted(found, text) if found is not None else []
            fresh += few
            if not few:
                block.leave_alone([one])
        return block.fewest(fresh)


def _is_later_branch(query: exp.Expr) -> bool:
    """Whether it is a branch of a set operation that another one gives its names."""
    around = query.parent
    while isinstance(around, exp.Subquery) and not around.alias:
        query, around = around, around.parent
    return isinstance(around, exp.SetOperation) and around.expression is query


def _needs_names(block: Block, statement: exp.Expr) -> bool:
    """Whether names that only Spark knows may matter to what stands around a block: those of
    columns, and of all expressions where NATURAL compares them."""
    if any(output.maybe for output in block.outputs):
        return True
    has_all = all(output.name for output in block.outputs)
    return not has_all and any(map(is_natural, statement.find_all(exp.Join)))


def _parted(matched: list[Matched]) -> tuple[list[Matched], list[Matched]]:
    """Those that answer alone, and those that are to be united with rows of base tables."""
    united = [one for one in matched if one.otherwise is not None]
    return [one for one in matched if one.otherwise is None], united


def _other_version(around: Found, best: Candidate) -> str | None:
    """A table of which a view has rows of another version than the view of the block around it."""
    known = around.candidate.observation.versions
    for table, version in best.observation.versions.items():
        if known.get(table, version) != version:
            return table.shown
    return None


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
    """The queries right inside of a query, with their scopes; none where names of a recursive WITH
    are known, of which no scope has the queries."""
    clause = query.args.get("with_")
    if clause is not None and clause.args.get("recursive"):
        return []
    inner, given = scope.inside(query), clause.expressions if clause is not None else []
    found = [(named.this, inner.named[named.alias.lower()][1]) for named in given]
    ahead = [child for child in query.iter_expressions() if child is not clause]
    while ahead:
        child = ahead.pop()
        if isinstance(child, exp.Query) and not isinstance(child, exp.Subquery):
            found.append((child, inner))
        else:
            ahead += list(child.iter_expressions())
    return found
