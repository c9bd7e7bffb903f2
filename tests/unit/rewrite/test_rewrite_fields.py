"""Which names are those of fields of structures."""

from __future__ import annotations

import doctest

import pytest

from dbt.adapters.spark_mv.rewrite.reading import fields
from dbt.adapters.spark_mv.rewrite.terms import ColumnOf, column_term


def test_examples() -> None:
    result = doctest.testmod(fields)
    assert result.attempted and not result.failed


@pytest.mark.parametrize(
    ("kind", "path", "found"),
    [
        ("struct<a:int>", ["a"], "`v`.`a`"),
        ("struct<A:int,b:struct<C:date>>", ["b", "c"], "`v`.`b`.`C`"),
        ("struct<a:int,A:int>", ["a"], None),
        ("struct<a:int>", ["b"], None),
        ("struct<a:int>", ["a", "b"], None),
        ("array<struct<a:int>>", ["a"], None),
        ("map<string,struct<a:int>>", ["a"], None),
        ("struct<a:array<struct<b:int>>>", ["a", "b"], None),
        ("struct<a:char(3)>", ["a"], None),
        ("struct<a:string collate UTF8_LCASE>", ["a"], None),
        ("struct<x'y:int>", ["x'y"], None),
        ("int", ["a"], None),
    ],
)
def test_fields(kind: str, path: list[str], found: str | None) -> None:
    term = fields.field_of(column_term(ColumnOf(0, "v", kind)), path)
    assert found == (None if term is None else str(term))
