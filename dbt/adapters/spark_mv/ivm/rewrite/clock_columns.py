"""The clock as a column: a comparison of a table's rows with the clock is one more column of it.

A tick of the clock is then an update of that column, in the rows for which the comparison has
another result, and everything else is as if the query read no clock.

>>> columns = {"mv_table_0": ["id", "due"]}
>>> query = "SELECT t.id FROM mv_table_0 AS t WHERE t.due > mv_clock_now()"
>>> text, found = with_clock_columns(query, columns)
>>> print(text)
SELECT `t`.`id` AS `id` FROM `mv_table_0` AS `t` WHERE `t`.`mv_clock_0`
>>> found
{'mv_table_0': {'mv_clock_0': '`due` > mv_clock_now'}}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra import aggregates
from dbt.adapters.spark_mv.ivm.algebra.scopes import is_shaped
from dbt.adapters.spark_mv.ivm.algebra.terms import (
    GENERATORS,
    TABLE,
    WEIGHT,
    column,
    not_fast,
    operand,
)
from dbt.adapters.spark_mv.ivm.rewrite.canonical import parsed
from dbt.adapters.spark_mv.sql.parser import statements
from dbt.adapters.spark_mv.sql.reads import relations_of
from dbt.adapters.spark_mv.views.clock import PLACEHOLDERS

CLOCK_COLUMN = "mv_clock_"
# By table: the SQL of each column, over the others, with placeholders for what the clock says.
ClockColumns = dict[str, dict[str, str]]
_COMPARISONS = (exp.GT, exp.GTE, exp.LT, exp.LTE, exp.EQ, exp.NEQ, exp.Between)
# Clauses, and what is computed of many rows: no value or condition of one row reaches beyond.
BEYOND_ROWS = (
    exp.Query,
    exp.Subquery,
    exp.Alias,
    exp.AggFunc,
    exp.Window,
    exp.Filter,
    exp.Ordered,
    exp.Where,
    exp.Having,
    exp.Qualify,
    exp.Join,
    exp.Group,
    exp.Lateral,
)
_NOT_BY_ROW = (exp.Query, exp.AggFunc, exp.Window, exp.Lambda, exp.Dot, *GENERATORS)
# What moves with the clock, as far as it does.
_OF_TIME = (
    exp.Column,
    exp.Identifier,
    exp.Literal,
    exp.Add,
    exp.Sub,
    exp.Interval,
    exp.Var,
    exp.Paren,
    exp.Neg,
)
# What is NULL if its columns are.
_STRICT = (*_OF_TIME, *_COMPARISONS, exp.And, exp.Or, exp.Not, exp.Cast, exp.DataType)


def with_clock_columns(
    query: str, columns: Mapping[str, Sequence[str]]
) -> tuple[str, ClockColumns]:
    """A query over tables with these columns, in which the clock is called by the placeholders of
    `views.clock` as functions, as one that calls none, and the columns that it has instead.

    Raises `NotFast` if the clock is used in another way than in comparisons with rows of one table.
    """
    tree = parsed(query, columns)
    found: ClockColumns = {}
    for name in (name.lower() for names in columns.values() for name in names):
        if name.startswith(CLOCK_COLUMN) or name == WEIGHT:
            raise not_fast("CLOCK", f"a column is called {name}, a reserved name")
    # As they are written: their conditions become columns, too.
    keys = {id(group.parent): list(group.copy().walk()) for group in tree.find_all(exp.Group)}
    for call in [node for node in tree.find_all(exp.Anonymous) if _is_clock(node)]:
        if call.root() is not tree:
            continue  # it was in a comparison that has its column by now
        select = call.find_ancestor(exp.Select)
        assert select is not None
        predicate = _predicate(call, select, keys.get(id(select), []))
        predicate.replace(_column(predicate, select, found))
    return tree.sql("spark"), found


def without_clock_columns(query: str, values: Mapping[str, Mapping[str, str]]) -> str:
    """A query that was printed, in which columns of the clock are written out where tables have
    them; `values` has their SQL at an instant, by table."""
    (tree,) = statements(query)
    assert tree is not None
    for found in [c for c in tree.find_all(exp.Column) if c.name.startswith(CLOCK_COLUMN)]:
        select = found.find_ancestor(exp.Select)
        relations = relations_of(select) if select is not None else []
        table = next((r.name for r in relations if r.alias_or_name == found.table), "")
        text = values.get(table, {}).get(found.name)
        if text is not None:
            value = _of_relation(text, found.table)
            is_item = found.arg_key == "expressions" and isinstance(found.parent, exp.Select)
            found.replace(exp.alias_(value, found.name, quoted=True) if is_item else value)
    return tree.sql("spark")


def compared_values(text: str) -> list[tuple[str, str]] | None:
    """The columns that a condition compares with the clock, each with the SQL of what it says;
    None if it reads the clock in another way.

    >>> compared_values("`due` > mv_clock_now AND `due` <= mv_clock_now + INTERVAL '1' DAY")
    [('`due`', 'mv_clock_now'), ('`due`', "mv_clock_now + INTERVAL '1' DAY")]
    >>> compared_values("`due` BETWEEN mv_clock_now AND mv_clock_now + 1")
    [('`due`', 'mv_clock_now'), ('`due`', 'mv_clock_now + 1')]
    """
    (tree,) = statements(f"SELECT {text}")
    assert tree is not None
    found: list[tuple[str, str]] = []
    clocks = [c for c in tree.find_all(exp.Column) if c.name in PLACEHOLDERS]
    for clock in clocks:
        comparison = clock.find_ancestor(*_COMPARISONS)
        pair = _pair(clock, comparison) if comparison is not None else None
        if pair is None:
            return None
        found += [pair] if pair not in found else []
    return found


def _pair(clock: exp.Column, comparison: exp.Expr) -> tuple[str, str] | None:
    sides = [side for side in comparison.iter_expressions() if isinstance(side, exp.Expr)]
    # Trees that are written alike are equal, so this one is sought by what it is.
    own = next(side for side in sides if any(c is clock for c in side.find_all(exp.Column)))
    value = comparison.this if comparison.this is not own else comparison.expression
    if isinstance(comparison, exp.Between) and comparison.this is own:
        return None
    if any(column.name not in PLACEHOLDERS for column in own.find_all(exp.Column)):
        return None
    # Of functions nobody knows that they lie between two values, or have any.
    if not all(isinstance(node, _OF_TIME) for node in own.walk()):
        return None
    if not isinstance(value, exp.Column) or value.name in PLACEHOLDERS:
        return None
    return value.sql("spark"), own.sql("spark")


def _of_relation(text: str, alias: str) -> exp.Expr:
    (tree,) = statements(f"SELECT {text}")
    assert isinstance(tree, exp.Select)
    for item in tree.find_all(exp.Column):
        item.set("table", exp.to_identifier(alias, quoted=True))
    return tree.expressions[0].unalias()


def _is_clock(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and node.name in PLACEHOLDERS


def _predicate(call: exp.Expr, select: exp.Select, keys: Sequence[exp.Expr]) -> exp.Expr:
    """The largest condition around a call, in a selection, that is about rows of one relation, and
    that says of a row that an outer join has filled what a column of that row would; `keys` are
    parts of its GROUP BY."""
    best, node = None, call
    # Below GROUP BY equal conditions have to stay equal, so each is as small as it can be.
    is_grouped = aggregates.is_grouped(select)
    while node.parent is not None and not isinstance(node.parent, BEYOND_ROWS):
        node = node.parent
        if node.find(*_NOT_BY_ROW) is not None or len(_relations(node)) > 1:
            break
        filled = _relations(node) & _nullable(select, node)
        if _is_condition(node) and _relations(node) and (not filled or _is_strict(node)):
            best = node
            if is_grouped:
                break
    if best is None:
        text = "the clock stands for a value, or is compared with one that is not of one row"
        raise not_fast("CLOCK", text, node)
    if is_grouped and best not in keys and not _is_of_rows(best, select):
        raise not_fast("CLOCK_OVER_GROUPS", "it is a value of groups, and no key of them", best)
    return best


def _is_of_rows(condition: exp.Expr, select: exp.Select) -> bool:
    """Whether a condition in a selection that has groups is evaluated for each row of them."""
    node = condition
    while node.parent is not None and node.parent is not select:
        if isinstance(node, exp.AggFunc) or aggregates.is_call(node):
            return True
        node = node.parent
    return node.arg_key in ("where", "joins", "laterals", "group")


def _is_condition(node: exp.Expr) -> bool:
    return isinstance(node.unnest(), (exp.Predicate, exp.Connector, exp.Not))


def _relations(node: exp.Expr) -> set[str]:
    return {found.table for found in node.find_all(exp.Column)}


def _column(predicate: exp.Expr, select: exp.Select, found: ClockColumns) -> exp.Column:
    """The column that holds a condition over one relation of a selection."""
    (alias,) = _relations(predicate)
    relation = next((r for r in relations_of(select) if r.alias_or_name == alias), None)
    if relation is None:
        raise not_fast("CLOCK", "a subquery compares rows outside of it with the clock", predicate)
    if alias in _nullable(select, predicate) and not _is_strict(predicate):
        text = "it may be true of rows that an outer join has filled with NULL"
        raise not_fast("CLOCK", text, predicate)
    if isinstance(relation, exp.Table) and relation.name.startswith(TABLE):
        return column(alias, _named(predicate, found.setdefault(relation.name, {}), found))
    if isinstance(relation, exp.Subquery) and not relation.alias_column_names:
        return column(alias, _pushed(predicate, relation, found))
    raise not_fast("CLOCK", "it is about a relation that is no table", predicate)


def _named(predicate: exp.Expr, known: dict[str, str], found: ClockColumns) -> str:
    text = predicate.copy().transform(_over_table).sql("spark")
    for name, other in known.items():
        if other == text:
            return name
    name = f"{CLOCK_COLUMN}{sum(len(names) for names in found.values())}"
    known[name] = text
    return name


def _over_table(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Column):
        return exp.column(node.name, quoted=True)
    return exp.column(node.name) if _is_clock(node) else node


def _pushed(predicate: exp.Expr, relation: exp.Subquery, found: ClockColumns) -> str:
    """The name of a column that a subquery returns beside its own, with a condition over those."""
    inner = relation.this.unnest()
    text = "rows are put together before they are compared"
    if not isinstance(inner, exp.Select) or is_shaped(inner) or aggregates.is_grouped(inner):
        raise not_fast("CLOCK_OVER_GROUPS", text, predicate)
    outputs = {item.alias_or_name: item.unalias() for item in inner.expressions}

    def replaced(node: exp.Expr) -> exp.Expr:
        return operand(outputs[node.name].copy()) if isinstance(node, exp.Column) else node

    moved = predicate.copy().transform(replaced)
    if moved.find(*_NOT_BY_ROW) is not None:
        raise not_fast("CLOCK_OVER_GROUPS", text, predicate)
    if len(_relations(moved)) != 1:
        raise not_fast("CLOCK", "it is about rows of several tables", predicate)
    held = _column(moved, inner, found)
    name = held.name
    # The same condition on another relation has that name, too.
    while name in outputs and outputs[name] != held:
        name += "_"
    if name not in outputs:
        inner.append("expressions", exp.alias_(held, name, quoted=True))
    return name


def _nullable(select: exp.Select, predicate: exp.Expr) -> set[str]:
    """The relations that an outer join may have filled with NULL, as a condition sees them."""
    own = predicate.find_ancestor(exp.Join)
    start = select.args.get("from_")
    before, found = [start.this.alias_or_name] if start is not None else [], set[str]()
    for join in select.args.get("joins") or []:
        if join is own:
            break
        name, side = join.this.alias_or_name, join.side.upper()
        found |= set(before) if side in ("RIGHT", "FULL") else set()
        found |= {name} if side in ("LEFT", "FULL") else set()
        before.append(name)
    return found


def _is_strict(predicate: exp.Expr) -> bool:
    """Whether a condition is NULL if its columns are."""
    if any(not (isinstance(node, _STRICT) or _is_clock(node)) for node in predicate.walk()):
        return False
    # NULL BETWEEN a AND b is NULL; a BETWEEN NULL AND b may be false.
    compared = (
        comparison.this if isinstance(comparison, exp.Between) else comparison
        for comparison in predicate.find_all(*_COMPARISONS)
    )
    return all(value.find(exp.Column) is not None for value in compared)
