"""Whether a value of the clock is only shown: then it says when the rows were computed. Pure.

It is, if the time itself, or a cast or format of it, is a column of the rows that a query returns,
and every other place that has its name does no more than pass it on.

>>> from sqlglot import parse_one
>>> tree = parse_one("SELECT * FROM (SELECT id, mv_clock_now AS loaded_at FROM t) AS s")
>>> [is_only_shown(column, tree) for column in tree.find_all(exp.Column) if is_clock(column)]
[True]
>>> tree = parse_one("SELECT id FROM (SELECT id, mv_clock_now AS at FROM t) AS s WHERE at > ts")
>>> [is_only_shown(column, tree) for column in tree.find_all(exp.Column) if is_clock(column)]
[False]
"""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.spark_mv.expiry.arithmetic import Line
from dbt.adapters.spark_mv.expiry.kinds import Seconds, kind_of
from dbt.adapters.spark_mv.expiry.terms import ancestors, block_of, is_clock
from dbt.adapters.spark_mv.views.clock import TIME

# Parts of a selection, or of a set operation, that choose rows by values.
_CHOOSING = ("order", "limit", "offset", "sort", "cluster", "distribute", "distinct", "qualify")


def is_only_shown(clock: exp.Expr, tree: exp.Expr) -> bool:
    """Whether a value of the clock, in a tree, is a column that is returned and nothing more."""
    item = clock.parent if isinstance(clock.parent, exp.Alias) else clock
    block = item.parent
    if not isinstance(block, exp.Select) or item.arg_key != "expressions":
        return False
    if not _is_time(clock) or any(_is_inside_call(star) for star in tree.find_all(exp.Star)):
        return False
    return _is_passed_on(block, block.expressions.index(item), item.alias, tree, ())


def _is_time(clock: exp.Expr) -> bool:
    """Whether a value is the time, and not something that is computed with it."""
    if isinstance(clock, (exp.Cast, exp.Paren)):
        return _is_time(clock.this)
    if isinstance(clock, exp.TimeToStr):
        given = clock.args["format"]
        inner = clock.this.this if isinstance(clock.this, exp.TimeStrToTime) else clock.this
        return isinstance(given, exp.Literal) and "%M" in given.name and _is_time(inner)
    is_of_day = is_clock(clock) and clock.name == TIME
    return is_of_day or isinstance(kind_of(clock), (Line, Seconds))


def _is_inside_call(star: exp.Expr) -> bool:
    parent = star.parent
    return not isinstance(parent, (exp.Select, exp.Count)) and not (
        isinstance(parent, exp.Column) and isinstance(parent.parent, exp.Select)
    )


def _is_passed_on(
    block: exp.Select, place: int, name: str, tree: exp.Expr, seen: tuple[exp.Expr, ...]
) -> bool:
    """Whether a column of a selection, by its place and its name, does no more than come out."""
    query, first = _whole_union(block)
    if query is None or block in seen or any(block.args.get(part) for part in _CHOOSING):
        return False
    if first is not block:
        name = _name_at(first, place) if not _has_star(block, place) else ""
    if name and not _is_harmless(name, tree):
        return False
    if query is tree:
        return True
    around = query.parent
    if not name or not isinstance(around, (exp.Subquery, exp.CTE)):
        return False
    named = _renamed(around, first, place, name)
    if not named or not _is_harmless(named, tree):
        return False
    readers = _readers(around, tree)
    return readers is not None and all(
        _passes(reader, named, tree, (*seen, block)) for reader in readers
    )


def _whole_union(block: exp.Select) -> tuple[exp.Expr | None, exp.Select]:
    """The UNION ALL that a selection is a branch of, and the first branch, which names its columns;
    None if rows of the branches are compared or chosen."""
    query: exp.Expr = block
    while isinstance(query.parent, exp.SetOperation):
        query = query.parent
        is_plain = isinstance(query, exp.Union) and not any(map(query.args.get, _CHOOSING))
        if not is_plain:
            return None, block
    first = query
    while isinstance(first, exp.SetOperation):
        first = first.this.unnest()
    return (query, first) if isinstance(first, exp.Select) else (None, block)


def _has_star(block: exp.Select, place: int) -> bool:
    return any(item.is_star for item in block.expressions[: place + 1])


def _name_at(block: exp.Select, place: int) -> str:
    if _has_star(block, place) or place >= len(block.expressions):
        return ""
    return str(block.expressions[place].alias_or_name)


def _renamed(around: exp.Expr, block: exp.Select, place: int, name: str) -> str:
    """What a column is called outside of a subquery; empty if that is not clear."""
    columns = around.args["alias"].columns if around.args.get("alias") else []
    if not columns:
        return name
    return "" if _has_star(block, place) or place >= len(columns) else str(columns[place].name)


def _readers(around: exp.Expr, tree: exp.Expr) -> list[exp.Select] | None:
    """The selections that read a subquery, or a named query; None if another kind of thing does."""
    if isinstance(around, exp.Subquery):
        is_relation = isinstance(around.parent, (exp.From, exp.Join))
        outer = block_of(around)
        return [outer] if is_relation and outer is not None else None
    found: list[exp.Select] = []
    for table in tree.find_all(exp.Table):
        if table.name.lower() != around.alias.lower() or table.db or around in ancestors(table):
            continue
        outer = block_of(table)
        if outer is None or (table.args.get("alias") and table.args["alias"].columns):
            return None
        found.append(outer)
    return found


def _passes(block: exp.Select, name: str, tree: exp.Expr, seen: tuple[exp.Expr, ...]) -> bool:
    """Whether a selection that reads a column of this name does no more than return it."""
    if any(join.method.upper() == "NATURAL" for join in block.args.get("joins") or []):
        return False
    places = [
        (place, item.alias_or_name)
        for place, item in enumerate(block.expressions)
        if isinstance(item.unalias(), exp.Column) and item.unalias().name.lower() == name.lower()
    ]
    places += [(place, name) for place, item in enumerate(block.expressions) if item.is_star]
    return all(_is_passed_on(block, place, output, tree, seen) for place, output in places)


def _is_harmless(name: str, tree: exp.Expr) -> bool:
    """Whether everything of this name is a column that is returned as it is, or gives a name."""
    for identifier in tree.find_all(exp.Identifier):
        if identifier.name.lower() != name.lower():
            continue
        parent = identifier.parent
        if isinstance(parent, exp.Column) and identifier.arg_key == "this":
            item = parent.parent if isinstance(parent.parent, exp.Alias) else parent
            if isinstance(item.parent, exp.Select) and item.arg_key == "expressions":
                continue
        gives_name = isinstance(parent, (exp.Alias, exp.TableAlias))
        if not gives_name or identifier.arg_key not in ("alias", "columns"):
            return False
    return True
