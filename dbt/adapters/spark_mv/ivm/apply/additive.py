"""GROUP BY whose groups are kept up to date by adding the changes of their rows.

Beside the columns of the query the storage table then holds what the values are made from (rows,
counts, sums, smallest and largest values), unless the query returns just that.

>>> from sqlglot import parse_one
>>> from dbt.adapters.spark_mv.ivm.delta.grouping import groups_of
>>> query = parse_one("SELECT o.day, SUM(o.total) AS total FROM mv_table_0 AS o GROUP BY o.day")
>>> made = additive_of(groups_of(query), types={"o.total": "int"}, float_additive=False)
>>> print(made.stored_query().sql("spark"))
SELECT `mv_merged`.`mv_key_0` AS `day`, `mv_merged`.`mv_sum_1` AS `total`,
  `mv_merged`.`mv_rows_0` AS `mv_rows_0`, `mv_merged`.`mv_count_2` AS `mv_count_2`
FROM (SELECT o.day AS mv_key_0, COUNT(*) AS mv_rows_0, SUM(o.total) AS mv_sum_1,
  COUNT(o.total) AS mv_count_2 FROM mv_table_0 AS o GROUP BY o.day) AS mv_merged
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.spark_mv.ivm.algebra import aggregates, measures
from dbt.adapters.spark_mv.ivm.algebra.measures import ROWS, Measure, Part
from dbt.adapters.spark_mv.ivm.algebra.terms import column, derived, not_fast, ungrouped
from dbt.adapters.spark_mv.ivm.delta.grouping import Groups
from dbt.adapters.spark_mv.views.definition import SPARE

MERGED = "mv_merged"
UNCHANGED = "mv_unchanged"
_LEFT_OUT = SPARE + "having"


@dataclass(frozen=True)
class Additive:
    """How a grouped selection is kept up to date.

    `query` has no HAVING: groups that `having` leaves out are stored, but not shown. `names` gives
    for each key (its number) and each part the stored column that holds it; `hidden` are the
    columns that the query does not return; `types` the Spark types of arguments by their text.
    """

    query: exp.Select
    having: exp.Expr | None
    keys: tuple[exp.Expr, ...]
    measures: tuple[Measure, ...]
    names: Mapping[int | Part, str]
    hidden: Mapping[str, exp.Expr]
    types: Mapping[str, str]

    @property
    def parts(self) -> list[Part]:
        """Every part that is kept, the number of rows first."""
        return [part for part in self.names if isinstance(part, Part)]

    def stored_query(self) -> exp.Select:
        """The query with the hidden columns; each part is computed once."""
        parts: list[exp.Expr] = [
            exp.alias_(key.copy(), f"mv_key_{n}") for n, key in enumerate(self.keys)
        ]
        parts += [exp.alias_(part.call(), part_name(self, part)) for part in self.parts]
        for number, measure in enumerate(self.measures):
            if _is_inexact(self, measure):
                parts.append(exp.alias_(measure.call.copy(), f"mv_call_{number}"))
        groups = self.query.copy()
        groups.set("expressions", parts)
        return exp.Select(expressions=outputs(self, calls=True)).from_(derived(groups, MERGED))

    @property
    def row_keys(self) -> tuple[exp.Expr, ...]:
        """The keys that each row has by itself: all but the number of a set of keys."""
        return tuple(key for key in self.keys if not isinstance(key, exp.GroupingId))


def calls_of(query: exp.Select) -> list[exp.Expr]:
    """The aggregate functions that a grouped selection calls, each once."""
    having = _having_of(query)
    parts = [*query.expressions, having] if having is not None else query.expressions
    found = [call for part in parts for call in aggregates.calls(part)]
    return [call for call in dict.fromkeys(found) if not isinstance(call, exp.GroupingId)]


def arguments_of(query: exp.Select) -> list[exp.Expr]:
    """The arguments of these calls, each once; raises `NotFast` if one cannot be added to."""
    parts = [part for call in calls_of(query) for part in measures.measure_of(call).parts]
    return list(dict.fromkeys(part.argument for part in parts if part.argument is not None))


def probe(query: exp.Select) -> exp.Select:
    """A query whose columns are the arguments, so that Spark can tell their types."""
    return ungrouped(query, arguments_of(query), "mv_argument")


def additive_of(groups: Groups, types: Mapping[str, str], float_additive: bool) -> Additive:
    """How the groups are kept up to date by adding; raises `NotFast` if they cannot be."""
    query = groups.query
    if not isinstance(query, exp.Select) or query.args.get("distinct"):
        raise not_fast("NOT_ADDITIVE", "it is not a GROUP BY")
    found, types = _typed(query, types, float_additive)
    parts = [Part(ROWS), *(part for measure in found for part in measure.parts)]
    names, hidden = _names(query, groups.keys, list(dict.fromkeys(parts)))
    having = _having_of(query)
    if having is not None:
        hidden[_LEFT_OUT] = _left_out(having)
    all_groups = query.copy()
    all_groups.set("having", None)
    made = Additive(all_groups, having, groups.keys, found, names, hidden, types)
    for _, value in _computed(made):
        _visible(made, value)
    return made


def _typed(
    query: exp.Select, types: Mapping[str, str], float_additive: bool
) -> tuple[tuple[Measure, ...], dict[str, str]]:
    """The measures of the calls, and the types of all their arguments; raises `NotFast`."""
    found: list[Measure] = []
    known = dict(types)
    for call in calls_of(query):
        measure = measures.measure_of(call)
        argument = measure.parts[0].argument
        if argument is not None:
            type_name = known[argument.sql()]
            measures.check_type(measure, type_name, float_additive)
            measure, more = measures.with_size(measure, type_name)
            known.update(more)
        found.append(measure)
    return tuple(found), known


def _having_of(query: exp.Select) -> exp.Expr | None:
    having = query.args.get("having")
    return having.this if having is not None else None


def _left_out(having: exp.Expr) -> exp.Expr:
    """Whether a condition of HAVING does not hold."""
    return exp.not_(exp.func("coalesce", having.copy(), exp.false()))


def _computed(additive: Additive) -> list[tuple[str, exp.Expr]]:
    """The stored columns that are neither hidden keys nor hidden parts, and what they hold."""
    found = [(item.alias_or_name, item.unalias()) for item in additive.query.expressions]
    if additive.having is not None:
        found.append((_LEFT_OUT, additive.hidden[_LEFT_OUT]))
    return found


def _names(
    query: exp.Select, keys: tuple[exp.Expr, ...], parts: list[Part]
) -> tuple[dict[int | Part, str], dict[str, exp.Expr]]:
    returned = {item.unalias(): item.alias_or_name for item in query.expressions}
    names: dict[int | Part, str] = {}
    hidden: dict[str, exp.Expr] = {}
    wanted: list[tuple[int | Part, str, exp.Expr]] = [
        (number, f"mv_key_{number}", key) for number, key in enumerate(keys)
    ]
    wanted += [(part, f"mv_{part.function}_{n}", part.call()) for n, part in enumerate(parts)]
    for item, name, expression in wanted:
        names[item] = returned.get(expression, name)
        if expression not in returned:
            hidden[name] = expression
    return names, hidden


def outputs(additive: Additive, calls: bool = False) -> list[exp.Expr]:
    """The stored columns over a relation of merged groups, which has the calls that are not exact
    for every value if `calls`; else it has `kept_outputs`, and whether a group is unchanged."""
    kept = {} if calls else {name: key for key, name in kept_outputs(additive).items()}
    found = {}
    for name, expression in _computed(additive):
        value = _guarded(additive, name, _visible(additive, expression, calls), calls)
        if name in kept:
            unchanged = column(MERGED, UNCHANGED)
            value = exp.Case().when(unchanged, column(MERGED, kept[name])).else_(value)
        found[name] = value
    for key, name in additive.names.items():
        inner = f"mv_key_{key}" if isinstance(key, int) else part_name(additive, key)
        if name in additive.hidden:
            found[name] = column(MERGED, inner)
    names = [*additive.query.named_selects, *additive.hidden]
    return [exp.alias_(found[name], name, quoted=True) for name in names]


def _guarded(additive: Additive, name: str, value: exp.Expr, calls: bool) -> exp.Expr:
    """A value of groups that are shown: of others it may not exist, as a quotient by 0 does not.

    Others need what is added to, though.
    """
    if additive.having is None or name == _LEFT_OUT or name in additive.names.values():
        return value
    return exp.Case().when(_visible(additive, additive.having, calls), value)


def kept_outputs(additive: Additive) -> dict[str, str]:
    """Stored columns that cannot be had from parts if those are too large, so that unchanged
    groups keep what is stored; by a name for each in a relation of merged groups."""
    inexact = [one.call for one in additive.measures if _is_inexact(additive, one)]
    return {
        f"mv_kept_{number}": name
        for number, (name, expression) in enumerate(_computed(additive))
        if any(node in inexact for node in expression.walk())
    }


def _visible(additive: Additive, expression: exp.Expr, calls: bool = False) -> exp.Expr:
    """A returned expression over the merged parts; raises `NotFast` if it names anything else."""

    def replaced(node: exp.Expr) -> exp.Expr:
        for number, key in enumerate(additive.keys):
            if node == key:
                return column(MERGED, f"mv_key_{number}")
        for number, measure in enumerate(additive.measures):
            if node == measure.call and calls and _is_inexact(additive, measure):
                return column(MERGED, f"mv_call_{number}")
            if node == measure.call:
                return _value(additive, measure)
        return node

    found = expression.copy().transform(replaced)
    if any(item.table != MERGED for item in found.find_all(exp.Column)):
        raise not_fast(
            "NOT_ADDITIVE", "it is not made of keys and aggregates; add it to GROUP BY", expression
        )
    return found


def _is_inexact(additive: Additive, measure: Measure) -> bool:
    """Whether its value cannot be had from its parts if they are too large."""
    argument = measure.parts[0].argument
    known = additive.types[argument.sql()] if argument else ""
    return measure.average and measures.averages_in_doubles(known)


def _value(additive: Additive, measure: Measure) -> exp.Expr:
    part = measure.parts[0]
    if not measure.average:
        return merged(additive, part)
    assert part.argument is not None
    total, count = merged(additive, part), merged(additive, measure.parts[1])
    size = merged(additive, measure.parts[2]) if len(measure.parts) > 2 else None
    return measures.average(total, count, additive.types[part.argument.sql()], size)


def merged(additive: Additive, part: Part) -> exp.Expr:
    """A part in the relation of merged groups."""
    return column(MERGED, part_name(additive, part))


def part_name(additive: Additive, part: Part) -> str:
    """The name of a part in relations of changes and of merged groups."""
    return f"mv_{part.function}_{additive.parts.index(part)}"
