"""Rewrites a query into the few forms that the delta rules know.

- WITH is gone: a name that it defines stands where it is used.
- A selection with an outer join is one of two relations, with no WHERE, below the rest.
- GROUPING SETS, ROLLUP and CUBE are UNION ALL of groups, unless they are all of the query.
- Windows over aggregates, and DISTINCT over either, are selections of their own.
- Conditions of aggregates, as FILTER has them, stand in their arguments.
- Semi and anti joins, IN and NOT IN are [NOT] EXISTS over one relation, in the WHERE.
- Subqueries as values, and LATERAL ones, are relations that are joined.

>>> query = '''
...     WITH large AS (SELECT * FROM orders WHERE total > 9)
...     SELECT id FROM large WHERE customer IN (SELECT id FROM customers)
... '''
>>> columns = {"orders": ["id", "customer", "total"], "customers": ["id"]}
>>> print(canonical(parsed(query, columns)).sql("spark"))
SELECT `large`.`id` AS `id`
FROM (SELECT `orders`.`id` AS `id`, `orders`.`customer` AS `customer`, `orders`.`total` AS `total`
  FROM `orders` AS `orders` WHERE `orders`.`total` > 9) AS large
WHERE EXISTS(SELECT 1
  FROM (SELECT `customers`.`id` AS mv_column_0 FROM `customers` AS `customers`) AS mv_inner
  WHERE `large`.`customer` = `mv_inner`.`mv_column_0`)
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import cast

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify

from dbt.adapters.spark_mv.core.reasons import Reason
from dbt.adapters.spark_mv.ivm.algebra import aggregates
from dbt.adapters.spark_mv.ivm.algebra.misread import refuse_misread, refuse_too_large
from dbt.adapters.spark_mv.ivm.algebra.terms import NotFast, both, conjuncts, derived, not_fast
from dbt.adapters.spark_mv.ivm.algebra.written import remember
from dbt.adapters.spark_mv.ivm.rewrite import (
    grouping_sets,
    laterals,
    nested_joins,
    scalar_subqueries,
    split_aggregation,
    subqueries,
    using,
)
from dbt.adapters.spark_mv.ivm.rewrite.output_names import name_values
from dbt.adapters.spark_mv.ivm.rewrite.qualify_columns import by_relation
from dbt.adapters.spark_mv.ivm.rewrite.time_windows import name_windows
from dbt.adapters.spark_mv.sql.parser import statements
from dbt.adapters.spark_mv.sql.reads import relations_of

_FIRST = (
    "which rows are the first is known only of ORDER BY and LIMIT at the end; "
    "put them there, or in a view or query over the materialized view"
)
# How sqlglot begins to say that a name is no column.
_UNRESOLVED = re.compile("(?:Column '|Unknown column: )([^'\n]+)")
_UNSUPPORTED = {
    "limit": Reason("LIMIT", _FIRST),
    "offset": Reason("LIMIT", _FIRST),
    "sample": Reason(
        "SAMPLE",
        "a sample is not a function of the rows; sample in a query over the materialized view",
    ),
    "pivots": Reason("PIVOT", "PIVOT has no delta query; write it as aggregates of CASE"),
    "qualify": Reason("WINDOW", "QUALIFY is not supported; filter in a query around it"),
    "match": Reason("MATCH_RECOGNIZE", "MATCH_RECOGNIZE has no delta query"),
}


def parsed(query: str, columns: Mapping[str, Sequence[str]]) -> exp.Query:
    """The tree of a query over tables with these columns, every column with its relation.

    Raises `NotFast` if it cannot be read with certainty.
    """
    schema: dict[str, object] = {
        table: {name.lower(): "string" for name in names} for table, names in columns.items()
    }
    try:
        (tree,) = statements(query)
        if tree is None:
            raise not_fast("NOT_PARSED", "it is not a SELECT")
        remember(tree)
        refuse_too_large(tree)
        for clause in tree.find_all(exp.With):
            if clause.args.get("recursive"):
                text = "a recursive query has no delta query; build a table of it, and read that"
                raise not_fast("RECURSIVE", text, clause)
        known = {name for names in columns.values() for name in names}
        by_relation(tree, known)
        name_windows(tree, frozenset(name.lower() for name in known))
        using.mark(tree)
        found = qualify(tree, dialect="spark", schema=schema, quote_identifiers=True)
    except (SqlglotError, RecursionError, ValueError, KeyError, TypeError) as error:
        raise _not_read(query, columns, str(error)) from None
    if not isinstance(found, exp.Query):
        raise not_fast("NOT_PARSED", "it is not a SELECT")
    refuse_misread(found)
    using.resolve(found)
    name_values(found)
    grouping_sets.write_out_all(found)
    return _told_apart(cast(exp.Query, _without_with(found, {})), columns)


def _not_read(query: str, columns: Mapping[str, Sequence[str]], error: str) -> NotFast:
    """Why a query cannot be read, by the error of who tried."""
    known = {column.lower() for listed in columns.values() for column in listed}
    found = _UNRESOLVED.match(error)
    # A name that the query itself gives may be out of reach for another reason.
    if found is not None and found[1].lower() not in known | _given_names(query):
        return not_fast("COLUMN_GONE", f"it names the column {found[1]}, which no table has")
    text = "it cannot be analysed; give each relation a name, and write its columns with that"
    return not_fast("NOT_PARSED", f"{text} ({error[:200]})")


def _given_names(query: str) -> set[str]:
    """The names of columns that a query gives itself to others, in lower case."""
    (tree,) = statements(query)
    if tree is None:
        return set()
    aliases = {
        item.alias.lower()
        for item in tree.find_all(exp.Alias)
        if item.alias.lower() not in {column.name.lower() for column in item.find_all(exp.Column)}
    }
    listed = {
        item.name.lower() for alias in tree.find_all(exp.TableAlias) for item in alias.columns
    }
    return aliases | listed


def _told_apart(query: exp.Query, columns: Mapping[str, Sequence[str]]) -> exp.Query:
    """The query, in which no relation is called like a column.

    Conditions are moved into EXISTS, in which `a.b` is field b of a column a before it is column b
    of a relation a outside. Names of LATERAL VIEWs are changed too: they are printed unquoted.
    """
    taken = {name.lower() for listed in columns.values() for name in listed}
    taken |= {item.alias.lower() for item in query.find_all(exp.Alias)}
    for alias in query.find_all(exp.TableAlias):
        taken |= {item.name.lower() for item in alias.columns}
        taken |= {alias.name.lower()} if isinstance(alias.parent, exp.Lateral) else set()
    names: dict[str, str] = {}
    for node in query.find_all(exp.TableAlias, exp.Column):
        called = node.args.get("this" if isinstance(node, exp.TableAlias) else "table")
        if isinstance(called, exp.Identifier) and called.name.lower() in taken:
            called.set("this", names.setdefault(called.name, f"mv_relation_{len(names)}"))
    return query


def _without_with(node: exp.Expr, known: Mapping[str, exp.Query]) -> exp.Expr:
    """The tree with each name of a WITH replaced by its query."""
    clause = node.args.get("with_")
    if clause is not None:
        inside = dict(known)
        for item in clause.expressions:
            inside[item.alias.lower()] = cast(exp.Query, _without_with(item.this, inside))
        known = inside
        node.set("with_", None)
    if isinstance(node, exp.Table) and not node.db and node.name.lower() in known:
        return derived(known[node.name.lower()].copy(), node.alias_or_name)
    for child in list(node.iter_expressions()):
        found = _without_with(child, known)
        if found is not child:
            child.replace(found)
    return node


def canonical(query: exp.Query, keep_sets: bool = False) -> exp.Query:
    """A copy of a parsed query in the forms of this module; raises `NotFast`.

    With `keep_sets` it may itself be grouped by GROUPING SETS.
    """
    found = query.copy()
    aggregates.plain(found)
    subqueries.simplify(found)
    return _rewritten(found) if keep_sets else _part(found)


def _part(query: exp.Query) -> exp.Query:
    return grouping_sets.spread(_rewritten(query))


def _rewritten(query: exp.Query) -> exp.Query:
    inner = query.unnest()
    if isinstance(inner, exp.SetOperation):
        return _set_operation(inner)
    if not isinstance(inner, exp.Select):
        text = "it has a part that is no SELECT; write it as one, and joins without parentheses"
        raise not_fast("NOT_A_SELECT", text, inner)
    return _selection(inner)


def _set_operation(query: exp.SetOperation) -> exp.Query:
    _refuse_modifiers(query)
    if query.args.get("by_name") or query.args.get("side") or query.args.get("on"):
        raise not_fast(
            "SET_OPERATION", "BY NAME is not supported; list the columns in one order", query
        )
    found = query.copy()
    found.set("with_", None)
    found.set("order", None)
    found.set("this", _part(cast(exp.Query, query.this)))
    found.set("expression", _part(cast(exp.Query, query.expression)))
    return found


def _refuse_modifiers(query: exp.Query) -> None:
    for key, reason in _UNSUPPORTED.items():
        clause = query.args.get(key)
        if clause:
            shown = clause[0] if isinstance(clause, list) else clause
            raise not_fast(reason.code, reason.text, shown)


def _selection(query: exp.Select) -> exp.Select:
    _refuse_modifiers(query)
    found = query.copy()
    for key in ("with_", "order", "sort", "cluster", "distribute", "hint"):
        found.set(key, None)
    subqueries.conditions_to_where(found)
    found = laterals.without_laterals(found, _part)
    found = grouping_sets.plain(split_aggregation.split_aggregation(found))
    found = split_aggregation.split_distinct(found)
    _refuse_subqueries(found)
    for relation in relations_of(found):
        for clause in ("sample", "pivots"):
            if relation.args.get(clause):
                reason = _UNSUPPORTED[clause]
                raise not_fast(reason.code, reason.text, relation)
        if isinstance(relation, exp.Subquery):
            relation.set("this", _part(cast(exp.Query, relation.this)))
        elif not isinstance(relation, (exp.Table, exp.Lateral, exp.Values, exp.Unnest)):
            raise not_fast(
                "RELATION", "it reads something that is no relation; use a subquery", relation
            )
        elif isinstance(relation, exp.Lateral) and relation.find(exp.Query):
            text = "a subquery stands in the arguments of LATERAL, or first in FROM; join it"
            raise not_fast("CORRELATED", text, relation)
    subqueries.semi_joins_to_exists(found)
    _without_subqueries(found)
    return nested_joins.nested(found)


def _without_subqueries(query: exp.Select) -> None:
    """Make conditions [NOT] EXISTS, and join the relations that stand for values."""
    values = scalar_subqueries.Scalars(query, _part)
    condition = both(
        values.without(part)
        if scalar_subqueries.asks_for_groups(part) or not subqueries.is_condition(part)
        else subqueries.as_exists(part, _part)
        for part in conjuncts(query.args.get("where"))
    )
    query.set("where", exp.Where(this=condition) if condition is not None else None)
    query.set("expressions", [values.without(item) for item in query.expressions])
    group = query.args.get("group")
    query.set("group", values.without(group) if group is not None else None)


def _refuse_subqueries(query: exp.Select) -> None:
    parts = [join.args.get("on") for join in query.args.get("joins") or []]
    parts += query.args.get("laterals") or []
    for part in parts:
        inner = part.find(exp.Query) if part is not None else None
        if inner is not None:
            text = "a subquery stands in ON of an outer join, or in LATERAL VIEW; put it in FROM"
            raise not_fast("SCALAR_SUBQUERY", text, inner)


__all__ = ["NotFast", "canonical", "parsed"]
