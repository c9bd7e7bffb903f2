"""How the rows of one definition are kept up to date, and the query that does it for a change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.spark_mv.ivm import (
    additive,
    aggregates,
    bag,
    first_rows,
    grouping_sets,
    keyed,
    measures,
    merge,
    rounding,
    scalars,
)
from dbt.adapters.spark_mv.ivm.additive import STORED, Additive
from dbt.adapters.spark_mv.ivm.canonical import canonical, parsed
from dbt.adapters.spark_mv.ivm.delta import Delta
from dbt.adapters.spark_mv.ivm.first_rows import First
from dbt.adapters.spark_mv.ivm.keyed import Groups
from dbt.adapters.spark_mv.ivm.naming import plainly_named, with_names
from dbt.adapters.spark_mv.ivm.tree import (
    Context,
    NotFast,
    column,
    derived,
    named_columns,
    no,
    not_fast,
)
from dbt.adapters.spark_mv.reasons import Reason

# DESCRIBE QUERY: the Spark types of a query's columns.
TypesOf = Callable[[exp.Query], list[str]]
_UNGROUPED = ("map<", "variant")


@dataclass(frozen=True)
class Program:
    """One definition, analysed. `read` is the query as it was understood, before anything was
    rewritten; `query` is canonical and has the names of the view's columns.

    `additive` says how its groups are added to, `groups` which groups are computed anew; without
    either each row is by itself. `first` says which rows of `query` LIMIT leaves.
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
            return "the first rows, from those that are stored and those that came"
        if self.additive is not None:
            return "changes are added to its groups"
        if self.groups is not None:
            return "groups of changed rows are computed anew"
        return "row by row"

    @property
    def hidden(self) -> dict[str, exp.Expr]:
        """Columns of the storage table that the view does not show, and what they hold."""
        return dict(self.additive.hidden) if self.additive else {}

    def stored_query(self) -> exp.Query:
        """The query of everything that is stored."""
        if self.first is not None:
            return self.first.cut(self.query)
        return self.additive.stored_query() if self.additive else self.query


@dataclass(frozen=True)
class Rows:
    """The rows of a storage table after a change: `named` queries, and `query`, which reads them,
    the tables' versions, and, as mv_stored, the rows before.

    With `appends` the result is only what is to be added to the stored rows.
    """

    query: str
    named: Mapping[str, exp.Query]
    appends: bool = False


def analyse(
    query: str,
    columns: Mapping[str, Sequence[str]],
    outputs: Mapping[str, str],
    types_of: TypesOf,
    float_additive: bool = False,
) -> Program:
    """The program of a query over tables `mv_table_<n>` with these columns.

    `outputs` are the columns of the view with their Spark types; `float_additive` says that sums of
    floating point numbers may be added to. Raises `NotFast` if it has none.
    """
    try:
        understood = parsed(query, columns)
        read = plainly_named(understood).sql("spark")
        cut = first_rows.split(understood, list(outputs))
        if cut is not None:
            understood, first = cut
            found = Program(read, with_names(canonical(understood), list(outputs)), first=first)
        else:
            found = _by_group(understood, list(outputs), _Adding(read, types_of, float_additive))
        _check_keys(found.query, types_of)
        rounding.mark(found.query, types_of)
        # Every table may change, so every part needs a rule.
        rows_after(found, frozenset(columns), False, list(outputs.values()))
        return found
    except RecursionError:
        raise not_fast("NOT_PARSED", "it is nested too deeply to be analysed; flatten it") from None


@dataclass(frozen=True)
class _Adding:
    """What it takes to find out whether groups of a query can be added to."""

    read: str
    types_of: TypesOf
    float_additive: bool

    def program(self, tree: exp.Query, groups: Groups) -> Program:
        """The program of a query by groups."""
        try:
            # A selection from groups, and a window, have keys too.
            if not isinstance(tree, exp.Select) or (groups.keys and not tree.args.get("group")):
                raise not_fast("NOT_ADDITIVE", "it is not a GROUP BY")
            arguments = [item.sql() for item in additive.arguments_of(tree)]
            types = self.types_of(additive.probe(tree)) if arguments else []
            known = dict(zip(arguments, types, strict=True))
            made = additive.additive_of(groups, known, self.float_additive)
            return Program(self.read, tree, groups, made)
        except NotFast as error:
            if not groups.keys:
                raise
            return Program(self.read, tree, groups, why_not_added=error.reason)


def _by_group(understood: exp.Query, names: Sequence[str], adding: _Adding) -> Program:
    """The program of a query whose rows are all stored."""
    found = _with_sets(understood, names, adding)
    if found is not None:
        return found
    tree = with_names(canonical(understood), names)
    groups = Groups(tree, ()) if _is_one_group(tree) else keyed.groups_of(tree)
    return Program(adding.read, tree) if groups is None else adding.program(tree, groups)


