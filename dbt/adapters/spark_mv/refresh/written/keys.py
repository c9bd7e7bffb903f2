"""Whether each value of `unique_key` has one row, before a build is published."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.spark_mv.core.errors import DuplicateKey
from dbt.adapters.spark_mv.core.executor import Executor
from dbt.adapters.spark_mv.ivm.algebra.terms import GENERATORS
from dbt.adapters.spark_mv.sql.literals import spark_literal
from dbt.adapters.spark_mv.sql.names import quote
from dbt.adapters.spark_mv.sql.reads import parse
from dbt.adapters.spark_mv.views.definition import MaterializedView
from dbt.adapters.spark_mv.views.storage_sql import stored_rows

_SHOWN = 3
_LONGEST = 50


def refuse_duplicates(executor: Executor, view: MaterializedView, branch: str | None) -> None:
    """Raise `DuplicateKey` with some keys, and their number, if what was written to a branch, or to
    a new table, has a key twice. NULL is a value here, as in GROUP BY."""
    keys = view.options.unique_key
    if not keys or is_grouped_by(view.definition.query, keys):
        return
    listed = ", ".join(quote(key) for key in keys)
    shown = ", ".join(_shown(view, key) for key in keys)
    groups = (
        f"SELECT {listed}, count(*) AS mv_rows FROM ({stored_rows(view, branch)}) AS stored "
        f"GROUP BY {listed} HAVING count(*) > 1"
    )
    found = executor.query(
        f"SELECT {shown}, mv_rows, count(*) OVER () AS mv_keys FROM ({groups}) AS twice "
        f"LIMIT {_SHOWN}"
    )
    if not found:
        return
    *values, rows, number = found[0]
    first = " and ".join(f"{key} = {_text(v)}" for key, v in zip(keys, values, strict=True))
    others = [", ".join(_text(value) for value in row[: len(keys)]) for row in found]
    more = ", .." if number > len(others) else ""
    all_keys = f" ({number:,} such keys: {'; '.join(others)}{more})" if number > 1 else ""
    raise DuplicateKey(
        f"{view.name}: its query returns {rows:,} rows for {first}, but unique_key says "
        f"one{all_keys}.",
        "Nothing was changed; correct the query or its tables, or drop unique_key.",
    )


def _shown(view: MaterializedView, key: str) -> str:
    """SQL of a key as it comes to Python, which has no days beyond the year 9999."""
    kinds = {column.name.lower(): column.type for column in view.definition.columns}
    is_time = kinds[key.lower()].startswith(("date", "timestamp"))
    return f"CAST({quote(key)} AS STRING)" if is_time else quote(key)


def _text(value: object) -> str:
    text = "NULL" if value is None else spark_literal(value)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + ".."


def is_grouped_by(query: str, keys: tuple[str, ...]) -> bool:
    """Whether a query returns one row for each value of the keys, because it is grouped by columns
    that are among them."""
    tree = parse(query)
    group = tree.args.get("group") if isinstance(tree, exp.Select) else None
    if tree is None or group is None:
        return False
    if any(value for part, value in group.args.items() if part != "expressions"):
        return False
    if any(item.find(exp.UDTF, exp.Anonymous, *GENERATORS) for item in tree.expressions):
        return False  # a function may make several rows of one
    names = {key.lower() for key in keys}
    items = {item.unalias(): item.alias_or_name.lower() for item in tree.expressions}
    return bool(group.expressions) and all(
        isinstance(one, exp.Column) and items.get(one) in names for one in group.expressions
    )
