"""Reads functions into terms: of values, of groups, of windows."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.conditions.consequences import tested_for_null
from dbt.adapters.spark_mv.rewrite.terms import Term, counted_rows, made
from dbt.adapters.spark_mv.rewrite.unmatched import QUERY, Unmatched
from dbt.adapters.spark_mv.sql.spark_functions import HAS_FREQUENCIES, WRITTEN_FORMAT, aggregate

Columns = Callable[[exp.Column], Term]
Read = Callable[[exp.Expr, Columns], Term]
# No terms by themselves.
_PARTS = (exp.Var, exp.DataType, exp.Identifier, exp.DataTypeParam)
_CALLS = {exp.Count: "COUNT", exp.Sum: "SUM", exp.Avg: "AVG", exp.Min: "MIN", exp.Max: "MAX"}
# Of rows in any order; what they return is stored or not, and cannot be had from parts.
_OTHER_CALLS = (
    *(exp.Stddev, exp.StddevPop, exp.StddevSamp, exp.Variance, exp.VariancePop),
    *(exp.LogicalAnd, exp.LogicalOr, exp.BitwiseAndAgg, exp.BitwiseOrAgg, exp.BitwiseXorAgg),
    *(exp.Median, exp.Skewness, exp.Kurtosis, exp.ApproxDistinct),
)
# The same, with another argument; NULL as the first leaves a row out.
_OF_SEVERAL = (
    *(exp.Quantile, exp.ApproxQuantile, exp.ApproxDistinct, exp.Corr, exp.CovarPop, exp.CovarSamp),
    *(exp.RegrAvgx, exp.RegrAvgy, exp.RegrCount, exp.RegrIntercept, exp.RegrR2, exp.RegrSlope),
    *(exp.RegrSxx, exp.RegrSxy, exp.RegrSyy),
)
# Of the rows of a window, with no value of their own for a row that IGNORE NULLS could leave out.
_OF_WINDOWS = (
    *(exp.RowNumber, exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist, exp.Ntile),
    *(exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.First, exp.Last),
)
# The functions that EXTRACT and DATE_PART are, by the names of parts: of days, and of others.
_DAY_PARTS: dict[type[exp.Func], str] = {
    exp.Year: "YEAR Y YEARS YR YRS",
    exp.Month: "MONTH MON MONS MONTHS",
    exp.WeekOfYear: "WEEK W WEEKS",
    exp.Day: "DAY D DAYS",
    exp.DayOfWeek: "DAYOFWEEK DOW",
    exp.DayOfYear: "DOY",
}
_OTHER_PARTS: dict[type[exp.Func], str] = {
    exp.Quarter: "QUARTER QTR",
    exp.Hour: "HOUR H HOURS HR HRS",
    exp.Minute: "MINUTE M MIN MINS MINUTES",
}
_TIMES = ("date", "timestamp", "timestampltz", "timestampntz", "string")
_OF_TIMES = (
    *(exp.TimestampTrunc, exp.DateTrunc, exp.TsOrDsAdd, exp.AddMonths, exp.LastDay, exp.NextDay),
    *(exp.CurrentDate, exp.CurrentTimestamp, exp.Literal, exp.Null),
)
_IN_FULL = {"yyyy-MM-dd": "%Y-%m-%d", "yyyy-MM-dd HH:mm:ss": "%Y-%m-%d %H:%M:%S"}
_TEXTS = ("string", "int", "bigint", "date")
_OF_A_WINDOW = frozenset({"this", "partition_by", "order", "spec", "over"})


def generic(node: exp.Expr, columns: Columns, read: Read) -> Term:
    """The term of a function or operator by its arguments."""
    args: list[Term] = []
    slots: list[tuple[str, bool]] = []
    for name, value in node.args.items():
        values = value if isinstance(value, list) else [value]
        children = [v for v in values if isinstance(v, exp.Expr) and not isinstance(v, _PARTS)]
        if children and len(children) != len(values):
            raise Unmatched(QUERY, "an expression is of an unknown form", node.sql("spark"))
        args += [read(child, columns) for child in children]
        slots += [(name, isinstance(value, list))] * len(children)
    return made(node, args, slots)


def concatenated(node: exp.Expr, columns: Columns, read: Read) -> Term:
    """CONCAT and `||`, which are one; of what is concatenated itself the parts."""
    operands = node.expressions or [node.this, node.expression]
    args: list[Term] = []
    for term in (read(operand, columns) for operand in operands):
        is_flat = type(term.node) is exp.Concat and all(map(_is_text, term.args))
        args += term.args if is_flat else (term,)
    made_of = exp.Concat(safe=True, coalesce=False)
    return made(made_of, args, (("expressions", True),) * len(args))


def usual(node: exp.Expr, columns: Columns, read: Read) -> exp.Expr | None:
    """A function of several names by its usual one; None if it has that, or only one, and for
    EXTRACT and DATE_PART of what may be an interval."""
    known = _renamed(node)
    parts = node.expressions[1:] if isinstance(node, exp.Anonymous) else []
    parts += [node.expression] if isinstance(node, exp.Extract) else []
    return known if known and all(_is_time(read(part, columns)) for part in parts) else None


def _renamed(node: exp.Expr) -> exp.Expr | None:
    this, arguments = node.this, node.expressions
    match node:
        case exp.Extract():
            return _extracted(this.name, node.expression)
        case exp.Anonymous() if node.name.upper() in ("DATE_PART", "DATEPART"):
            is_part = len(arguments) == 2 and isinstance(arguments[0], exp.Literal)
            return _extracted(arguments[0].name, arguments[1]) if is_part else None
        case exp.Anonymous() if node.name.upper() in ("ISNULL", "ISNOTNULL"):
            test = exp.Is(this=arguments[0].copy(), expression=exp.Null())
            return test if node.name.upper() == "ISNULL" else exp.Not(this=test)
        case exp.DayOfMonth():
            return exp.Day(this=this.copy())
        case exp.Nvl2():
            is_known = exp.Not(this=exp.Is(this=this.copy(), expression=exp.Null()))
            branch = exp.If(this=is_known, true=node.args["true"].copy())
            return exp.Case(ifs=[branch], default=node.args["false"].copy())
        case exp.Left() if isinstance(node.expression, exp.Literal) and node.expression.is_int:
            start, length = exp.Literal.number(1), node.expression.copy()
            return exp.Substring(this=this.copy(), start=start, length=length)
    return None


def is_written_in_full(node: exp.Expr) -> bool:
    """Whether it is TO_DATE or TO_TIMESTAMP of a text that a cast reads as its format does."""
    written, text = node.meta.get(WRITTEN_FORMAT), node.this
    if not isinstance(text, exp.Literal) or written not in _IN_FULL:
        return False
    try:
        return (
            datetime.strptime(text.name, _IN_FULL[written]).strftime(_IN_FULL[written]) == text.name
        )
    except ValueError:
        return False


def _is_time(term: Term) -> bool:
    """Whether a value is a day or a moment for certain, or a text of one."""
    if term.call in ("MIN", "MAX") or isinstance(term.node, exp.Coalesce):
        return all(map(_is_time, term.args))
    if isinstance(term.node, (exp.Cast, exp.TryCast)):
        return term.node.args["to"].is_type(*_TIMES)
    if term.column is not None:
        return term.column.type.startswith(("date", "timestamp", "string"))
    return isinstance(term.node, _OF_TIMES)


def _extracted(part: str, argument: exp.Expr) -> exp.Expr | None:
    """What EXTRACT or DATE_PART of a day or moment is as a function of its own, as the parser reads
    that one; None if there is none."""
    for kind, names in (*_DAY_PARTS.items(), *_OTHER_PARTS.items()):
        if part.upper() in names.split():
            day = exp.TsOrDsToDate(this=argument.copy()) if kind in _DAY_PARTS else argument.copy()
            return kind(this=day)
    return None


def _is_text(term: Term) -> bool:
    """Whether a value is a text, or is made one in one way only: bytes may be no text before they
    are beside others."""
    if term.column is not None:
        return term.column.type in _TEXTS
    node = term.node
    is_cast = isinstance(node, exp.Cast) and node.args["to"].sql("spark") == "STRING"
    return isinstance(node, exp.Literal) or is_cast


def cases(args: list[Term]) -> Term:
    """CASE of conditions and values in turn, and what else it is."""
    return made(exp.Case(), args, (("ifs", True),) * (len(args) - 1) + (("default", False),))


def call_of(
    node: exp.Expr, columns: Columns, read: Read, condition: exp.Expr | None = None
) -> Term:
    """A call of an aggregate function, of those rows that meet a condition."""
    if isinstance(node, exp.CountIf):
        met = node.this if condition is None else exp.and_(condition, node.this)
        return call_of(exp.Count(this=exp.Literal.number(1), big_int=True), columns, read, met)
    name = next((name for kind, name in _CALLS.items() if type(node) is kind), "")
    inner = node.this
    distinct = isinstance(inner, exp.Distinct)
    arguments = inner.expressions if isinstance(inner, exp.Distinct) else [inner]
    others = [key for key in node.args if key not in ("this", "big_int") and node.args[key]]
    is_whole = not node.meta.get(HAS_FREQUENCIES)
    if others and not distinct and is_whole and isinstance(node, _OF_SEVERAL):
        return _with_others(node, columns, read, condition)
    if not (name or isinstance(node, _OTHER_CALLS)) or others:
        raise Unmatched(QUERY, "nothing is known of an aggregate function", node.sql("spark"))
    if len(arguments) != 1:
        return _of_several(node, [read(one, columns) for one in arguments], condition)
    (argument,) = arguments
    if isinstance(argument, exp.Star):
        if name != "COUNT" or distinct:
            raise Unmatched(QUERY, "a star is no argument of it", node.sql("spark"))
        if condition is None:
            return counted_rows()
        argument = exp.Literal.number(1)
    if name == "COUNT" and not distinct and isinstance(argument, exp.Literal) and condition is None:
        return counted_rows()
    term = read(argument, columns)
    if condition is not None:
        term = cases([read(condition, columns), term, made(exp.Null())])
    term = _without_test(term, name == "COUNT" and not distinct)
    empty = type(node)(big_int=True) if name == "COUNT" else type(node)()
    is_duplicate_free = distinct and name not in ("MIN", "MAX")
    shown = name or type(node).__name__.upper()
    return made(empty, (term,), (("this", False),), shown, is_duplicate_free)


def _without_test(argument: Term, is_counted: bool) -> Term:
    """The argument of a call that leaves out NULL, without a condition that does so, too; of one
    that counts values it is no matter which they are."""
    if type(argument.node) is not exp.Case or len(argument.args) != 3:
        return argument
    condition, value, last = argument.args
    tested = tested_for_null(condition)
    if tested is None or not isinstance(condition.node, exp.Not):
        return argument
    is_same = tested.key == value.key or (is_counted and isinstance(value.node, exp.Literal))
    return tested if is_same and isinstance(last.node, exp.Null) else argument


def _with_others(node: exp.Expr, columns: Columns, read: Read, condition: exp.Expr | None) -> Term:
    """A call with further arguments, of those rows that meet a condition."""
    term = generic(node, columns, read)
    args = list(term.args)
    if condition is not None:
        first = [name for name, _ in term.slots].index("this")
        args[first] = cases([read(condition, columns), args[first], made(exp.Null())])
    return made(term.node, args, term.slots, type(node).__name__.upper())


def _of_several(node: exp.Expr, arguments: list[Term], condition: exp.Expr | None) -> Term:
    """COUNT(DISTINCT ..) of several values, of which none may be NULL."""
    is_known = isinstance(node, exp.Count) and isinstance(node.this, exp.Distinct)
    if not is_known or condition is not None:
        raise Unmatched(QUERY, "nothing is known of an aggregate function", node.sql("spark"))
    once = sorted({one.key: one for one in arguments}.values(), key=lambda one: one.key)
    return made(exp.Count(big_int=True), once, (("this", False),) * len(once), "COUNT", True)


def filtered_call(node: exp.Expr, columns: Columns, read: Read) -> Term:
    """FILTER is a condition in the argument."""
    call = aggregate(node.this)
    if call is None:
        raise Unmatched(QUERY, "FILTER is of an unknown form", node.sql("spark"))
    return call_of(call, columns, read, node.expression.this)


def window_of(node: exp.Expr, columns: Columns, read: Read) -> Term:
    """A window function: a value of each row, by its place among the rows of a window."""
    function, over = node.this, node.args.get("over")
    if node.args.get("alias"):
        node = _named_window(node)
    more = [name for name, value in node.args.items() if value and name not in _OF_A_WINDOW]
    spec = node.args.get("spec")
    if more or (spec is not None and spec.find(exp.Column, exp.Query) is not None):
        raise Unmatched(QUERY, "a window is of an unknown form", node.sql("spark"))
    args = [_in_window(function, columns, read)]
    slots = [("this", False)]
    for one in node.args.get("partition_by") or ():
        args.append(read(one, columns))
        slots.append(("partition_by", True))
    order = node.args.get("order")
    if order is not None:
        args.append(_ordered(order, columns, read))
        slots.append(("order", False))
    return made(exp.Window(spec=spec, over=over), args, slots)


def _named_window(node: exp.Expr) -> exp.Expr:
    """The window of the clause WINDOW that a function names; raises `Unmatched`."""
    select, name = node.find_ancestor(exp.Select), node.args["alias"].name.lower()
    named = select.args.get("windows") or () if select is not None else ()
    found = [one for one in named if one.this.name.lower() == name]
    has_own = any(node.args.get(part) for part in ("partition_by", "order", "spec"))
    if len(found) != 1 or has_own:
        raise Unmatched(QUERY, "a window is of an unknown form", node.sql("spark"))
    return found[0]


def _in_window(node: exp.Expr, columns: Columns, read: Read) -> Term:
    """The function of a window, which makes no groups."""
    if type(node) in _OF_WINDOWS:
        return generic(node, columns, read)
    known = aggregate(node)
    if known is None:
        raise Unmatched(QUERY, "nothing is known of a window function", node.sql("spark"))
    call = call_of(known, columns, read)
    return made(call.node, call.args, call.slots, "", call.distinct)


def _ordered(node: exp.Expr, columns: Columns, read: Read) -> Term:
    items = [
        made(
            exp.Ordered(desc=item.args.get("desc"), nulls_first=item.args.get("nulls_first")),
            (read(item.this, columns),),
            (("this", False),),
        )
        for item in node.expressions
    ]
    return made(exp.Order(), items, (("expressions", True),) * len(items))
