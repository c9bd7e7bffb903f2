"""The rows of which a query compares values with the clock, as a query of these values. Pure.

It may have more rows than the comparison is made for: the answer is then an earlier instant than it
need be, never a later one. Clock calls below it stay as they are evaluated: until one of their own
comparisons changes, they have the same rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from dbt.adapters.spark_mv.expiry.terms import (
    Atom,
    ancestors,
    block_of,
    clause_of,
    is_constant,
    reads,
)
from dbt.adapters.spark_mv.ivm.algebra import aggregates
from dbt.adapters.spark_mv.ivm.algebra.terms import conjuncts
from dbt.adapters.spark_mv.sql.reads import parse, relations_of

VALUE = "mv_value_"
_LONGEST = 100
# What a selection of values takes from the selection that the comparison stands in.
_FROM = ("from_", "joins", "laterals")
_GROUPED = (*_FROM, "where", "group")
_INNER = ("", "INNER", "CROSS")


class NotDerived(Exception):
    """The rows that a comparison is made for cannot be written as a query; says why."""


def rows_of(atoms: Sequence[Atom]) -> list[tuple[str, list[Atom]]]:
    """For the rows of each selection the text of a query, and the comparisons whose values it
    returns as `mv_value_0` .. in this order. Raises `NotDerived`."""
    found: dict[str, tuple[exp.Select, list[Atom]]] = {}
    for atom in atoms:
        rows = _rows(atom)
        key = rows.sql("spark")
        found.setdefault(key, (rows, []))[1].append(atom)
    return [(_with_values(rows, of), of) for rows, of in found.values()]


def _with_values(rows: exp.Select, atoms: list[Atom]) -> str:
    for number, atom in enumerate(atoms):
        rows = rows.select(exp.alias_(atom.row.copy(), f"{VALUE}{number}"), copy=False)
    return printed(rows)


def printed(tree: exp.Expr) -> str:
    """The text of a tree; raises `NotDerived` if it is the text of another tree as well, because
    sqlglot prints some in a way that means something else."""
    text = tree.sql("spark")
    is_query = isinstance(tree, exp.Query)
    read = parse(text if is_query else f"SELECT {text}")
    found = read if is_query or read is None else read.expressions[0]
    if found is None or _with_one_cast(found) != _with_one_cast(tree):
        raise NotDerived(f"{text[:_LONGEST]} is printed in another way than it is read")
    return text


def _with_one_cast(tree: exp.Expr) -> exp.Expr:
    """A copy of a tree in which both nodes that sqlglot has for CAST are one, as are those for
    TO_DATE."""

    def one(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Cast):
            return exp.TryCast(this=node.this, to=node.args["to"])
        if isinstance(node, exp.TsOrDsToDate):
            return exp.TsOrDsToDate(this=node.this)
        return node

    return tree.copy().transform(one)


def by_alias(atom: Atom) -> Atom | None:
    """An atom with the names that its selection gives to values replaced by these values; None if
    it names none. Spark decides whether a name is that of a value or of a column."""
    block = block_of(atom.node)
    if block is None or clause_of(atom.node, block) in ("where", "joins"):
        return None
    values = {item.alias.lower(): item.this for item in block.expressions if item.alias}

    def value(node: exp.Expr) -> exp.Expr:
        is_name = isinstance(node, exp.Column) and not node.table
        found = values.get(node.name.lower()) if is_name else None
        return node if found is None else exp.paren(found.copy())

    row = atom.row.copy().transform(value)
    return None if row == atom.row else replace(atom, row=row)


def _rows(atom: Atom) -> exp.Select:
    """A selection without columns, of the rows that an atom is evaluated for."""
    if is_constant(atom.row) and not atom.row.find(exp.Anonymous):
        return exp.Select()
    block = block_of(atom.node)
    if block is None:
        raise NotDerived("it stands outside of a SELECT")
    if atom.row.find(exp.Query):
        raise NotDerived("it is compared with a subquery")
    clause = clause_of(atom.node, block)
    if clause == "joins":
        rows = _of_join(atom, block)
    elif clause != "where" and _is_of_groups(atom, block):
        rows = _of_groups(block)
    else:
        rows = _taken(block, _FROM)
        _keep_conditions(rows, block)
    with_ = _named_queries(block)
    if with_:
        rows.set("with_", exp.With(expressions=with_))
    return rows


def _taken(block: exp.Select, clauses: Sequence[str]) -> exp.Select:
    rows = exp.Select()
    for clause in clauses:
        part = block.args.get(clause)
        if isinstance(part, list):
            rows.set(clause, [one.copy() for one in part])
        elif part is not None:
            rows.set(clause, part.copy())
    return rows


def _is_of_groups(atom: Atom, block: exp.Select) -> bool:
    """Whether a value may be one of groups, or of windows, and not of the rows before them. What
    else stands beside groups are their keys, which rows have, too."""
    kinds = (exp.AggFunc, exp.Filter, exp.Select)
    around = next((node for node in ancestors(atom.node) if isinstance(node, kinds)), block)
    if around is not block:
        return False
    unknown = atom.row.find(exp.AggFunc, exp.Window, exp.Anonymous, exp.Any, exp.All)
    return unknown is not None or bool(aggregates.calls(atom.row))


def _of_groups(block: exp.Select) -> exp.Select:
    rows = _taken(block, _GROUPED)
    group = rows.args.get("group")
    if group is None:
        return rows
    if group.args.get("all"):
        raise NotDerived("GROUP BY ALL depends on what is returned")
    for key in list(group.expressions):
        if isinstance(key, exp.Literal):
            place = int(key.name) - 1 if key.name.isdigit() else -1
            if not 0 <= place < len(block.expressions) or block.expressions[place].is_star:
                raise NotDerived(f"GROUP BY {key.name} is no column")
            key.replace(block.expressions[place].unalias().copy())
    return rows


def _keep_conditions(rows: exp.Select, block: exp.Select) -> None:
    """Leave out rows that are dropped whatever the clock says, where that can be said by itself."""
    where = block.args.get("where")
    if where is None or _is_in_expression(block):
        return
    for part in conjuncts(where.this):
        if not reads(part):
            rows.where(part.copy(), copy=False)


def _of_join(atom: Atom, block: exp.Select) -> exp.Select:
    """Rows of the one relation that a condition of a join compares with the clock."""
    names = {column.table for column in atom.row.find_all(exp.Column)}
    relations = {relation.alias_or_name: relation for relation in relations_of(block)}
    if len(names) == 1 and (name := names.pop()) in relations:
        return exp.Select().from_(relations[name].copy())
    if any(join.side or join.kind not in _INNER for join in block.args.get("joins") or []):
        raise NotDerived("a condition of an outer, semi or anti join names no single relation")
    rows = _taken(block, _FROM)
    for join in rows.args.get("joins") or []:
        kept = [part for part in conjuncts(join.args.get("on")) if not reads(part)]
        if join.args.get("on") is not None:
            join.set("on", exp.and_(*kept) if kept else exp.true())
    return rows


def _is_in_expression(block: exp.Select) -> bool:
    """Whether a selection is a subquery of an expression, which may name columns around it."""
    for node in ancestors(block):
        if isinstance(node, (exp.From, exp.Join, exp.CTE)):
            return False
        if not isinstance(node, (exp.Subquery, exp.SetOperation)):
            return True
    return False


def _named_queries(block: exp.Select) -> list[exp.Expr]:
    """The named queries that a selection can read, outermost first."""
    clauses = [node.args.get("with_") for node in (block, *ancestors(block))]
    found = [clause for clause in clauses if isinstance(clause, exp.With)]
    if any(clause.args.get("recursive") for clause in found):
        raise NotDerived("it stands in a recursive query")
    return [cte.copy() for clause in reversed(found) for cte in clause.expressions]
