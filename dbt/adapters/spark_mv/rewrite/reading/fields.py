"""Fields of structures, items of arrays and maps: functions of the column that has them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from sqlglot import exp
from sqlglot.errors import SqlglotError

from dbt.adapters.spark_mv.rewrite.reading.functions import Columns, Read, generic
from dbt.adapters.spark_mv.rewrite.terms import Term, made

# Spark compares such values in another way than they are stored.
_CONVERTED = ("char(", "collate")


def field_of(term: Term, path: Sequence[str]) -> Term | None:
    """The field that names in lower case lead to, the term itself without any; None if it has no
    such field.

    >>> from dbt.adapters.spark_mv.rewrite.terms import ColumnOf, column_term
    >>> device = column_term(ColumnOf(0, "device", "struct<OS:struct<name:string>,id:int>"))
    >>> str(field_of(device, ["os", "name"]))
    '`device`.`OS`.`name`'
    >>> field_of(device, ["name"])
    """
    for name in path:
        found = [one for one in _fields_of(term) if one.name.lower() == name]
        if len(found) != 1:
            return None
        field = exp.to_identifier(found[0].name, quoted=True)
        term = made(exp.Dot(expression=field), (term,), (("this", False),))
    return term


def _fields_of(term: Term) -> Sequence[exp.Expr]:
    if term.column is not None:
        return _fields(term.column.type)
    if not isinstance(term.node, exp.Dot):
        return ()
    name = term.node.expression.name
    kinds = (one.args.get("kind") for one in _fields_of(term.args[0]) if one.name == name)
    return _within(next(kinds, None))


@lru_cache(maxsize=256)
def _fields(type_name: str) -> Sequence[exp.Expr]:
    """The fields of a type; none of one that is no structure, or has no text that can be read."""
    if any(word in type_name for word in _CONVERTED):
        return ()
    try:
        return _within(exp.DataType.build(type_name, dialect="spark"))
    except SqlglotError:
        return ()


def _within(kind: object) -> Sequence[exp.Expr]:
    is_structure = isinstance(kind, exp.DataType) and kind.this == exp.DataType.Type.STRUCT
    return tuple(kind.expressions) if isinstance(kind, exp.DataType) and is_structure else ()


def item_of(node: exp.Expr, columns: Columns, read: Read) -> Term:
    """An item of an array or a map, or a field of a structure by its name."""
    key = node.expressions[0] if len(node.expressions) == 1 else None
    if isinstance(key, exp.Literal) and key.is_string and not node.args.get("offset"):
        found = field_of(read(node.this, columns), [key.name.lower()])
        if found is not None:
            return found
    return generic(node, columns, read)
