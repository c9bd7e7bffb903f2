"""Selections with one outer join each: what is joined before it becomes a relation below."""

from __future__ import annotations

from collections.abc import Container

from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra.terms import column, derived
from dbt.adapters.spark_mv.ivm.algebra.written import standing_for

_SIDES = ("LEFT", "RIGHT", "FULL")
_JOINED = "mv_join_"


def is_outer(join: exp.Join) -> bool:
    """Whether the join keeps rows that have no partner."""
    return (join.side or "").upper() in _SIDES


def has_outer_join(query: exp.Select) -> bool:
    """Whether a selection in canonical form is that of an outer join."""
    return any(is_outer(join) for join in query.args.get("joins") or [])


def nested(query: exp.Select) -> exp.Select:
    """The selection with each outer join, and what is joined before it, in a relation below.

    >>> from sqlglot import parse_one
    >>> query = parse_one('''
    ...     SELECT o.id, c.name FROM orders AS o LEFT JOIN customers AS c ON c.id = o.customer
    ...     WHERE o.total > 9
    ... ''')
    >>> print(nested(query).sql("spark"))
    SELECT `mv_join_o_c`.`o__id`, `mv_join_o_c`.`c__name`
    FROM (SELECT o.id AS `o__id`, c.name AS `c__name`, o.total AS `o__total`
      FROM orders AS o LEFT JOIN customers AS c ON c.id = o.customer) AS mv_join_o_c
    WHERE `mv_join_o_c`.`o__total` > 9
    """
    while has_outer_join(query):
        joins = query.args["joins"]
        first = next(n for n, join in enumerate(joins) if is_outer(join))
        if first:
            _fold(query, first)
        _fold(query, 1)
    return query


def _fold(query: exp.Select, count: int) -> None:
    """Put the first relation and `count` joins into a relation that returns what is needed."""
    start, joins = query.args["from_"].this, query.args["joins"]
    folded, rest = joins[:count], joins[count:]
    aliases = [relation.alias_or_name for relation in (start, *(join.this for join in folded))]
    others = {join.this.alias_or_name for join in rest}
    name = _free(_JOINED + "_".join(one.removeprefix(_JOINED) for one in aliases), others)
    query.set("from_", None)
    query.set("joins", rest)
    wanted: dict[str, exp.Expr] = {}
    outputs: dict[tuple[str, str], str] = {}
    # What stands in a relation has names of its own, which may be the same.
    for found in list(query.walk(prune=lambda node: isinstance(node, exp.Subquery))):
        if isinstance(found, exp.Column) and found.table in aliases:
            known = found.table, found.name
            if known not in outputs:
                outputs[known] = _free(_output_name(*known), wanted)
                wanted[outputs[known]] = found.copy()
            found.replace(standing_for(column(name, outputs[known]), found))
    items = [exp.alias_(item, output, quoted=True) for output, item in wanted.items()]
    items = items or [exp.alias_(exp.Literal.number(1), "mv_one")]
    inner = exp.Select(expressions=items, from_=exp.From(this=start), joins=folded)
    query.set("from_", exp.From(this=derived(inner, name)))


def _output_name(table: str, name: str) -> str:
    """How a column of a relation is called; in one that is joined already it has such a name."""
    return name if table.startswith(_JOINED) else f"{table}__{name}"


def _free(name: str, taken: Container[str]) -> str:
    """The name, or one like it that is not taken."""
    while name in taken:
        name += "_"
    return name
