"""What data tests of dbt find to hold of base tables, at which versions.

What a test means is read off its text, not its name: a query that has no row if a column is unique,
has no NULL, or has only values of another one. Tables that are behind logical views count, if every
row of theirs is in the view.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.spark_mv.catalog.constraints import NOT_NULL, REFERENCES, UNIQUE, Constraint
from dbt.adapters.spark_mv.catalog.versions import Version
from dbt.adapters.spark_mv.core.errors import MaterializedViewError
from dbt.adapters.spark_mv.metadata.events import held
from dbt.adapters.spark_mv.metadata.payloads import payload_of
from dbt.adapters.spark_mv.refresh.services import Services
from dbt.adapters.spark_mv.rewrite.block import Block
from dbt.adapters.spark_mv.rewrite.conditions.facts import equal_columns
from dbt.adapters.spark_mv.rewrite.reading.blocks import BlockReader
from dbt.adapters.spark_mv.rewrite.reading.scopes import Relations, Scope
from dbt.adapters.spark_mv.rewrite.terms import (
    ColumnOf,
    binary,
    column_term,
    counted_rows,
    is_not_null,
    made,
)
from dbt.adapters.spark_mv.rewrite.unmatched import Unmatched
from dbt.adapters.spark_mv.sql.names import Namespace, TableName
from dbt.adapters.spark_mv.sql.reads import parse
from dbt.adapters.spark_mv.statements.context import StatementContext
from dbt.adapters.spark_mv.statements.rewriting.rewriter import NOT_FORESEEN

# What dbt calls the query of a test, of whose rows it counts those that fail.
_QUERY_OF_A_TEST = "dbt_internal_test"
_SEVERAL = binary(exp.LT, made(exp.Literal.number(1)), counted_rows())


@dataclass(frozen=True)
class Tested:
    """A test that is about to run, and the versions of its tables before."""

    constraint: Constraint
    versions: tuple[Version, ...]


class TestedConstraints:
    """Remembers the constraints that tests of one command find to hold."""

    __test__ = False  # no class of tests

    def __init__(self, services: Services, relations: Relations) -> None:
        self._services = services
        self._reader = BlockReader(relations)

    def begin(self, sql: str, context: StatementContext) -> Tested | None:
        """What a test is about; None if that is no constraint, or no view could make use of it."""
        if not self._services.log.state().views:
            return None
        try:
            constraint = self._constraint(sql, context.namespace())
            versions = self._versions(constraint) if constraint is not None else ()
        except (MaterializedViewError, Unmatched, *NOT_FORESEEN):
            return None  # it is another test, or Spark will say what is wrong
        if constraint is None or not versions:
            return None
        return Tested(constraint, versions)

    def end(self, tested: Tested, failures: object) -> None:
        """The test ran, with so many failures."""
        try:
            after = self._versions(tested.constraint)
        except MaterializedViewError:
            return
        if str(failures) != "0" or after != tested.versions:
            return  # or nobody knows which versions the test has read
        log = self._services.log
        versions = [version.to_json() for version in tested.versions]
        if log.state().held.get(tested.constraint) != versions:
            name = tested.constraint.column[0].full
            log.record(held(name, payload_of(tested.constraint, versions), log.invocation_id))

    def _versions(self, constraint: Constraint) -> tuple[Version, ...]:
        """The versions of its tables now, none if one cannot be pinned."""
        with self._services.resolver.remembered():
            found = self._services.versions.read(constraint.tables)
        versions = tuple(found[table] for table in constraint.tables)
        return versions if all(version.can_pin for version in versions) else ()

    def _constraint(self, sql: str, home: Namespace) -> Constraint | None:
        query = _query_of(parse(sql))
        if query is None:
            return None
        with self._services.resolver.remembered():
            block = self._reader.forms(query, Scope(home))[0]
        return next(_constraints(block), None)


def _query_of(tree: exp.Expr | None) -> exp.Expr | None:
    """The query whose rows are counted as failures."""
    if not isinstance(tree, exp.Select) or _has_more(tree, {"expressions", "from_"}):
        return None
    start, counted = tree.args.get("from_"), tree.expressions[0].unalias()
    if start is None or not isinstance(start.this, exp.Subquery):
        return None
    if _has_more(start.this, {"this", "alias"}):
        return None
    is_count = isinstance(counted, exp.Count) and isinstance(counted.this, exp.Star)
    return start.this.this if is_count and start.this.alias == _QUERY_OF_A_TEST else None


def _has_more(node: exp.Expr, known: set[str]) -> bool:
    return any(value for name, value in node.args.items() if name not in known)


def _constraints(block: Block) -> Iterator[Constraint]:
    """What holds if the block has no row."""
    tables, keys = block.tables, [term.column for term in block.keys or ()]
    conditions = {term.key for term in block.conditions}
    # A LIMIT may leave no row of many.
    is_part = block.sets or block.limit or block.has_windows
    if is_part or not all(isinstance(table, TableName) for table in tables):
        return
    columns = {column for term in block.terms() for column in term.columns}
    if len(tables) == 1 and not block.left_joins:
        for column in sorted(columns):
            is_key = keys == [column] and [term.key for term in block.having] == [_SEVERAL.key]
            if is_key and conditions <= {_not_null(column)}:
                yield Constraint(UNIQUE, block.place(column))
            if block.keys is None and not block.having and conditions == {_null(column)}:
                yield Constraint(NOT_NULL, block.place(column))
    if len(tables) == 2 and len(block.left_joins) == 1 and block.keys is None:
        (join,) = block.left_joins
        (on,) = join.conditions if len(join.conditions) == 1 else (None,)
        pair = equal_columns(on)
        if pair is None:
            return
        child, parent = pair if pair[1].occurrence == join.occurrence else pair[::-1]
        is_of_both = parent.occurrence == join.occurrence != child.occurrence
        if is_of_both and conditions - {_not_null(child)} == {_null(parent)}:
            yield Constraint(REFERENCES, block.place(child), block.place(parent))


def _not_null(column: ColumnOf) -> str:
    return is_not_null(column_term(column)).key


def _null(column: ColumnOf) -> str:
    return binary(exp.Is, column_term(column), made(exp.Null())).key
