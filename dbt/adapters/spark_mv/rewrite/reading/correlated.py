"""Subqueries as blocks of their own: which columns they have of the queries around them, and
whether it matters how often they have a row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.block import Block, Output
from dbt.adapters.spark_mv.rewrite.conditions.constants import family_of
from dbt.adapters.spark_mv.rewrite.reading.functions import Columns
from dbt.adapters.spark_mv.rewrite.reading.scopes import Find, Scope, Table, is_whole, query_of
from dbt.adapters.spark_mv.rewrite.terms import AROUND, Term, made
from dbt.adapters.spark_mv.rewrite.unmatched import QUERY, Unmatched
from dbt.adapters.spark_mv.sql.reads import relations_of

# Names of relations in a rewritten text begin so.
_OURS = "mv_"


# Columns that tables of Iceberg and Delta have and do not show.
_HIDDEN = frozenset(
    "_file _pos _deleted _spec_id _partition _row_id _last_updated_sequence_number _metadata "
    "_change_type _change_ordinal _commit_snapshot_id".split()
)


def columns_around(query: exp.Expr, scope: Scope, find: Find) -> Columns | None:
    """Reads the columns that a subquery names of the queries around it, which are constants in each
    of its rows; None if there are none around. They are known by the names of their relations:
    others might be columns of the view instead. Where one is written without that, `find` has the
    columns of what stands in the FROM right around it, whose `scope` is given."""
    called = {name.lower() for name in _relations_around(query) if name}
    if not called:
        return None

    def read(column: exp.Column) -> Term:
        qualifier = column.table
        if len(column.parts) == 1:
            qualifier = _relation_of(column.name.lower(), query, scope, find) or ""
        is_known = len(column.parts) <= 2 and qualifier.lower() in called
        if not is_known or qualifier.lower().startswith(_OURS):
            text = "a column is that of no relation in FROM"
            raise Unmatched(QUERY, text, column.sql("spark"))
        kept = exp.column(column.name, table=exp.to_identifier(qualifier, True), quoted=True)
        kept.meta[AROUND] = qualifier.lower()
        return made(kept)

    return read


def as_set(block: Block, query: exp.Expr) -> Block:
    """The block of a subquery, or of a branch of a set operation without ALL, if it is asked only
    which rows it has."""
    below, around = query, query.parent
    while isinstance(around, exp.Subquery) and not around.alias:
        if around.args.get("limit") or around.args.get("offset"):
            return block
        below, around = around, around.parent
    is_test = isinstance(around, exp.Exists)
    # To the left of IN, and in a list of values, it is a value.
    is_list = isinstance(around, exp.In) and around.args.get("query") is below
    is_branch = isinstance(around, exp.SetOperation) and around.args.get("distinct") is True
    is_asked = is_test or is_list or (is_branch and all(map(_is_exact, block.outputs)))
    if not is_asked or block.keys is not None or block.limit or block.has_windows:
        return block
    outputs = (Output("", made(exp.Literal.number(1))),) if is_test else block.outputs
    return replace(block, outputs=outputs, order=(), is_set=True)


def _is_exact(output: Output) -> bool:
    """Whether equal values of an output are the same, also if another branch has it converted:
    -0.0 and 0.0 are not the same text."""
    column = output.term.column
    return column is not None and bool(family_of(column.type))


def _relation_of(name: str, query: exp.Expr, scope: Scope, find: Find) -> str | None:
    """What the one relation is called, of those right around a query, that has a column of this
    name, in lower case; None if not all of their columns are known."""
    select = next(_selects_around(query), None)
    if (
        select is None
        or name in _HIDDEN
        or select.args.get("laterals")
        or _is_of_output(name, query, select)
    ):
        return None
    found = []
    for one in relations_of(select):
        columns = _names_in(one, scope, find)
        if columns is None:
            return None
        found += [one.alias_or_name for column in columns if column.lower() == name]
    return found[0] if len(found) == 1 else None


def _is_of_output(name: str, query: exp.Expr, select: exp.Select) -> bool:
    """Whether a name may be that of an output of the query around, which are known behind WHERE."""
    where = query.find_ancestor(exp.Where, exp.Select)
    if isinstance(where, exp.Where) and where.parent is select:
        return False
    return any(item.alias.lower() == name for item in select.expressions)


def _names_in(node: exp.Expr, scope: Scope, find: Find) -> Sequence[str] | None:
    """The columns that a relation of FROM gives; None if they are not known, or it has no name."""
    query, _, names, called = query_of(node, scope, find)
    if query is not None:
        return (names or _names_of(query)) if any(called) else None
    if not is_whole(node) or not isinstance(node, exp.Table):
        return None
    if not isinstance(node.this, exp.Identifier):
        return None
    found = find(tuple(part.name for part in node.parts), scope.home)
    return names or [name for name, _ in found.columns] if isinstance(found, Table) else None


def _names_of(query: exp.Expr) -> Sequence[str] | None:
    """The names of the columns of a query; None if it does not give all of them itself."""
    while isinstance(query, (exp.Subquery, exp.SetOperation)):
        query = query.this
    if not isinstance(query, exp.Select):
        return None
    are_named = all(isinstance(item, (exp.Alias, exp.Column)) for item in query.expressions)
    if not are_named or any(item.find(exp.Star) for item in query.expressions):
        return None
    return [item.alias_or_name for item in query.expressions]


def _relations_around(query: exp.Expr) -> Iterator[str]:
    """The names of relations of all queries in whose expressions a query stands."""
    for select in _selects_around(query):
        for one in relations_of(select):
            yield one.alias_or_name


def _selects_around(query: exp.Expr) -> Iterator[exp.Select]:
    """All queries in whose expressions a query stands, the innermost first."""
    below, node = query, query.parent
    while node is not None:
        if isinstance(node, (exp.From, exp.Join, exp.With)) or (
            isinstance(node, exp.SetOperation) and below is not query
        ):
            return
        if isinstance(node, exp.Select):
            yield node
        below, node = node, node.parent
