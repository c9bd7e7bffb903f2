"""How the rows of one definition are kept up to date, and the query that does it for a change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.spark_mv.core.reasons import Reason
from dbt.adapters.spark_mv.ivm.algebra import multiset
from dbt.adapters.spark_mv.ivm.algebra.stored import Replaced, kept
from dbt.adapters.spark_mv.ivm.algebra.terms import (
    GENERATORS,
    TABLE,
    Context,
    NotFast,
    column,
    derived,
    named_columns,
    not_fast,
)
from dbt.adapters.spark_mv.ivm.apply import merge, top_n
from dbt.adapters.spark_mv.ivm.apply.additive import Additive
from dbt.adapters.spark_mv.ivm.apply.top_n import First
from dbt.adapters.spark_mv.ivm.delta import grouping, inexact
from dbt.adapters.spark_mv.ivm.delta.grouping import Groups
from dbt.adapters.spark_mv.ivm.delta.rules import Delta
from dbt.adapters.spark_mv.ivm.rewrite import total_order
from dbt.adapters.spark_mv.ivm.rewrite.output_names import plainly_named
from dbt.adapters.spark_mv.sql.columns import columns_of

_UNGROUPED = ("map<", "variant")
_LEAVING_OUT = ("where", "having", "qualify", "joins", "laterals", "distinct", "limit", "offset")
_SETS = ("grouping_sets", "cube", "rollup")


@dataclass(frozen=True)
class Program:
    """One definition, analysed. `read` is the query as it was understood, before anything was
    rewritten; `query` is canonical and has the names of the view's columns.

    `additive` says how its groups are added to, `groups` which groups are recomputed; without
    either each row stands alone. `first` says which rows of `query` LIMIT leaves.
    `why_not_added` is the reason against adding, if there is one; `why_not_fast` the one against
    any fast refresh.
    """

    read: str
    query: exp.Query
    groups: Groups | None = None
    additive: Additive | None = None
    first: First | None = None
    why_not_added: Reason | None = None
    why_not_fast: Reason | None = None

    def __str__(self) -> str:
        if self.first is not None:
            return (
                "the first rows, from those that are stored, some in reserve, and those that came"
            )
        if self.additive is not None:
            return "changes are added to its groups"
        if self.groups is not None and self.groups.is_inexact:
            return "rows with the keys of changed rows are recomputed"
        if self.groups is not None:
            return "groups of changed rows are recomputed"
        return "row by row"

    @property
    def hidden(self) -> dict[str, exp.Expr]:
        """Columns of the storage table that the view does not show, and what they hold."""
        found: dict[str, exp.Expr] = {total_order.ORDERED: exp.true()} if self.has_no_ties else {}
        if self.first is not None:
            return found | self.first.hidden
        return found | dict(self.additive.hidden if self.additive else {})

    @property
    def has_no_ties(self) -> bool:
        """Whether its windows were given an order without ties."""
        return total_order.ORDERED in named_columns(self.query)

    @property
    def shown_columns(self) -> list[str]:
        """The columns of the view."""
        return [name for name in named_columns(self.query) if name != total_order.ORDERED]

    @property
    def stored_columns(self) -> list[str]:
        """All columns of the storage table."""
        return [*self.shown_columns, *self.hidden]

    def stored_query(self) -> exp.Query:
        """The query of everything that is stored."""
        if self.first is not None:
            return self.first.of(self.query)
        return self.additive.stored_query() if self.additive else self.query


def every_row_of(program: Program) -> str | None:
    """The table of which a program's query keeps every row, by its name in the program, as a row or
    as one that a group counts; None if it may leave some out, or make more of them."""
    query = program.additive.query if program.additive is not None else program.query
    by_row = program.additive is not None or program.groups is None
    if not isinstance(query, exp.Select) or not by_row or program.first is not None:
        return None
    start, group = query.args.get("from_"), query.args.get("group")
    table = start.this if start is not None else None
    if any(query.args.get(part) for part in _LEAVING_OUT) or not isinstance(table, exp.Table):
        return None
    if table.args.get("sample") or table.args.get("pivots") or not table.name.startswith(TABLE):
        return None
    has_sets = group is not None and any(group.args.get(part) for part in _SETS)
    generates = any(item.find(*GENERATORS, exp.Query) for item in query.expressions)
    return None if has_sets or generates else table.name


@dataclass(frozen=True)
class Rows:
    """The rows of a storage table after a change: `named` queries, and `query`, which reads them,
    the tables' versions, and, as mv_stored, the rows before.

    With `appends` the result is only what is to be added to the stored rows, once those that are
    `replaced` have been taken away.
    """

    query: str
    named: Mapping[str, exp.Query]
    appends: bool = False
    replaced: Replaced | None = None


def rows_after(
    program: Program,
    changed: frozenset[str],
    inserts_only: bool,
    types: Sequence[str],
    in_part: bool = False,
) -> Rows:
    """The stored rows after a change of the tables `changed`, from which nothing has gone if
    `inserts_only`; `in_part` only those that differ, if that can be had. `types` are those of the
    view's columns. Raises `NotFast`."""
    is_inexact = program.groups is not None and program.groups.is_inexact
    context = Context(changed, inserts_only, only_keys=is_inexact)
    rule = Delta(context)
    if not context.touches(program.query):
        return _unchanged(program)
    if program.additive is not None:
        merged = merge.merged_rows(program.additive, rule, in_part)
        assert merged is not None
        rows, replaced = merged
        return Rows(plainly_named(rows).sql("spark"), context.named, replaced is not None, replaced)
    if program.groups is not None:
        found = _by_key(program, program.groups, rule, in_part)
        if found is not None:
            return found
        return _by_unknown_key(program, program.groups, rule, types, in_part)
    return _by_row(program, rule, types, in_part)


