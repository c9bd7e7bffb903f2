"""Which names are those of fields of structures: by examples, and in random pairs."""

from __future__ import annotations

import doctest
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from dbt.adapters.spark_mv.rewrite.reading import fields, scopes
from dbt.adapters.spark_mv.rewrite.terms import ColumnOf, Term, column_term
from tests.sampling import WHOLE
from tests.unit.rewrite import packed_pairs
from tests.unit.rewrite.harness import Tables, about, run
from tests.unit.rewrite.lake import Lake
from tests.unit.rewrite.packed_pairs import PACKED, P, pack, packed_pair

PAIRS = 5_000 if WHOLE else 300
FieldOf = Callable[[Term, Sequence[str]], Term | None]


@pytest.fixture(scope="module", autouse=True)
def _packed(lake: Lake) -> None:
    pack(lake)


def test_examples() -> None:
    for module in (fields, packed_pairs):
        result = doctest.testmod(module)
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


def test_same_rows(lake: Lake) -> None:
    report = run(range(PAIRS), lake, make=packed_pair, tables=Tables(PACKED))
    assert report.wrong == []
    assert report.matched > report.pairs * 0.3
    assert report.met >= {
        ("rows", "rows"),
        ("groups", "rows"),
        ("groups", "groups"),
        ("one", "groups"),
    }


def _first_alone(field_of: FieldOf) -> FieldOf:
    return lambda term, path: field_of(term, path[:1])


def _of_the_other(field_of: FieldOf) -> FieldOf:
    """What both structures have is that of `p`."""

    def found(term: Term, path: Sequence[str]) -> Term | None:
        column = term.column
        if column is not None and column.name == "q":
            other = field_of(column_term(replace(column, name="p", type=P)), path)
            return other or field_of(term, path)
        return field_of(term, path)

    return found


MUTANTS = {"first field alone": (_first_alone, 11), "field of another": (_of_the_other, 14)}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_wrong(name: str, lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    change, first = MUTANTS[name]
    monkeypatch.setattr(scopes, "field_of", change(fields.field_of))
    tables = Tables(PACKED)
    assert run(about(first), lake, most_wrong=1, make=packed_pair, tables=tables).wrong
