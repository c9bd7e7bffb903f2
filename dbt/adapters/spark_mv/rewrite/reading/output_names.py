"""What a column is called that a query returns."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from dbt.adapters.spark_mv.rewrite.reading.scopes import Columns, column_in


def name_of(node: exp.Expr, relations: Sequence[Columns]) -> tuple[str, str]:
    """The name of an item of SELECT, and the name that it may have if that is not known.

    Without a name of its own it has its text as one, which no other text means by a name; but a
    column in parentheses, or that is cast, has the name of the column. Source: run on Spark 4.1.
    """
    inner = node.unnest()
    if isinstance(node, exp.Alias):
        return node.alias, ""
    if isinstance(inner, exp.Column):
        return inner.name, ""
    if isinstance(inner, exp.Dot):
        return "", inner.name
    cast = _cast_column(inner)
    if cast is None:
        return "", ""
    found = column_in(relations, cast)
    if not isinstance(inner, exp.TryCast):  # a function that is a cast, or is read as one
        return "", cast.name
    is_column = found is not None and found.column is not None
    return cast.name if is_column else "", ""


def _cast_column(node: exp.Expr) -> exp.Column | None:
    """The column that a cast is of, or a function with one argument that may be one."""
    arguments = node.expressions if isinstance(node, exp.Anonymous) else []
    if isinstance(node, exp.Cast):
        arguments = [node.this]
    inner = arguments[0].unnest() if len(arguments) == 1 else None
    return inner if isinstance(inner, exp.Column) else None
