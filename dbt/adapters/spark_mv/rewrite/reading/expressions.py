"""Reads expressions of a query into terms.

A function is read only if a list in `row_functions` names it.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.conditions.time_units import FORMATS, is_day
from dbt.adapters.spark_mv.rewrite.reading.fields import field_of, item_of
from dbt.adapters.spark_mv.rewrite.reading.functions import (
    Columns,
    call_of,
    cases,
    concatenated,
    filtered_call,
    generic,
    is_written_in_full,
    usual,
    window_of,
)
from dbt.adapters.spark_mv.rewrite.reading.operators import may_be_grouped_otherwise
from dbt.adapters.spark_mv.rewrite.row_functions import FUNCTION_NAMES, FUNCTIONS
from dbt.adapters.spark_mv.rewrite.terms import (
    Term,
    binary,
    connected,
    made,
    negated,
)
from dbt.adapters.spark_mv.rewrite.unmatched import NOT_OF_ROWS, QUERY, Unmatched
from dbt.adapters.spark_mv.sql.spark_functions import WRITTEN_FORMAT, aggregate

_CONSTANTS = (exp.Literal, exp.Null, exp.Boolean, exp.HexString)
_TIMES = frozenset("DATE TIMESTAMP TIMESTAMPTZ TIMESTAMPLTZ TIMESTAMPNTZ".split())
_SWAPPED: dict[type[exp.Expr], type[exp.Expr]] = {exp.GT: exp.LT, exp.GTE: exp.LTE}


def read(node: exp.Expr, columns: Columns) -> Term:
    """The term that an expression is; `columns` reads the columns in it.

    Raises `Unmatched` for what is in no list.
    """
    if may_be_grouped_otherwise(node):
        raise Unmatched(QUERY, "Spark may group operators in another way", node.sql("spark"))
    reader = _READERS.get(type(node))
    if reader is not None:
        return reader(node, columns)
    if isinstance(node, _CONSTANTS):
        return made(node)
    call = aggregate(node)
    if call is not None:
        return call_of(call, columns, read)
    if type(node) in FUNCTIONS:
        return generic(node, columns, read)
    if isinstance(node, (exp.Query, exp.Subquery, exp.Exists)):
        raise Unmatched(QUERY, "it has a subquery", node.sql("spark"))
    text = "nothing is known of a function or operator"
    raise Unmatched(NOT_OF_ROWS, text, node.sql("spark"))


def _clock(node: exp.Expr, columns: Columns) -> Term:
    """What the clock shows, unless a column has its name, which comes first without parentheses."""
    name = "current_date" if isinstance(node, exp.CurrentDate) else "current_timestamp"
    named = (found.name.lower() for found in node.root().find_all(exp.Identifier))
    if name in named or _is_column(name, columns):
        text = "a column has the name of a function"
        raise Unmatched(QUERY, text, name)
    return generic(node, columns, read)


def _is_column(name: str, columns: Columns) -> bool:
    try:
        columns(exp.column(name))
    except Unmatched:
        return False
    return True


def _paren(node: exp.Expr, columns: Columns) -> Term:
    return read(node.this, columns)


def _column(node: exp.Expr, columns: Columns) -> Term:
    assert isinstance(node, exp.Column)
    return columns(node)


def _field(node: exp.Expr, columns: Columns) -> Term:
    found = field_of(read(node.this, columns), [node.expression.name.lower()])
    if found is None:
        raise Unmatched(NOT_OF_ROWS, "it has a field of what is no structure", node.sql("spark"))
    return found


def _swapped(node: exp.Expr, columns: Columns) -> Term:
    kind = _SWAPPED[type(node)]
    return binary(kind, read(node.expression, columns), read(node.this, columns))


def _between(node: exp.Expr, columns: Columns) -> Term:
    if node.args.get("symmetric"):
        raise Unmatched(QUERY, "an expression is of an unknown form", node.sql("spark"))
    this = read(node.this, columns)
    low, high = (read(node.args[name], columns) for name in ("low", "high"))
    return connected(exp.And, [binary(exp.LTE, low, this), binary(exp.LTE, this, high)])


def _in(node: exp.Expr, columns: Columns) -> Term:
    if node.args.get("query") or node.args.get("unnest") or node.args.get("field"):
        raise Unmatched(QUERY, "it has a subquery", node.sql("spark"))
    # Also of one value no `=`: that converts a string to the other type, IN the other to a string.
    values = [node.this, *node.expressions]
    if not all(isinstance(value, exp.Tuple) for value in values):
        return generic(node, columns, read)
    rows = [generic(value, columns, read) for value in values]
    return made(node, rows, (("this", False), *(("expressions", True),) * (len(rows) - 1)))


def _like(node: exp.Expr, columns: Columns) -> Term:
    """sqlglot reads NOT LIKE as a kind of LIKE, or as NOT of one. LIKE ANY is an OR of LIKE, NOT
    LIKE ANY one of NOT LIKE."""
    patterns = node.expression
    inner = patterns.this if isinstance(patterns, (exp.Any, exp.All)) else patterns
    texts = inner.expressions if isinstance(inner, exp.Tuple) else [inner]
    plain = (type(node)(this=node.this.copy(), expression=text.unnest().copy()) for text in texts)
    found = [generic(one, columns, read) for one in plain]
    found = list(map(negated, found)) if node.args.get("negate") else found
    return connected(exp.And if isinstance(patterns, exp.All) else exp.Or, found)


def _cast(node: exp.Expr, columns: Columns) -> Term:
    """A cast, also of a literal with a type, which knows words for moments of the clock."""
    to, inner = node.args["to"], node.this
    is_text = isinstance(inner, exp.Literal) and inner.is_string and to.this.name in _TIMES
    if is_text and not inner.name.lstrip()[:1].isdigit():
        raise Unmatched(NOT_OF_ROWS, "a constant is another one each day", node.sql("spark"))
    return generic(node, columns, read)


def _days_between(node: exp.Expr, columns: Columns) -> Term:
    """DATEDIFF without a unit; with one, sqlglot would count days of what are moments."""
    if node.args.get("unit"):
        raise Unmatched(QUERY, "it counts other units than days", node.sql("spark"))
    return generic(node, columns, read)


def _formatted(node: exp.Expr, columns: Columns) -> Term:
    """DATE_FORMAT with a format that sqlglot prints as it was written."""
    written = node.meta.get(WRITTEN_FORMAT, "")
    if written not in FORMATS or set(node.args) - {"this", "format"}:
        raise Unmatched(QUERY, "a format of days may be another one", node.sql("spark"))
    inner = node.this
    if isinstance(inner, exp.TimeStrToTime):
        inner = inner.this
    empty = exp.TimeToStr(this=exp.null(), format=node.args["format"].copy())
    return made(empty, (read(inner, columns),), (("this", False),))


def _seconds(node: exp.Expr, columns: Columns) -> Term:
    """UNIX_TIMESTAMP of a value, and FROM_UNIXTIME; without one it reads the clock."""
    written = node.meta.get(WRITTEN_FORMAT)
    if node.this is None or (written is not None and written not in FORMATS):
        raise Unmatched(QUERY, "a format of days may be another one", node.sql("spark"))
    return generic(node, columns, read)


def _by_usual_name(node: exp.Expr, columns: Columns) -> Term:
    known = usual(node, columns, read)
    return generic(node, columns, read) if known is None else read(known, columns)


def _anonymous(node: exp.Expr, columns: Columns) -> Term:
    """A function that sqlglot does not know, by its name."""
    call = aggregate(node)
    if call is not None:
        return call_of(call, columns, read)
    known = usual(node, columns, read)
    if known is not None:
        return read(known, columns)
    if node.name.lower() not in FUNCTION_NAMES:
        raise Unmatched(NOT_OF_ROWS, "nothing is known of a function", node.sql("spark"))
    return generic(node, columns, read)


def _connected(node: exp.Expr, columns: Columns) -> Term:
    """Without recursion into the left: a thousand conditions are a thousand levels deep."""
    kind, operands = type(node), []
    ahead: list[exp.Expr] = [node]
    while ahead:
        found = ahead.pop()
        if isinstance(found, exp.Paren):
            ahead.append(found.this)
        elif type(found) is kind:
            ahead += [found.expression, found.this]
        else:
            operands.append(found)
    return connected(kind, [read(operand, columns) for operand in operands])


def _not(node: exp.Expr, columns: Columns) -> Term:
    return negated(read(node.this, columns))


def _neg(node: exp.Expr, columns: Columns) -> Term:
    inner = node.this
    if isinstance(inner, exp.Literal) and not inner.is_string:
        return made(exp.Literal.number(f"-{inner.name}"))
    return generic(node, columns, read)


def _case(node: exp.Expr, columns: Columns) -> Term:
    """CASE x WHEN v is CASE WHEN x = v."""
    subject = node.this
    args: list[Term] = []
    for branch in node.args.get("ifs", []):
        condition = branch.this
        if subject is not None:
            condition = exp.EQ(this=subject.copy(), expression=condition.copy())
        args += [read(condition, columns), read(branch.args["true"], columns)]
    default = node.args.get("default")
    args.append(read(default, columns) if default is not None else made(exp.Null()))
    return cases(args)


def _if(node: exp.Expr, columns: Columns) -> Term:
    false = node.args.get("false")
    last = read(false, columns) if false is not None else made(exp.Null())
    return cases([read(node.this, columns), read(node.args["true"], columns), last])


def _to_date(node: exp.Expr, columns: Columns) -> Term:
    """TO_DATE without a format is a cast; sqlglot forgets which digits a format asks for."""
    if node.args.get("format") and not is_written_in_full(node):
        raise Unmatched(QUERY, "a format of days may be another one", node.sql("spark"))
    inner = read(node.this, columns)
    if is_day(inner):
        return inner
    return made(exp.Cast(to=exp.DataType.build("date")), (inner,), (("this", False),))


def _to_time(node: exp.Expr, columns: Columns) -> Term:
    """TO_TIMESTAMP with a format, of a constant that has it."""
    if not is_written_in_full(node):
        raise Unmatched(QUERY, "a format of moments may be another one", node.sql("spark"))
    return read(exp.cast(node.this.copy(), "timestamp"), columns)


_READERS: dict[type[exp.Expr], Callable[[exp.Expr, Columns], Term]] = {
    exp.Paren: _paren,
    exp.CurrentDate: _clock,
    exp.CurrentTimestamp: _clock,
    exp.Column: _column,
    exp.Dot: _field,
    exp.Bracket: lambda node, columns: item_of(node, columns, read),
    exp.GT: _swapped,
    exp.GTE: _swapped,
    exp.Between: _between,
    exp.In: _in,
    exp.Like: _like,
    exp.ILike: _like,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Anonymous: _anonymous,
    exp.Concat: lambda node, columns: concatenated(node, columns, read),
    exp.DPipe: lambda node, columns: concatenated(node, columns, read),
    exp.DateDiff: _days_between,
    exp.TimeToStr: _formatted,
    exp.StrToUnix: _seconds,
    exp.UnixToStr: _seconds,
    exp.Extract: _by_usual_name,
    exp.DayOfMonth: _by_usual_name,
    exp.Nvl2: _by_usual_name,
    exp.Left: _by_usual_name,
    exp.And: _connected,
    exp.Or: _connected,
    exp.Not: _not,
    exp.Neg: _neg,
    exp.Case: _case,
    exp.If: _if,
    exp.TsOrDsToDate: _to_date,
    exp.StrToTime: _to_time,
    exp.Filter: lambda node, columns: filtered_call(node, columns, read),
    exp.Grouping: lambda node, columns: generic(node, columns, read),
    exp.GroupingId: lambda node, columns: generic(node, columns, read),
    exp.Window: lambda node, columns: window_of(node, columns, read),
}