def without_rules(
    query: str,
    columns: Mapping[str, Sequence[str]],
    outputs: Mapping[str, str],
    types_of: TypesOf,
    why: Reason,
) -> Program:
    """As `analyse`, for a query that has no fast refresh; raises `NotFast` if it is not even
    understood."""
    understood = parsed(query, columns)
    if understood.args.get("limit"):
        raise NotFast(why)
    read = plainly_named(understood).sql("spark")
    tree = with_names(canonical(understood), list(outputs))
    _check_keys(tree, types_of)
    return Program(read, tree, why_not_fast=why)


def _with_sets(understood: exp.Query, names: Sequence[str], adding: _Adding) -> Program | None:
    """The program of a query that adds to groups by GROUPING SETS; None if it is not one."""
    tree = canonical(understood, keep_sets=True)
    if not grouping_sets.has_sets(tree):
        return None
    assert isinstance(tree, exp.Select)
    keys = grouping_sets.keys_of(tree)
    groups = Groups(with_names(tree, names), (*keys, grouping_sets.number(keys)))
    found = adding.program(tree, groups)
    return found if found.additive and grouping_sets.are_distinct(tree) else None


def _check_keys(tree: exp.Query, types_of: TypesOf) -> None:
    for probe in scalars.probes(tree):
        types = types_of(probe)
        for one, two in zip(types[::2], types[1::2], strict=True):
            if one != two and not (measures.is_whole(one) and measures.is_whole(two)):
                text = f"a subquery compares {one} with {two}; cast one to the type of the other"
                raise not_fast("CORRELATED", text, probe.args["joins"][0].args["on"])


def _is_one_group(tree: exp.Query) -> bool:
    """Whether it aggregates all rows into one."""
    if not isinstance(tree, exp.Select) or tree.args.get("distinct") or tree.args.get("group"):
        return False
    has_window = any(item.find(exp.Window) for item in tree.expressions)
    return not has_window and any(aggregates.calls(item) for item in tree.expressions)


def rows_after(
    program: Program, changed: frozenset[str], inserts_only: bool, types: Sequence[str]
) -> Rows:
    """The stored rows after a change of the tables `changed`, from which nothing has gone if
    `inserts_only`. `types` are those of the view's columns. Raises `NotFast`."""
    context = Context(changed, inserts_only)
    rule = Delta(context)
    if not context.touches(program.query):
        return _unchanged(program)
    if program.additive is not None:
        merged = merge.merged_rows(program.additive, rule)
        assert merged is not None
        return Rows(merged.sql("spark"), context.named)
    if program.groups is not None:
        found = _by_key(program, program.groups, rule)
        if found is not None:
            return found
    return _by_row(program, rule, types)


def _unchanged(program: Program) -> Rows:
    """Nothing to add: what changed is only named by a WITH that is not used."""
    names = [*named_columns(program.query), *program.hidden]
    rows = exp.Select(expressions=[column(STORED, name) for name in names])
    rows = rows.from_(exp.to_table(STORED)).where(exp.false())
    return Rows(rows.sql("spark"), {}, appends=True)


def _replaced(program: Program, context: Context, rows: exp.Query, belongs: exp.Expr) -> Rows:
    """Stored rows that do not belong to changed groups, and the rows of those that do."""
    names = [*named_columns(program.query), *program.hidden]
    kept = exp.Select(expressions=[column(STORED, name) for name in names])
    kept = kept.from_(exp.to_table(STORED)).where(no(belongs))
    text = rows.sql("spark")
    added = f"({text})" if isinstance(rows, exp.SetOperation) else text
    return Rows(f"{kept.sql('spark')}\nUNION ALL\n{added}", context.named)


def _by_key(program: Program, groups: Groups, rule: Delta) -> Rows | None:
    """Groups of changed keys computed anew; None if the keys are not among the columns."""
    stored = keyed.returned_keys(groups)
    if stored is None:
        return None
    keys = keyed.changed_keys(groups, rule)
    assert keys is not None
    rows = keyed.restricted(groups, groups.query, keys)
    belongs = keyed.is_key(tuple(column(STORED, name) for name in stored), keys)
    return _replaced(program, rule.context, rows, belongs)


def _by_row(program: Program, rule: Delta, types: Sequence[str]) -> Rows:
    """Stored rows, less those that went, and those that came; the first of them, if there is a
    LIMIT."""
    context, first = rule.context, program.first
    delta = rule.query(program.query)
    assert delta is not None
    names = named_columns(program.query)
    if context.only_adds:
        if first is not None:
            return Rows(first_rows.with_came(first, names, delta), context.named)
        columns = [column("mv_delta", name) for name in names]
        return Rows(
            exp.Select(expressions=columns).from_(derived(delta, "mv_delta")).sql("spark"),
            context.named,
            appends=True,
        )
    for name, type_name in zip(names, types, strict=True):
        if any(word in type_name for word in _UNGROUPED):
            text = f"the column {name} has the type {type_name}, whose values are not compared; "
            raise not_fast("NOT_COMPARED", text + "return ARRAY_SORT(MAP_ENTRIES(..)), or text")
    net = context.define("net", bag.net(delta, names))
    if first is not None:
        return Rows(first_rows.with_net(first, names, net.name), context.named)
    return Rows(bag.rows(names, net.name), context.named)