def _unchanged(program: Program) -> Rows:
    """Nothing to add: what changed is only named by a WITH that is not used."""
    rows = kept(program.stored_columns, exp.true())
    return Rows(plainly_named(rows).sql("spark"), {}, appends=True)


def _by_key(program: Program, groups: Groups, rule: Delta, in_part: bool) -> Rows | None:
    """Groups of changed keys, recomputed; None if the keys are not among the columns."""
    stored = grouping.returned_keys(groups)
    if stored is None:
        return None
    keys = grouping.changed_keys(groups, rule)
    assert keys is not None
    if groups.is_inexact:
        rows = inexact.restricted(groups, keys).sql("spark")
    else:
        rows = grouping.restricted(groups, groups.query, keys).sql("spark")
    replaced = Replaced(keys.name, {name: f"mv_key_{n}" for n, name in enumerate(stored)})
    named = rule.context.named
    if in_part:
        return Rows(rows, named, appends=True, replaced=replaced)
    added = f"({rows})" if isinstance(groups.query, exp.SetOperation) else rows
    others = kept(program.stored_columns, replaced.condition()).sql("spark")
    return Rows(f"{others}\nUNION ALL\n{added}", named)


def _by_unknown_key(
    program: Program, groups: Groups, rule: Delta, types: Sequence[str], in_part: bool
) -> Rows:
    """Groups whose keys are not among the columns, row by row; raises `NotFast`."""
    try:
        return _by_row(program, rule, types, in_part)
    except NotFast as error:
        if error.reason.code != "ORDER_DEPENDENT":
            raise
        # Raises the reason against groups whose keys are returned.
        grouping.changed_keys(groups, Delta(Context(rule.context.changed)))
        raise grouping.keys_not_returned(groups) from None


def _by_row(program: Program, rule: Delta, types: Sequence[str], in_part: bool) -> Rows:
    """Stored rows, less those that went, and those that came; the first of them, if there is a
    LIMIT."""
    context, first = rule.context, program.first
    delta = rule.query(program.query)
    assert delta is not None
    names = named_columns(program.query)
    if context.only_adds:
        if first is not None:
            return Rows(top_n.with_came(first, names, delta), context.named)
        rows = [column("mv_delta", name) for name in names]
        return Rows(
            exp.Select(expressions=rows).from_(derived(delta, "mv_delta")).sql("spark"),
            context.named,
            appends=True,
        )
    for name, type_name in zip(program.shown_columns, types, strict=True):
        if any(word in type_name for word in _UNGROUPED):
            text = f"the column {name} has the type {type_name}, whose values are not compared; "
            raise not_fast("NOT_COMPARED", text + "return ARRAY_SORT(MAP_ENTRIES(..)), or text")
    columns = columns_of([*program.shown_columns, *names[len(types) :]], types)
    net = context.define("net", multiset.net(delta, columns))
    if first is not None:
        return Rows(top_n.with_net(first, columns, net.name), context.named)
    replaced = Replaced(net.name, {name: name for name in names})
    recounted = multiset.recounted(columns, replaced)
    if in_part:
        return Rows(recounted, context.named, appends=True, replaced=replaced)
    others = kept(names, replaced.condition()).sql("spark")
    return Rows(f"{others}\nUNION ALL\n{recounted}", context.named)
