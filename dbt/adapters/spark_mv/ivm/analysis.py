"""Analyses a definition: whether its rows can be kept up to date by what changed, and how."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt.adapters.spark_mv.core.reasons import Reason
from dbt.adapters.spark_mv.ivm.algebra import aggregates, rounding
from dbt.adapters.spark_mv.ivm.algebra.terms import NotFast, not_fast
from dbt.adapters.spark_mv.ivm.apply import additive, top_n
from dbt.adapters.spark_mv.ivm.apply.top_n import First
from dbt.adapters.spark_mv.ivm.delta import grouping, inexact
from dbt.adapters.spark_mv.ivm.delta.grouping import Groups
from dbt.adapters.spark_mv.ivm.program import Program, rows_after
from dbt.adapters.spark_mv.ivm.rewrite import grouping_sets, key_types, total_order
from dbt.adapters.spark_mv.ivm.rewrite.canonical import canonical, parsed
from dbt.adapters.spark_mv.ivm.rewrite.limit_to_window import numbered
from dbt.adapters.spark_mv.ivm.rewrite.output_names import (
    plainly_named,
    with_names,
    with_names_told_apart,
)
from dbt.adapters.spark_mv.ivm.rewrite.qualify_columns import leave_out_unread
from dbt.adapters.spark_mv.ivm.rewrite.set_operations import as_groups, with_common_types
from dbt.adapters.spark_mv.ivm.rewrite.time_windows import as_expressions

# DESCRIBE QUERY: the Spark types of a query's columns.
TypesOf = Callable[[exp.Query], list[str]]


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
        asking = _Asking(
            plainly_named(understood).sql("spark"), columns, outputs, types_of, float_additive
        )
        leave_out_unread(understood)
        understood = as_expressions(with_names_told_apart(understood), types_of)
        understood = numbered(with_common_types(understood, types_of), types_of)
        try:
            return _analysed(understood, asking)
        except NotFast as error:
            ordered = None
            if error.reason.code == "ORDER_DEPENDENT":
                ordered = total_order.without_ties(understood, types_of)
            if ordered is None:
                raise
            program = _analysed(ordered, asking)
            # It is what complete refreshes compute, too, so Spark has to take it.
            types_of(program.stored_query())
            return program
    except RecursionError:
        raise not_fast("NOT_PARSED", "it is nested too deeply to be analysed; flatten it") from None


def _analysed(understood: exp.Query, asking: _Asking) -> Program:
    names = asking.names_of(understood)
    cut = top_n.split(understood, names)
    if cut is not None:
        return asking.checked(_of_first_rows(*cut, names, asking))
    added = _as_added_groups(understood, names, asking)
    if added is not None and added.additive is not None:
        with suppress(NotFast):
            return asking.checked(added)
    found = _by_group(understood, names, asking)
    if added is not None and added.why_not_added is not None:
        # The reason against the form that comes closest.
        found = replace(found, why_not_added=added.why_not_added)
    return asking.checked(found)


@dataclass(frozen=True)
class _Asking:
    """What is known of a definition, and what its analysis asks Spark."""

    read: str
    columns: Mapping[str, Sequence[str]]
    outputs: Mapping[str, str]
    types_of: TypesOf
    float_additive: bool

    def names_of(self, understood: exp.Query) -> list[str]:
        """The names of the view's columns, and that of the mark if the query returns it."""
        if total_order.ORDERED in self.outputs:
            raise not_fast(
                "NOT_PARSED",
                f"its column {total_order.ORDERED} has a reserved name; give it another",
            )
        has_mark = total_order.ORDERED in understood.named_selects
        return [*self.outputs, *([total_order.ORDERED] if has_mark else [])]

    def checked(self, found: Program) -> Program:
        """The program, of which every part has a rule; raises `NotFast` if one has none."""
        key_types.check_joined(found.query, self.types_of)
        rounding.mark(found.query, self.types_of)
        if found.additive is not None:
            rounding.mark(found.additive.query, self.types_of)
        try:
            return self._derived(found)
        except NotFast as error:
            groups = None
            if error.reason.code == "ORDER_DEPENDENT" and found.first is None:
                groups = inexact.groups_of(found.query, found.groups)
            if groups is None:
                raise
            return self._derived(replace(found, groups=groups, additive=None))

    def _derived(self, found: Program) -> Program:
        """The program, if the change of every table has a rule; what changes may be too much for a
        query, but not if it is the first table alone, or the last."""
        tables, types, errors = list(self.columns), list(self.outputs.values()), []
        for changed in (tables, tables[:1], tables[-1:]):
            try:
                rows_after(found, frozenset(changed), False, types)
                return found
            except NotFast as error:
                if error.reason.code != "TOO_LARGE":
                    raise
                errors.append(error)
        raise errors[0]

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


def _of_first_rows(
    query: exp.Query, first: First, names: Sequence[str], asking: _Asking
) -> Program:
    return Program(asking.read, with_names(canonical(query), names), first=first)


def _as_added_groups(
    understood: exp.Query, names: Sequence[str], asking: _Asking
) -> Program | None:
    """The program of a query that is groups in another form; None if it is not, or is not
    understood as such."""
    groups = as_groups(understood)
    if groups is None:
        return None
    with suppress(NotFast):
        return _by_group(groups, names, asking)
    return None


def _by_group(understood: exp.Query, names: Sequence[str], asking: _Asking) -> Program:
    """The program of a query whose rows are all stored."""
    found = _with_sets(understood, names, asking)
    if found is not None:
        return found
    tree = with_names(canonical(understood), names)
    groups = Groups(tree, ()) if _is_one_group(tree) else grouping.groups_of(tree)
    return Program(asking.read, tree) if groups is None else asking.program(tree, groups)


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
    leave_out_unread(understood)
    understood = with_common_types(as_expressions(understood, types_of), types_of)
    tree = with_names(canonical(understood), list(outputs))
    key_types.check_joined(tree, types_of)
    return Program(read, tree, why_not_fast=why)


def _with_sets(understood: exp.Query, names: Sequence[str], asking: _Asking) -> Program | None:
    """The program of a query that adds to groups by GROUPING SETS; None if it is not one."""
    tree = canonical(understood, keep_sets=True)
    if not grouping_sets.has_sets(tree):
        return None
    assert isinstance(tree, exp.Select)
    keys = grouping_sets.keys_of(tree)
    groups = Groups(with_names(tree, names), (*keys, grouping_sets.number(keys)))
    found = asking.program(tree, groups)
    return found if found.additive and grouping_sets.are_distinct(tree) else None


def _is_one_group(tree: exp.Query) -> bool:
    """Whether it aggregates all rows into one."""
    if not isinstance(tree, exp.Select) or tree.args.get("distinct") or tree.args.get("group"):
        return False
    has_window = any(item.find(exp.Window) for item in tree.expressions)
    return not has_window and any(aggregates.calls(item) for item in tree.expressions)
