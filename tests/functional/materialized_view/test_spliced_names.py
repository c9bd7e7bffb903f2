"""Queries in the place of relations, in statements that write columns with no, some or all parts of
a name: the rows are those of the statement, or Spark does not find a column."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random

import pytest
from pyspark.errors import AnalysisException

from dbt.adapters.spark_mv.sql import splice
from dbt.adapters.spark_mv.sql.reads import Reference, references_of
from tests.functional.materialized_view.warehouse import Warehouse
from tests.sampling import WHOLE

# Of two relations a and b, with columns of each that stand outside and inside of a subquery.
FORMS = (
    "select {a1}, {b1} as other from {a} join {b} on {a2} = {b2}",
    "select {a1} from {a} where exists (select 1 from {b} where {b2} = {a2} + 1 and {b1} > 0)",
    "select {a1}, (select max({b1}) from {b} where {b2} = {a2}) as most from {a}",
    "select {a1} from {a} where {a2} in (select {b2} from {b} where {b1} > {a1})",
    "select {a1}, count(*) as n from {a} cross join (select {b1} as z from {b}) q group by {a1}",
)
# All have the columns k and v, and the last one a structure that is called as the first.
RELATIONS = ("@.m", "@meta.m", "@.n")
SIDES = (
    ("@.m", "@meta.m"),
    ("@meta.m", "@.m"),
    ("@.m", "@.n"),
    ("@.n", "@.m"),
    ("@.m", "@.n m"),
    ("@.m", "@meta.m x"),
    ("@.m x", "@.m"),
)


def written(relation: str, column: str) -> list[str]:
    """A column with no part, with the last one, and with all parts of the name of a relation."""
    name, _, alias = relation.partition(" ")
    names = [alias] if alias else [name.split(".")[1], name]
    return [column, *(f"{one}.{column}" for one in names)]


STATEMENTS = [
    form.format(a=a, b=b, a1=a1, a2=a2, b1=b1, b2=b2)
    for form, (a, b) in product(FORMS, SIDES)
    for a1, a2, b1, b2 in product(
        written(a, "v"), written(a, "k"), written(b, "v"), written(b, "k")
    )
]


@pytest.fixture(scope="module")
def named(lake: Warehouse) -> Iterator[Warehouse]:
    more = ", named_struct('k', -1L, 'v', 50L) as m"
    for number, name in enumerate(RELATIONS):
        columns = f"id + {number} as k, id * 10 - {number} as v"
        columns += more if name.endswith("n") else ""
        lake.spark(f"create table {name} using iceberg as select {columns} from range(4)")
    yield lake
    lake.spark("drop table @meta.m")


def rows(lake: Warehouse, text: str) -> list[str] | None:
    try:
        return sorted(map(str, lake.spark(text)))
    except AnalysisException:
        return None


def spliced(lake: Warehouse, statement: str) -> Iterator[str]:
    """The statement with queries in the place of each relation, and of both."""
    text = lake.text(statement)
    reads = references_of(text)
    assert reads is not None
    for chosen in (reads.references[:1], reads.references[1:], reads.references):

        def query(place: Reference, chosen: tuple[Reference, ...] = chosen) -> str | None:
            body = f"select * from {'.'.join(place.parts)}"
            return splice.subquery(body, place) if place in chosen else None

        yield splice.splice(text, reads.references, query)


def compared(lake: Warehouse, statements: list[str]) -> tuple[int, list[str]]:
    """How many texts were answered, and those of other rows."""
    answered, wrong = 0, []
    for statement in statements:
        expected = rows(lake, statement)
        if expected is None:
            continue
        for text in spliced(lake, statement):
            found = rows(lake, text)
            answered += found is not None
            if found not in (None, expected):
                wrong.append(f"{statement}: {text}")
    return answered, wrong


def test_names(named: Warehouse) -> None:
    chosen = STATEMENTS if WHOLE else Random("names").sample(STATEMENTS, 120)
    answered, wrong = compared(named, chosen)
    assert wrong == []
    assert answered > len(chosen)


def test_last_parts_are_no_names(named: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: whatever else is called so, columns are written with the last part."""
    monkeypatch.setattr(
        splice,
        "_new_names",
        lambda sql, places, names: {splice._lowered(one): one.parts[-1] for one in places},
    )
    inner = FORMS[1].format(
        a="@.m", b="@meta.m", a1="@.m.v", a2="@.m.k", b1="@meta.m.v", b2="@meta.m.k"
    )
    assert compared(named, [inner])[1]
